"""The directives of META robots, X-Robots-Tag and Robots-Tag: what each restricts, and how its value is read."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from goodbot.exclusion.page.page_dates import parse_page_date

Value = bool | int | float | str
Restrictions = Mapping[str, Value]
"""Fields of `Directives`, each with the most that a directive permits; empty if the directive restricts nothing."""

DirectiveRead = tuple[str, Restrictions]
"""One directive: its text in lower case with its value, and its restrictions."""

MAX_DIRECTIVE_CHARS = 120

IMAGE_PREVIEWS = ("none", "standard", "large")
"""From the most restrictive to the least."""

_NO_RESTRICTION: Restrictions = {}

WORDS: dict[str, Restrictions] = {
    # Google and Bing
    "noindex": {"index": False},
    "nofollow": {"follow": False},
    "none": {"index": False, "follow": False},
    "nosnippet": {"snippet": False},
    "noimageindex": {"index_images": False},
    "notranslate": {"translate": False},
    "indexifembedded": {"index_embedded": True},
    # Bing; Google ignores them now
    "noarchive": {"archive": False},
    "nocache": {"archive": False},
    # DeviantArt, and sites that follow it: noai covers the whole content, pictures included (our reading)
    "noai": {"ai": False, "ai_images": False},
    "noimageai": {"ai_images": False},
    # the defaults: these words lift no restriction
    **dict.fromkeys(("all", "index", "follow", "archive", "snippet"), _NO_RESTRICTION),
    # no robot obeys them any more
    **dict.fromkeys(("noodp", "noydir", "nositelinkssearchbox"), _NO_RESTRICTION),
}

_DATED = "unavailable_after"
_NUMBER = re.compile(r"-1|[0-9]{1,9}")


def _snippet(value: str) -> Restrictions | None:
    limit = _limit("max_snippet", value)
    return {**limit, "snippet": False} if limit and limit["max_snippet"] == 0 else limit


def _limit(field: str, value: str) -> Restrictions | None:
    """Returns the limit; no restriction for -1; None if the value is not a number, negative, or longer than nine
    digits."""
    if not _NUMBER.fullmatch(value):
        return None
    return _NO_RESTRICTION if value == "-1" else {field: int(value)}


_VALUED: dict[str, Callable[[str], Restrictions | None]] = {
    "max-snippet": _snippet,
    "max-video-preview": lambda value: _limit("max_video_preview", value),
    "max-image-preview": lambda value: {"max_image_preview": value} if value in IMAGE_PREVIEWS else None,
}
"""Directives with a value. Each function returns None for an invalid value."""

KNOWN = frozenset({*WORDS, *_VALUED, _DATED})


def read_words(text: str) -> Iterator[DirectiveRead]:
    """Yields the directives in a text without separators. Directives may be separated by spaces only, as on many pages.
    Skips unknown words. Linear."""
    words = deque(text.lower().replace(":", " : ").split())
    while words:
        word = words.popleft()
        if word in WORDS:
            yield word, WORDS[word]
        elif word in _VALUED:
            yield _valued(word, words)
        elif word == _DATED:
            yield _dated(words)


def holds_date(text: str) -> bool:
    """Whether the text has a directive with a date, which may contain commas."""
    return _DATED in text.lower()


def _valued(name: str, words: deque[str]) -> DirectiveRead:
    """Reads a directive and its value. An invalid value stays in `words`: it may be a directive after a forgotten
    comma."""
    if words and words[0] == ":":
        words.popleft()
    value = words[0] if words else ""
    restrictions = _VALUED[name](value)
    if restrictions is None:
        return f"{name}:{value}"[:MAX_DIRECTIVE_CHARS], _NO_RESTRICTION
    words.popleft()
    return f"{name}:{value}", restrictions


def _dated(words: deque[str]) -> DirectiveRead:
    parts: list[str] = []
    while words and words[0] not in KNOWN:
        parts.append(words.popleft())
    date = " ".join(parts).replace(" : ", ":").lstrip(": ")
    at = parse_page_date(date)
    return f"{_DATED}:{date}"[:MAX_DIRECTIVE_CHARS], _NO_RESTRICTION if at is None else {_DATED: at}
