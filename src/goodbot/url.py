"""Parses, resolves and normalises URLs by the WHATWG URL standard; gives their origin, host and site.

No other module imports the URL library. A `Url` holds only its normalised text, so that a million of them are a million
strings; properties cut the parts from the text.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import url as whatwg
from publicsuffixlist import PublicSuffixList

MAX_URL_CHARS = 8192
"""Longer URLs are refused. Servers refuse them too: by default nginx and Apache accept a request line of 8 KiB."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_DEFAULT_PORT = {"http": 80, "https": 443}

_AFTER_SCHEME = len("https://")
"""The path of a URL never begins before this position: `http://` is one character shorter, but the host after it has at
least one character."""


@dataclass(frozen=True, slots=True, order=True)
class Url:
    """An absolute http or https URL in normal form, without fragment and without user name and password.

    Make one with `parse_url` or `resolve`; `text` is ASCII: the host is punycode, other characters are percent-encoded.
    """

    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def scheme(self) -> str:
        """`http` or `https`."""
        return self.text[: self.text.index(":")]

    @property
    def authority(self) -> str:
        """Host, and port if it is not the default: `example.org`, `127.0.0.1:8020`, `[::1]:80`."""
        return self.origin.rpartition("/")[2]

    @property
    def origin(self) -> str:
        """Scheme, host and port: the URLs that one robots.txt applies to (RFC 9309 §2.3)."""
        return self.text[: self.text.index("/", _AFTER_SCHEME)]

    @property
    def target(self) -> str:
        """Path and query, as sent in the request line; begins with `/`."""
        return self.text[self.text.index("/", _AFTER_SCHEME) :]

    @property
    def path(self) -> str:
        """Path without query; begins with `/`."""
        return self.target.partition("?")[0]

    @property
    def host(self) -> str:
        """Host name or address; IPv6 without brackets."""
        return _names(self.text[: self.text.index("/", _AFTER_SCHEME)])[0]

    @property
    def port(self) -> int:
        """The port to connect to, also if it is the default."""
        tail = self.authority.rpartition("]")[2]
        _, colon, port = tail.rpartition(":")
        return int(port) if colon else _DEFAULT_PORT[self.scheme]

    @property
    def host_key(self) -> str:
        """The unit of politeness: the host, or host and port on loopback and private addresses."""
        return _names(self.text[: self.text.index("/", _AFTER_SCHEME)])[1]

    @property
    def site(self) -> str:
        """Registrable domain (`example.co.uk`); an address is its own site."""
        host = self.host
        return host if _address(host) else public_suffixes().privatesuffix(host.rstrip(".")) or host

    @property
    def robots_txt(self) -> "Url":
        """The URL of the robots.txt that applies to this URL."""
        return Url(self.origin + "/robots.txt")


def authority_of(host_key: str) -> str:
    """Writes a host key as in a URL: puts an IPv6 address in brackets."""
    return f"[{host_key}]" if host_key.count(":") > 1 and not host_key.startswith("[") else host_key


def host_of(host_key: str) -> str:
    """Removes the port from a host key: `127.0.0.1:8020` → `127.0.0.1`, `[::1]:8020` → `::1`; `2001:db8::1` stays."""
    return Url(f"http://{authority_of(host_key)}/").host


def parse_url(text: str) -> Url | None:
    """Parses an absolute URL. Returns None if it is invalid, not http or https, or longer than `MAX_URL_CHARS`."""
    if len(text) > MAX_URL_CHARS:
        return None
    try:
        return _normal(whatwg.URL.parse(text))
    except (whatwg.URLError, UnicodeEncodeError):
        return None


def resolve(base: Url, reference: str) -> Url | None:
    """Resolves a link of the page at `base`. Returns None in the same cases as `parse_url`."""
    return _join(base.text, reference)


def resolve_all(base: Url, references: Iterable[str | None]) -> list[Url | None]:
    """Resolves many links of one page; None becomes None.

    The last `_CACHED_LINKS` results are reused on other pages of the same directory, as every page repeats the menus.
    """
    text = base.text
    directory = text[: text.partition("?")[0].rindex("/") + 1]
    join = _cached_join if len(directory) <= _MAX_CACHED_CHARS else _join
    return [
        None
        if reference is None
        else join(directory, reference)
        if len(reference) <= _MAX_CACHED_CHARS and _PATH.match(reference)
        else _join(text, reference)
        for reference in references
    ]


def requested(text: str) -> str | None:
    """Returns what a browser would request for `text`: a URL for a URL, path and query for a path.

    It resolves dot segments, replaces `\\` by `/`, and drops tabs, line breaks, a fragment, and spaces around the text.
    A verdict about the text as typed would be about a URL that no robot requests. `//example.org/x` names a host, so it
    becomes a URL. Returns None if the text is neither a path nor a URL, or if `parse_url` refuses it.
    """
    text = text.strip(_STRIPPED)
    if not text.startswith("/"):
        url = parse_url(text)
        return url.text if url is not None else None
    url = resolve(_ANYWHERE, text)
    if url is None:
        return None
    return url.target if url.origin == _ANYWHERE.origin else url.text


def is_as_typed(typed: str, url: str) -> bool:
    """Whether `url`, made from the typed text by `requested` or `resolve`, differs from it only by an added site, or by
    an added `/` behind the site."""
    parsed = parse_url(url)
    return url in (typed, f"{typed}/") or (parsed is not None and url == parsed.origin + typed)


_ANYWHERE = Url("http://anywhere.invalid/")
"""A placeholder site, for paths without one."""

_STRIPPED = "".join(map(chr, range(0x21)))
"""C0 control characters and space, which the URL standard strips from both ends."""

_CACHED_LINKS = 8_192
"""They take 4 MB, and 10 MB if all are as long as permitted."""

_MAX_CACHED_CHARS = 256
"""Links longer than this, links on pages in longer directories, and host names of longer origins are not cached."""

_PATH = re.compile(r"(?:https?://|[^\x00-\x20?#:\\]++(?:[?#]|\Z))", re.IGNORECASE)
"""Matches links that lead to the same URL from all pages of a directory. Such a link is more than a query or a
fragment, and it has either no scheme or one followed by `//` (`http:?x` without `//` acts like the query `?x`)."""


def _join(base: str, reference: str) -> Url | None:
    if len(reference) > MAX_URL_CHARS:
        return None
    try:
        return _normal(_parsed(base).join(reference))
    except (whatwg.URLError, UnicodeEncodeError):
        return None


_cached_join = lru_cache(maxsize=_CACHED_LINKS)(_join)


@lru_cache(maxsize=16)
def _parsed(text: str) -> whatwg.URL:
    return whatwg.URL.parse(text)


def _normal(parsed: whatwg.URL) -> Url | None:
    text = str(parsed)
    if not text.startswith(("http://", "https://")):
        return None
    if "@" in text and (parsed.username or parsed.password):
        text = str(parsed.with_username("").with_password(None))
    if "#" in text:
        text = text.partition("#")[0]
    return Url(text) if len(text) <= MAX_URL_CHARS else None


@lru_cache(maxsize=1)
def public_suffixes() -> PublicSuffixList:
    """Returns the list of public suffixes. The first call reads it, which takes 35 ms and 1.5 MB."""
    return PublicSuffixList()


def _address(host: str) -> Address | None:
    if not (host[-1:].isdigit() or ":" in host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


MAX_HOST_CHARS = 255
"""The maximum length of a host name (RFC 1035 §2.3.4); the URL standard has no limit."""


def is_private_host(host: str) -> bool:
    """Whether the host is a private address written out, or `localhost` (RFC 6761 §6.3). Resolves nothing."""
    return _is_private_host(host) if len(host) <= MAX_HOST_CHARS else host.endswith((".localhost", ".localhost."))


@lru_cache(maxsize=1024)
def _is_private_host(host: str) -> bool:
    if f".{host}".removesuffix(".").endswith(".localhost"):
        return True
    return _address(host) is not None and is_private_address(host)


def _names(origin: str) -> tuple[str, str]:
    """Returns the host and the host key of an origin. They are cached (0.3 µs), since every link of a page needs
    them."""
    return _cached_names(origin) if len(origin) <= _MAX_CACHED_CHARS else _split_names(origin)


def _split_names(origin: str) -> tuple[str, str]:
    authority = origin.rpartition("/")[2]
    bracketed = authority.startswith("[")
    host = authority[1 : authority.index("]")] if bracketed else authority.partition(":")[0]
    if not is_private_host(host):
        return host, host
    port = Url(f"{origin}/").port
    return host, f"[{host}]:{port}" if bracketed else f"{host}:{port}"


_cached_names = lru_cache(maxsize=4096)(_split_names)
"""The cache takes 1 MB when full, and 4 MB if all origins are as long as permitted."""


_V4_INSIDE = tuple(
    ipaddress.IPv6Network(text)
    for text in (
        "::/96",  # IPv4-compatible, RFC 4291 §2.5.5.1; deprecated, but a kernel may still tunnel it
        "::ffff:0:0/96",  # IPv4-mapped, RFC 4291 §2.5.5.2
        "64:ff9b::/96",  # NAT64, RFC 6052 §2.1
        "64:ff9b:1::/48",  # NAT64 of one network, RFC 8215; taken as a /96 of it
    )
)
_PROTOCOLS_V4 = ipaddress.IPv4Network("192.0.0.0/24")
_PROTOCOLS_GLOBAL = {ipaddress.IPv4Address("192.0.0.9"), ipaddress.IPv4Address("192.0.0.10")}
"""The range is not global (RFC 6890 §2.1) except for these two (RFC 7723 and 8155). Python knows that since 3.12.4; one
cloud provider serves its instance metadata in the range."""

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""The addresses that IANA assigns as global (RFC 4291 §2.4). It excludes IPv4-translated addresses (RFC 2765),
site-local ones, 5f00::/16 and others."""

_DOCUMENTATION_V6 = ipaddress.IPv6Network("3fff::/20")
"""See RFC 9637. Python knows it since 3.12.4."""

_UNSPECIFIED: dict[str, Address] = {
    "0.0.0.0": ipaddress.IPv4Address("127.0.0.1"),  # noqa: S104 - judged, not bound to
    "::": ipaddress.IPv6Address("::1"),
}


def reached_address(address: str) -> Address | None:
    """Returns the address that a connection to `address` reaches; None if it is not an address.

    It drops the zone, extracts IPv4 from IPv6 forms, and replaces the unspecified address by loopback, as Linux and
    macOS do.
    """
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    if str(ip) in _UNSPECIFIED:
        return _UNSPECIFIED[str(ip)]
    inner = _v4_inside(ip) if isinstance(ip, ipaddress.IPv6Address) and int(ip) != 1 else None
    return reached_address(str(inner)) if inner else ip


def _v4_inside(ip: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    if ip.sixtofour:
        return ip.sixtofour
    if any(ip in network for network in _V4_INSIDE):
        return ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return None


def is_private_address(address: str) -> bool:
    """Whether an address is not globally reachable (IANA special-purpose registries): loopback, private, link-local,
    site-local, multicast, unspecified. `reached_address` is applied first.

    Raises ValueError if it is not an address.
    """
    ip = reached_address(address)
    if ip is None:
        raise ValueError(f"not an address: {address!r}")
    beyond = isinstance(ip, ipaddress.IPv6Address) and (ip not in _GLOBAL_V6 or ip in _DOCUMENTATION_V6)
    if isinstance(ip, ipaddress.IPv4Address) and ip in _PROTOCOLS_V4:
        return ip not in _PROTOCOLS_GLOBAL
    return not ip.is_global or ip.is_multicast or beyond
