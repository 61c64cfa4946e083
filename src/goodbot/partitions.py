"""Divides the hosts of a crawl into partitions. Processes and machines share out partitions, not single hosts.

A host is first in the partition of its name. As soon as its address is known, it is in that of its address: so hosts at
one address are requested by one process, which keeps a pause between them (`SharedAddresses`).
"""

from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import Final

PARTITIONS: Final = 1024
"""The number of partitions: of 20 machines each gets 51 or 52. Finding the hosts that are due takes one
lookup for each partition of a machine, so more would cost more."""


def partition_of(name: str) -> int:
    """Returns the partition, from 0 on, of a host (`Url.host_key`) or of an address. It is stored in frontiers, so it
    never changes."""
    return int.from_bytes(blake2b(name.encode(), digest_size=2).digest(), "big") % PARTITIONS


def part_of(host: str, parts: int) -> int:
    """Returns the part, from 0 on, of a crawl table of so many parts that has the rows of a host (`Url.host_key`).
    Files are divided by it, so it never changes. It does not depend on `partition_of`, which changes when the address
    of a host becomes known."""
    return int.from_bytes(blake2b(host.encode(), digest_size=8).digest(), "big") % parts


def share_of_partition(partition: int, processes: int) -> int:
    """Returns which of so many processes a partition belongs to. Adding or removing a process moves as few partitions
    as possible (rendezvous hashing)."""
    return max(range(processes), key=lambda number: _weight(number, partition))


@lru_cache(maxsize=4)
def owners_of_partitions(machines: tuple[int, ...]) -> tuple[int, ...]:
    """Returns which of these machines (any order, at least one) each partition belongs to.

    Their shares differ by at most one. If a machine joins or leaves, few more partitions move than must: 70 instead of
    49 if the 21st machine joins (rendezvous hashing with bounded loads).
    """
    least, larger = divmod(PARTITIONS, len(machines))
    counts = Counter[int]()
    owners = []
    for partition in range(PARTITIONS):
        with_room = [one for one in machines if counts[one] < least or (larger and counts[one] == least)]
        owner = max(with_room, key=lambda one: _weight(one, partition))
        larger -= counts[owner] == least
        counts[owner] += 1
        owners.append(owner)
    return tuple(owners)


def _weight(owner: int, partition: int) -> bytes:
    return blake2b(f"{owner} {partition}".encode(), digest_size=8).digest()
