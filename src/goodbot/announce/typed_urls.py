"""Reads URLs that the user typed or listed. Pure."""

import re
from typing import Final

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, parse_url

_LOGIN: Final = re.compile(r"[\x00-\x20]*+https?:[/\\]*+[^/\\?#@]*+@", re.IGNORECASE)
"""A URL with a user name, with or without a password."""

_WHOLE: Final = re.compile(r"[\x00-\x20]*+https?:[/\\]{2}(?![/\\])", re.IGNORECASE)
"""The beginning of a URL that has a host. The URL standard reads `http:///x` as `http://x/`, since browsers do."""


def stated_url(text: str) -> Url | None:
    """Parses an absolute URL that has a host behind two slashes. Returns None for anything else."""
    return parse_url(text) if _WHOLE.match(text) else None


def whole_url(text: str) -> Url:
    """Returns the URL that the user typed. Raises InputError if it is not a whole http or https URL, or has a user name
    or a password."""
    url = parse_url(text)
    if url is None:
        raise InputError(f"not a whole http or https URL: {shown(text)}")
    refuse_login(text)
    if stated_url(text) is None:
        raise InputError(f"not a whole http or https URL: {shown(text)}")
    return url


def refuse_login(text: str) -> None:
    """Raises InputError if a URL has a user name or a password, which is not repeated in the message."""
    if _LOGIN.match(text):
        url = parse_url(text)
        hint = f": write {url}" if url is not None else ""
        raise InputError(f"a URL with a user name or a password cannot be used here{hint}")
