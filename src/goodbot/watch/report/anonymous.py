"""Shortens addresses, so that a report names no person (`--anonymise`)."""

import re
from ipaddress import ip_address, ip_network
from typing import Final

from goodbot.watch.judging.groups import PREFIX
from goodbot.watch.wire_text import readable

_ADDRESS: Final = re.compile(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})(?![\w.:/])")


def shortened(address: str) -> str:
    """Returns the network of an address (`192.0.2.0/24`, `2001:db8::/48`), and of a name its last two labels
    (`*.example.org`)."""
    try:
        parsed = ip_address(address)
    except ValueError:
        labels = readable(address).rstrip(".").split(".")
        return ".".join(["*", *labels[-2:]]) if len(labels) > 2 else readable(address)
    return str(ip_network((parsed, PREFIX[parsed.version]), strict=False))


def without_addresses(sentence: str) -> str:
    """Shortens the addresses within a sentence; ranges (`192.0.2.0/28`) stay."""
    return _ADDRESS.sub(lambda found: _if_address(found[0]), sentence)


def _if_address(text: str) -> str:
    try:
        ip_address(text)
    except ValueError:
        return text
    return shortened(text)
