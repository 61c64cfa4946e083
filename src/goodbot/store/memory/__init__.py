"""The same stores in memory, for tests and for short questions."""
