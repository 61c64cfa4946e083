"""Reads logs with one JSON object per line: of Caddy, of Traefik, and of nginx with `escape=json`.

Caddy's objects have a fixed structure. All others are flat, and their keys are looked up in tables of usual names.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from goodbot.watch.formats.field_values import (
    ABSENT,
    parse_address,
    parse_seconds,
    parse_size,
    parse_status,
    parse_with_unit,
    present,
    signature_fields,
    valid_duration,
)
from goodbot.watch.formats.json_keys import FlatKeys, flat_keys, units_per_second
from goodbot.watch.formats.line_format import LineFormat
from goodbot.watch.formats.log_times import LogTime, epoch_time, parse_any_time
from goodbot.watch.formats.value_cache import ValueCache
from goodbot.watch.log_entries import LogEntry, SignatureFields, SkipReason
from goodbot.watch.wire_text import to_wire

_Decoded = TypeVar("_Decoded")

_LARGEST_NUMBER: Final = 1e18
_MOST_LAYOUTS: Final = 1_000
_NANOSECONDS: Final = 1_000_000
"""Caddy writes whole numbers only for nanoseconds, or for a duration of exactly so many seconds."""


_HEADERS: Final = {
    "agent": "User-Agent",
    "referrer": "Referer",
    "forwarded": "X-Forwarded-For",
    "signature_input": "Signature-Input",
    "signature": "Signature",
    "signature_agent": "Signature-Agent",
}


class _Headers(msgspec.Struct, rename=_HEADERS):
    agent: list[str] | None = None
    referrer: list[str] | None = None
    forwarded: list[str] | None = None
    signature_input: list[str] | None = None
    signature: list[str] | None = None
    signature_agent: list[str] | None = None


class _Request(msgspec.Struct):
    method: str
    uri: str
    host: str = ""
    proto: str = ""
    client_ip: str = ""
    remote_ip: str = ""
    remote_addr: str = ""
    headers: _Headers | None = None


class _CaddyLine(msgspec.Struct):
    ts: float | str
    request: _Request
    status: int
    logger: str = "http.log.access"
    size: int = 0
    duration: float | int | str | None = None


_decode_caddy: Final = msgspec.json.Decoder(_CaddyLine).decode
_decode: Final = msgspec.json.Decoder().decode


class CaddyFormat:
    """The access log of Caddy 2."""

    name: Final = "JSON (Caddy)"

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line. Errors that Caddy logs are not requests: `unknown format`."""
        read = _decoded(line, _decode_caddy)
        if read is None or not read.logger.startswith("http.log.access"):
            return "unknown format"
        request = read.request
        address = request.client_ip or request.remote_ip or request.remote_addr
        time, status = _time(read.ts), _status(read.status)
        if not address:
            return "unknown format"
        if time is None or status is None:
            return "bad time" if time is None else "bad status"
        headers = request.headers
        return LogEntry(
            parse_address(to_wire(address)),
            *time,
            to_wire(f"{request.method} {request.uri} {request.proto}".rstrip()),
            status,
            max(read.size, 0),
            bool(headers.referrer) if headers else None,
            to_wire(headers.agent[0] if headers.agent else "") if headers else None,
            _caddy_duration(read.duration),
            to_wire(", ".join(headers.forwarded)) if headers and headers.forwarded else None,
            _caddy_signature(headers, request.host) if headers and headers.signature_input else None,
            to_wire(request.host) or None,
        )


class FlatJsonFormat:
    """A flat JSON object, as Traefik and nginx write it."""

    __slots__ = ("_layouts", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._layouts: dict[tuple[str, ...], FlatKeys | None] = {}

    def parse(self, line: str) -> LogEntry | SkipReason:
        """Reads a line; `unknown format` if its keys are not those of a log."""
        fields = _decoded(line, _decode)
        if not isinstance(fields, dict):
            return "unknown format"
        keys = self._keys(tuple(fields))
        return "unknown format" if keys is None or keys.name != self.name else _flat_entry(fields, keys)

    def _keys(self, layout: tuple[str, ...]) -> FlatKeys | None:
        try:
            return self._layouts[layout]
        except KeyError:
            if len(self._layouts) >= _MOST_LAYOUTS:
                self._layouts.clear()
            keys = self._layouts[layout] = flat_keys(layout)
            return keys


def json_format(line: str) -> LineFormat | None:
    """Recognises the format of a line."""
    fields = _decoded(line, _decode)
    if not isinstance(fields, dict):
        return None
    if isinstance(fields.get("request"), dict):
        return CaddyFormat()
    keys = flat_keys(tuple(fields))
    return FlatJsonFormat(keys.name) if keys else None


def _flat_entry(fields: dict[str, Any], keys: FlatKeys) -> LogEntry | SkipReason:
    get = fields.get
    address, time, status = _text(get(keys.address)), _time(get(keys.time)), _status(get(keys.status))
    if not address:
        return "unknown format"
    if time is None or status is None:
        return "bad time" if time is None else "bad status"
    agent, referrer = _text(get(keys.agent)), _text(get(keys.referrer))
    return LogEntry(
        parse_address(address),
        *time,
        _request(fields, keys),
        status,
        _size(get(keys.size)),
        referrer not in ABSENT if keys.referrer in fields else None,
        ("" if agent == "-" else agent) if keys.agent in fields else None,
        _duration(get(keys.duration), units_per_second(keys.duration)),
        None if (forwarded := _text(get(keys.forwarded))) in ABSENT else forwarded,
        _signature(fields, keys) if keys.signature_input else None,
        present(_text(get(keys.authority))),
    )


def _signature(fields: dict[str, Any], keys: FlatKeys) -> SignatureFields | None:
    get = fields.get
    return signature_fields(
        _text(get(keys.signature_input)),
        _text(get(keys.signature)),
        _text(get(keys.signature_agent)),
        _text(get(keys.authority)),
    )


def _caddy_signature(headers: _Headers, host: str) -> SignatureFields | None:
    given, signature, agent = (
        to_wire(", ".join(values)) if values else ""
        for values in (headers.signature_input, headers.signature, headers.signature_agent)
    )
    return signature_fields(given, signature, agent, to_wire(host))


def _decoded(line: str, decode: Callable[[str | bytes], _Decoded]) -> _Decoded | None:
    """Decodes a line; None if it is not JSON, or nested too deeply. Bytes that are not UTF-8, which nginx copies,
    become U+FFFD."""
    try:
        if line.isascii():
            return decode(line)
        return decode(line.encode("latin-1", "replace").decode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError):
        return None


def _text(value: object) -> str:
    if isinstance(value, str):
        return to_wire(value)
    if isinstance(value, list) and value:
        return _text(value[0])
    return ""


def _time(value: object) -> LogTime | None:
    if isinstance(value, str):
        return _times[value]
    return epoch_time(value) if isinstance(value, int | float) else None


def _status(value: object) -> int | None:
    if isinstance(value, str):
        return parse_status(value)
    return value if isinstance(value, int) and (100 <= value <= 999 or value == 0) else None


def _size(value: object) -> int:
    if isinstance(value, str):
        return parse_size(value)
    return int(value) if isinstance(value, int | float) and 0 <= value < _LARGEST_NUMBER else 0


def _duration(value: object, units: float) -> float | None:
    if isinstance(value, str):
        seconds = parse_seconds(value, units)
        return parse_with_unit(to_wire(value)) if seconds is None else seconds
    if isinstance(value, int | float) and 0 <= value < _LARGEST_NUMBER:
        return valid_duration(value / units)
    return None


def _caddy_duration(value: object) -> float | None:
    return _duration(value, 1e9 if isinstance(value, int) and value >= _NANOSECONDS else 1.0)


def _request(fields: dict[str, Any], keys: FlatKeys) -> str:
    if keys.request:
        return _text(fields[keys.request])
    method, target, protocol = (_text(fields.get(key)) for key in (keys.method, keys.target, keys.protocol))
    if method in ABSENT:
        return target
    return f"{method} {target} {protocol}".rstrip()


_times: Final = ValueCache(parse_any_time)
