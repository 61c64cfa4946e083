"""Files through which a running crawl is watched and controlled."""
