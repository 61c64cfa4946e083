"""Remember, on one machine."""
