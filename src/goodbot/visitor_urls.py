"""Reads URLs that visitors type, and recognizes hosts of private networks by their names. Pure."""

import re
from typing import Final

from goodbot.errors import UnusableUrlError, UrlError
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, is_private_host, parse_url

MAX_TYPED_CHARS: Final = 2000

_NAME: Final = r"[A-Za-z0-9_-][A-Za-z0-9._-]*"
_DOMAIN: Final = rf"({_NAME}\.[A-Za-z]{{2,}}|([0-9]{{1,3}}\.){{3}}[0-9]{{1,3}})"
_REST: Final = r"(:[0-9]{1,5})?([/?#][!#-;=?-~]*)?"
_ABSOLUTE: Final = rf"https?://({_NAME}|\[[0-9A-Fa-f:.]+\])"
ABSOLUTE_URL: Final = rf"{_ABSOLUTE}{_REST}"
"""Describes the absolute URLs that programs send, in ASCII, as a regular expression without anchors. Every text that it
matches is a URL, but perhaps one that no server can have."""
TYPED_URL: Final = rf"({_ABSOLUTE}|{_DOMAIN}){_REST}"
"""Describes these, and URLs without their scheme, if they begin with a domain or an IPv4 address."""

_SYNTAX: Final = re.compile(TYPED_URL)
_WITHOUT_SCHEME: Final = re.compile(r"[^\s:/?#@\\]+(?::[0-9]{1,5})?(?:[/?#].*)?", re.DOTALL)
_HOST: Final = re.compile(r"[a-z0-9_.:-]+")
"""Matches a host that may be the name of a server, or an address. The URL standard permits more: `example.org*`."""
_PLAIN_HOST: Final = re.compile(
    rf"(?:{_DOMAIN}|[^:/?#]+\.(?:[^\W\d_]{{2,}}|xn--[^:/?#.]+))\.?(?=[:/?#]|\Z)", re.IGNORECASE
)
_ENDS_AUTHORITY: Final = re.compile(r"[/\\?#]")
_INTERNAL: Final = ("local", "localhost", "internal", "home.arpa", "intranet", "private", "corp", "home", "lan")
"""Domains of private networks: RFC 6762 §3 and appendix G, RFC 6761, RFC 8375, and ICANN's decision on `internal`."""


def lacks_scheme(text: str) -> bool:
    """Returns whether a text may be the address of a page without its scheme: `example.org/a`."""
    return _WITHOUT_SCHEME.fullmatch(text.strip()) is not None


def visitor_url(text: str, scheme: str = "https") -> Url:
    """Returns the URL that a visitor typed; an address without a scheme gets `scheme`. Raises UrlError, in one
    sentence, for any other text, for a URL with a user name or password, and for one that is too long; UnusableUrlError
    for a URL that no server can have, or that is too long when it is encoded."""
    typed = text = text.strip()
    if not text:
        raise UrlError("give the URL of a page, such as https://example.org/page")
    if len(text) > MAX_TYPED_CHARS:
        raise UrlError(f"this URL is longer than {MAX_TYPED_CHARS:,} characters")
    if lacks_scheme(text):
        text = f"{scheme}://{text}"
    url = parse_url(text) if "://" in text and text.isprintable() else None
    if url is None and _SYNTAX.fullmatch(typed):
        raise UnusableUrlError(f"no server can have the URL {shown(typed)}")
    if url is None or not _HOST.fullmatch(url.host):
        raise _not_a_url(typed)
    if has_userinfo(text):
        raise UrlError("this URL has a user name or a password: leave it out")
    if len(url.text) > MAX_TYPED_CHARS:
        raise UnusableUrlError(f"this URL has more than {MAX_TYPED_CHARS:,} characters when it is encoded")
    return url


def plain_url(text: str) -> Url:
    """Returns what `visitor_url` does, but refuses an address without a scheme unless it begins with a domain or an
    IPv4 address, as in `example.org/a`. Other words, such as `robots` or `1.0`, are hosts too, but visitors hardly mean
    them as such."""
    url = visitor_url(text)
    if lacks_scheme(text) and not _PLAIN_HOST.match(text.strip()):
        raise _not_a_url(text.strip())
    return url


def _not_a_url(text: str) -> UrlError:
    """Returns the error for a text that is not a URL."""
    return UrlError(f"{shown(text)} is not an http or https URL")


def named_host(text: str) -> str:
    """Returns the host that an absolute URL names, with its port if it has one, even if no server can have this URL;
    empty if the text is not a URL."""
    is_url = re.fullmatch(ABSOLUTE_URL, text) is not None
    return _ENDS_AUTHORITY.split(text.partition("://")[2], maxsplit=1)[0] if is_url else ""


def has_userinfo(text: str) -> bool:
    """Returns whether the text of an absolute URL has a user name or a password."""
    after_scheme = text.partition(":")[2].lstrip("/\\")
    return "@" in _ENDS_AUTHORITY.split(after_scheme, maxsplit=1)[0]


def is_internal(url: Url) -> bool:
    """Returns whether the host is a private address or `localhost`, or a name that public name servers do not have: one
    word, or a name in a domain of private networks. Resolves no name, so other names may have private addresses too."""
    host = url.host.removesuffix(".")
    if is_private_host(host):
        return True
    is_address = ":" in host or host[-1:].isdigit()
    return not is_address and ("." not in host or f".{host}".endswith(tuple(f".{domain}" for domain in _INTERNAL)))
