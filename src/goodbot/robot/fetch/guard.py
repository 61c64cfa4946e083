"""Decides which addresses may be connected to: public ones, and private ranges that were opened. Pure."""

import ipaddress
from collections.abc import Callable, Iterable
from functools import lru_cache, partial

from goodbot.url import Address, is_private_address
from goodbot.values import Failure

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_OPEN = 1000
"""Private ranges that can be open at once; there are some 30, and a list of seeds opens each once."""

_RANGES: tuple[Network, ...] = tuple(
    ipaddress.ip_network(text)
    for text in (
        # IANA IPv4 Special-Purpose Address Registry (RFC 6890) and multicast (RFC 5771)
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
        *("224.0.0.0/4", "255.255.255.255/32", "240.0.0.0/4"),
        # IANA IPv6 Special-Purpose Address Registry, multicast (RFC 4291 §2.7), site-local (RFC 3879)
        *("::1/128", "100::/64", "2001::/23", "2001:db8::/32", "3fff::/20", "5f00::/16"),
        *("fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
    )
)


def private_range(address: str) -> Network | None:
    """Returns the special-purpose range that an address is written in (127.0.0.1: 127.0.0.0/8). An address that is
    private only because of what it reaches (2002:7f00:1::) is a range of its own.

    None for a public address, and for text that is not an address.
    """
    ip = _connected_to(address)
    if ip is None or not is_private_address(address):
        return None
    return next((network for network in _RANGES if ip in network), ipaddress.ip_network(ip))


def no_contact(host: str, *, is_known: bool = True) -> str:
    """Says why a host gets no request from a robot without a contact, and what would allow it. `is_known`: whether the
    host is known to be public."""
    why = "is public" if is_known else "may be public (its name cannot be resolved here)"
    return f"{host} {why}, and no contact is set: say who you are with --contact (in Python: contact=…)"


class AddressGuard:
    """Permits public addresses, judged by what they reach, and addresses written inside `open_networks`. Refuses text
    that is not an address. With `public=False`, for a robot without a contact, it refuses public addresses too."""

    def __init__(self, open_networks: Iterable[Network] = (), *, public: bool = True) -> None:
        self._open = tuple(open_networks)
        self.public = public
        self._judged = lru_cache(maxsize=1024)(self._judge)
        self._permitted = lru_cache(maxsize=1024)(self._permit)

    def open(self, networks: Iterable[Network]) -> None:
        """Permits these as well from now on; at most `MAX_OPEN` networks, further ones stay refused."""
        more = [network for network in dict.fromkeys(networks) if network not in self._open]
        if more:
            self._open = (*self._open, *more)[:MAX_OPEN]
            self._judged.cache_clear()
            self._permitted.cache_clear()

    def __reduce__(self) -> tuple[Callable[..., "AddressGuard"], tuple[tuple[Network, ...]]]:
        """Pickles without the caches."""
        return partial(AddressGuard, public=self.public), (self._open,)

    def permits(self, address: str, public_only: bool) -> bool:
        """Returns whether `address` may be connected to; `public_only` closes the opened ranges too."""
        return self._judged(address, public_only) is None

    def permitted(self, addresses: tuple[str, ...], public_only: bool) -> tuple[str, ...]:
        """Returns those that may be connected to."""
        return self._permitted(addresses, public_only)

    def refusal(self, address: str, public_only: bool) -> str | None:
        """Returns why it is refused, and what would allow it, in one sentence; None if it is permitted."""
        return self._judged(address, public_only)

    def failure(self, host: str, address: str, public_only: bool) -> Failure:
        """Returns the failure of a request to `host`, which leads to a refused address."""
        refusal = self._judged(address, public_only) or ""
        if _is_public(address):
            return Failure("no-contact", no_contact(host))
        detail = refusal if host == address else f"{host} leads to a private address: {refusal}"
        return Failure("private-address", detail)

    def _permit(self, addresses: tuple[str, ...], public_only: bool) -> tuple[str, ...]:
        return tuple(address for address in addresses if self.permits(address, public_only))

    def _judge(self, address: str, public_only: bool) -> str | None:
        ip = _connected_to(address)
        if ip is None:
            return f"{address!r} is not a valid address, so no request is sent there"
        network = private_range(address)
        if network is None and not self.public:
            return no_contact(address)
        if network is None or (not public_only and any(ip in opened for opened in self._open)):
            return None
        why = "and a public host led there" if public_only else "which is not open"
        remedy = "to allow it, give its URL yourself"
        if not self._open:
            remedy += ", with --allow-private (in Python: allow_private=True)"
        return f"{address} is in the private range {network}, {why}: {remedy}"


def _is_public(address: str) -> bool:
    return _connected_to(address) is not None and not is_private_address(address)


def _connected_to(address: str) -> Address | None:
    """Returns the address as written, without its zone. IPv4 mapped into IPv6 is IPv4, as for every system. Other forms
    that contain an IPv4 address lead to a gateway first, and `0.0.0.0` is not in 127.0.0.0/8."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    return (ip.ipv4_mapped or ip) if isinstance(ip, ipaddress.IPv6Address) else ip
