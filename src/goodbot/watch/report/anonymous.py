"""Shortens the addresses in a report (`--anonymise`)."""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from goodbot.watch.addresses import packed_address
from goodbot.watch.judging.groups import PREFIX
from goodbot.watch.wire_text import readable

_NAME: Final = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_WORD: Final = re.compile(r"[^\s,;()]+")
_NAME_IN_EVIDENCE: Final = re.compile(
    r"(?<= has the reverse DNS name ).+(?=, (?:which|not one) )|(?<=to the DNS lookup of ).+", re.DOTALL
)


def shortened(address: str) -> str:
    """Returns the network of an address (`192.0.2.0/24`, `2001:db8::/48`), and of a name its last two labels
    (`*.example.org`). `*`: anything else, such as a name without a dot."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return _shortened_name(readable(address).rstrip("."))
    return str(_network(parsed))


def without_addresses(sentence: str) -> str:
    """Shortens the addresses and their DNS names within a sentence of evidence; a range smaller than a network becomes
    the network."""
    named = _NAME_IN_EVIDENCE.sub(lambda found: shortened(found[0]), sentence)
    return _WORD.sub(lambda found: _shortened_word(found[0]), named)


def _shortened_name(name: str) -> str:
    labels = name.split(".")
    if len(labels) < 2 or not _NAME.fullmatch(name) or not labels[-1][0].isalpha():
        return "*"
    return ".".join(["*", *labels[-2:]])


def _shortened_word(word: str) -> str:
    text = word.removesuffix(".")
    try:
        found = ip_network(text, strict=False)
    except ValueError:
        return word
    if found.prefixlen <= PREFIX[found.version]:
        return word
    return f"{_network(found.network_address)}{word[len(text) :]}"


def _network(address: IPv4Address | IPv6Address) -> IPv4Network | IPv6Network:
    """Returns the network of an address. IPv6 addresses that contain an IPv4 address get its network, too."""
    packed = packed_address(str(address))
    number = ip_address(packed) if packed is not None else address
    prefix = 16 + PREFIX[4] if isinstance(number, IPv6Address) and number.sixtofour else PREFIX[number.version]
    return ip_network((number.packed, prefix), strict=False)
