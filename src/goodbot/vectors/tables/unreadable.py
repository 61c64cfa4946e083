"""Files that are not text, or only in part. Each row is about /x and any robot, in RFC 9309."""

from collections.abc import Iterator
from typing import Final

from goodbot.vectors.case import Case, Kind, case, expect

_RULES: Final = "User-agent: *\nDisallow: /x\n"

UNREADABLE: Final[tuple[tuple[str, bytes, bool, Kind], ...]] = (
    # name, robots.txt, whether it allows /x, kind
    ("empty", b"", True, "must"),
    ("only a byte order mark", b"\xef\xbb\xbf", True, "choice"),
    ("byte order mark", b"\xef\xbb\xbf" + _RULES.encode(), False, "choice"),
    ("half a byte order mark spoils its line", b"\xef\xbb" + _RULES.encode(), True, "choice"),
    ("NUL alone", b"\x00" * 1000, True, "must"),
    ("NUL between the lines", b"User-agent: *\n\x00\nDisallow: /x\n", False, "must"),
    ("NUL in the pattern", b"User-agent: *\nDisallow: /x\x00\n", True, "choice"),
    ("UTF-16 LE with mark", b"\xff\xfe" + _RULES.encode("utf-16-le"), False, "choice"),
    ("UTF-16 BE with mark", b"\xfe\xff" + _RULES.encode("utf-16-be"), False, "choice"),
    ("UTF-16 cut off", b"\xff\xfe" + _RULES.encode("utf-16-le") + b"\x00", False, "choice"),
    ("UTF-16 without mark", _RULES.encode("utf-16-le"), True, "choice"),
    ("UTF-32 with mark", b"\xff\xfe\x00\x00" + _RULES.encode("utf-32-le"), True, "choice"),
    ("CR only", _RULES.replace("\n", "\r").encode(), False, "must"),
    ("not UTF-8 in a comment", b"# caf\xe9\n" + _RULES.encode(), False, "must"),
    ("not UTF-8 in another rule", _RULES.encode() + b"Allow: /caf\xe9\n", False, "must"),
    ("U+2028 after a name", "User-agent: *\u2028\nUser-agent: *\nDisallow: /x\n".encode(), False, "choice"),
    ("HTML", b"<!DOCTYPE html>\n<html><head><title>404: Not Found</title></head></html>", True, "must"),
    ("colons", b":" * 20_000, True, "must"),
)


def unreadable_cases() -> Iterator[Case]:
    """Yields every row for RFC 9309."""
    for name, body, allowed, kind in UNREADABLE:
        yield case("bytes", body, "/x", expect("errors", allowed, ("rfc9309",), kind), name)
