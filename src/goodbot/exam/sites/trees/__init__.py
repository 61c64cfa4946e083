"""Contains the sites about sitemap indexes and other hard sitemaps."""
