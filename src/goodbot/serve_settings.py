"""Defines all settings of `goodbot serve`. The options, their help and the reference are made from the record of each
setting, as those of a crawl are (`config`)."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from goodbot.config import setting
from goodbot.errors import SettingError, quoted
from goodbot.url import parse_url

MAX_NAME_CHARS: Final = 100
MAX_RATE: Final = 1_000_000
MAX_HOST_CHARS: Final = 253
MAX_SERVICES: Final = 20
MAX_DEADLINE_S: Final = 60.0

_LABEL: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_ORIGIN: Final = re.compile(r"https?://[^/@?#\\]+(?:/[^@?#\\]*)?", re.IGNORECASE)
_PREFIX: Final = re.compile(r"(?:/(?!\.\.?(?:/|\Z))[A-Za-z0-9._~-]+)*/?", re.ASCII)
"""Matches a path that no proxy rewrites: no percent-encoding, no empty segment, no dot segment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """All settings of `goodbot serve`. Rates are requests per minute. Raises SettingError for an invalid value."""

    name: str = setting("goodbot", "Name of the service, shown in the title of its pages")
    listen: str = setting(
        "127.0.0.1",
        "Address to listen on; 0.0.0.0 or :: means every address of this machine",
        "default: reachable from this machine only, such as by a reverse proxy",
    )
    port: int = setting(8020, "Port to listen on; 0 chooses a free one")
    public_url: str | None = setting(
        None,
        "URL of the home page for visitors, if a reverse proxy is in front of this server: "
        "https://search.example.org/, or https://example.org/find/ under a path prefix",
        "links in feeds and other files for programs must be absolute",
    )
    proxy_strips_prefix: bool = setting(
        False,
        "The reverse proxy removes the path prefix of public_url from requests, so goodbot does not",
        "if both did, /find/find/metrics would evade a rule of the proxy for /find/metrics",
    )
    trusted_proxies: tuple[str, ...] = setting(
        (),
        "Addresses or networks of reverse proxies. goodbot trusts X-Forwarded-For and X-Forwarded-Proto only from "
        "these",
        "anyone can send these fields, and a false address evades the rate limits",
    )
    submissions: bool = setting(
        True, "Visitors may submit URLs to the crawl; robots.txt and the scope of the crawl apply"
    )
    removals: bool = setting(
        True, "Owners may have pages of their site removed from the results, after they prove that the site is theirs"
    )
    search_services: tuple[str, ...] = setting(
        (),
        "Other search services that visitors may include in a search: their home pages, their OpenSearch descriptions, "
        "or templates with {searchTerms}. They get the query of a visitor who switches this on, and nothing else. If a "
        "URL is no search service, it is reported and left out",
        "none by default, since queries leave this server",
    )
    services_deadline: float = setting(
        2.0,
        "Seconds within which other search services must answer; those that do not are left out and named",
        internal=True,
    )
    page_rate: float = setting(
        300.0,
        "Maximum requests per minute from one client address, on average; 0: no limit. Page requests from this machine "
        "have no limit, except that the visitors of a reverse proxy that is not trusted have one together",
        "five a second: more than a person types, less than a program that copies the index sends",
        internal=True,
    )
    page_burst: int = setting(60, "Maximum requests in a burst from one client address", internal=True)
    post_rate: float = setting(
        10.0,
        "Maximum requests per minute from one client address that change something (submissions, removals, IndexNow), "
        "on average; 0: no limit",
        "each makes the robot fetch something, or write to the crawl",
        internal=True,
    )
    post_burst: int = setting(
        10, "Maximum requests in a burst from one client address that change something", internal=True
    )

    def __post_init__(self) -> None:
        """Checks each value, and writes URL and networks in their normal form. Raises SettingError."""
        for item in fields(self):
            value = _CHECKS.get(item.name, _unchanged)(getattr(self, item.name))
            object.__setattr__(self, item.name, value)


def _unchanged(value: Any) -> Any:
    return value


def _name(text: str) -> str:
    name = text.strip()
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise SettingError("name", f"name must be one line of 1 to {MAX_NAME_CHARS} characters: {quoted(text)}")
    return name


def _listen(text: str) -> str:
    address = text.strip()
    if not _is_address(address) and not _is_host_name(address):
        raise SettingError(
            "listen",
            "listen must be an IP address or the name of a host, such as 127.0.0.1, ::1 or localhost, without a port: "
            f"{quoted(text)}",
        )
    return address


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _is_host_name(text: str) -> bool:
    """Returns whether a text has the form of a host name (RFC 952, RFC 1123 §2.1). One that ends in a number would
    be an address."""
    name = text.removesuffix(".")
    labels = name.split(".")
    return len(name) <= MAX_HOST_CHARS and all(map(_LABEL.fullmatch, labels)) and not labels[-1].isdigit()


def _port(number: int) -> int:
    if not 0 <= number <= 65535:
        raise SettingError("port", f"port must be from 0 to 65535: {number}")
    return number


def _public_url(text: str | None) -> str | None:
    """Returns the URL in normal form, ending in `/`."""
    if text is None:
        return None
    url = parse_url(text.strip())
    if url is None or not _ORIGIN.fullmatch(text.strip()) or not _PREFIX.fullmatch(url.path):
        raise SettingError(
            "public_url", f"public-url must be like https://example.org/ or https://example.org/find/: {quoted(text)}"
        )
    return url.text.rstrip("/") + "/"


def _proxies(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(_network(text.strip()) for text in texts)


def _network(text: str) -> str:
    """Returns an address, or a network with its length."""
    try:
        network = ipaddress.ip_network(text)
    except ValueError as error:
        raise SettingError(
            "trusted_proxies",
            f"trusted-proxies must be addresses or networks such as 10.0.0.0/8: {quoted(text)} is neither",
        ) from error
    if network.prefixlen == 0:
        raise SettingError("trusted_proxies", f"trusted-proxies must not include every address: {text}")
    return str(network) if network.num_addresses > 1 else str(network.network_address)


def _services(texts: tuple[str, ...]) -> tuple[str, ...]:
    if len(texts) > MAX_SERVICES:
        raise SettingError("search_services", f"search-services must be at most {MAX_SERVICES}: {len(texts)}")
    for text in texts:
        if parse_url(text.strip().partition("{")[0]) is None:
            raise SettingError("search_services", f"search-services must be http or https URLs: {quoted(text)} is none")
    return tuple(dict.fromkeys(text.strip() for text in texts))


def _deadline(seconds: float) -> float:
    if not 0 < seconds <= MAX_DEADLINE_S:
        raise SettingError(
            "services_deadline", f"services-deadline must be above 0, and at most {MAX_DEADLINE_S:g} seconds: {seconds}"
        )
    return seconds


def _rate(name: str) -> Callable[[float], float]:
    def check(rate: float) -> float:
        if not 0 <= rate <= MAX_RATE:
            raise SettingError(name, f"{name.replace('_', '-')} must be from 0 to {MAX_RATE}: {rate}")
        return rate

    return check


def _burst(name: str) -> Callable[[int], int]:
    def check(burst: int) -> int:
        if not 1 <= burst <= MAX_RATE:
            raise SettingError(name, f"{name.replace('_', '-')} must be from 1 to {MAX_RATE}: {burst}")
        return burst

    return check


_CHECKS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "name": _name,
    "listen": _listen,
    "port": _port,
    "public_url": _public_url,
    "trusted_proxies": _proxies,
    "search_services": _services,
    "services_deadline": _deadline,
    "page_rate": _rate("page_rate"),
    "page_burst": _burst("page_burst"),
    "post_rate": _rate("post_rate"),
    "post_burst": _burst("post_burst"),
}
