"""Addresses of a log as bytes, for quick answers."""

from bisect import bisect_right
from collections.abc import Iterable
from ipaddress import IPv4Network, IPv6Network, ip_network
from socket import AF_INET, AF_INET6, inet_pton
from typing import Final

_V4_PREFIXES: Final = (
    bytes(10) + b"\xff\xff",  # ::ffff:0:0/96, RFC 4291
    b"\x00\x64\xff\x9b" + bytes(8),  # 64:ff9b::/96, by which networks of IPv6 alone reach IPv4, RFC 6052
)


def packed_address(address: str) -> bytes | None:
    """Returns the 4 or 16 bytes of an address; 4 for an IPv4 address within IPv6. The zone is dropped. None if it is
    not an address."""
    try:
        packed = inet_pton(AF_INET6, address.partition("%")[0]) if ":" in address else inet_pton(AF_INET, address)
    except (OSError, ValueError):
        return None
    return packed[12:] if len(packed) == 16 and packed[:12] in _V4_PREFIXES else packed


class AddressRanges:
    """Address ranges, searched by bisection."""

    def __init__(self, networks: Iterable[IPv4Network | IPv6Network]) -> None:
        self._starts: dict[int, list[bytes]] = {4: [], 6: []}
        self._ends: dict[int, list[bytes]] = {4: [], 6: []}
        for network in sorted(networks, key=lambda network: (network.version, network)):
            first, last = network.network_address.packed, network.broadcast_address.packed
            ends = self._ends[network.version]
            if not ends or last > ends[-1]:  # else it lies within the one before
                self._starts[network.version].append(first)
                ends.append(last)

    def __contains__(self, packed: bytes) -> bool:
        version = 4 if len(packed) == 4 else 6
        place = bisect_right(self._starts[version], packed) - 1
        return place >= 0 and packed <= self._ends[version][place]


LOCAL_NETWORKS: Final[tuple[IPv4Network | IPv6Network, ...]] = tuple(
    ip_network(text)
    for text in (
        "10.0.0.0/8",  # private: RFC 1918
        "172.16.0.0/12",
        "192.168.0.0/16",
        "100.64.0.0/10",  # shared by the customers of a provider, and used within clouds: RFC 6598
        "127.0.0.0/8",  # the server itself
        "0.0.0.0/8",
        "169.254.0.0/16",  # link-local: RFC 3927
        "::1/128",
        "fc00::/7",  # private: RFC 4193
        "fe80::/10",  # link-local: RFC 4291
    )
)
"""The networks of addresses that are not from the Internet; see `is_local`."""

_LOCAL: Final = AddressRanges(LOCAL_NETWORKS)


def is_local(packed: bytes) -> bool:
    """Whether an address is not from the Internet: in the log of a public server it belongs to a proxy or to a program
    of one's own. Addresses for documentation are not local."""
    return packed in _LOCAL


def is_local_address(address: str) -> bool:
    """Does the same for an address as text; a name is not local."""
    packed = packed_address(address)
    return packed is not None and is_local(packed)
