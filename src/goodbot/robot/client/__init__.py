"""Fetch single pages from a program, with the same permission and delays as a crawl."""
