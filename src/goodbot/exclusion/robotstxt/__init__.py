"""Reads a robots.txt and decides by it which URLs a robot may fetch, in every dialect."""
