"""Public hosts that share an address: one request at a time to it, and a pause between two of its hosts."""

from dataclasses import dataclass
from typing import Final

from goodbot.robot.manners.politeness import is_private_peer
from goodbot.values import Capture

HOSTS_MOST: Final = 50_000
"""Whose address is remembered; what is forgotten is learnt again with the next answer."""
QUEUE_S: Final = 1.0
"""How long a request is taken to last whose end is waited for."""


@dataclass(slots=True)
class _Address:
    """`host` is being asked, `busy` times at once, or was the last one; another may be from `free_at` on. `promised_at`
    is the last time given out."""

    host: str
    busy: int
    free_at: float
    promised_at: float


class SharedAddresses:
    """Who is asked at which address, within one robot process. Pure: times are given, in Unix seconds.

    A host whose address is not known yet may be asked: the answer to its first request, which is that for its
    robots.txt, tells. Private addresses are not looked at: there each port is a server of its own.
    """

    def __init__(self, pause_s: float) -> None:
        self._pause_s = pause_s
        self._address_of: dict[str, str] = {}
        self._addresses: dict[str, _Address] = {}

    def learn(self, host: str, capture: Capture) -> None:
        """Where `host` answered."""
        if capture.peer is None or self._address_of.get(host) == capture.peer or is_private_peer(capture.peer):
            return
        if len(self._address_of) >= HOSTS_MOST:
            self._address_of.clear()
            self._addresses = {name: address for name, address in self._addresses.items() if address.busy}
        self._address_of[host] = capture.peer

    def claim(self, host: str, now: float) -> tuple[str | None, float]:
        """The address, which is `host`'s until `release`, and `now`; or None, and when to claim it again. An address
        that is not known is the empty string."""
        name = self._address_of.get(host)
        if name is None:
            return "", now
        address = self._addresses.get(name)
        if address is None:
            address = self._addresses[name] = _Address(host, 0, now, now)
        if address.host == host or not (address.busy or now < address.free_at):
            address.host = host
            address.busy += 1
            return name, now
        earliest = now + QUEUE_S if address.busy else address.free_at
        address.promised_at = max(earliest, address.promised_at + self._pause_s)
        return None, address.promised_at

    def release(self, name: str, now: float) -> None:
        """The answer is there; nobody else is asked there before the pause is over."""
        address = self._addresses.get(name)
        if address is not None:
            address.busy -= 1
            address.free_at = now + self._pause_s
