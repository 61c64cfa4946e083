"""The archive in WARC files."""
