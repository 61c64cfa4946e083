"""Tests that partitions are spread evenly and never change."""

from collections import Counter

import pytest

from goodbot.partitions import PARTITIONS, owners_of_partitions, part_of, partition_of, share_of_partition


def test_they_never_change() -> None:
    assert [partition_of(name) for name in ("example.org", "www.example.org:8080", "192.88.99.1")] == [974, 315, 106]
    assert [part_of(name, 64) for name in ("example.org", "www.example.org:8080", "192.88.99.1")] == [53, 10, 26]
    assert [share_of_partition(partition, 3) for partition in range(8)] == [2, 2, 0, 1, 1, 2, 2, 1]


def test_names_are_spread_evenly() -> None:
    counts = Counter(partition_of(f"host{number}.example") for number in range(100 * PARTITIONS))
    assert len(counts) == PARTITIONS
    assert max(counts.values()) < 160


def test_parts_are_even_also_for_the_hosts_of_one_partition() -> None:
    hosts = [f"host{number}.example" for number in range(100 * PARTITIONS)]
    for some in (hosts[:6400], [host for host in hosts if partition_of(host) < 64]):
        counts = Counter(part_of(host, 64) for host in some)
        assert set(counts) == set(range(64))
        assert max(counts.values()) < 160
    assert {part_of(host, 1) for host in hosts[:9]} == {0}


def test_one_more_process_takes_only_its_own_share_from_the_others() -> None:
    before, after = ([share_of_partition(number, count) for number in range(PARTITIONS)] for count in (4, 5))
    moved = [new for old, new in zip(before, after, strict=True) if new != old]
    assert set(moved) == {4}
    assert PARTITIONS / 5 * 0.8 < len(moved) < PARTITIONS / 5 * 1.2


@pytest.mark.parametrize("count", [1, 2, 3, 20, 100, PARTITIONS, PARTITIONS + 1])
def test_the_shares_of_machines_differ_by_one(count: int) -> None:
    machines = tuple(range(5, 5 + count))
    owners = owners_of_partitions(machines)
    shares = Counter(dict.fromkeys(machines, 0))
    shares.update(owners)
    assert len(owners) == PARTITIONS
    assert set(shares) == set(machines)
    assert max(shares.values()) - min(shares.values()) <= 1
    assert owners_of_partitions(machines[::-1]) == owners


@pytest.mark.parametrize("count", [1, 2, 3, 10, 50])
def test_few_partitions_move_when_a_machine_joins(count: int) -> None:
    before, after = owners_of_partitions(tuple(range(count))), owners_of_partitions(tuple(range(count + 1)))
    moved = sum(old != new for old, new in zip(before, after, strict=True))
    share = PARTITIONS // (count + 1)
    assert share <= moved <= 3 * share
