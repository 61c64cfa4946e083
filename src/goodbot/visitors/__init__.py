"""What the search service does for its visitors and for owners of sites: submissions, removals, copies, stories."""
