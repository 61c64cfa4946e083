"""Keeps the requests of another library's crawl in one SQLite file, leased, so that a kill loses none."""
