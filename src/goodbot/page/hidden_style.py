"""Recognizes `style` attributes that hide their element, however they are written (CSS Syntax Level 3). Pure."""

import re
from typing import Final

_ESCAPE: Final = re.compile(r"\\(?:([0-9a-f]{1,6})[ \t\n\r\f]?|[^\n])", re.IGNORECASE)
_IN_NAME: Final = re.compile(r"[a-z0-9-]\Z", re.IGNORECASE)
_SKIPPED: Final = re.compile(
    r"""/\*(?:.*?\*/|.*)|"(?:[^"\\\n]++|\\.)*+"?|'(?:[^'\\\n]++|\\.)*+'?|"""
    r"""(?<![\w\-\x80-\U0010ffff])url\((?!\s*+["'])(?:[^)\\]++|\\.)*+""",
    re.IGNORECASE | re.DOTALL,
)
"""Comments, strings and URLs: no declaration begins or ends in them."""
_HIDING: Final = re.compile(
    r"(?:\A|[;}])\s*+(?:display\s*+:\s*+none|visibility\s*+:\s*+(?:hidden|collapse))\s*+(?:[!;}]|\Z)", re.IGNORECASE
)


def hides(style: str) -> bool:
    """Whether a declaration of this `style` attribute hides the element and its text, even if a later one shows it:
    `display: none`, `visibility: hidden` or `collapse`. Linear.

    `opacity: 0` and `font-size: 0` do not count: pages have them for text that a script fades in, and around text that
    has a size of its own.
    """
    plain = _ESCAPE.sub(_unescaped, style) if "\\" in style else style
    return _HIDING.search(_SKIPPED.sub(" ", plain)) is not None


def _unescaped(found: re.Match[str]) -> str:
    """Returns the character that an escape in a name stands for. Others stay escapes: they are no punctuation."""
    number = int(found[1], 16) if found[1] else ord(found[0][1])
    character = chr(number) if number < 128 else ""
    return character if _IN_NAME.match(character) else found[0]
