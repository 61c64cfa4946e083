"""Finds the license URLs in the Link fields of an answer (RSL 1.0). Linear; never raises."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

RSL_TYPE: Final = "application/rsl+xml"
LINK_LIMIT_CHARS: Final = 64 * 1024
"""Our choice: no more than this is read of all Link fields together."""

_TARGET = re.compile(r"[ \t,]*+<([^>]*+)>")
_PARAMETER = re.compile(
    r'[ \t]*+;[ \t]*+([^ \t=;,]*+)[ \t]*+(?:=[ \t]*+(?:"((?:[^"\\]|\\.)*+)"?|([^;,]*+)))?', re.DOTALL
)


def linked_licenses(headers: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yields the targets of `Link: <…>; rel="license"; type="application/rsl+xml"`, as written, relative ones included.

    After the first part that is not a link, the rest of the field is skipped. Source: RSL 1.0; RFC 8288 §3, appendix
    B.2.
    """
    left = LINK_LIMIT_CHARS
    for name, value in headers:
        if name.strip().lower() == "link":
            for target, parameters in _links(value[:left]):
                media_type = parameters.get("type", "").partition(";")[0].strip().lower()
                if target and media_type == RSL_TYPE and "license" in parameters.get("rel", "").lower().split():
                    yield target
            left = max(left - len(value), 0)


def _links(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yields the targets with their parameters; of equal parameters the first counts."""
    at = 0
    while target := _TARGET.match(value, at):
        parameters: dict[str, str] = {}
        at = target.end()
        while parameter := _PARAMETER.match(value, at):
            name, quoted, bare = parameter.groups()
            parameters.setdefault(name.lower(), quoted if quoted is not None else (bare or "").strip())
            at = parameter.end()
        yield target.group(1).strip(), parameters
