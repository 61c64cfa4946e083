"""The same crawl on many machines: a frontier in PostgreSQL that they share."""
