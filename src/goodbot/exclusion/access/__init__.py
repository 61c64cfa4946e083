"""Decides which rules are in force after a fetch of robots.txt, and until when."""
