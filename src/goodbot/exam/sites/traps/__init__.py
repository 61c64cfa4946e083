"""Contains the sites with an endless trap next to a few real pages."""
