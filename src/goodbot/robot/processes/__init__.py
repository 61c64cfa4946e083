"""Crawl with several processes: one coordinator leases and commits, workers fetch and read."""
