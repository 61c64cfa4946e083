"""User names, passwords and tokens, for the hosts they were given for and no others. Pure."""

import re
from base64 import b64encode
from collections.abc import Iterable

from goodbot.errors import InputError
from goodbot.url import Url, is_private_host, parse_url

_ENTRY = re.compile(
    r"(?P<where>[^=]+)=(?:basic:(?P<pair>[^:]*:.*)|bearer:(?P<token>[\x21-\x7e]+))", re.ASCII | re.DOTALL
)


class Credentials:
    """`entries`: `HOST=basic:USER:PASSWORD` (RFC 7617) or `HOST=bearer:TOKEN` (RFC 6750).

    HOST is a host, with a port if it is not the scheme's: without one, port 443 alone. Sent over TLS only, or to a host
    that is private as written, there without a port to 443 and 80.
    `http://HOST` has it sent in the clear, to that scheme, host and port. Raises InputError, which repeats no secret.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._by_origin: dict[str, str] = {}
        for number, entry in enumerate(entries, 1):
            match = _ENTRY.fullmatch(entry)
            origins = _origins(match["where"]) if match else []
            if match is None or not origins:
                raise InputError(
                    f"auth is given as HOST=basic:USER:PASSWORD or HOST=bearer:TOKEN; entry {number} is not"
                )
            value = f"Bearer {match['token']}" if match["token"] else _basic(match["pair"])
            self._by_origin |= dict.fromkeys(origins, value)

    def value(self, url: Url) -> str | None:
        """The `Authorization` that goes with a request for this URL, or None."""
        return self._by_origin.get(url.origin) if self._by_origin else None


def _origins(where: str) -> list[str]:
    if "://" in where:
        named = parse_url(where)
        return [named.origin] if named and named.target == "/" and "@" not in where else []
    urls = [parse_url(f"{scheme}://{where}/") for scheme in ("https", "http")]
    if any(char in where for char in "/@?#\\"):
        return []
    return [url.origin for url in urls if url and (url.scheme == "https" or is_private_host(url.host))]


def _basic(pair: str) -> str:
    return "Basic " + b64encode(pair.encode("utf-8", "surrogateescape")).decode()
