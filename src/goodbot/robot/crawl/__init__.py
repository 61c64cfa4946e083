"""Crawl: lease hosts, visit their pages, commit what came of them."""
