"""Exported tables of a crawl: what their columns are, and how they are written. Pure, except for the files written."""
