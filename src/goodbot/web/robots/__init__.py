"""The pages about the robots on record: the directory, a page for each robot, and a form that drafts a record."""
