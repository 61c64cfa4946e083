"""Watch and control a running crawl through files."""
