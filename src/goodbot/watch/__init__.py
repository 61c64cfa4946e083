"""Reads access logs: which robots came, whose they are, and how fast they were."""
