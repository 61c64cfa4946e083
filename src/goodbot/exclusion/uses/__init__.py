"""Reads what the content of a page may be used for."""
