"""Crawl: lease hosts, visit their pages, commit the outcomes."""
