"""Several robot processes: one coordinator leases and commits for all, workers fetch and read."""
