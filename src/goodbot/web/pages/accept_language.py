"""Reads the languages of a reader from Accept-Language, within limits."""

import re

from starlette.requests import Request

MAX_LANGUAGES = 10

_RANGE = re.compile(r"\s*([A-Za-z]{2})(?:-[A-Za-z0-9-]{1,32})?\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?)\s*)?")


def accepted_languages(request: Request) -> tuple[str, ...]:
    """Returns the languages that a request accepts, as `readers_languages` does."""
    return readers_languages(request.headers.get("accept-language", ""))


def readers_languages(header: str) -> tuple[str, ...]:
    """Returns the languages of an Accept-Language header (RFC 9110 §12.5.4) as two-letter codes, the preferred one
    first, without regions."""
    found = [match for part in header.split(",")[: 4 * MAX_LANGUAGES] if (match := _RANGE.fullmatch(part))]
    wanted = sorted((match for match in found if float(match[2] or 1)), key=lambda match: -float(match[2] or 1))
    return tuple(dict.fromkeys(match[1].lower() for match in wanted))[:MAX_LANGUAGES]
