"""Reads and writes files at places elsewhere: folders, and whatever fsspec can reach. Copies of indexes and moved files
of archives are kept there."""
