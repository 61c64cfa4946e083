"""Run the scripts of a page in Chromium."""
