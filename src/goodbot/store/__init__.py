"""Store crawls on one machine."""

import logging

logging.getLogger(__name__).addHandler(logging.NullHandler())  # a program without logging sees no warnings of ours
