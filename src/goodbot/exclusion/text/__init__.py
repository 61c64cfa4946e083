"""Reads and compares names, paths and numbers."""
