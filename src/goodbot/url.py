"""Url values: parse, resolve, normalise by the WHATWG URL standard; origin, host, site.

The only module that knows the URL library. A `Url` holds nothing but its normalised text, so that a million of them are
a million strings; its parts are cut from the text when asked for.
"""

import ipaddress
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import url as whatwg
from publicsuffixlist import PublicSuffixList

MAX_URL_CHARS = 8192
"""Longer ones are refused. Servers refuse them too: 8 KiB is the request line of nginx and Apache as they come."""

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_DEFAULT_PORT = {"http": 80, "https": 443}


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
        start = self.text.index("//") + 2
        return self.text[start : self.text.index("/", start)]

    @property
    def origin(self) -> str:
        """Scheme, host and port: what a robots.txt speaks for (RFC 9309 §2.3)."""
        return self.text[: self.text.index("/", self.text.index("//") + 2)]

    @property
    def target(self) -> str:
        """Path and query, as sent in the request line; begins with `/`."""
        return self.text[self.text.index("/", self.text.index("//") + 2) :]

    @property
    def path(self) -> str:
        """Path without query; begins with `/`."""
        return self.target.partition("?")[0]

    @property
    def host(self) -> str:
        """Host name or address; IPv6 without brackets."""
        authority = self.authority
        if authority.startswith("["):
            return authority[1 : authority.index("]")]
        return authority.partition(":")[0]

    @property
    def port(self) -> int:
        """The port that is connected to, the default included."""
        tail = self.authority.rpartition("]")[2]
        _, colon, port = tail.rpartition(":")
        return int(port) if colon else _DEFAULT_PORT[self.scheme]

    @property
    def host_key(self) -> str:
        """What politeness counts as one server: the host; on loopback and private addresses host and port."""
        host = self.host
        if not is_private_host(host):
            return host
        return f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @property
    def site(self) -> str:
        """Registrable domain (`example.co.uk`); an address is its own site."""
        host = self.host
        return host if _address(host) else _suffixes().privatesuffix(host.rstrip(".")) or host

    @property
    def robots_txt(self) -> "Url":
        """Where this URL's robots.txt is."""
        return Url(self.origin + "/robots.txt")


def authority_of(host_key: str) -> str:
    """A host key as URLs write it: an IPv6 address in brackets."""
    return f"[{host_key}]" if host_key.count(":") > 1 and not host_key.startswith("[") else host_key


def host_of(host_key: str) -> str:
    """A host key without its port: `127.0.0.1:8020` → `127.0.0.1`, `[::1]:8020` → `::1`, `2001:db8::1` as it is."""
    return Url(f"http://{authority_of(host_key)}/").host


def parse_url(text: str) -> Url | None:
    """The `Url` an absolute reference names; None if it is none, is not http or https, or is over `MAX_URL_CHARS`."""
    if len(text) > MAX_URL_CHARS:
        return None
    try:
        return _normal(whatwg.URL.parse(text))
    except (whatwg.URLError, UnicodeEncodeError):
        return None


def resolve(base: Url, reference: str) -> Url | None:
    """The `Url` that `reference` names on a page at `base`; None as for `parse_url`."""
    return _joined(base.text, reference)


def resolve_all(base: Url, references: Iterable[str | None]) -> list[Url | None]:
    """`resolve` for each of them; None for None.

    A path is resolved once for all pages of a directory while it is among the last `_REMEMBERED`: menus stand on every
    page.
    """
    text = base.text
    directory = text[: text.partition("?")[0].rindex("/") + 1]
    again = _joined_again if len(directory) <= _SHORT else _joined
    return [
        None
        if named is None
        else again(directory, named)
        if len(named) <= _SHORT and _PATH.match(named)
        else _joined(text, named)
        for named in references
    ]


def requested(text: str) -> str | None:
    """What a browser requests where `text`, a URL or a path, is typed: a URL for a URL, path and query for a path.

    Dot segments are resolved, `\\` is `/`, tabs, line breaks and a fragment are dropped, and so are spaces around the
    text. A verdict about the text as typed would be about a URL that no robot requests. `//example.org/x` names a host,
    so it becomes a URL. None if it is neither, or if `parse_url` refuses it.
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
    """Whether `url`, which `requested` or `resolve` made of what was typed, adds nothing but a site, or the `/` behind
    one."""
    parsed = parse_url(url)
    return url in (typed, f"{typed}/") or (parsed is not None and url == parsed.origin + typed)


_ANYWHERE = Url("http://anywhere.invalid/")
"""Stands for the site of a path that is given without one."""

_STRIPPED = "".join(map(chr, range(0x21)))
"""C0 control characters and space, which the URL standard strips from both ends."""

_REMEMBERED = 8_192
"""4 MB; 10 where all are as long as may be."""

_SHORT = 256
"""Longer references and directories are not remembered."""

_PATH = re.compile(r"(?:https?://|[^\x00-\x20?#:\\]++(?:[?#]|\Z))", re.IGNORECASE)
"""References that mean the same on all pages of a directory, whatever a URL parser takes out of them: not empty, no
query or fragment alone, no scheme but one with an authority (`http:?x` is a query)."""


def _joined(base: str, reference: str) -> Url | None:
    if len(reference) > MAX_URL_CHARS:
        return None
    try:
        return _normal(_parsed(base).join(reference))
    except (whatwg.URLError, UnicodeEncodeError):
        return None


_joined_again = lru_cache(maxsize=_REMEMBERED)(_joined)


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
def _suffixes() -> PublicSuffixList:
    return PublicSuffixList()


def _address(host: str) -> Address | None:
    if not (host[-1:].isdigit() or ":" in host):
        return None
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None


HOST_MOST = 255
"""Octets of a host name at most (RFC 1035 §2.3.4); the URL standard knows no bound."""


def is_private_host(host: str) -> bool:
    """Whether the host is a private address written out, or `localhost` (RFC 6761 §6.3). Resolves nothing."""
    return _is_private_host(host) if len(host) <= HOST_MOST else host.endswith((".localhost", ".localhost."))


@lru_cache(maxsize=4096)
def _is_private_host(host: str) -> bool:
    if f".{host}".removesuffix(".").endswith(".localhost"):
        return True
    return _address(host) is not None and is_private_address(host)


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
"""RFC 6890 §2.1 but for RFC 7723 and 8155; Python knows the whole range with 3.12.4. A cloud has its metadata there."""

_GLOBAL_V6 = ipaddress.IPv6Network("2000::/3")
"""All that IANA has given out (RFC 4291 §2.4). Not IPv4-translated addresses (RFC 2765), site-local ones, 5f00::/16…"""

_DOCUMENTATION_V6 = ipaddress.IPv6Network("3fff::/20")
"""RFC 9637; Python learns of it with 3.12.4."""

_UNSPECIFIED: dict[str, Address] = {
    "0.0.0.0": ipaddress.IPv4Address("127.0.0.1"),  # noqa: S104 - judged, not bound to
    "::": ipaddress.IPv6Address("::1"),
}


def reached_address(address: str) -> Address | None:
    """What a connection to `address` ends at; None if it is no address.

    The zone is dropped, IPv4 is taken out of IPv6 forms, the unspecified address is loopback (Linux, macOS).
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
    site-local, multicast, unspecified. Judged by what it reaches.

    Raises ValueError if it is no address.
    """
    ip = reached_address(address)
    if ip is None:
        raise ValueError(f"no address: {address!r}")
    beyond = isinstance(ip, ipaddress.IPv6Address) and (ip not in _GLOBAL_V6 or ip in _DOCUMENTATION_V6)
    if isinstance(ip, ipaddress.IPv4Address) and ip in _PROTOCOLS_V4:
        return ip not in _PROTOCOLS_GLOBAL
    return not ip.is_global or ip.is_multicast or beyond
