"""The two formats of test vectors: JSON and plain text. Both are ASCII and contain the same.

In the text, blocks are separated by empty lines. A line of a block is a field and a value, with a colon and a space
between them. The last field, `robots:`, has no value: the lines of robots.txt follow it, each after a `|`; they are
joined by LF, and nothing is added at the end. In values and after `|`, a backslash and every octet that is not
printable ASCII, or a space at either end, are written as `\\xHH`. Lines that begin with `#` are comments; the first
block begins with one.
"""

import base64
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from goodbot.vectors.case import KINDS, Case, Expected

FORMAT: Final = 1
"""Of both forms; grows when a program that reads them has to change."""

_ESCAPED = re.compile(rb"[^\x20-\x5b\x5d-\x7e]|^ | $")


def as_json_value(cases: Iterable[Case], version: str, licence: str) -> dict[str, Any]:
    """Returns the vectors as a JSON value."""
    return {
        "format": FORMAT,
        "version": version,
        "licence": licence,
        "kinds": dict(KINDS),
        "cases": [_as_object(case) for case in cases],
    }


def _as_object(case: Case) -> dict[str, Any]:
    return {
        "id": case.id,
        **_body(case.robots),
        "agent": case.agent,
        "url": case.url,
        "expected": {dialect: _result(expected) for dialect, expected in case.expected.items()},
        "note": case.note,
    }


def _body(robots: bytes) -> dict[str, str]:
    """Returns the file as text if it is UTF-8, else in base64."""
    try:
        return {"robots": robots.decode()}
    except UnicodeDecodeError:
        return {"robots_base64": base64.b64encode(robots).decode()}


def _result(expected: Expected) -> dict[str, Any]:
    return {"allowed": expected.allowed, "kind": expected.kind, "section": expected.section}


def as_text(cases: Iterable[Case], version: str, licence: str) -> Iterator[str]:
    """Yields the vectors as blocks of text; each ends with an empty line."""
    yield (
        f"# robots.txt test vectors, version {version}, licence {licence}\n"
        f"format: {FORMAT}\nversion: {version}\nlicence: {licence}\n\n"
    )
    for case in cases:
        yield _block(case)


def _block(case: Case) -> str:
    lines = [
        f"id: {case.id}",
        f"agent: {_escaped(case.agent.encode())}",
        f"url: {_escaped(case.url.encode())}",
        *(
            f"expected: {dialect} {'allowed' if result.allowed else 'disallowed'} {result.kind} {result.section}"
            for dialect, result in case.expected.items()
        ),
        f"note: {_escaped(case.note.encode())}",
        "robots:",
        *(f"|{_escaped(line)}" for line in case.robots.split(b"\n")),
    ]
    return "\n".join((*lines, "", ""))


def _escaped(value: bytes) -> str:
    return _ESCAPED.sub(lambda found: b"\\x%02X" % found[0][0], value).decode("ascii")
