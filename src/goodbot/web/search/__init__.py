"""The pages of the search, and the same search for programs."""
