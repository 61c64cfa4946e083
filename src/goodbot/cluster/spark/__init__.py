"""Crawls in cycles on Spark. The crawl table is a versioned set of Parquet files in a store."""
