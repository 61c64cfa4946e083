"""Test cases for parsers of robots.txt: a file, a robot, a URL, and the result in each dialect.

Pure. The cases are for authors of other parsers too: `goodbot vectors` writes them.
"""

from goodbot.vectors.case import KINDS, Case, Expected, Kind
from goodbot.vectors.collection import LICENCE, VERSION, all_cases, selected
from goodbot.vectors.formats import FORMAT, as_json_value, as_text

__all__ = [
    "FORMAT",
    "KINDS",
    "LICENCE",
    "VERSION",
    "Case",
    "Expected",
    "Kind",
    "all_cases",
    "as_json_value",
    "as_text",
    "selected",
]
