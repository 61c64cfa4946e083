"""Reads URLs that visitors type, and recognizes hosts of private networks by their names. Pure."""

import re
from typing import Final

from goodbot.errors import UrlError
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, is_private_host, parse_url

MAX_TYPED_CHARS: Final = 2000

_WITHOUT_SCHEME: Final = re.compile(r"[^\s:/?#@\\]+(?::[0-9]{1,5})?(?:[/?#].*)?", re.DOTALL)
_ENDS_AUTHORITY: Final = re.compile(r"[/\\?#]")
_INTERNAL: Final = ("local", "localhost", "internal", "home.arpa", "intranet", "private", "corp", "home", "lan")
"""Domains of private networks: RFC 6762 §3 and appendix G, RFC 6761, RFC 8375, and ICANN's decision on `internal`."""


def lacks_scheme(text: str) -> bool:
    """Returns whether a text may be the address of a page without its scheme: `example.org/a`."""
    return "://" not in text and _WITHOUT_SCHEME.fullmatch(text.strip()) is not None


def visitor_url(text: str, scheme: str = "https") -> Url:
    """Returns the URL that a visitor typed; an address without a scheme gets `scheme`. Raises UrlError, in one
    sentence, for any other text, for a URL with a user name or password, and for one that is too long."""
    text = text.strip()
    if not text:
        raise UrlError("give the URL of a page, such as https://example.org/page")
    if len(text) > MAX_TYPED_CHARS:
        raise UrlError(f"this URL is longer than {MAX_TYPED_CHARS:,} characters")
    if lacks_scheme(text):
        text = f"{scheme}://{text}"
    url = parse_url(text) if "://" in text and text.isprintable() else None
    if url is None:
        raise UrlError(f"{shown(text)} is not an http or https URL")
    if has_userinfo(text):
        raise UrlError("this URL has a user name or a password: leave it out")
    if len(url.text) > MAX_TYPED_CHARS:
        raise UrlError(f"this URL has more than {MAX_TYPED_CHARS:,} characters when it is encoded")
    return url


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
