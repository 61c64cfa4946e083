"""Contains the sites about pages, responses and connections."""
