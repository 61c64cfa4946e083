"""The common and the combined format, and the formats made from them."""

from typing import Final

import pytest

from goodbot.watch.formats.quoted import QuotedFormat, quoted_format, read_quoted, read_tail
from goodbot.watch.log_entries import LogEntry, SkipReason

AT: Final = 1431857103
TIME: Final = "[17/May/2015:10:05:03 +0000]"
START: Final = f"192.0.2.1 - - {TIME}"
REQUEST: Final = '"GET /a HTTP/1.1" 200 5316'
COMBINED: Final = f'{START} {REQUEST} "http://example.org/" "Agent/1"'
LOCAL: Final = COMBINED.replace("192.0.2.1", "10.0.0.1", 1)


def entry(**changes: object) -> LogEntry:
    """Returns the request of `COMBINED`, with changes."""
    usual = LogEntry("192.0.2.1", AT, 10, "GET /a HTTP/1.1", 200, 5316, True, "Agent/1")
    return usual._replace(**changes)  # type: ignore[arg-type]


NOTHING: Final = entry(size=0, referrer=False, agent="")
COMMON: Final = entry(referrer=None, agent=None)
BROKEN: Final = COMMON._replace(status=400, size=157)

LINES: Final[dict[str, tuple[str, str, LogEntry]]] = {
    "combined": (COMBINED, "combined", entry()),
    "common": (f"{START} {REQUEST}", "common", COMMON),
    "no size": (f'{START} "GET /a HTTP/1.1" 304 -', "common", COMMON._replace(status=304, size=0)),
    "no referrer, no agent": (f'{START} {REQUEST} "-" "-"', "combined", entry(referrer=False, agent="")),
    "empty referrer and agent": (f'{START} {REQUEST} "" ""', "combined", entry(referrer=False, agent="")),
    "no request": (f'{START} "-" 408 - "-" "-"', "combined", NOTHING._replace(request="-", status=408)),
    "empty request": (f'{START} "" 400 0 "-" "-"', "combined", NOTHING._replace(request="", status=400)),
    "no answer": (f'{START} "GET /a" 000 0', "common", COMMON._replace(request="GET /a", status=0, size=0)),
    "status not known": (f'{START} "GET /a" - -', "common", COMMON._replace(request="GET /a", status=0, size=0)),
    "nginx's 499": (f'{START} "GET /a" 499 0', "common", COMMON._replace(request="GET /a", status=499, size=0)),
    "TLS": (f'{START} "\\x16\\x03\\x01" 400 157', "common", BROKEN._replace(request=r"\x16\x03\x01")),
    "TLS, raw": (f'{START} "\x16\x03\x01" 400 157', "common", BROKEN._replace(request="\x16\x03\x01")),
    "IPv6": (COMBINED.replace("192.0.2.1", "2001:db8::1"), "combined", entry(address="2001:db8::1")),
    "IPv6 in brackets": (COMBINED.replace("192.0.2.1", "[::1]"), "combined", entry(address="::1")),
    "zone": (COMBINED.replace("192.0.2.1", "fe80::1%eth0"), "combined", entry(address="fe80::1%eth0")),
    "name": (COMBINED.replace("192.0.2.1", "crawl-1.example.org"), "combined", entry(address="crawl-1.example.org")),
    "UNIX socket": (COMBINED.replace("192.0.2.1", "unix:"), "combined", entry(address="unix:")),
    "address and port": (COMBINED.replace("192.0.2.1", "192.0.2.1:4711"), "combined", entry()),
    "user": (COMBINED.replace("- -", "- ann"), "combined", entry()),
    "user with spaces": (COMBINED.replace("- -", "- ann of ghent"), "combined", entry()),
    "identity and user": (COMBINED.replace("- -", "frank ann"), "combined", entry()),
    "zone of time": (COMBINED.replace("10:05:03 +0000", "07:05:03 -0300"), "combined", entry(hour=7)),
    "ISO time": (COMBINED.replace(TIME, "[2015-05-17T12:05:03+02:00]"), "combined", entry(hour=12)),
    "epoch": (COMBINED.replace(TIME, "[1431857103.678]"), "combined", entry()),
    "host": (f"example.org {COMBINED}", "combined with host", entry(host="example.org")),
    "host and port": (f"example.org:443 {COMBINED}", "combined with host", entry(host="example.org:443")),
    "host and port, user": (
        f"example.org:443 {COMBINED.replace('- -', 'frank ann')}",
        "combined with host",
        entry(host="example.org:443"),
    ),
    "IPv6 host": (f"[::1]:80 {COMBINED}", "combined with host", entry(host="[::1]:80")),
    "common with host": (
        f"example.org:80 {START} {REQUEST}",
        "common with host",
        COMMON._replace(host="example.org:80"),
    ),
    "X-Forwarded-For first": (f"8.8.8.8, 203.0.113.7, 10.0.0.7, {LOCAL}", "combined", entry(address="203.0.113.7")),
    "X-Forwarded-For first, no space": (f"8.8.8.8,203.0.113.7,{LOCAL}", "combined", entry(address="203.0.113.7")),
    "X-Forwarded-For first, invented": (f"unknown, {COMBINED}", "combined", entry()),
    "X-Forwarded-For after a host": (
        f"x.example 8.8.8.8, {COMBINED}",
        "combined with host",
        entry(host="x.example"),
    ),
    "X-Forwarded-For first, all local": (f"10.0.0.7, {LOCAL}", "combined", entry(address="10.0.0.1")),
    "invented forwarded": (
        f'{COMBINED} "unknown, 203.0.113.7"',
        "combined with X-Forwarded-For",
        entry(forwarded="unknown, 203.0.113.7"),
    ),
    "escaped quotes": (
        f'{START} "GET /\\"x\\" HTTP/1.1" 200 5 "http://x/\\"" "A \\"b\\\\"',
        "combined",
        entry(request=r"GET /\"x\" HTTP/1.1", size=5, agent=r"A \"b\\"),
    ),
    "quotes as bytes": (COMBINED.replace("Agent/1", r"A \x22b\x22 \x5C"), "combined", entry(agent=r"A \x22b\x22 \x5C")),
    "request with quotes": (COMBINED.replace("/a", '/"a" b'), "combined", entry(request='GET /"a" b HTTP/1.1')),
    "cut in the agent": (COMBINED[:-2], "combined", entry(agent="Agent/")),
    "request time": (f"{COMBINED} 0.005", "combined with times", entry(duration_s=0.005)),
    "common, request time": (f"{START} {REQUEST} 12.345", "common with times", COMMON._replace(duration_s=12.345)),
    "times of upstreams": (f"{COMBINED} 0.250 0.001, 0.249", "combined with times", entry(duration_s=0.25)),
    "time before the referrer": (
        COMBINED.replace("5316", "5316 0.005"),
        "combined with times",
        entry(duration_s=0.005),
    ),
    "microseconds": (f"{COMBINED} 1500", "combined with times", entry(duration_s=0.0015)),
    "bytes in and out": (f"{COMBINED} 109 481", "combined with other fields", entry()),
    "ratio of compression": (f'{COMBINED} "2.35"', "combined with other fields", entry()),
    "host and times": (
        f"example.org {COMBINED} 0.005",
        "combined with host and times",
        entry(duration_s=0.005, host="example.org"),
    ),
    "forwarded": (f'{COMBINED} "203.0.113.7"', "combined with X-Forwarded-For", entry(forwarded="203.0.113.7")),
    "not forwarded": (f'{COMBINED} "-"', "combined with X-Forwarded-For", entry()),
    "forwarded, IPv6": (
        f'{COMBINED} "2001:db8::1, 192.0.2.2"',
        "combined with X-Forwarded-For",
        entry(forwarded="2001:db8::1, 192.0.2.2"),
    ),
    "keys": (
        f'{COMBINED} "203.0.113.7" rt=0.005 uct="0.001" uht="0.002" urt="0.004"',
        "combined with times",
        entry(duration_s=0.005, forwarded="203.0.113.7"),
    ),
    "keys in quotes": (
        f'{COMBINED} xff="203.0.113.7" rt="0.005"',
        "combined with times",
        entry(duration_s=0.005, forwarded="203.0.113.7"),
    ),
    "Traefik": (
        f'{COMBINED} 7 "web@docker" "http://192.0.2.9:80" 12ms',
        "combined with times",
        entry(duration_s=0.012),
    ),
    "ingress": (
        f"{COMBINED} 512 0.005 [default-web-80] [] 192.0.2.9:80 5316 0.004 200 0f9e",
        "combined with times",
        entry(duration_s=0.005),
    ),
    "trailing space": (f"{COMBINED} ", "combined", entry()),
}  # fmt: skip


@pytest.mark.parametrize(("line", "name", "expected"), LINES.values(), ids=LINES)
def test_lines(line: str, name: str, expected: LogEntry) -> None:
    assert read_quoted(line) == (name, expected)
    found = quoted_format(line)
    assert isinstance(found, QuotedFormat)
    assert (found.name, found.parse(line)) == (name, expected)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("hello", "unknown format"),
        ('hello "world"', "unknown format"),
        ('hello "world" [', "unknown format"),
        ('a "b" c "d" e', "unknown format"),
        ('"' * 1_000, "unknown format"),
        (f"{START} ", "unknown format"),
        (f'{START} "GET /a', "unknown format"),
        (f" - - {TIME} {REQUEST}", "unknown format"),
        (f"{TIME} {REQUEST}", "unknown format"),
        (COMBINED.replace("17/May", "31/Feb"), "bad time"),
        (COMBINED.replace("[17/May", "[yesterday"), "bad time"),
        (COMBINED.replace(" 200 ", " 99 "), "bad status"),
        (COMBINED.replace(" 200 ", " 2000 "), "bad status"),
        (COMBINED.replace(" 200 ", " OK "), "bad status"),
        (COMBINED.replace(" 5316 ", " -1 "), "bad status"),
        (COMBINED.replace(" 200 5316 ", " 200 "), "bad status"),
        (COMBINED.replace(" 200 5316 ", " "), "unknown format"),
        ("2026/11/26 21:59:58 [error] 7#7: *1 open() \"/x\" failed", "unknown format"),
    ],
)  # fmt: skip
def test_other_lines_are_skipped(line: str, reason: SkipReason) -> None:
    assert read_quoted(line) == reason
    assert quoted_format(line) == reason
    assert QuotedFormat("combined").parse(line) == reason


def test_a_line_of_another_format_of_this_family_is_not_read() -> None:
    assert QuotedFormat("common").parse(COMBINED) == "unknown format"


@pytest.mark.parametrize(
    ("tail", "duration", "forwarded"),
    [
        ("", None, None),
        ("0.005", 0.005, None),
        ("0.00", None, None),
        ("1431857103.678", None, None),
        ("5ms", 0.005, None),
        ("5\xc2\xb5s", 5e-6, None),
        ("1.5s", 1.5, None),
        ("xms", None, None),
        ("rt=- urt=0.004", None, None),
        ("request_time=0.005", 0.005, None),
        ("9" * 5_000, None, None),
        ('"1.2.3"', None, None),
        ('"1.2.3.4"', None, "1.2.3.4"),
        ('"<b>::"', None, None),
        ('"x" "1.2.3.4"', None, "1.2.3.4"),
        ('fwd="unknown, 1.2.3.4"', None, "unknown, 1.2.3.4"),
        ('fwd="-"', None, None),
        ("=", None, None),
    ],
)
def test_fields_at_the_end(tail: str, duration: float | None, forwarded: str | None) -> None:
    assert read_tail(tail.split('"'))[1:] == (duration, forwarded)
