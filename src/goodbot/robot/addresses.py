"""Addresses found for a name: what sources say, and the source that is a file. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final

Addresses = tuple[str, ...]

FAMILY_MOST: Final = 8
"""Addresses of one family that are looked at, of however many an answer holds."""


@dataclass(frozen=True, slots=True)
class Found:
    """What one source says of a name, and for how long."""

    addresses: Addresses
    lasts_s: float
    error: str = ""


def few_of(texts: Iterable[str]) -> Addresses:
    """IPv4 first, a few of each family, each once. What has a zone is left out: it means one link of one machine, and
    no URL can name it."""
    families: dict[int, list[str]] = {4: [], 6: []}
    for text in dict.fromkeys(texts):
        try:
            address = ip_address(text)
        except ValueError:
            continue
        if "%" not in text and len(families[address.version]) < FAMILY_MOST:
            families[address.version].append(str(address))
    return (*families[4], *families[6])


def parse_hosts(data: bytes) -> dict[str, Addresses]:
    """A hosts file: each name in lower case with its addresses in order. Never raises; lines that are none are left
    out."""
    found: dict[str, Addresses] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        if names and (few := few_of([address])):
            for name in names:
                lower = name.lower().removesuffix(".")
                found[lower] = found.get(lower, ()) + few
    return found
