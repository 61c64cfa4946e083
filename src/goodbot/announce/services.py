"""The services that take announcements: well-known ones by name, any other by its URL. Pure."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from goodbot.announce.announce_values import Service
from goodbot.announce.typed_urls import refuse_login, stated_url
from goodbot.exclusion.text.octets import normal_triplets
from goodbot.url import Url, parse_url, resolve

KNOWN: Final[Mapping[str, str]] = MappingProxyType(
    {
        "indexnow": "https://api.indexnow.org/indexnow",
        "amazon": "https://indexnow.amazonbot.amazon/indexnow",
        "bing": "https://www.bing.com/indexnow",
        "naver": "https://searchadvisor.naver.com/indexnow",
        "seznam": "https://search.seznam.cz/indexnow",
        "yandex": "https://yandex.com/indexnow",
        "yep": "https://indexnow.yep.com/indexnow",
    }
)
"""Name → URL (https://www.indexnow.org/faq). Each of them passes what it accepts on to the others
(https://www.indexnow.org/searchengines), so one of them is enough."""


def service_named(text: str) -> Service | None:
    """Returns the service that the user named, by a name in `KNOWN` or by its URL. To a URL that ends in `/`,
    `indexnow` is added; spellings that mean the same URL become one. Returns None if the text is neither. Raises
    InputError for a URL with a user name or a password."""
    url = parse_url(KNOWN.get(text, text))
    if url is None:
        return None
    refuse_login(text)
    if text not in KNOWN and stated_url(text) is None:
        return None
    return Service(text, _endpoint(url))


def _endpoint(url: Url) -> Url:
    url = parse_url(normal_triplets(url.text).removesuffix("?")) or url
    if not url.target.endswith("/") or "?" in url.target:
        return url
    return resolve(url, "indexnow") or url
