"""Keeps the requests of another library's crawl in one SQLite file, with leases, so that a kill loses none."""
