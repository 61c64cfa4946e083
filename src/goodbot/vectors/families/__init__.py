"""Cases made by rules, so that each result is known from how the case is made."""
