"""Changes robots.txt by a schedule, so that one can measure which robots obey it."""
