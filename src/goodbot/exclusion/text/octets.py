"""What two paths are compared as (RFC 9309 §2.2.2): which octets stand for themselves and which
percent-encoded.

Two texts are equal when their compared forms are; the same steps are taken with the pattern and with the URL:

1. Octets that are not ASCII, and ASCII ones a URI cannot hold (blank, `"`, `<`, `\\`, …), are
   percent-encoded.
2. An encoded octet that is unreserved (letter, digit, `-`, `.`, `_`, `~`) is decoded; any other stays
   encoded, with the hexadecimal digits in upper case (RFC 3986 §6.2.2.1). `%` without two such digits stays
   as it is.
3. `*` and `$` that are meant literally are `%2A` and `%24` (§2.2.3).
4. Reserved signs inside the value of a query parameter are encoded too (figure 4, second row).
"""

import re
from typing import NamedTuple

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_HEX = "0123456789ABCDEFabcdef"

_OCTET = {chr(octet): f"%{octet:02X}" for octet in range(256)}
_TRIPLET = {
    f"%{high}{low}": chr(int(high + low, 16)) if chr(int(high + low, 16)) in _UNRESERVED else f"%{high}{low}".upper()
    for high in _HEX
    for low in _HEX
}
_COMPARED = _OCTET | _TRIPLET

_TO_CHANGE = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=%]")
_TO_CHANGE_IN_PATTERN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~:/?#\[\]@!&'()+,;=%*]")
_PARAMETER_VALUE = re.compile(r"=([^&]+)")
_RESERVED_IN_VALUE = re.compile(r"[:/?#\[\]@!'()+,;=]")

_ORIGIN = r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*)?"
_TARGET = re.compile(_ORIGIN + r"([^#]*)")

# What these steps leave as it is, found in one test instead of four passes.
_PATH = r"[A-Za-z0-9\-._~:/\[\]@!&'()+,;=]*"
_PARAMETER = r"[A-Za-z0-9\-._~]*(?:=[A-Za-z0-9\-._~]*)?"
_SAME_TARGET = re.compile(_ORIGIN + rf"(/{_PATH}(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?)(?:#.*)?", re.DOTALL)
_SAME_PATTERN = re.compile(r"[A-Za-z0-9\-._~:/\[\]@!&'()+,;=*]+\$?")


class Compared(NamedTuple):
    """A pattern or a target as compared: with query values as they stand, and with them encoded.

    A pattern matches if one of its forms matches the same form of the target.
    """

    # Deviation (RFC 9309 §2.2.2): the RFC knows the encoded form only. But what a `*` has passed is not known, so that
    # `/*https://` could never match a query value in that form.

    plain: str
    encoded: str


def path_and_query(url: str) -> str:
    """Path and query of `url` (absolute, or a path) as written; the fragment is dropped, an empty path is `/`."""
    found = _TARGET.match(url)
    target = found.group(1) if found else ""
    return target if target.startswith("/") else "/" + target


def compared_target(url: str) -> Compared:
    """Path and query of `url` (absolute, or a path) in the forms they are compared in. Never raises; linear.

    The fragment is dropped; an empty path is `/`. A lone surrogate counts as the three octets UTF-8 would
    have for it.
    """
    unchanged = _SAME_TARGET.fullmatch(url)
    if unchanged:
        target = unchanged.group(1)
        return Compared(target, target)
    plain = _TO_CHANGE.sub(_changed, octets_of(path_and_query(url)))
    return Compared(plain, _with_values_encoded(plain))


def compared_pattern(pattern: str) -> Compared:
    """A path pattern in the forms it is compared in; `*` and a `$` at the end keep their meaning. Never
    raises; linear."""
    if _SAME_PATTERN.fullmatch(pattern):
        return Compared(pattern, pattern)
    end = "$" if pattern.endswith("$") else ""
    body = octets_of(pattern[:-1] if end else pattern)
    plain = _TO_CHANGE_IN_PATTERN.sub(_changed, body)
    return Compared(plain + end, _with_values_encoded(plain) + end)


def octets_of(text: str) -> str:
    """UTF-8 octets, one character each."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _changed(match: re.Match[str]) -> str:
    return _COMPARED[match.group()]


def _with_values_encoded(plain: str) -> str:
    """Reserved signs encoded inside query values: behind the first `=` of a parameter, up to `&`."""
    path, mark, query = plain.partition("?")
    if "=" not in query:
        return plain
    return path + mark + _PARAMETER_VALUE.sub(_value_encoded, query)


def _value_encoded(match: re.Match[str]) -> str:
    return "=" + _RESERVED_IN_VALUE.sub(lambda sign: _OCTET[sign.group()], match.group(1))
