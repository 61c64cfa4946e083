"""What META says to robots beside `robots`: DESCRIPTION, KEYWORDS, REVISIT-AFTER, DOCUMENT-STATE, URL."""

import re
from collections.abc import Callable

from goodbot.exclusion.page.directive_words import Asks

MAX_TEXT_CHARS = 2_000
"""Of a description, and of keywords."""

MAX_URL_CHARS = 8_000
"""A longer address is not read; RFC 9110 §4.1 recommends to support as many octets."""

_DAY_S = 24 * 3600.0
_LONGEST_S = 3650 * _DAY_S
_UNITS_S = {
    "hour": 3600.0,
    "day": _DAY_S,
    "week": 7 * _DAY_S,
    "month": 30 * _DAY_S,
    "year": 365 * _DAY_S,
}
_REVISIT = re.compile(r"([0-9]{1,6})[ -]?(?:(hour|day|week|month|year)s?)?")


def _description(content: str) -> Asks:
    return {"description": text} if (text := _text(content)) else {}


def _keywords(content: str) -> Asks:
    return {"keywords": text} if (text := _text(content)) else {}


def _text(content: str) -> str:
    return " ".join(content.split())[:MAX_TEXT_CHARS].rstrip()


def _canonical(content: str) -> Asks:
    url = content.strip()
    return {"canonical": url} if 0 < len(url) <= MAX_URL_CHARS else {}


def _revisit_after(content: str) -> Asks:
    """`10 days`; a bare number is of days (the book's table 9-5), at most ten years."""
    found = _REVISIT.fullmatch(_text(content).lower())
    return {"revisit_after_s": min(int(found[1]) * _UNITS_S[found[2] or "day"], _LONGEST_S)} if found else {}


def _document_state(content: str) -> Asks:
    state = content.strip().lower()
    if state == "dynamic":
        return {"document_state": state, "index": False}
    return {"document_state": state} if state == "static" else {}


PAGE_METAS: dict[str, Callable[[str], Asks]] = {
    "description": _description,
    "keywords": _keywords,
    "url": _canonical,
    "revisit-after": _revisit_after,
    "document-state": _document_state,
}
"""META names → what their content asks for; an empty answer: it says nothing that can be read."""

FIRST_COUNTS = frozenset({"description", "keywords", "canonical", "revisit_after_s"})
"""Fields in which the first META that says something counts; in all others the more restrictive one."""

TEXTS = frozenset({"description", "keywords"})
"""META that are no directives: their source is not recorded."""
