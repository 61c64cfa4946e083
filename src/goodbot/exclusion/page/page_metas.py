"""Reads the other META tags for robots: DESCRIPTION, KEYWORDS, REVISIT-AFTER, DOCUMENT-STATE, URL."""

import re
from collections.abc import Callable

from goodbot.exclusion.page.directive_words import Restrictions

MAX_TEXT_CHARS = 2_000
"""How much of a description, or of keywords, is kept."""

MAX_URL_CHARS = 8_000
"""A longer URL is ignored; RFC 9110 §4.1 recommends supporting at least this length."""

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


def _description(content: str) -> Restrictions:
    return {"description": text} if (text := _text(content)) else {}


def _keywords(content: str) -> Restrictions:
    return {"keywords": text} if (text := _text(content)) else {}


def _text(content: str) -> str:
    return " ".join(content.split())[:MAX_TEXT_CHARS].rstrip()


def _canonical(content: str) -> Restrictions:
    url = content.strip()
    return {"canonical": url} if 0 < len(url) <= MAX_URL_CHARS else {}


def _revisit_after(content: str) -> Restrictions:
    """Reads `10 days`; a number without a unit means days (table 9-5 of the book). At most ten years."""
    found = _REVISIT.fullmatch(_text(content).lower())
    return {"revisit_after_s": min(int(found[1]) * _UNITS_S[found[2] or "day"], _LONGEST_S)} if found else {}


def _document_state(content: str) -> Restrictions:
    state = content.strip().lower()
    if state == "dynamic":
        return {"document_state": state, "index": False}
    return {"document_state": state} if state == "static" else {}


PAGE_METAS: dict[str, Callable[[str], Restrictions]] = {
    "description": _description,
    "keywords": _keywords,
    "url": _canonical,
    "revisit-after": _revisit_after,
    "document-state": _document_state,
}
"""The functions that read the content of a META tag, by its name. They return an empty mapping for invalid content."""

FIRST_COUNTS = frozenset({"description", "keywords", "canonical", "revisit_after_s"})
"""Fields for which the first META with a valid value counts; for all others the most restrictive one."""

TEXTS = frozenset({"description", "keywords"})
"""META tags that are not directives, and so are not listed as sources."""
