"""Keep the same data in memory, for tests and for commands that store nothing."""
