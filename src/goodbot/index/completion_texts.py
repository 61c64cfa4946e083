"""Makes the texts of completions from titles, headings and definition terms: names without numbers, parameters and
marks that lack their counterpart. Pure."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from goodbot.index.analysis import fold, folded_words, identifiers

MAX_CHARS: Final = 60
MIN_CHARS: Final = 3

_MOST_READ: Final = 4 * MAX_CHARS
"""The part of a text that is read. A name that is not complete by then is too long."""
_PARTS = re.compile(r" [-–—|·»:]+ | ::|:: |: ")
"""What separates the parts of a title. `std::pair` is one part."""
_NUMBER = re.compile(r"[\d.]+\)? ")
_LEADING = re.compile(r"(?:[,; ]|[-–—|·•»/:=]+ )+")
_TRAILING = re.compile(r"(?:[,;: ]| [-–—|·•=]+)+$")
_OPENING: Final = frozenset("([{（［｛「『【《〈")
_CLOSING: Final = frozenset(")]}）］｝」』】》〉")
_QUOTES: Final = ('"', "“”„‟", "«»", "`")
_MARK = re.compile("[" + re.escape("".join([*_OPENING, *_CLOSING, *_QUOTES])) + "]|^['‘]")
_CONTROLS: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202d\u202e]")
"""Controls of terminals, and characters that override the direction of letters."""
_DOTTED = re.compile(r"(?<!\S)\.[^\W\d_]\w*(?!\S)")
"""A word such as `.net` or `.htaccess`."""


def parts_of_title(title: str) -> list[str]:
    """Returns the parts of a title: `os.path — Common paths — Python` has three."""
    return _PARTS.split(" ".join(title.split()))


def tidy(text: str) -> str:
    """Returns a heading without its number, or a term without its parameters; no mark lacks its counterpart. Linear."""
    text = text[:_MOST_READ]
    if not text.isprintable():
        text = _CONTROLS.sub(" ", text)
    text = " ".join(text.split())
    number = _NUMBER.match(text)
    text = text[number.end() :] if number else text
    if _MARK.search(text):  # few texts have one
        text = " ".join(_without_unmatched(_name(text)).split())
    leading = _LEADING.match(text)
    text = text[leading.end() :] if leading else text
    return _TRAILING.sub("", text)


def _name(text: str) -> str:
    """Returns what is before the first parenthesis, except in other brackets."""
    depth = 0
    for at, char in enumerate(text):
        if char == "(" and not depth:
            return text[:at] or text
        depth += char in "[{"
        depth -= depth > 0 and char in "]}"
    return text


def _without_unmatched(text: str) -> str:
    """Removes brackets and quotation marks that have no counterpart. Those of a half-open range, `[a, b)`, stay."""
    unmatched = {*_single_brackets(text), *_single_quotes(text)}
    return "".join(char for at, char in enumerate(text) if at not in unmatched) if unmatched else text


def _single_brackets(text: str) -> Iterator[int]:
    opened: list[int] = []
    for at, char in enumerate(text):
        if char in _OPENING:
            opened.append(at)
        elif char in _CLOSING:
            if opened:
                opened.pop()
            else:
                yield at
    yield from opened


def _single_quotes(text: str) -> Iterator[int]:
    for marks in _QUOTES:
        places = [at for at, char in enumerate(text) if char in marks]
        if len(places) % 2 and not (marks == "`" and "'" in text[places[-1] :]):  # `as in old manuals'
            yield places[-1]
    if text[:1] in ("'", "‘") and not any(mark in text[1:] for mark in "'’"):
        yield 0


def words_in(text: str) -> set[str]:
    """Returns the words that complete the last word of a query, folded: single ones, and joined ones such as `node.js`
    as a whole."""
    found = chain(folded_words(text), identifiers(text), map(fold, _DOTTED.findall(text)))
    return {word for word in found if len(word) >= MIN_CHARS or not word.isalnum()}
