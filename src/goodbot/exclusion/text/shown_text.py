"""Makes untrusted text safe to print."""

from typing import Final
from unicodedata import category

SHOWN_CHARS: Final = 120


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


def shown(text: str, most: int = SHOWN_CHARS) -> str:
    """Makes a text safe to show in a sentence: visible, and cut after `most` characters with `…`.

    A value in a robots.txt may be as long as the file.
    """
    return visible(text if len(text) <= most else text[:most] + "…")
