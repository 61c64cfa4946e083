"""Counts the requests of a log in bounded memory, block by block; counts of blocks can be merged."""
