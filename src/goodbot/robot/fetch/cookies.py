"""Keeps cookies (RFC 6265) and sends each to the host that set it, and to no other. Off unless `settings.cookies`."""

import re
from collections import OrderedDict
from typing import Final, NamedTuple

from goodbot.exclusion import parse_http_date
from goodbot.exclusion.text.decimals import whole_number
from goodbot.url import Url
from goodbot.values import Headers

MAX_HOSTS: Final = 1000
MAX_COOKIES: Final = 50
COOKIE_CHARS: Final = 4096
"""Cookies of one host, and characters of one cookie: the minimum that RFC 6265 §6.1 asks a program to support, and the
maximum here."""

_AGE: Final = re.compile(r"-?[0-9]+", re.ASCII)


class _Cookie(NamedTuple):
    value: str
    path: str
    secure: bool
    expires_at: float


class Cookies:
    """Keeps at most `MAX_HOSTS` hosts and removes the least recently used first.

    Deviation (RFC 6265 §5.3): it ignores `Domain`, so no host can set cookies for another.
    """

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, OrderedDict[tuple[str, str], _Cookie]] = OrderedDict()

    def value(self, url: Url, now: float) -> str | None:
        """Returns the `Cookie` field for a request for this URL, or None. Longer paths come first (§5.4)."""
        jar = self._hosts.get(url.host_key)
        if jar is None:
            return None
        self._hosts.move_to_end(url.host_key)
        matches = [(cookie, name) for (name, _), cookie in jar.items() if _matches(cookie, url, now)]
        matches.sort(key=lambda item: -len(item[0].path))
        return "; ".join(f"{name}={cookie.value}" for cookie, name in matches) or None

    def learn(self, url: Url, headers: Headers, now: float) -> None:
        """Keeps the cookies that an answer sets. Never raises."""
        for field, text in headers:
            if field.lower() == "set-cookie" and len(text) <= COOKIE_CHARS:
                self._set(url, text, now)

    def _set(self, url: Url, text: str, now: float) -> None:
        pair, _, rest = text.partition(";")
        name, equals, value = (part.strip(" \t") for part in pair.partition("="))
        attributes = dict(_attribute(part) for part in rest.split(";"))
        secure = "secure" in attributes
        if not (equals and name) or (secure and url.scheme != "https") or not pair.isprintable():
            return
        path = attributes.get("path", "")
        path = path if path.startswith("/") else url.path.rpartition("/")[0] or "/"
        cookie = _Cookie(value, path, secure, _expires_at(attributes, now))
        jar = self._hosts.setdefault(url.host_key, OrderedDict())
        jar.pop((name, path), None)
        if cookie.expires_at > now:
            jar[name, path] = cookie
        while len(jar) > MAX_COOKIES:
            jar.popitem(last=False)
        while len(self._hosts) > MAX_HOSTS:
            self._hosts.popitem(last=False)


def _attribute(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip(" \t").lower(), value.strip(" \t")


def _expires_at(attributes: dict[str, str], now: float) -> float:
    """Returns when a cookie ends: by Max-Age, else by Expires (§5.3); never if neither is valid."""
    if age := _AGE.fullmatch(attributes.get("max-age", "")):
        return now - 1 if age[0].startswith("-") else now + (whole_number(age[0]) or 0)
    date = parse_http_date(attributes["expires"]) if "expires" in attributes else None
    return float("inf") if date is None else date


def _matches(cookie: _Cookie, url: Url, now: float) -> bool:
    """Whether a request for the URL carries the cookie (§5.1.4 and §5.4)."""
    path = url.path
    inside = path == cookie.path or (
        path.startswith(cookie.path) and (cookie.path.endswith("/") or path[len(cookie.path)] == "/")
    )
    return inside and cookie.expires_at > now and (url.scheme == "https" or not cookie.secure)
