"""How long an answer may be used, and what holds during an outage."""
