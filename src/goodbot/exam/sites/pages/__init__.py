"""Sites about pages, answers and connections."""
