"""Plain text → its text, and the addresses that stand in it.

It has no title: a first line is as often a date, a licence or the name of a list as it is a title.
"""

import re

from goodbot.page.found import MAX_LINKS, Extract, Reference

MAX_URL_CHARS = 8_000
"""What RFC 9110 §4.1 asks everyone to support; what is longer is no address that a person wrote."""

_URL = re.compile(r"\bhttps?://[^\s\x00-\x1f<>\"`{}|\\^\u2018-\u201f«»\u3000-\u303f\uff00-\uff65]++", re.IGNORECASE)
"""Up to white space, what no URL holds (RFC 3986 appendix C), or the marks of other scripts. Each letter is gone over
once."""

_TRAILING = ".,;:!?'*_~…"
_CLOSING = {")": "(", "]": "["}


def read_plain(content: str, *, text: bool = True) -> Extract:
    """Its text, and each address once."""
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
    """Without the punctuation of the sentence around it. A bracket is of the sentence if it closes none of the URL."""
    surplus = {close: url.count(close) - url.count(opening) for close, opening in _CLOSING.items()}
    end = len(url)
    while (last := url[end - 1]) in _TRAILING or surplus.get(last, 0) > 0:
        end -= 1
        if last in surplus:
            surplus[last] -= 1
    return url[:end]
