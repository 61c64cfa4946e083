"""Counts in bounded memory: most frequent items, and how many are different."""

from collections import Counter
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.counting.client_columns import add_hashes
from goodbot.watch.counting.client_table import KEPT, VISITOR_BITS
from goodbot.watch.counting.distinct import DistinctCount, address_hash
from goodbot.watch.counting.frequent import FrequentItems, reduced


@given(st.lists(st.lists(st.integers(0, 40), max_size=60), max_size=6), st.integers(1, 6))
def test_frequent_items_keep_their_bounds(blocks: list[list[int]], kept: int) -> None:
    items = FrequentItems(kept)
    for block in blocks:
        items.add(*reduced(Counter(map(str, block)), kept))
    true = Counter(str(item) for block in blocks for item in block)
    for item, count in true.items():
        found = items.counts.get(item, 0)
        assert found <= count <= found + items.error
    assert items.error <= sum(true.values()) / (kept + 1)
    assert len(items.counts) <= 2 * kept


def test_counts_are_exact_as_long_as_items_are_few() -> None:
    items = FrequentItems(10)
    for _ in range(3):
        items.add(Counter("abcab"))
    assert (items.top(2), items.error) == ([("a", 6), ("b", 6)], 0)


def spread(number: int) -> int:
    """Returns a number of 32 bits, a different one for each number, in no order."""
    return (number * 0x9E3779B1 ^ number >> 7) & 0xFFFFFFFF


SHAPES = {
    "sequential": lambda number: f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}",
    "one digit changes": lambda number: f"192.0.{number % 256}.{number // 256 % 256}",
    "in no order": lambda number: str(IPv4Address(spread(number))),
    "IPv6": lambda number: f"2001:db8:{number >> 16:x}:{number & 65535:x}::1",
    "IPv6 in no order": lambda number: str(IPv6Address(spread(number) << 96 | spread(number + 1) << 16 | number)),
    "names": lambda number: f"host{number}.example.org",
}


def standard_error(distinct: DistinctCount) -> float:
    return 0 if distinct.is_exact else 1.04 / 2 ** (distinct.bits / 2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [0, 1, 512, 513, 1_000, 20_000, 65_000])
@pytest.mark.parametrize("bits", [12, 14])
def test_different_addresses_are_estimated(shape: str, count: int, bits: int) -> None:
    hashes = [address_hash(SHAPES[shape](number)) for number in range(count)]
    distinct = DistinctCount(bits)
    distinct.update(hashes)
    distinct.update(hashes[: count // 2])
    assert distinct.is_exact == (count <= 512)
    assert abs(distinct.count() - count) <= 4 * standard_error(distinct) * count


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "one digit changes"])
def test_many_addresses_are_estimated(shape: str) -> None:
    count = 300_000
    distinct = DistinctCount(VISITOR_BITS, KEPT)
    add_hashes(distinct, [address_hash(SHAPES[shape](number)) for number in range(KEPT + 1)])
    add_hashes(distinct, [address_hash(SHAPES[shape](number)) for number in range(count)])
    assert abs(distinct.count() - count) <= 4 * standard_error(distinct) * count


@given(st.lists(st.lists(st.integers(0, (1 << 32) - 1), max_size=300), max_size=8), st.integers(1, 300))
def test_many_hashes_at_once_give_the_same_count(blocks: list[list[int]], most_exact: int) -> None:
    one, other = DistinctCount(6, most_exact), DistinctCount(6, most_exact)
    for block in blocks:
        one.update(block)
        add_hashes(other, block)
    assert one == other
