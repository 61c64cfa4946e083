"""Reads the lines of access logs; recognizes their formats."""
