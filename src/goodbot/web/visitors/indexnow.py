"""Reads IndexNow requests (https://www.indexnow.org/documentation), in which a site reports pages that have changed.
Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from goodbot.announce.batches import MAX_URLS
from goodbot.announce.key import KEY
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import Url, parse_url
from goodbot.visitor_urls import has_userinfo, named_host
from goodbot.visitor_values import IndexNowOutcome, IndexNowStatus

MAX_HOST_CHARS: Final = 255

_FORM: Final = "the body must be a JSON object with the texts `host` and `key`, and a list `urlList` of URLs"


@dataclass(frozen=True, slots=True)
class IndexNowRequest:
    """A site's report that `urls`, at least one, have changed. `key_location` is the URL of the file that has the
    `key`; it is on the same host, and all URLs are in its folder or below."""

    host: str
    key: str
    key_location: Url
    urls: tuple[Url, ...]


@dataclass(frozen=True, slots=True)
class MisplacedUrls:
    """A report with a URL that is not of its `host`."""

    host: str
    reason: str


class _Body(msgspec.Struct):
    host: str
    key: str
    urlList: list[str]  # noqa: N815 - the protocol's name
    keyLocation: str | None = None  # noqa: N815


def parse_indexnow(body: bytes) -> IndexNowRequest | MisplacedUrls | IndexNowOutcome:
    """Reads the body of a POST; returns the answer to send if it cannot be accepted. Never raises; linear."""
    try:
        value = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"), type=_Body)
    except (msgspec.DecodeError, RecursionError):
        return _refused(400, _FORM)
    if not 1 <= len(value.urlList) <= MAX_URLS:
        return _refused(400, f"`urlList` must have 1 to {MAX_URLS:,} URLs")
    return _request(value.host, value.key, value.urlList, value.keyLocation)


def read_indexnow_query(fields: Mapping[str, str]) -> IndexNowRequest | MisplacedUrls | IndexNowOutcome:
    """Reads the query of a GET: `url`, `key` and, if the key is not in the root folder, `keyLocation`. Never raises."""
    text, key = fields.get("url", ""), fields.get("key", "")
    if not text or not key:
        return _refused(400, "the query must have `url` and `key`")
    url = parse_url(text)
    host = url.authority if url is not None else named_host(text)
    return _request(host, key, [text], fields.get("keyLocation") or None)


def _request(
    host: str, key: str, texts: list[str], key_location: str | None
) -> IndexNowRequest | MisplacedUrls | IndexNowOutcome:
    if not KEY.fullmatch(key):
        return _refused(422, "the key must have 8 to 128 characters, each a letter from a to z, a digit or a hyphen")
    authorities = _authorities(host)
    urls: dict[Url, None] = {}
    for text in texts:
        if (url := _url_of(authorities, text)) is None:
            return MisplacedUrls(host, f"{shown(text)} is not a URL of the host {shown(host)}")
        urls[url] = None
    location = _url_of(authorities, _default_location(host, key, urls) if key_location is None else key_location)
    if location is None or "?" in location.text:
        return _refused(403, f"`keyLocation` must be the URL of a file on the host {shown(host)}, without a query")
    folder = location.path[: location.path.rindex("/") + 1]
    outside = next((url for url in urls if not url.path.startswith(folder)), None)
    if outside is not None:
        return _refused(403, f"{shown(outside.text)} is not in the folder of the key file, {shown(folder)}")
    return IndexNowRequest(host, key, location, tuple(urls))


def _authorities(host: str) -> dict[str, str]:
    """Returns the authority of the host's URLs for each scheme; nothing if it is not a host, with or without a port."""
    if len(host) > MAX_HOST_CHARS or "@" in host:
        return {}
    roots = (parse_url(f"{scheme}://{host}/") for scheme in ("http", "https"))
    return {root.scheme: root.authority for root in roots if root is not None and root.target == "/"}


def _url_of(authorities: Mapping[str, str], text: str) -> Url | None:
    """Returns the URL if it is one of the host."""
    url = parse_url(text)
    is_of_host = url is not None and url.authority == authorities.get(url.scheme)
    return url if is_of_host and not has_userinfo(text) else None


def _default_location(host: str, key: str, urls: Iterable[Url]) -> str:
    """Returns where the key file is if the request does not say: in the root folder."""
    scheme = "https" if any(url.scheme == "https" for url in urls) else "http"
    return f"{scheme}://{host}/{key}.txt"


def _refused(status: IndexNowStatus, reason: str) -> IndexNowOutcome:
    return IndexNowOutcome(status, reason)
