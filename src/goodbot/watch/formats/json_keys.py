"""The keys of flat JSON logs: the variables of nginx, the fields of Traefik, and usual names."""

from collections.abc import Sequence
from typing import Final, NamedTuple

_NAMES: Final = {
    "address": "ClientHost ClientAddr remote_addr remote_ip client_ip clientip client_addr client remote_host ip",
    "time": "StartLocal StartUTC time_iso8601 time_local @timestamp timestamp time datetime date msec ts",
    "status": "DownstreamStatus OriginStatus status status_code http_status response_code response code",
    "request": "request request_line",
    "method": "RequestMethod request_method method verb http_method",
    "target": "RequestPath request_uri uri url path",
    "protocol": "RequestProtocol server_protocol protocol proto http_version",
    "size": "DownstreamContentSize body_bytes_sent bytes_sent bytes size response_size",
    "agent": "request_User-Agent http_user_agent user_agent userAgent useragent agent ua",
    "referrer": "request_Referer http_referer http_referrer referer referrer",
    "forwarded": "request_X-Forwarded-For X-Forwarded-For http_x_forwarded_for x_forwarded_for"
    " x-forwarded-for forwarded_for xff",
    "duration": "Duration request_time request_time_ms duration duration_s duration_ms duration_us response_time"
    " response_time_ms latency latency_ms",
    "authority": "RequestAddr RequestHost http_host request_Host host vhost server_name",
    "signature_input": "request_Signature-Input http_signature_input signature_input",
    "signature": "request_Signature http_signature signature",
    "signature_agent": "request_Signature-Agent http_signature_agent signature_agent",
}
"""The keys of each value; the first one that an object has counts."""

_KEYS: Final = {value: names.split() for value, names in _NAMES.items()}
_NEEDED: Final = ("address", "time", "status")

_TRAEFIK: Final = {"ClientHost", "ClientAddr", "DownstreamStatus"}
_NGINX: Final = {"remote_user", "body_bytes_sent", "http_user_agent", "http_referer", "time_local", "time_iso8601"}


class FlatKeys(NamedTuple):
    """The keys of one kind of object; empty for a value that it has not."""

    name: str
    """The name of the format."""
    address: str
    time: str
    status: str
    request: str
    method: str
    target: str
    protocol: str
    size: str
    agent: str
    referrer: str
    forwarded: str
    duration: str
    authority: str
    signature_input: str
    signature: str
    signature_agent: str


def flat_keys(layout: Sequence[str]) -> FlatKeys | None:
    """Finds the keys among those of an object; None if it has no address, time or status, and so is not a request."""
    names = frozenset(layout)
    found = {value: next((key for key in keys if key in names), "") for value, keys in _KEYS.items()}
    if not all(found[needed] for needed in _NEEDED):
        return None
    server = "Traefik" if names & _TRAEFIK else "nginx" if names & _NGINX else ""
    return FlatKeys(name=f"JSON ({server})" if server else "JSON", **found)


def units_per_second(key: str) -> float:
    """Returns how many units of a duration are a second: Traefik writes nanoseconds, most others write seconds."""
    return 1e9 if key == "Duration" else _UNITS_PER_SECOND.get(key.rpartition("_")[2], 1.0)


_UNITS_PER_SECOND: Final = {"ms": 1e3, "us": 1e6}
