"""Finds the client behind proxies, from X-Forwarded-For (`goodbot watch --real-ip`)."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Network, ip_address

from goodbot.watch.addresses import is_local, packed_address

MOST_READ = 1024
"""Characters of the header field that are read, from its end."""


def real_client(address: str, forwarded: str, proxies: Sequence[IPv4Network | IPv6Network] = ()) -> str:
    """Returns the address that the nearest proxy of one's own saw.

    Anyone can send X-Forwarded-For, and each proxy adds the address that it saw at the end. So it is read from the end,
    past local addresses and those of `proxies`; a value that is not an address ends the search. `address` is returned
    if nothing else is found, and if it is not the address of a proxy itself: such a visitor came past the proxies.
    """
    if not _is_trusted(address, proxies):
        return address
    client = address
    for part in reversed(forwarded[-MOST_READ:].split(",")):
        text = _bare(part.strip())
        if packed_address(text) is None:
            break
        client = text
        if not _is_trusted(text, proxies):
            break
    return client


def _is_trusted(address: str, proxies: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Whether this is one of one's own proxies, or the server's own socket."""
    packed = packed_address(address)
    if packed is None:
        return address.startswith("unix:")
    parsed = ip_address(packed)
    return is_local(packed) or any(parsed in network for network in proxies)


def _bare(text: str) -> str:
    """Removes a port and brackets."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0] if text.count(":") == 1 else text
