"""Recognizes `style` attributes that hide their element, however they are written (CSS Syntax Level 3). Pure."""

import re
from typing import Final

_SKIPS: Final = (
    r"""/\*(?:.*?\*/|.*)|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|"""
    r"""(?<![\w\-\x80-\U0010ffff])url\((?!\s*+["'])(?:[^)\\]++|\\.)*+"""
)
"""Matches comments, strings and URLs: no declaration begins or ends in them."""
_SKIPPED: Final = re.compile(_SKIPS, re.IGNORECASE | re.DOTALL)
_ESCAPED: Final = re.compile(rf"{_SKIPS}|(\\(?:([0-9a-f]{{1,6}})[ \t\n\r\f]?|[^\n]))", re.IGNORECASE | re.DOTALL)
_IN_NAME: Final = re.compile(r"[a-z0-9-]\Z", re.IGNORECASE)
_HIDING: Final = re.compile(
    r"(?:\A|[;}])\s*+(?:display\s*+:\s*+none|visibility\s*+:\s*+(?:hidden|collapse))\s*+(?:[!;}]|\Z)", re.IGNORECASE
)


def hides(style: str) -> bool:
    """Whether a declaration of this `style` attribute hides the element and its text, even if a later one shows it:
    `display: none`, `visibility: hidden` or `collapse`. Linear.

    `opacity: 0` and `font-size: 0` do not count: pages have them for text that a script fades in, and around text that
    has a size of its own.
    """
    plain = _ESCAPED.sub(_unescaped, style) if "\\" in style else style
    return _HIDING.search(_SKIPPED.sub(" ", plain)) is not None


def _unescaped(found: re.Match[str]) -> str:
    """Returns the character that an escape stands for if names have it; else a letter, because an escaped character is
    never punctuation. Comments, strings and URLs stay as they are."""
    if not found[1]:
        return found[0]
    number = int(found[2], 16) if found[2] else ord(found[1][1])
    character = chr(number) if number < 128 else ""
    return character if _IN_NAME.match(character) else "x"
