"""Contains the sites behind a bot wall, which sends a challenge page in place of pages or of robots.txt."""
