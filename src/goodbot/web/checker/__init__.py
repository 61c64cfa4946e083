"""The robots.txt checker."""
