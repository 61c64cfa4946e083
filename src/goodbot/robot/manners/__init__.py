"""Decide whether and when a host may be requested."""
