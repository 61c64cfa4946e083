"""Go there, politely."""
