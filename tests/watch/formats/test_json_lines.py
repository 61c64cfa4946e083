"""JSON logs: Caddy's, Traefik's, and those that administrators make with nginx."""

import json
from typing import Any, Final

import pytest

from goodbot.watch.formats.json_lines import CaddyFormat, FlatJsonFormat, json_format
from goodbot.watch.log_entries import LogEntry, SignatureFields, SkipReason
from goodbot.watch.wire_text import to_wire

AT: Final = 1431857103
HIT: Final = LogEntry("192.0.2.1", AT, 10, "GET /a HTTP/1.1", 200, 5316, True, "Agent/1", 0.25)


def caddy(request: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Returns a line of Caddy, with changes."""
    usual = {
        "remote_ip": "192.0.2.1",
        "remote_port": "4711",
        "client_ip": "192.0.2.1",
        "proto": "HTTP/1.1",
        "method": "GET",
        "host": "example.org",
        "uri": "/a",
        "headers": {"User-Agent": ["Agent/1"], "Referer": ["https://example.org/"], "Accept": ["*/*"]},
    }
    return {
        "level": "info",
        "ts": AT + 0.678,
        "logger": "http.log.access.log0",
        "msg": "handled request",
        "request": usual | (request or {}),
        "bytes_read": 0,
        "duration": 0.25,
        "size": 5316,
        "status": 200,
        "resp_headers": {"Server": ["Caddy"]},
        **fields,
    }


NGINX: Final[dict[str, Any]] = {
    "time_local": "17/May/2015:10:05:03 +0000",
    "remote_addr": "192.0.2.1",
    "remote_user": "",
    "request": "GET /a HTTP/1.1",
    "status": "200",
    "body_bytes_sent": "5316",
    "request_time": "0.250",
    "http_referrer": "https://example.org/",
    "http_user_agent": "Agent/1",
}
TRAEFIK: Final[dict[str, Any]] = {
    "ClientAddr": "192.0.2.1:4711",
    "ClientHost": "192.0.2.1",
    "ClientPort": "4711",
    "ClientUsername": "-",
    "DownstreamContentSize": 5316,
    "DownstreamStatus": 200,
    "Duration": 250000000,
    "OriginContentSize": 1,
    "OriginDuration": 1,
    "OriginStatus": 500,
    "RequestHost": "example.org",
    "RequestMethod": "GET",
    "RequestPath": "/a",
    "RequestProtocol": "HTTP/1.1",
    "StartLocal": "2015-05-17T12:05:03.123456789+02:00",
    "StartUTC": "2015-05-17T10:05:03.123456789Z",
    "entryPointName": "web",
    "level": "info",
    "msg": "",
    "time": "2015-05-17T12:05:04+02:00",
}
FROM_TRAEFIK: Final = HIT._replace(hour=12, referrer=None, agent=None, host="example.org")
FROM_CADDY: Final = HIT._replace(host="example.org")

LINES: Final[dict[str, tuple[dict[str, Any], str, LogEntry]]] = {
    "Caddy": (caddy(), "JSON (Caddy)", FROM_CADDY),
    "Caddy before 2.5": (
        caddy({"remote_ip": "", "client_ip": "", "remote_addr": "[2001:db8::1]:4711"}),
        "JSON (Caddy)",
        FROM_CADDY._replace(address="2001:db8::1"),
    ),
    "Caddy behind a trusted proxy": (
        caddy({"client_ip": "203.0.113.7", "headers": {"X-Forwarded-For": ["203.0.113.7", "192.0.2.2"]}}),
        "JSON (Caddy)",
        FROM_CADDY._replace(address="203.0.113.7", referrer=False, agent="", forwarded="203.0.113.7, 192.0.2.2"),
    ),
    "Caddy without header fields": (
        caddy({"headers": None}),
        "JSON (Caddy)",
        FROM_CADDY._replace(referrer=None, agent=None),
    ),
    "Caddy, time as text": (caddy(ts="2015-05-17T12:05:03+02:00"), "JSON (Caddy)", FROM_CADDY._replace(hour=12)),
    "Caddy, wall time": (caddy(ts="2015/05/17 10:05:03"), "JSON (Caddy)", FROM_CADDY),
    "Caddy, milliseconds": (caddy(ts=AT * 1000.0), "JSON (Caddy)", FROM_CADDY),
    "Caddy, nanoseconds": (caddy(duration=250000000), "JSON (Caddy)", FROM_CADDY),
    "Caddy, whole seconds": (caddy(duration=2), "JSON (Caddy)", FROM_CADDY._replace(duration_s=2.0)),
    "Caddy, duration as text": (caddy(duration="250ms"), "JSON (Caddy)", FROM_CADDY),
    "Caddy, microseconds as text": (caddy(duration="250µs"), "JSON (Caddy)", FROM_CADDY._replace(duration_s=0.00025)),
    "Caddy, no answer": (caddy(status=0), "JSON (Caddy)", FROM_CADDY._replace(status=0)),
    "nginx": (NGINX, "JSON (nginx)", HIT),
    "nginx, numbers": (
        NGINX | {"status": 200, "body_bytes_sent": 5316, "request_time": 0.25},
        "JSON (nginx)",
        HIT,
    ),
    "nginx, ISO time": (
        {"time_iso8601": "2015-05-17T12:05:03+02:00"} | {key: NGINX[key] for key in list(NGINX)[1:]},
        "JSON (nginx)",
        HIT._replace(hour=12),
    ),
    "nginx, msec": ({"msec": "1431857103.678"} | {key: NGINX[key] for key in list(NGINX)[1:]}, "JSON (nginx)", HIT),
    "nginx, empty": (
        NGINX | {"http_referrer": "", "http_user_agent": "", "request": "", "request_time": "-"},
        "JSON (nginx)",
        HIT._replace(referrer=False, agent="", request="", duration_s=None),
    ),
    "nginx, dashes": (
        NGINX | {"http_referrer": "-", "http_user_agent": "-", "body_bytes_sent": "-", "http_x_forwarded_for": "-"},
        "JSON (nginx)",
        HIT._replace(referrer=False, agent="", size=0),
    ),
    "nginx, forwarded": (
        NGINX | {"http_x_forwarded_for": "203.0.113.7"},
        "JSON (nginx)",
        HIT._replace(forwarded="203.0.113.7"),
    ),
    "nginx, parts of the request": (
        {key: value for key, value in NGINX.items() if key != "request"}
        | {"request_method": "GET", "request_uri": "/a?b", "server_protocol": "HTTP/2.0"},
        "JSON (nginx)",
        HIT._replace(request="GET /a?b HTTP/2.0"),
    ),
    "nginx, signed": (
        NGINX
        | {"http_host": "a.example", "http_signature_input": "s=()", "http_signature": "", "http_signature_agent": "b"},
        "JSON (nginx)",
        HIT._replace(signature=SignatureFields("s=()", None, "b", "a.example"), host="a.example"),
    ),
    "nginx, not signed": (NGINX | {"http_signature_input": "", "http_signature": "x"}, "JSON (nginx)", HIT),
    "Traefik, signed": (
        TRAEFIK
        | {"RequestAddr": "a.example:8", "request_Signature-Input": "s=()", "request_Signature": "s=:AA==:"},
        "JSON (Traefik)",
        FROM_TRAEFIK._replace(
            signature=SignatureFields("s=()", "s=:AA==:", None, "a.example:8"), host="a.example:8"
        ),
    ),
    "Caddy, signed": (
        caddy({"headers": {"Signature-Input": ["s=()", "t=()"], "Signature": ["s=:AA==:"], "Signature-Agent": []}}),
        "JSON (Caddy)",
        FROM_CADDY._replace(
            referrer=False, agent="", signature=SignatureFields("s=(), t=()", "s=:AA==:", None, "example.org")
        ),
    ),
    "UTF-8": (NGINX | {"http_user_agent": "Робот/1"}, "JSON (nginx)", HIT._replace(agent=to_wire("Робот/1"))),
    "Traefik": (TRAEFIK, "JSON (Traefik)", FROM_TRAEFIK),
    "Traefik with header fields": (
        TRAEFIK | {"request_User-Agent": "Agent/1", "request_Referer": "-", "request_X-Forwarded-For": "203.0.113.7"},
        "JSON (Traefik)",
        FROM_TRAEFIK._replace(agent="Agent/1", referrer=False, forwarded="203.0.113.7"),
    ),
    "another program": (
        {"ip": "192.0.2.1", "@timestamp": AT, "method": "GET", "path": "/a", "status_code": 200, "duration_ms": 250},
        "JSON",
        LogEntry("192.0.2.1", AT, 10, "GET /a", 200, 0, None, None, 0.25),
    ),
    "another program, no method": (
        {"ip": "192.0.2.1", "time": AT * 1000, "url": "/a", "status": 200, "latency": "12ms", "size": 5.0},
        "JSON",
        LogEntry("192.0.2.1", AT, 10, "/a", 200, 5, None, None, 0.012),
    ),
}  # fmt: skip


@pytest.mark.parametrize("is_ascii", [True, False], ids=["escaped", "UTF-8"])
@pytest.mark.parametrize(("fields", "name", "expected"), LINES.values(), ids=LINES)
def test_lines(fields: dict[str, Any], name: str, expected: LogEntry, is_ascii: bool) -> None:
    line = json.dumps(fields, ensure_ascii=is_ascii).encode().decode("latin-1")
    found = json_format(line)
    assert found is not None
    assert (found.name, found.parse(line)) == (name, expected)


SKIPPED: Final[dict[str, tuple[object, SkipReason]]] = {
    "an error of Caddy": (caddy(logger="http.log.error"), "unknown format"),
    "Caddy, bad time": (caddy(ts="soon"), "bad time"),
    "Caddy, time too large": (caddy(ts=1e300), "bad time"),
    "Caddy, bad status": (caddy(status=99), "bad status"),
    "Caddy, status as text": (caddy(status="200"), "unknown format"),
    "Caddy, no address": (caddy({"remote_ip": "", "client_ip": ""}), "unknown format"),
    "Caddy, other header fields": (caddy({"headers": {"User-Agent": "x"}}), "unknown format"),
    "bad time": (NGINX | {"time_local": "31/Feb/2015:10:05:03 +0000"}, "bad time"),
    "time is a list": (NGINX | {"time_local": [1]}, "bad time"),
    "bad status": (NGINX | {"status": "20"}, "bad status"),
    "status is an object": (NGINX | {"status": {}}, "bad status"),
    "no address": (NGINX | {"remote_addr": ""}, "unknown format"),
    "address is a number": (NGINX | {"remote_addr": 1}, "unknown format"),
    "no log": ({"level": "info", "msg": "started"}, "unknown format"),
    "list": ([1], "unknown format"),
    "number": (1, "unknown format"),
}


@pytest.mark.parametrize(("fields", "reason"), SKIPPED.values(), ids=SKIPPED)
def test_other_lines_are_skipped(fields: object, reason: SkipReason) -> None:
    line = json.dumps(fields)
    found = json_format(line)
    assert (found.parse(line) if found else "unknown format") == reason


@pytest.mark.parametrize(
    "line", ["", "{", "{}", "{]", '{"a":' * 60_000, "[" * 60_000, '{"a":"\\ud800"}', "{" + "9" * 60_000, '{"a":1e999}']
)
def test_what_is_no_json_is_skipped(line: str) -> None:
    assert json_format(line) is None
    assert CaddyFormat().parse(line) == "unknown format"
    assert FlatJsonFormat("JSON").parse(line) == "unknown format"


def test_bytes_that_are_not_utf_8_are_replaced() -> None:
    line = json.dumps(NGINX).replace("Agent/1", "A\xff")
    assert FlatJsonFormat("JSON (nginx)").parse(line) == HIT._replace(agent="A\xef\xbf\xbd")


def test_numbers_out_of_bounds_are_not_known() -> None:
    fields = NGINX | {"body_bytes_sent": 10**300, "request_time": 10**300}
    assert FlatJsonFormat("JSON (nginx)").parse(json.dumps(fields)) == HIT._replace(size=0, duration_s=None)


def test_objects_with_other_keys_have_another_format() -> None:
    reader = FlatJsonFormat("JSON (nginx)")
    assert reader.parse(json.dumps(TRAEFIK)) == "unknown format"
    for number in range(1_100):  # more kinds of objects than are remembered
        assert reader.parse(json.dumps(NGINX | {f"key{number}": 1})) == HIT
