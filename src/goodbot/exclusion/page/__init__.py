"""Reads the directives of a page: META tags, header fields, link types."""
