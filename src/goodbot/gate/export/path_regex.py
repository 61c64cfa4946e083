"""Regular expressions that match the targets which a path pattern of robots.txt matches.

They do to every octet what `exclusion.text.octets` does before it compares: `%7E` and `~` are equal, and so are `%2f`
and `%2F`, but `%2F` and `/` are not. Within the value of a query parameter, reserved characters are equal to their
encoded forms. The expressions differ in rare cases: a `*` does not know whether it has matched the beginning of such a
value, and RE2 matches octets beyond ASCII in their encoded form only.
"""

import re
from collections.abc import Iterator
from typing import Final

from goodbot.exclusion.text.octets import compared_pattern
from goodbot.gate.export.notation import Notation

MOST_OCTETS: Final = 3500
"""The longest expression: nginx reads at most 4,096 octets of one parameter."""

_UNIT: Final = re.compile(r"(?:%[89A-F][0-9A-F])+|%[0-9A-F]{2}|.", re.DOTALL)
_RESERVED: Final = frozenset(":/?#[]@!&'()+,;=")
_ENCODED_IN_VALUES: Final = _RESERVED - {"&"}
_AS_THEY_ARE: Final = frozenset("/:=&@,_~%")


def path_regex(pattern: str, notation: Notation) -> str:
    """Returns the expression for the targets that begin as the pattern says; it has no `^`. Empty if no target matches
    the pattern, since every target begins with `/`."""
    if not pattern.startswith(("/", "*")):
        return ""
    plain = compared_pattern(pattern).plain
    is_whole = plain.endswith("$")
    first, *others = _pieces(plain.removesuffix("$"), notation)
    if not others:
        return first + (notation.end if is_whole else "")
    if is_whole and not others[-1]:
        is_whole = False  # `*$` ends anywhere
    *middle, last = others
    anything = f"{notation.uri}*"
    steps = "".join(
        f"(?>{anything}?{piece})" if notation.has_atomic_groups else f"{anything}{piece}" for piece in middle if piece
    )
    if is_whole:
        return f"{first}{steps}{anything}{last}{notation.end}"
    return first + steps + (f"{anything}{last}" if last else "") or "/"


def _pieces(plain: str, notation: Notation) -> list[str]:
    """Returns an expression for each piece between two `*`."""
    pieces = [""]
    in_query = in_value = False
    for unit in _units(plain):
        if unit == "*":
            pieces.append("")
            continue
        pieces[-1] += _written(unit, notation, in_value=in_value)
        if unit == "?":
            in_query = True
        elif in_query and unit == "=":
            in_value = True
        elif unit == "&":
            in_value = False
    return pieces


def _units(plain: str) -> Iterator[str]:
    return (found[0] for found in _UNIT.finditer(plain))


def _written(unit: str, notation: Notation, *, in_value: bool) -> str:
    """Writes one character of a compared pattern, or a run of encoded octets beyond ASCII."""
    if len(unit) > 3 or (unit >= "%8" and len(unit) == 3):
        return _beyond_ascii(unit, notation)
    if unit == "%":
        return "%"
    letter = chr(int(unit[1:], 16)) if len(unit) == 3 else unit
    if letter == "%":
        return "%25"
    encoded = f"%{_digits(ord(letter))}"
    if letter in _RESERVED and not (in_value and letter in _ENCODED_IN_VALUES):
        return encoded if len(unit) == 3 else _raw(letter)
    return f"(?:{_raw(letter)}|{encoded})"


def _beyond_ascii(unit: str, notation: Notation) -> str:
    octets = bytes.fromhex(unit.replace("%", ""))
    if notation.reads_octets:
        return "".join(rf"(?:\x{octet:02x}|%{_digits(octet)})" for octet in octets)
    encoded = "".join(f"%{_digits(octet)}" for octet in octets)
    if not notation.reads_decoded:
        return encoded
    try:
        decoded = "".join(rf"\x{{{ord(one):x}}}" for one in octets.decode())
    except UnicodeDecodeError:
        return encoded
    return f"(?:{decoded}|{encoded})"


def _raw(letter: str) -> str:
    if letter.isalnum() or letter in _AS_THEY_ARE:
        return letter
    return rf"\{letter}" if letter in ".-" else rf"\x{ord(letter):02x}"


def _digits(octet: int) -> str:
    """Writes the hexadecimal digits of an octet so that both cases match."""
    return "".join(digit if digit.isdigit() else f"[{digit}{digit.lower()}]" for digit in f"{octet:02X}")
