"""Decide which URLs belong to a crawl."""
