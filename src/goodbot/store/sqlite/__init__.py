"""The frontier in an SQLite file."""
