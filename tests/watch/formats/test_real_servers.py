"""Every line that nginx, Apache and Caddy write is read: each server runs on loopback and is sent odd requests."""

import socket
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.formats.pattern import parse_pattern
from goodbot.watch.formats.recognition import LineReader
from goodbot.watch.log_entries import LogEntry, SkipReason
from watch.formats.log_servers import (
    APACHE_FORMATS,
    NGINX_FORMATS,
    OFFSET_S,
    TIMEOUT_S,
    LogServer,
    apache,
    caddy,
    has_ipv6,
    nginx,
)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each request comes from an address of its own")

GOOGLEBOT: Final = b"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"


@dataclass(frozen=True, slots=True)
class Visit:
    """A request, and what the client said of itself."""

    request: bytes
    agent: bytes | None = None
    referrer: bytes | None = None
    forwarded: bytes | None = None

    def sent(self) -> bytes:
        """Returns the bytes of the request."""
        fields = {b"User-Agent": self.agent, b"Referer": self.referrer, b"X-Forwarded-For": self.forwarded}
        lines = [self.request, b"Host: example.org", b"Connection: close"]
        lines += [name + b": " + value for name, value in fields.items() if value is not None]
        return b"\r\n".join([*lines, b"", b""])


VISITS: Final = {
    "page": Visit(b"GET /page HTTP/1.1", GOOGLEBOT),
    "referrer": Visit(b"GET /page?q=1&x=%22 HTTP/1.1", GOOGLEBOT, b"http://example.org/from?a=b"),
    "no agent": Visit(b"GET /page HTTP/1.1"),
    "empty agent": Visit(b"GET /page HTTP/1.1", b""),
    "HEAD": Visit(b"HEAD /page HTTP/1.1", b"Head/1"),
    "gone": Visit(b"GET /gone HTTP/1.1", b"Gone/1"),
    "redirect": Visit(b"GET /old HTTP/1.1", b"Old/1"),
    "quotes": Visit(b'GET /"x" HTTP/1.1', b'Quoted/1 "a" "b', b'http://example.org/"'),
    "answer in quotes": Visit(b'GET /" 200 5 "-" HTTP/1.1', b'X" 404 1 "-'),
    "backslashes": Visit(rb"GET /a\b HTTP/1.1", rb"Slash\1 \\ \" \n end\ "[:-1]),
    "UTF-8": Visit("GET /й HTTP/1.1".encode(), "Робот/1.0 ✓".encode()),
    "not UTF-8": Visit(b"GET /\xff\xfe HTTP/1.1", b"Latin \xe9\xff"),
    "terminal": Visit(b"GET /page HTTP/1.1", b"T\t[31m \xc2\x9b31m"),
    "HTML": Visit(b"GET /<b>&amp; HTTP/1.1", b"<script>alert(1)</script>"),
    "brackets": Visit(b"GET /[x] HTTP/1.1", b"[17/May/2015:10:05:03 +0000] {}"),
    "long": Visit(b"GET /" + b"x" * 6_000 + b" HTTP/1.1", b"L" * 1_000),
    "forwarded": Visit(b"GET /page HTTP/1.1", b"F/1", None, b"203.0.113.7, 198.51.100.2"),
    "HTTP/1.0": Visit(b"GET /page HTTP/1.0", b"Old/0"),
    "junk": Visit(b"\x01\x02 junk"),
    "TLS": Visit(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
}
ADDRESSES: Final = {name: f"127.0.1.{number}" for number, name in enumerate(VISITS, 1)} | {"IPv6": "::1"}

Start = Callable[[Path], AbstractContextManager[LogServer]]
SERVERS: Final[dict[str, Start]] = {"nginx": nginx, "apache": apache, "caddy": caddy}
LOGS: Final = {
    "nginx": ("combined", "main", "timed", "named", "iso", "json", "numbers"),
    "apache": ("common", "combined", "vhost_combined", "combinedio", "microseconds", "own"),
    "caddy": ("json",),
}
FORMAT_NAMES: Final = {
    ("nginx", "combined"): "combined",
    ("nginx", "main"): "combined with X-Forwarded-For",
    ("nginx", "timed"): "combined with times",
    ("nginx", "named"): "combined with times",
    ("nginx", "iso"): "combined with host",
    ("nginx", "json"): "JSON (nginx)",
    ("nginx", "numbers"): "JSON (nginx)",
    ("apache", "common"): "common",
    ("apache", "combined"): "combined",
    ("apache", "vhost_combined"): "combined with host",
    ("apache", "combinedio"): "combined with other fields",
    ("apache", "microseconds"): "combined with times",
    ("apache", "own"): "custom pattern",
    ("caddy", "json"): "JSON (Caddy)",
}
TIMED: Final = {("nginx", name) for name in ("timed", "named", "json", "numbers")} | {
    ("apache", "microseconds"),
    ("apache", "own"),
    ("caddy", "json"),
}
WITH_FORWARDED: Final = {
    ("nginx", "main"),
    ("nginx", "named"),
    ("nginx", "json"),
    ("apache", "own"),
    ("caddy", "json"),
}
WITH_HOST: Final = {("nginx", "iso"), ("apache", "vhost_combined"), ("caddy", "json")}
EPOCHS: Final = {("nginx", "numbers"), ("apache", "own"), ("caddy", "json")}
NO_REFERRER: Final = {("nginx", "numbers"), ("apache", "own"), ("apache", "common")}
BYTES_WITH_HEAD: Final = {("nginx", "numbers")}
PATTERNS: Final = {
    ("apache", "own"): APACHE_FORMATS["own"][1:-1],
}


@dataclass(frozen=True, slots=True)
class Visited:
    """What one server answered, and what it logged."""

    answers: dict[str, bytes]
    started_at: int
    ended_at: int
    logs: dict[str, str]


@pytest.fixture(scope="module")
def visited(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Visited]:
    """Each server, after all visits."""
    return {name: _visit(start, tmp_path_factory.mktemp(name)) for name, start in SERVERS.items()}


def _visit(start: Start, folder: Path) -> Visited:
    started_at = int(time.time())
    with start(folder) as server:
        answers = {name: _answer(server.port, visit, ADDRESSES[name]) for name, visit in VISITS.items()}
        if has_ipv6():
            answers["IPv6"] = _answer(server.port, VISITS["page"], ADDRESSES["IPv6"])
    logs = {name: path.read_text("latin-1") for name, path in server.logs.items()}
    return Visited(answers, started_at, int(time.time()), logs)


def _answer(port: int, visit: Visit, address: str) -> bytes:
    server = "::1" if address == "::1" else "127.0.0.1"
    with socket.create_connection((server, port), timeout=TIMEOUT_S, source_address=(address, 0)) as client:
        client.sendall(visit.sent())
        answer = bytearray()
        while part := client.recv(65_536):
            answer += part
    return bytes(answer)


def _status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


def _read(visited: Visited, log: str, pattern: str | None = None) -> tuple[dict[str, LogEntry], LineReader]:
    """Reads all lines of a log; every line is a request."""
    reader = LineReader(parse_pattern(pattern) if pattern else None)
    entries: dict[str, LogEntry] = {}
    for line in visited.logs[log].splitlines(keepends=False):
        entry: LogEntry | SkipReason = reader.read(line)
        assert isinstance(entry, LogEntry), (entry, line)
        assert entry.address not in entries
        entries[entry.address] = entry
    return entries, reader


def _nginx_text(text: bytes) -> str:
    return "".join(chr(b) if 0x20 <= b < 0x7F and b not in b'"\\' else f"\\x{b:02X}" for b in text)


def _apache_text(text: bytes) -> str:
    named = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"}
    return "".join(named.get(b) or (chr(b) if 0x20 <= b < 0x7F else f"\\x{b:02x}") for b in text)


def _json_text(text: bytes) -> str:
    return text.decode("utf-8", "replace").encode().decode("latin-1")


def _writes(server: str, log: str) -> Callable[[bytes], str]:
    """Returns how a server writes text into a log."""
    if log in ("json", "numbers"):
        return _json_text
    return _nginx_text if server == "nginx" else _apache_text


CASES: Final = [(server, log) for server, logs in LOGS.items() for log in logs]


def test_every_format_is_visited() -> None:
    assert set(LOGS["nginx"]) == set(NGINX_FORMATS)
    assert set(LOGS["apache"]) == set(APACHE_FORMATS)
    assert set(CASES) == set(FORMAT_NAMES)


@pytest.mark.parametrize(("server", "log"), CASES)
def test_every_line_is_read(visited: dict[str, Visited], server: str, log: str) -> None:
    entries, reader = _read(visited[server], log, PATTERNS.get((server, log)))
    answers = visited[server].answers
    expected = {ADDRESSES[name] for name in answers if _status(answers[name]) != 400 or server != "caddy"}
    assert set(entries) == expected
    assert reader.formats == {FORMAT_NAMES[server, log]: len(entries)}


@pytest.mark.parametrize(("server", "log"), CASES)
def test_every_value_is_right(visited: dict[str, Visited], server: str, log: str) -> None:
    entries, _ = _read(visited[server], log, PATTERNS.get((server, log)))
    for name, visit in VISITS.items():
        if (entry := entries.get(ADDRESSES[name])) is None:
            continue
        assert entry == _expected(server, log, visited[server], name, visit, entry), name


def _expected(server: str, log: str, visited: Visited, name: str, visit: Visit, entry: LogEntry) -> LogEntry:
    """Returns what a line must be read as. Time and duration are taken from the line, if they are possible."""
    case, writes = (server, log), _writes(server, log)
    _, _, body = visited.answers[name].partition(b"\r\n\r\n")
    assert visited.started_at <= entry.at <= visited.ended_at
    if case in TIMED:
        assert entry.duration_s is not None
        assert 0 <= entry.duration_s <= visited.ended_at - visited.started_at + 1
    else:
        assert entry.duration_s is None
    status = _status(visited.answers[name])
    is_understood = status != 400  # otherwise servers read no header fields, and Apache logs a part of the request
    if case in BYTES_WITH_HEAD:
        body = visited.answers[name]
    elif server == "caddy" and name == "HEAD":  # Caddy counts what GET would have sent
        body = visited.answers["page"].partition(b"\r\n\r\n")[2]
    return LogEntry(
        ADDRESSES[name],
        entry.at,
        (entry.at + (0 if case in EPOCHS else OFFSET_S)) % 86_400 // 3600,
        writes(visit.request) if is_understood else entry.request,
        status,
        len(body),
        None if case in NO_REFERRER else bool(visit.referrer),
        None if log == "common" else writes(visit.agent or b"") if is_understood else "",
        entry.duration_s,
        writes(visit.forwarded) if visit.forwarded and case in WITH_FORWARDED else None,
        host=_expected_host(case, entry, is_understood=is_understood),
    )


def _expected_host(case: tuple[str, str], entry: LogEntry, *, is_understood: bool) -> str | None:
    """The port is that of the test; a request without a valid host belongs to no site, or to the server's own."""
    if case in WITH_HOST and is_understood:
        assert host_name(entry.host or "") == "example.org"
    return entry.host if case in WITH_HOST else None


@pytest.mark.parametrize("server", ["nginx", "apache"])
def test_tls_handshakes_are_requests(visited: dict[str, Visited], server: str) -> None:
    entries, _ = _read(visited[server], "combined")
    entry = entries[ADDRESSES["TLS"]]
    assert (entry.request[:8], entry.status) == (r"\x16\x03", 400)


@pytest.mark.parametrize(
    ("server", "log", "pattern"),
    [
        *[("nginx", log, NGINX_FORMATS[log]) for log in ("main", "timed", "named", "iso")],
        *[("apache", log, f"LogFormat {APACHE_FORMATS[log]} own") for log in LOGS["apache"] if log != "own"],
        *[("apache", log, APACHE_FORMATS[log][1:-1]) for log in LOGS["apache"] if log != "own"],
    ],
)
def test_the_pattern_of_a_server_gives_the_same(
    visited: dict[str, Visited], server: str, log: str, pattern: str
) -> None:
    entries, recognized = (_read(visited[server], log, given)[0] for given in (pattern, None))
    assert _without_ports(entries) == _without_ports(recognized)


def _without_ports(entries: dict[str, LogEntry]) -> dict[str, LogEntry]:
    """A pattern cuts the port off a host; a line that is recognized keeps it."""
    return {key: entry._replace(host=entry.host and host_name(entry.host)) for key, entry in entries.items()}
