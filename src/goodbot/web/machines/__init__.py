"""What programs read: the description of the API, figures, keys, robots.txt."""
