"""Reads the archives of other programs, WARC and WACZ files, and writes WACZ files for them."""
