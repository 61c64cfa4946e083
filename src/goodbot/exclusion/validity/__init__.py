"""Decides how long an answer may be used, and what is in force during an outage."""
