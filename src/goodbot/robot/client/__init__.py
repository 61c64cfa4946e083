"""Fetch single pages from a program, with the same permissions and delays as a crawl."""
