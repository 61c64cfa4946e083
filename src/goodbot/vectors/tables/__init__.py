"""Cases written by hand, in tables."""
