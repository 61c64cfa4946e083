"""Makes untrusted text safe to print."""

import json
import re
from typing import Any, Final
from unicodedata import category

SHOWN_CHARS: Final = 120

_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def visible(text: str) -> str:
    r"""Replaces invisible characters by escapes such as `\n`, `\x1b` or `\u202e`, so that the text cannot control a
    terminal or hide a character.

    Invisible are control characters (C0, DEL, C1), format characters (writing direction, joiners, other characters
    without width), line and paragraph separators, lone surrogates, private and unassigned code points. Spaces of any
    width stay. Applying this twice changes nothing.
    """
    return text if text.isprintable() else "".join(map(_escaped, text))


def _escaped(character: str) -> str:
    if character.isprintable() or category(character) == "Zs":
        return character
    return character.encode("unicode_escape").decode("ascii")


def strict_json(value: object, **options: Any) -> str:
    """JSON in ASCII, without the lone surrogates that `json.dumps` would write: see `unicode_only`. `options`: of
    `json.dumps`."""
    text = json.dumps(value, **options)
    if "\\ud" in text:  # a half of a pair, or a lone one
        text = json.dumps(json.loads(unicode_only(json.dumps(value, ensure_ascii=False, **options))))
    return text


def unicode_only(text: str) -> str:
    """Replaces lone surrogates: a byte of a file name that is not UTF-8 becomes `%FF`, any other U+FFFD."""
    return _SURROGATE.sub(lambda match: _of_surrogate(ord(match[0])), text)


def _of_surrogate(code: int) -> str:
    return f"%{code - 0xDC00:02X}" if 0xDC80 <= code <= 0xDCFF else "\ufffd"


def shown(text: str, most: int = SHOWN_CHARS) -> str:
    """Makes a text safe to show in a sentence: visible, and cut after `most` characters with `…`.

    A value in a robots.txt may be as long as the file.
    """
    return visible(text if len(text) <= most else text[:most] + "…")
