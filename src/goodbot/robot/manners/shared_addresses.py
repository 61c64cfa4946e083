"""Limits requests to public hosts that share an address: one at a time, and a pause between two of its hosts."""

from dataclasses import dataclass
from typing import Final

from goodbot.partitions import partition_of
from goodbot.robot.manners.politeness import is_private_peer
from goodbot.values import Capture

MAX_HOSTS: Final = 50_000
"""Hosts whose address is remembered; a forgotten one is learned again with the next answer."""
STAY_S: Final = 86_400.0
"""How long a host with several addresses stays in the partition of one that has not answered since."""
QUEUE_S: Final = 1.0
"""How long a request is assumed to last while another host waits for its end."""


@dataclass(slots=True)
class _Address:
    """`host` has `busy` requests in flight, or was the last one to have some; another host may follow from `free_at`
    on. `promised_at`: the last time that was promised to a waiting host."""

    host: str
    busy: int
    free_at: float
    promised_at: float


class SharedAddresses:
    """Records which host is being requested at which address, within one process. Pure: callers pass the time, in Unix
    seconds.

    A host whose address is not known yet may be requested: its address becomes known with the first answer, that for
    its robots.txt. Private addresses are ignored, because each port there is a server of its own.
    """

    def __init__(self, pause_s: float) -> None:
        self._pause_s = pause_s
        self._address_of: dict[str, str] = {}
        self._addresses: dict[str, _Address] = {}
        self._partitions: dict[str, tuple[int, float]] = {}  # with the time when an address of that partition answered

    def learn(self, host: str, capture: Capture) -> None:
        """Notes the address at which `host` answered."""
        if capture.peer is None or is_private_peer(capture.peer):
            return
        if len(self._address_of) >= MAX_HOSTS:
            self._address_of.clear()
            self._partitions.clear()
            self._addresses = {name: address for name, address in self._addresses.items() if address.busy}
        self._address_of[host] = capture.peer
        partition, at = partition_of(capture.peer), capture.fetched_at
        known, known_at = self._partitions.get(host, (partition, at))
        if partition <= known or at > known_at + STAY_S:
            self._partitions[host] = partition, at

    def partition(self, host: str) -> int | None:
        """Returns the partition of the host's address; None: no address is known. Of several addresses that answer in
        turn, the lowest partition counts, so that hosts with the same addresses come together and stay there."""
        known = self._partitions.get(host)
        return None if known is None else known[0]

    def claim(self, host: str, now: float) -> tuple[str | None, float]:
        """Returns the address, which belongs to `host` until `release`, and `now`; or None, and when to try again. An
        unknown address is the empty string."""
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
        """Notes that the answer has arrived; no other host gets a request at this address before the pause is over."""
        address = self._addresses.get(name)
        if address is not None:
            address.busy -= 1
            address.free_at = now + self._pause_s
