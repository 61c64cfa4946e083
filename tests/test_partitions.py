"""Tests that partitions are spread evenly and never change."""

from collections import Counter

from goodbot.partitions import PARTITIONS, partition_of, share_of_partition


def test_they_never_change() -> None:
    assert [partition_of(name) for name in ("example.org", "www.example.org:8080", "192.88.99.1")] == [974, 315, 106]
    assert [share_of_partition(partition, 3) for partition in range(8)] == [2, 2, 0, 1, 1, 2, 2, 1]


def test_names_are_spread_evenly() -> None:
    counts = Counter(partition_of(f"host{number}.example") for number in range(100 * PARTITIONS))
    assert len(counts) == PARTITIONS
    assert max(counts.values()) < 160


def test_one_more_process_takes_only_its_own_share_from_the_others() -> None:
    before, after = ([share_of_partition(number, count) for number in range(PARTITIONS)] for count in (4, 5))
    moved = [new for old, new in zip(before, after, strict=True) if new != old]
    assert set(moved) == {4}
    assert PARTITIONS / 5 * 0.8 < len(moved) < PARTITIONS / 5 * 1.2
