"""Reads single values of log lines: address, status, size, duration, X-Forwarded-For, signatures."""

import re
from typing import Final

from goodbot.watch.addresses import is_local_address
from goodbot.watch.log_entries import SignatureFields

MOST_DIGITS: Final = 15
"""Digits of the largest number that is read."""

LONGEST_DURATION_S: Final = 10 * 365 * 86_400.0

ABSENT: Final = ("-", "")
"""How logs write a value that a request did not have."""


def parse_address(text: str) -> str:
    """Returns an address without brackets and port."""
    if text[:1] == "[":
        inside, _, _ = text[1:].partition("]")
        return inside or text
    if text.count(":") == 1:
        name, _, port = text.partition(":")
        return name if name and is_number(port) else text
    return text


def parse_status(text: str) -> int | None:
    """Returns the status; 0 for `-` and 000, which mean that there was no answer; None if it is not a status."""
    if len(text) == 3 and is_number(text):
        status = int(text)
        return status if status >= 100 or status == 0 else None
    return 0 if text in _NO_STATUS else None


_NO_STATUS: Final = ("-", "", "0")


def parse_size(text: str) -> int:
    """Returns a number of bytes; 0 if it is not known."""
    return int(text) if is_number(text) else 0


def parse_decimal(text: str) -> float | None:
    """Reads `12` or `0.005`; None for anything else."""
    whole, point, fraction = text.partition(".")
    if not is_number(whole) or (point and not is_number(fraction)):
        return None
    return float(text)


def parse_seconds(text: str, units_per_second: float = 1.0) -> float | None:
    """Returns a duration in seconds; the text has another unit if a second has more than one. None if it is none."""
    number = parse_decimal(text)
    return None if number is None else valid_duration(number / units_per_second)


def parse_with_unit(text: str) -> float | None:
    """Reads a duration with its unit, as in `12ms`, in seconds; None if it is none."""
    number = text.rstrip(_UNIT_CHARS)
    units = _UNITS_PER_SECOND.get(text[len(number) :])
    return parse_seconds(number, units) if units else None


_UNITS_PER_SECOND: Final = {"ns": 1e9, "us": 1e6, "\xc2\xb5s": 1e6, "ms": 1e3, "s": 1.0}
_UNIT_CHARS: Final = "".join(sorted({*"".join(_UNITS_PER_SECOND)}))


def valid_duration(seconds: float) -> float | None:
    """Returns a duration, or None if no request can take it."""
    return seconds if 0.0 <= seconds <= LONGEST_DURATION_S else None


def is_number(text: str) -> bool:
    """Whether a text is a number of at most `MOST_DIGITS` digits."""
    return text.isdecimal() and len(text) <= MOST_DIGITS and text.isascii()


def looks_forwarded(text: str) -> bool:
    """Whether a text can be a list of addresses, as in X-Forwarded-For. Only the last one counts, which a proxy added:
    anyone can write anything before it."""
    last = text.rpartition(",")[2].strip()
    is_address = last.count(".") == 3 or last.count(":") >= 2
    return is_address and len(last) <= _LONGEST_ADDRESS and not last.strip(_ADDRESS_CHARS)


def forwarded_client(text: str) -> str:
    """Returns the client of an X-Forwarded-For that stands in the place of the address: the last address that is not
    local, which the nearest proxy saw. Anyone can write anything before it. Empty if there is no address."""
    found = [parse_address(part.strip()) for part in text.split(",")[-_MOST_PROXIES:]]
    return next((address for address in reversed(found) if not is_local_address(address)), found[-1])


_MOST_PROXIES: Final = 16
_LONGEST_ADDRESS: Final = 64
_ADDRESS_CHARS: Final = "0123456789abcdefABCDEF.:[]"


def signature_fields(
    signature_input: str, signature: str, signature_agent: str, authority: str
) -> SignatureFields | None:
    """Returns the fields of a signed request; None if it has no Signature-Input."""
    if signature_input in ABSENT:
        return None
    return SignatureFields(signature_input, *map(present, (signature, signature_agent, authority)))


def unescaped(text: str) -> str:
    r"""Returns a field as the client sent it: nginx writes a quote as `\x22`, Apache as `\"`."""
    return _ESCAPE.sub(_unescaped, text) if "\\" in text else text


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[2]


_ESCAPE: Final = re.compile(r'\\(?:x([0-9A-Fa-f]{2})|(["\\]))')


def present(text: str) -> str | None:
    """Returns a text, or None if it means that the request had none."""
    return None if text in ABSENT else text
