"""Cookies (RFC 6265), each for the host that set it alone. Off unless `settings.cookies`."""

import re
from collections import OrderedDict
from typing import Final, NamedTuple

from goodbot.exclusion import parse_http_date
from goodbot.exclusion.text.decimals import whole_number
from goodbot.url import Url
from goodbot.values import Headers

HOSTS_MOST: Final = 1000
COOKIES_MOST: Final = 50
COOKIE_CHARS: Final = 4096
"""RFC 6265 §6.1: what a program should at least keep of one host; here also the most."""


_AGE: Final = re.compile(r"-?[0-9]+", re.ASCII)


class _Cookie(NamedTuple):
    value: str
    path: str
    secure: bool
    until: float


class Cookies:
    """Deviation (RFC 6265 §5.3): `Domain` is not heeded, so that no host sets cookies for another; those that were
    used longest ago are forgotten first."""

    def __init__(self) -> None:
        self._hosts: OrderedDict[str, OrderedDict[tuple[str, str], _Cookie]] = OrderedDict()

    def value(self, url: Url, now: float) -> str | None:
        """The `Cookie` that goes with a request for this URL, or None. Longer paths come first (§5.4)."""
        jar = self._hosts.get(url.host_key)
        if jar is None:
            return None
        self._hosts.move_to_end(url.host_key)
        fit = [(cookie, name) for (name, _), cookie in jar.items() if _fits(cookie, url, now)]
        fit.sort(key=lambda item: -len(item[0].path))
        return "; ".join(f"{name}={cookie.value}" for cookie, name in fit) or None

    def learn(self, url: Url, headers: Headers, now: float) -> None:
        """Takes up what an answer sets. Never raises."""
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
        cookie = _Cookie(value, path, secure, _until(attributes, now))
        jar = self._hosts.setdefault(url.host_key, OrderedDict())
        jar.pop((name, path), None)
        if cookie.until > now:
            jar[name, path] = cookie
        while len(jar) > COOKIES_MOST:
            jar.popitem(last=False)
        while len(self._hosts) > HOSTS_MOST:
            self._hosts.popitem(last=False)


def _attribute(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name.strip(" \t").lower(), value.strip(" \t")


def _until(attributes: dict[str, str], now: float) -> float:
    """Max-Age before Expires (§5.3); for as long as the robot runs if neither can be read."""
    if age := _AGE.fullmatch(attributes.get("max-age", "")):
        return now - 1 if age[0].startswith("-") else now + (whole_number(age[0]) or 0)
    date = parse_http_date(attributes["expires"]) if "expires" in attributes else None
    return float("inf") if date is None else date


def _fits(cookie: _Cookie, url: Url, now: float) -> bool:
    """§5.1.4 and §5.4."""
    path = url.path
    inside = path == cookie.path or (
        path.startswith(cookie.path) and (cookie.path.endswith("/") or path[len(cookie.path)] == "/")
    )
    return inside and cookie.until > now and (url.scheme == "https" or not cookie.secure)
