"""Read a robots.txt and judge URLs by it, in every dialect."""
