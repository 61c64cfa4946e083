"""Reads the name of a host that the user typed, and suggests a known one in place of an unknown one."""

from pathlib import Path
from typing import NamedTuple

from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.robot.fetch.pinned_addresses import is_ipv6
from goodbot.url import Url, parse_url

HOST_HELP = "Only this host. Give HOST:PORT for a private address."
MAX_HOST_CHARS = 300
MAX_PORT_DIGITS = 5
ORIGINS_NAMED = 5
"""How many origins an error names."""


def host_key(text: str) -> str:
    """Returns the key under which a crawl keeps a host. `text` is `HOST`, `HOST:PORT`, an IPv6 address (in brackets if
    it has a port) or the URL of a site.

    Raises InputError, also for an IPv6 address without brackets whose last group may be a port.
    """
    return _root(text).host_key


def _root(text: str) -> Url:
    """Returns the URL of the root of a site; with the scheme http if the text has none."""
    scheme, separator, rest = text.rpartition("://")
    named = rest.removesuffix("/") if separator else text
    address, _, port = named.rpartition(":")
    if is_ipv6(address) and port.isascii() and port.isdecimal() and len(port) <= MAX_PORT_DIGITS:
        whole = f", or [{named}] if all of it is the address" if is_ipv6(named) else ""
        raise InputError(f"an IPv6 address with a port needs brackets: write [{address}]:{port}{whole}")
    authority = f"[{named}]" if is_ipv6(named) else named
    is_odd = any(character in "/\\?#@%*" or character.isspace() or not character.isprintable() for character in named)
    fits = 0 < len(named) <= MAX_HOST_CHARS and not is_odd and scheme.lower() in ("", "http", "https")
    url = parse_url(f"{scheme or 'http'}://{authority}/") if fits else None
    if url is None:
        raise InputError(f"not a host such as example.org, 127.0.0.1:8000 or 2001:db8::1: {shown(text)!r}")
    return url


def _origins(text: str) -> list[str]:
    """Returns the origins that a text with a scheme or a port may mean; of a host alone, none."""
    if "://" in text:
        return [_root(text).origin]
    port = text.rpartition(":")[2]
    if is_ipv6(text) or port == text or not port.isdecimal():
        return []
    return [_root(f"{scheme}://{text}").origin for scheme in ("http", "https")]


def hosts_meant(folder: Path, host: str) -> str:
    """Returns `; did you mean 127.0.0.1:8000?` if the crawl knows the host only with other ports, else nothing."""
    with CrawlFolder(folder).open_reader() as frontier:
        similar = () if frontier.knows_host(host) else frontier.similar_hosts(host)
    return f"; did you mean {' or '.join(similar)}?" if similar else ""


class KnownHost(NamedTuple):
    """A host (`Url.host_key`) that a crawl knows. `origin`: the only origin of it that is meant; empty: all of them."""

    key: str
    origin: str = ""


def known_host(folder: Path, text: str) -> KnownHost:
    """Returns the host that `text` names, and its origin if `text` has a scheme or a port. Raises InputError if the
    crawl in `folder` does not know the host or origin, or knows this port with both schemes; also raises what
    `host_key` raises. Reads all URLs of the crawl if `text` has a scheme or a port."""
    key, named = host_key(text), _origins(text)
    crawl = CrawlFolder(folder)
    crawl.check()
    with crawl.open_reader() as frontier:
        is_known = frontier.knows_host(key)
        urls = (record.url for record in frontier.records()) if is_known and named else ()
        known = sorted({url.origin for url in urls if url.host_key == key})
    if not is_known:
        raise InputError(f"the crawl in {folder} does not know the host {shown(key)}{hosts_meant(folder, key)}")
    if not named:
        return KnownHost(key)
    meant = [origin for origin in known if origin in named]
    if len(meant) > 1:
        raise InputError(f"the crawl in {folder} has {' and '.join(meant)}: name the scheme, as in --host {meant[0]}")
    if not meant:
        others = f"; did you mean {' or '.join(known[:ORIGINS_NAMED])}?" if known else ""
        raise InputError(f"the crawl in {folder} does not know {shown(text)}{others}")
    return KnownHost(key, meant[0])
