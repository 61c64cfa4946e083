"""Sites about robots.txt."""
