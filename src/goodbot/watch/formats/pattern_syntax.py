"""Reads the patterns of log lines that administrators write: LogFormat of Apache, log_format of nginx.

%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D
$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, Literal, NamedTuple

from goodbot.errors import InputError, quoted
from goodbot.watch.wire_text import to_wire

Meaning = Literal[
    "address", "time", "request", "method", "target", "query", "protocol", "status", "size", "referrer", "agent",
    "seconds", "milliseconds", "microseconds", "forwarded", "authority", "signature input", "signature",
    "signature agent", "other",
]  # fmt: skip
"""What a field of a line says; `other` is skipped."""

LONGEST_PATTERN: Final = 4096


class Field(NamedTuple):
    """A field of a pattern."""

    text: str
    """As the pattern has it: `%>s`, `$status`."""
    meaning: Meaning
    is_list: bool = False
    """Whether it can have several values, separated by `, ` or ` : `: times and addresses of nginx's upstreams."""


Part = str | Field
"""Literal text, or a field."""

_NGINX: Final[dict[str, Meaning]] = {
    "remote_addr": "address",
    "time_local": "time",
    "time_iso8601": "time",
    "msec": "time",
    "request": "request",
    "request_method": "method",
    "request_uri": "target",
    "uri": "target",
    "args": "query",
    "query_string": "query",
    "server_protocol": "protocol",
    "status": "status",
    "body_bytes_sent": "size",
    "bytes_sent": "size",
    "http_referer": "referrer",
    "http_user_agent": "agent",
    "request_time": "seconds",
    "http_x_forwarded_for": "forwarded",
    "proxy_add_x_forwarded_for": "forwarded",
    "host": "authority",
    "http_host": "authority",
    "server_name": "authority",
    "http_signature_input": "signature input",
    "http_signature": "signature",
    "http_signature_agent": "signature agent",
}
"""Variables of nginx; all others are skipped, since modules and `map` define more."""

_APACHE: Final[dict[str, Meaning]] = {
    "h": "address",
    "a": "address",
    "t": "time",
    "r": "request",
    "m": "method",
    "U": "target",
    "q": "query",
    "H": "protocol",
    "s": "status",
    "b": "size",
    "B": "size",
    "O": "size",
    "D": "microseconds",
    "T": "seconds",
    "v": "authority",
    "V": "authority",
    **dict.fromkeys("ACILPRSXcefiklnopux", "other"),
}
_APACHE_HEADERS: Final[dict[str, Meaning]] = {
    "referer": "referrer",
    "user-agent": "agent",
    "x-forwarded-for": "forwarded",
    "host": "authority",
    "signature-input": "signature input",
    "signature": "signature",
    "signature-agent": "signature agent",
}
_APACHE_UNITS: Final[dict[str, Meaning]] = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}
_APACHE_EPOCHS: Final = ("sec", "msec", "usec")

_APACHE_FIELD: Final = re.compile(r"%(?:!?[0-9,]*)[<>]?(?:\{([^{}]*)\})?(\^t[io]|[A-Za-z])")
_NGINX_FIELD: Final = re.compile(r"\$(?:\{([A-Za-z0-9_]+)\}|([A-Za-z0-9_]+))")
_ESCAPES: Final = {'\\"': '"', "\\t": "\t", "\\\\": "\\"}
_ESCAPE: Final = re.compile(r'\\["t\\]')


def parse_pattern_text(text: str) -> list[Part]:
    """Cuts a pattern into literal text and fields. Raises `InputError`, which says which part is wrong."""
    if len(text) > LONGEST_PATTERN:
        raise InputError(f"--log-format has more than {LONGEST_PATTERN} characters")
    text = to_wire(_argument(text))
    text = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)
    is_nginx = _NGINX_FIELD.search(text) is not None and _APACHE_FIELD.search(text) is None
    parts = _joined(_nginx_parts(text) if is_nginx else _apache_parts(text))
    _check(text, parts)
    return parts


def _argument(text: str) -> str:
    """Returns the pattern of a whole line of a configuration: `LogFormat "…" name`, or `log_format name '…' '…';`."""
    words = text.split(None, 1)
    if words[:1] == ["LogFormat"]:
        return text[text.find('"') + 1 : text.rfind('"')]
    return "".join(text.split("'")[1::2]) if words[:1] == ["log_format"] else text


def _nginx_parts(text: str) -> Iterator[Part]:
    end = 0
    for found in _NGINX_FIELD.finditer(text):
        yield text[end : found.start()]
        name = found[1] or found[2]
        yield Field(found[0], _NGINX.get(name, "other"), name.startswith("upstream_"))
        end = found.end()
    yield text[end:]


def _apache_parts(text: str) -> Iterator[Part]:
    at = 0
    while at < len(text):
        start = text.find("%", at)
        if start < 0:
            break
        yield text[at:start]
        if text.startswith("%%", start):
            yield "%"
            at = start + 2
            continue
        found = _APACHE_FIELD.match(text, start)
        if found is None:
            raise InputError(f"--log-format has no field after {quoted(text[start : start + 12])}")
        yield from _apache_field(found[0], found[1] or "", found[2])
        at = found.end()
    yield text[at:]


def _apache_field(text: str, argument: str, letter: str) -> Iterator[Part]:
    if letter == "t" and not argument:
        yield from ("[", Field(text, "time"), "]")
    elif letter == "t":
        yield Field(text, "time" if _is_whole_time(argument) else "other")
    elif letter == "T" and argument:
        if argument not in _APACHE_UNITS:
            raise InputError(f"{quoted(text)} in --log-format is not a field: %{{ms}}T, %{{us}}T and %{{s}}T are")
        yield Field(text, _APACHE_UNITS[argument])
    elif letter == "i":
        yield Field(text, _APACHE_HEADERS.get(argument.lower(), "other"))
    elif letter.startswith("^"):
        yield Field(text, "other")
    elif letter in _APACHE:
        yield Field(text, _APACHE[letter])
    else:
        raise InputError(f"{quoted(text)} in --log-format is not a field of Apache's LogFormat")


def _is_whole_time(form: str) -> bool:
    """Whether a format of strftime has date and time, so that it can be read."""
    form = form.removeprefix("begin:").removeprefix("end:")
    has_date = any(day in form for day in ("%d/%b/%Y", "%Y-%m-%d", "%F"))
    return form in _APACHE_EPOCHS or "%s" in form or (has_date and any(clock in form for clock in ("%H:%M:%S", "%T")))


def _joined(parts: Iterator[Part]) -> list[Part]:
    """Joins literal texts that follow each other, and a path with its query: `%U%q`, `$uri$is_args$args`."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, str) and isinstance(last, str):
            joined[-1] = last + part
        elif isinstance(part, Field) and isinstance(last, Field) and last.meaning == "target" and _is_query(part):
            joined[-1] = Field(last.text + part.text, "target")
        elif part:
            joined.append(part)
    return joined


def _is_query(field: Field) -> bool:
    return field.meaning == "query" or field.text == "$is_args"


def _check(text: str, parts: list[Part]) -> None:
    fields = [part for part in parts if isinstance(part, Field)]
    if not fields:
        raise InputError(
            f"--log-format {quoted(text)} has no fields: write it as for LogFormat of Apache or log_format of nginx"
        )
    for first, second in pairwise(parts):
        if isinstance(first, Field) and isinstance(second, Field):
            raise InputError(f"nothing separates {first.text} and {second.text} in --log-format")
    times = [field.text for field in fields if field.meaning == "time"]
    if not any(field.meaning in ("address", "forwarded") for field in fields):
        raise InputError("--log-format has no address of the client: add %h or $remote_addr")
    if not times:
        raise InputError("--log-format has no time: add %t or [$time_local]")
    if len(times) > 1:
        raise InputError(f"--log-format has several times: {' and '.join(times)}")
