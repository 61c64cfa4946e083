"""The form in which paths are compared (RFC 9309 §2.2.2): which octets stay as they are, and which are percent-encoded.

Two texts are equal if their compared forms are equal. The same steps are applied to the pattern and to the URL:

1. Octets beyond ASCII, and ASCII characters that a URI cannot contain (space, `"`, `<`, `\\`, …), are percent-encoded.
2. An encoded octet that is unreserved (letter, digit, `-`, `.`, `_`, `~`) is decoded; any other stays encoded, with its
   hexadecimal digits in upper case (RFC 3986 §6.2.2.1). `%` without two such digits stays as it is.
3. A literal `*` or `$` is written `%2A` or `%24` (§2.2.3).
4. Reserved characters inside the value of a query parameter are encoded too (figure 4, second row).
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
_TRIPLET_ANY = re.compile(r"%[0-9A-Fa-f]{2}")
_PARAMETER_VALUE = re.compile(r"=([^&]+)")
_RESERVED_IN_VALUE = re.compile(r"[:/?#\[\]@!'()+,;=]")

_ORIGIN = r"(?:[A-Za-z][A-Za-z0-9+.\-]*://[^/?#]*)?"
_TARGET = re.compile(_ORIGIN + r"([^#]*)")

# Texts that these steps do not change, recognized by one test instead of four passes.
_PATH = r"[A-Za-z0-9\-._~:/\[\]@!&'()+,;=]*"
_PARAMETER = r"[A-Za-z0-9\-._~]*(?:=[A-Za-z0-9\-._~]*)?"
_SAME_TARGET = re.compile(_ORIGIN + rf"(/{_PATH}(?:\?{_PARAMETER}(?:&{_PARAMETER})*)?)(?:#.*)?", re.DOTALL)
_SAME_PATTERN = re.compile(r"[A-Za-z0-9\-._~:/\[\]@!&'()+,;=*]+\$?")


class Compared(NamedTuple):
    """The two compared forms of a pattern or a target: with query values as they are, and with query values encoded.

    A pattern matches if one of its forms matches the same form of the target.
    """

    # Deviation (RFC 9309 §2.2.2): the RFC defines only the encoded form. But it is not known what a `*` has matched, so
    # in that form `/*https://` could never match a query value.

    plain: str
    encoded: str


def path_and_query(url: str) -> str:
    """Returns path and query of `url` (absolute, or a path) as written, without fragment; an empty path is `/`."""
    found = _TARGET.match(url)
    target = found.group(1) if found else ""
    return target if target.startswith("/") else "/" + target


def compared_target(url: str) -> Compared:
    """Returns path and query of `url` (absolute, or a path) in their compared forms. Never raises; linear.

    The fragment is dropped; an empty path is `/`. A lone surrogate counts as the three octets that UTF-8 would give it.
    """
    unchanged = _SAME_TARGET.fullmatch(url)
    if unchanged:
        target = unchanged.group(1)
        return Compared(target, target)
    plain = _TO_CHANGE.sub(_changed, octets_of(path_and_query(url)))
    return Compared(plain, _with_values_encoded(plain))


def compared_pattern(pattern: str) -> Compared:
    """Returns the compared forms of a path pattern; `*`, and `$` at the end, keep their meaning. Never raises;
    linear."""
    if _SAME_PATTERN.fullmatch(pattern):
        return Compared(pattern, pattern)
    end = "$" if pattern.endswith("$") else ""
    body = octets_of(pattern[:-1] if end else pattern)
    plain = _TO_CHANGE_IN_PATTERN.sub(_changed, body)
    return Compared(plain + end, _with_values_encoded(plain) + end)


def normal_triplets(text: str) -> str:
    """Returns a text in which percent-encoded octets have their normal form: see step 2 above."""
    return _TRIPLET_ANY.sub(_changed, text)


def octets_of(text: str) -> str:
    """Returns the UTF-8 octets of a text, one character each."""
    return text if text.isascii() else text.encode("utf-8", "surrogatepass").decode("latin-1")


def _changed(match: re.Match[str]) -> str:
    return _COMPARED[match.group()]


def _with_values_encoded(plain: str) -> str:
    """Encodes reserved characters inside query values: after the first `=` of a parameter, up to `&`."""
    path, mark, query = plain.partition("?")
    if "=" not in query:
        return plain
    return path + mark + _PARAMETER_VALUE.sub(_value_encoded, query)


def _value_encoded(match: re.Match[str]) -> str:
    return "=" + _RESERVED_IN_VALUE.sub(lambda character: _OCTET[character.group()], match.group(1))
