"""Finds the words and the statements of a page, roughly and fast, to see whether a site still says something new.
Pure; linear."""

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from goodbot.page.body import Body
from goodbot.values import Response

_LOOK_BYTES: Final = 64 * 1024
_LOOK_CHARS: Final = 16 * 1024
"""How many bytes of a `Response` are decoded, and how many characters from `<body` on are examined."""

_MAX_WORDS: Final = 2000
_MAX_WORD_CHARS: Final = 40
_FIRST_UNSPACED: Final = "\u0e00"
"""The first character of Thai. After it come Chinese, Japanese and Korean; their words are pairs of letters."""

_AROUND: Final = ".,;:!?()[]{}<>\"'«»„“”‚‘’…*/|–—-。、，！？「」"

_SKIPPED: Final = r"script\b.*?(?:</script[^<>]*+>?|\Z)|style\b.*?(?:</style[^<>]*+>?|\Z)|!--.*?(?:-->|\Z)"
_MARKUP = re.compile(rf"<(?:{_SKIPPED}|[^<>]*+>?)", re.DOTALL | re.IGNORECASE)
"""Matches tags, comments, scripts and styles. Each branch consumes what it has examined, so that every character is
examined once."""

_INSIDE: Final = "a|abbr|b|bdi|big|cite|code|em|font|i|img|kbd|mark|q|s|samp|small|span|strong|sub|sup|t[dht]|tt|u|var"
_BREAK = re.compile(rf"<(?:{_SKIPPED}|(?!/?(?:{_INSIDE})(?![a-z0-9-]))[^<>]*+>?)", re.DOTALL | re.IGNORECASE)
"""Matches what ends a line: all markup except inline tags and table cells, since the lines of a table are its rows."""
_PICTURE = re.compile(r"<img\s[^<>]*?\bsrc\s*+=\s*+[\"']?([^\"'\s<>?#]++)[^<>]*+>?", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]++")
_SENTENCE = re.compile(r"\n\n|(?<![0-9])[.;!?。！？|](?=\s|$)")

URL_SEPARATORS: Final = str.maketrans(dict.fromkeys("/.-_?&=;:+,%~#", " "))
"""A translation table that splits a URL into words."""


def text_in(answer: Response | Body) -> str:
    """Returns the markup of an HTML page, or a plain text: all that a `Body` holds, or the beginning of a `Response`.
    Returns an empty text for other documents."""
    body = answer if isinstance(answer, Body) else Body(answer, _LOOK_BYTES)
    kind = body.response.media_type
    return body.text if not kind or kind in ("text/html", "application/xhtml+xml", "text/plain") else ""


def _body(html: str) -> str:
    start = max(html.find("<body"), html.find("<BODY"), 0)
    return html[start : start + _LOOK_CHARS]


def words_of(html: str) -> Iterator[str]:
    """Yields the distinct words of a page, links included, in lower case. It skips words with a digit, because numbers
    would make every page new. Takes 180 µs for 16,384 characters; never raises."""
    text = _MARKUP.sub(" ", _body(html)).lower()
    if "&" in text:
        text = unescape(text)
    for word in list(dict.fromkeys(text.split()))[:_MAX_WORDS]:
        bare = word.strip(_AROUND)
        if bare.isascii():
            if bare.isalpha() and 1 < len(bare) <= _MAX_WORD_CHARS:
                yield bare
        elif not any(map(str.isdigit, bare)):
            yield from _non_ascii_words(bare)


def lines_of(html: str) -> Iterator[str]:
    """Yields the lines of a page, with their inline tags."""
    for line in _BREAK.split(_body(html)):
        if line and not line.isspace():
            yield line


def statements_of(line: str, address: str, known: set[str]) -> Iterator[tuple[str, ...]]:
    """Yields each sentence of a line, and each picture, as a tuple of lower-case words. It leaves out words in `known`,
    and words that are part of the page's `address` (in lower case). Numbers of one or two digits are part of most
    addresses by chance, so they count only if they are in `known`, for example from `numbers_in` the address."""
    if "<" in line:
        for path in pictures_in(line):
            if path.lower() not in address:
                yield "picture", path
        line = _MARKUP.sub(" ", line)
    line = line.lower()
    if "&" in line:
        line = unescape(line)
    for sentence in _SENTENCE.split(line):
        words = (word.strip(_AROUND) for word in sentence.translate(URL_SEPARATORS).split())
        kept = tuple(word for word in words if word and word not in known and (_is_short(word) or word not in address))
        if kept:
            yield kept


def pictures_in(html: str) -> list[str]:
    """Returns the URLs of the pictures in a piece of HTML, without their queries."""
    return _PICTURE.findall(html)


def pictures_of(html: str) -> list[str]:
    """Returns the same for the examined part of a page."""
    return pictures_in(_body(html))


def numbers_in(address: str) -> Iterator[str]:
    """Yields the numbers of a URL as a text may write them: with and without leading zeros, and two digits at a time,
    because a URL may write a date as one number."""
    for number in _NUMBER.findall(address):
        pairs = re.findall("..", number) if len(number) % 2 == 0 else []
        for digits in (number, *pairs):
            bare = digits.lstrip("0") or "0"
            yield from (digits, bare, bare.zfill(2))


def _is_short(word: str) -> bool:
    return len(word) < 3 and word.isdecimal()


def _non_ascii_words(word: str) -> Iterator[str]:
    if max(word) < _FIRST_UNSPACED:
        if len(word) <= _MAX_WORD_CHARS:
            yield word
    else:
        yield from map(str.__add__, word, word[1:])
