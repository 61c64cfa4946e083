"""Sites about sitemaps that name sitemaps."""
