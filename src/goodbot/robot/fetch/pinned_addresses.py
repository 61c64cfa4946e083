"""Reads addresses that users pin: `HOST:PORT:ADDRESS`, hosts files, proxies. Pure."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Final

from goodbot.errors import InputError
from goodbot.url import reached_address

Addresses = tuple[str, ...]

_PIN: Final = re.compile(r"(?P<host>[^:\[\]]+):(?P<port>[0-9]{1,5}):\[?(?P<address>[^\[\]]+)\]?", re.ASCII)

_PROXY: Final = re.compile(
    r"""(?:https?|socks(?:4a?|5h?))://
        (?:(?:[^\s/?\#@%]|%(?![01]|7F))*@)?  # user and password; libcurl takes no control characters, written as %0A
        (?:\[(?P<ipv6>[^\[\]%]+)(?:%25\w+)?\]|[\w.~-]+)
        (?::(?P<port>[0-9]*))?
        (?:[/?\#]\S*)?""",
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
"""The URLs that libcurl accepts for a proxy."""

MAX_FAMILY: Final = 8
"""How many addresses of one family are used, however many an answer holds."""


@dataclass(frozen=True, slots=True)
class FoundAddresses:
    """The addresses that one source has for a name, and how long they are valid."""

    addresses: Addresses
    lasts_s: float
    error: str = ""


def pinned(text: str) -> tuple[str, int, str] | None:
    """Splits `HOST:PORT:ADDRESS` into its parts; None if it is not that, or if HOST is an address itself, to which the
    transport connects anyway."""
    match = _PIN.fullmatch(text)
    if match is None or reached_address(match["host"]) is not None or reached_address(match["address"]) is None:
        return None
    if not 0 < int(match["port"]) < 65536:
        return None
    return match["host"].lower(), int(match["port"]), match["address"]


def pins_of(entries: Iterable[str]) -> dict[tuple[str, int], str]:
    """Maps host and port to the address of each `HOST:PORT:ADDRESS`; the first one counts. Raises InputError."""
    pins: dict[tuple[str, int], str] = {}
    for text in entries:
        pin = pinned(text)
        if pin is None:
            raise InputError(f"resolve must be HOST:PORT:ADDRESS with a host name as HOST, not {text!r}")
        pins.setdefault(pin[:2], pin[2])
    return pins


def check_proxy(text: str | None) -> None:
    """Raises InputError for a text that libcurl does not accept as the URL of a proxy. None: there is no proxy."""
    if text is not None and not _is_proxy(text):
        raise InputError(f"proxy must be http://host:port or socks5h://host:port, not {text!r}")


def _is_proxy(text: str) -> bool:
    match = _PROXY.fullmatch(text) if text.isascii() and text.isprintable() else None
    if match is None or (match["ipv6"] is not None and not is_ipv6(match["ipv6"])):
        return False
    return len(port := (match["port"] or "").lstrip("0")) <= 5 and int(port or 0) < 65536


def is_ipv6(text: str) -> bool:
    """Returns whether it is an IPv6 address, without brackets."""
    try:
        IPv6Address(text)
    except ValueError:
        return False
    return True


def limit_addresses(texts: Iterable[str]) -> Addresses:
    """Returns IPv4 addresses first, a few of each family, each once. Leaves out addresses with a zone: they are valid
    on one link of one machine only, and no URL can contain them."""
    families: dict[int, list[str]] = {4: [], 6: []}
    for text in dict.fromkeys(texts):
        try:
            address = ip_address(text)
        except ValueError:
            continue
        if "%" not in text and len(families[address.version]) < MAX_FAMILY:
            families[address.version].append(str(address))
    return (*families[4], *families[6])


def parse_hosts(data: bytes) -> dict[str, Addresses]:
    """Parses a hosts file: maps each name in lower case to its addresses in order. Never raises; skips invalid
    lines."""
    found: dict[str, Addresses] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if names and (few := limit_addresses([address])):
            for name in names:
                lower = name.lower().removesuffix(".")
                found[lower] = found.get(lower, ()) + few
    return found
