"""Finds, in the text of a sitemap, URLs of which the lenient parser would make others. Pure."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from goodbot.url import Url

_MARK: Final = "\uffff"
"""No XML document may contain this character (XML 1.0 §2.2), and no host either."""

_ENCODED_MARK: Final = "%EF%BF%BF"
_NO_HOST: Final = f"http://{_MARK}/"

_HELD_CHARS: Final = 16_384
"""How much text is held back so that a URL is not examined in two parts; URLs are shorter."""

_ENTITY: Final = r"&(?!(?:amp|lt|gt|quot|apos);)[^\W\d][\w.:-]{0,200};"
"""A reference that the parser does not expand."""
_HOSTLESS: Final = r"""(?<=[>\s"'\[])[hH][tT][tT][pP][sS]?:(?![/\\]{2}[^/\\])"""
_MARKED_START: Final = r"\ufeff(?=\s*[hH][tT][tT][pP])"
_ANY: Final = re.compile(f"{_ENTITY}|{_HOSTLESS}|{_MARKED_START}")
_UNUSABLE: Final = re.compile(
    rf"(?P<comment><!--.*?(?:-->|\Z))|(?P<literal><!\[CDATA\[.*?(?:\]\]>|\Z))|{_ENTITY}|{_MARKED_START}|(?P<hostless>{_HOSTLESS})",
    re.DOTALL,
)
"""A comment or a CDATA section in one block has no references. Longer ones have no URL that is read."""


class UnusableUrls:
    """Marks entity references, which the parser does not expand; byte order marks before URLs, which would become
    relative; and URLs without a host, such as `http:///x`, which the URL standard reads as `http://x/`."""

    def __init__(self) -> None:
        self._found = False

    def marked(self, blocks: Iterable[str]) -> Iterator[str]:
        """Yields the text with the marks. Linear; memory does not grow with the text."""
        held = ""
        for block in blocks:
            text = held + block
            at = text.rfind("<")
            at = at if at >= 0 and len(text) - at <= _HELD_CHARS else len(text)
            held = text[at:]
            yield self._marked(text[:at])
        yield self._marked(held)

    def is_marked(self, url: Url) -> bool:
        """Whether a URL read from the text has a mark."""
        return self._found and _ENCODED_MARK in url.text

    def _marked(self, text: str) -> str:
        if _ANY.search(text) is None:
            return text
        self._found = True
        return _UNUSABLE.sub(_replaced, text)


def _replaced(found: re.Match[str]) -> str:
    if found["comment"]:
        return found[0]
    if found["literal"]:
        return re.sub(_HOSTLESS, _NO_HOST, found[0])
    return _MARK if found["hostless"] is None else _NO_HOST
