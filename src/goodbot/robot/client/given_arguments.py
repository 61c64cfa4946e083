"""Checks the URLs and header fields that programs give."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from goodbot.errors import InputError
from goodbot.url import Url, parse_url
from goodbot.values import Headers

_OWN_FIELDS = """
    user-agent from host connection content-length transfer-encoding te trailer upgrade expect keep-alive
    proxy-connection proxy-authorization signature signature-input signature-agent
"""
OWN_FIELDS: Final = frozenset(_OWN_FIELDS.split())
"""Header fields that identify the robot or control the connection: programs may not set them."""
_TOKEN: Final = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")

GivenFields = Mapping[str, str] | Iterable[tuple[str, str]]
"""Header fields as programs give them: a mapping, or pairs of name and value."""


def parsed(url: str | Url) -> Url:
    """Returns the URL that a program gave. Raises InputError if it is not an http or https URL."""
    if isinstance(url, Url):
        return url
    found = parse_url(url.strip()) if isinstance(url, str) else None
    if found is None:
        raise InputError(f"cannot fetch {url!r}: not an http or https URL")
    return found


def checked_headers(headers: GivenFields) -> Headers:
    """Returns the header fields that a program gave. Raises InputError for fields that identify the robot, and for
    fields that cannot be sent: names have to be tokens (RFC 9110 §5.6.2)."""
    fields = tuple(headers.items() if isinstance(headers, Mapping) else headers)
    for name, value in fields:
        if not (isinstance(name, str) and isinstance(value, str)):
            raise InputError(f"the header {name!r} cannot be sent: name and value have to be text, not {value!r}")
        if name.lower() in OWN_FIELDS:
            raise InputError(f"the header {name} belongs to the robot: programs may not set it")
        if not _TOKEN.fullmatch(name):
            raise InputError(f"the header {name!r} cannot be sent: a name has only letters, digits and !#$%&'*+-.^_`|~")
        if not (value.isprintable() or "\t" in value) or any(char in value for char in "\r\n\0"):
            raise InputError(f"the header {name!r} cannot be sent: {value!r}")
        try:
            value.encode("latin-1")
        except UnicodeEncodeError:
            raise InputError(f"the header {name!r} cannot be sent: {value!r} is not Latin-1") from None
    return fields
