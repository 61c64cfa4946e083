"""Sites that never end, with a few real pages beside the trap."""
