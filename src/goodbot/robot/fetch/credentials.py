"""Sends user names, passwords and tokens only to the hosts they were given for. Pure."""

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

    HOST is a host, with a port unless it is 443. Credentials are sent only over TLS, or to a host whose name or address
    is private as written; for such a host without a port, to ports 443 and 80. `http://HOST` allows sending in
    cleartext, to that scheme, host and port. Raises InputError, whose message contains no secret.
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
        """Returns the `Authorization` of a request for this URL, or None."""
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
