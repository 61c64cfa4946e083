"""Keep the same data in memory, for tests and for single questions."""
