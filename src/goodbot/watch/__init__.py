"""Reads access logs to find out which robots sent requests, whose they are, and how fast they were."""
