"""The pages that only the operator of a crawl sees."""
