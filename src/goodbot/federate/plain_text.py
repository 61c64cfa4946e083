"""Makes plain text of titles and snippets from other services."""

import re
from html import unescape
from typing import Final

from goodbot.page.html import read_html

_MAX_HTML_CHARS: Final = 65_536
_HIDDEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff]")
"""Controls, overrides of the writing direction and lone surrogates."""


def plain(text: str, most: int) -> str:
    """Returns at most `most` characters on one line, without markup and without characters that are not shown."""
    text = text[:_MAX_HTML_CHARS]
    if "<" in text:
        text = read_html(text).text
    elif "&" in text:
        text = unescape(text)
    return one_line(text, most)


def one_line(text: str, most: int) -> str:
    """Returns the same for a text without markup."""
    line = " ".join(_HIDDEN.sub(" ", text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
