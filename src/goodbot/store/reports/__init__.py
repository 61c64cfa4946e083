"""The reports about a crawl, for every store that keeps its tables in SQL."""
