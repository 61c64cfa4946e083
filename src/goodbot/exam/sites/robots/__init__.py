"""Contains the sites about robots.txt."""
