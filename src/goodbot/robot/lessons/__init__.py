"""Learn about a site: traps, copies, soft 404 pages, parameters that change nothing."""
