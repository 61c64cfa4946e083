"""Reads plain text, and the URLs in it.

It takes no title from it: the first line is a date, a licence or the name of a list as often as a title.
"""

import re

from goodbot.page.extract import MAX_LINKS, Extract, Reference

MAX_URL_CHARS = 8_000
"""The length that RFC 9110 §4.1 asks everyone to support; people do not write longer URLs."""

_URL = re.compile(r"\bhttps?://[^\s\x00-\x1f<>\"`{}|\\^\u2018-\u201f«»\u3000-\u303f\uff00-\uff65]++", re.IGNORECASE)
"""Matches up to white space, a character that no URL contains (RFC 3986 appendix C), or punctuation of other scripts.
Each character is examined once."""

_TRAILING = ".,;:!?'*_~…"
_CLOSING = {")": "(", "]": "["}


def read_plain(content: str, *, text: bool = True) -> Extract:
    """Returns the text, and each URL once."""
    content = content.replace("\0", "")
    found = Extract(text=content.strip() if text else "")
    urls: dict[str, None] = {}
    for match in _URL.finditer(content):
        if match.end() - match.start() <= MAX_URL_CHARS:
            urls[_without_trailing(match[0])] = None
        if len(urls) >= MAX_LINKS:
            break
    found.links = [Reference(url, "", ()) for url in urls]
    return found


def _without_trailing(url: str) -> str:
    """Removes the punctuation of the surrounding sentence. A bracket belongs to the sentence if it closes none in the
    URL."""
    surplus = {close: url.count(close) - url.count(opening) for close, opening in _CLOSING.items()}
    end = len(url)
    while (last := url[end - 1]) in _TRAILING or surplus.get(last, 0) > 0:
        end -= 1
        if last in surplus:
            surplus[last] -= 1
    return url[:end]
