"""Fetch pages politely: single ones for a program, or a whole crawl."""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program without logging sees no warnings of ours
