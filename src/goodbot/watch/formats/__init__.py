"""Reads the lines of access logs; recognises their formats."""
