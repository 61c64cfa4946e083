"""The words of META robots, X-Robots-Tag and Robots-Tag: what each asks for, and how its value is read."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping

from goodbot.exclusion.page.page_dates import parse_page_date

Value = bool | int | float | str
Asks = Mapping[str, Value]
"""Fields of Directives, and what a directive asks them to be at most; empty: it restricts nothing."""

SaidDirective = tuple[str, Asks]
"""One directive: its text in lower case with its value, and what it asks for."""

MAX_DIRECTIVE_CHARS = 120

IMAGE_PREVIEWS = ("none", "standard", "large")
"""From the least to the most."""

_NOTHING: Asks = {}

WORDS: dict[str, Asks] = {
    # Google and Bing
    "noindex": {"index": False},
    "nofollow": {"follow": False},
    "none": {"index": False, "follow": False},
    "nosnippet": {"snippet": False},
    "noimageindex": {"index_images": False},
    "notranslate": {"translate": False},
    "indexifembedded": {"index_embedded": True},
    # Bing; Google no longer looks at them
    "noarchive": {"archive": False},
    "nocache": {"archive": False},
    # DeviantArt and those who follow it: noai is about the whole content, pictures too (our reading)
    "noai": {"ai": False, "ai_images": False},
    "noimageai": {"ai_images": False},
    # what is so without them: they give nothing back
    **dict.fromkeys(("all", "index", "follow", "archive", "snippet"), _NOTHING),
    # nobody heeds them any more
    **dict.fromkeys(("noodp", "noydir", "nositelinkssearchbox"), _NOTHING),
}

_DATED = "unavailable_after"
_NUMBER = re.compile(r"-1|[0-9]{1,9}")


def _snippet(value: str) -> Asks | None:
    asks = _limit("max_snippet", value)
    return {**asks, "snippet": False} if asks and asks["max_snippet"] == 0 else asks


def _limit(field: str, value: str) -> Asks | None:
    """-1 is no limit; None: no number, a negative one, or one of more than nine digits."""
    if not _NUMBER.fullmatch(value):
        return None
    return _NOTHING if value == "-1" else {field: int(value)}


_VALUED: dict[str, Callable[[str], Asks | None]] = {
    "max-snippet": _snippet,
    "max-video-preview": lambda value: _limit("max_video_preview", value),
    "max-image-preview": lambda value: {"max_image_preview": value} if value in IMAGE_PREVIEWS else None,
}
"""Each gives None for a value that cannot be read."""

KNOWN = frozenset({*WORDS, *_VALUED, _DATED})


def read_words(text: str) -> Iterator[SaidDirective]:
    """The directives in a text without separators, several with blanks only included, as many pages have it; what
    nobody knows is passed over. Linear."""
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
    """Whether a date may follow, with commas of its own."""
    return _DATED in text.lower()


def _valued(name: str, words: deque[str]) -> SaidDirective:
    """A value that cannot be read stays in `words`: it may be a directive behind a forgotten comma."""
    if words and words[0] == ":":
        words.popleft()
    value = words[0] if words else ""
    asks = _VALUED[name](value)
    if asks is None:
        return f"{name}:{value}"[:MAX_DIRECTIVE_CHARS], _NOTHING
    words.popleft()
    return f"{name}:{value}", asks


def _dated(words: deque[str]) -> SaidDirective:
    taken: list[str] = []
    while words and words[0] not in KNOWN:
        taken.append(words.popleft())
    date = " ".join(taken).replace(" : ", ":").lstrip(": ")
    at = parse_page_date(date)
    return f"{_DATED}:{date}"[:MAX_DIRECTIVE_CHARS], _NOTHING if at is None else {_DATED: at}
