"""Builds header fields for libcurl and parses those it returns. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from goodbot.values import Headers


@dataclass(frozen=True, slots=True)
class FieldLines:
    """Header fields of a request: `given` to libcurl in its form, and `recorded` without passwords."""

    given: list[bytes]
    recorded: bytes


def merge_fields(own: Headers, given: Headers) -> Headers:
    """Returns our own fields, except those that are given, then the given ones."""
    names = {name.lower() for name, _ in given}
    return (*(field for field in own if field[0].lower() not in names), *given)


def make_fields(headers: Headers) -> FieldLines:
    """Builds the fields of a request. Raises ValueError for what cannot be sent: a line break, or text beyond Latin-1.

    libcurl reads `Name;` as an empty value, and `Name:` as an order to leave out its own field. With its own `Expect`
    it would wait a second before it sends a body of a megabyte to a server that ignores the field.
    """
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in headers]
    if any(char in line for line in lines for char in "\r\n\0"):
        raise ValueError(f"a header field cannot hold a line break: {[name for name, _ in headers]}")
    recorded = "".join(_recorded_line(name, value) for name, value in headers) + "\r\n"
    return FieldLines(
        [*(line.encode("latin-1") for line in lines), b"Proxy-Connection:", b"Expect:"], recorded.encode("latin-1")
    )


def _recorded_line(name: str, value: str) -> str:
    if name.lower() == "authorization":
        return f"{name}: {value.partition(' ')[0]} [withheld]\r\n"
    return f"{name}: {value}\r\n" if value else f"{name}:\r\n"


def parse_head(lines: Iterable[bytes]) -> tuple[str, int, str, Headers] | None:
    """Returns version, status, reason and fields of the first head that is not 1xx; None if none is complete.

    Lines that follow it are trailers and left out. Decoded as Latin-1, so that no byte is lost (RFC 9110 §5.5); folded
    lines are joined (RFC 9112 §5.2).
    """
    text = b"".join(lines).decode("latin-1")
    if "\n " in text or "\n\t" in text:  # rare, and the substitution costs as much as everything else
        text = _FOLD.sub(" ", text)
    start = ""
    fields: list[tuple[str, str]] = []
    for raw in text.split("\n")[:-1]:
        line = raw.rstrip("\r")
        if not start:
            start = line
        elif not line:
            version, status, reason = _parse_start(start)
            if status >= 200:
                return version, status, reason, tuple(fields)
            start = ""
            fields.clear()
        else:
            name, _, value = line.partition(":")
            fields.append((name.strip(_SPACES), value.strip(_SPACES)))
    return None


def content_length(lines: Iterable[bytes]) -> int | None:
    """Returns the last Content-Length of the head; None if there is none, or no number."""
    length = None
    for line in lines:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            value = value.strip()
            length = int(value) if value.isdigit() and len(value) < 20 else None
    return length


_SPACES = " \t"
_FOLD = re.compile(r"\r?\n[ \t]+")


def _parse_start(line: str) -> tuple[str, int, str]:
    """Parses a status line (RFC 9112 §4); status 0 if it has none."""
    version, _, rest = line.partition(" ")
    code, _, reason = rest.lstrip(_SPACES).partition(" ")
    digits = code[:3]
    return version, int(digits) if digits.isascii() and digits.isdigit() else 0, reason.strip(_SPACES)
