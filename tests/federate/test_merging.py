"""Reciprocal rank fusion: no page is lost, none is listed twice, and the order follows the ranks."""

from math import fsum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.federate.merging import K, RankedHits, merge, page_key
from goodbot.search_values import Hit


def hit(name: str) -> Hit:
    url = name if ":" in name or not name.isalpha() else f"https://{name}.example/"
    return Hit(url, url, name, "", 0.0)


def lists(*rows: str) -> list[RankedHits]:
    """Sources `0`, `1` and so on, with a page for each letter."""
    return [ranked(str(number), *row) for number, row in enumerate(rows)]


def ranked(source: str, *names: str, first: int = 1) -> RankedHits:
    return RankedHits(source, list(enumerate(map(hit, names), first)))


ORDERS = [
    ("one source", ["abc"], "abc"),
    ("two agree on one", ["abc", "xcy"], "caxby"),
    ("all agree", ["abc", "abc"], "abc"),
    ("ties: the earlier source first", ["ab", "xy"], "axby"),
    ("ties: opposite orders", ["ab", "ba"], "ab"),
    ("an empty source", ["", "ab", ""], "ab"),
    ("nothing", ["", ""], ""),
    ("a page twice in one source counts once, at its first rank", ["aba", "b"], "ba"),
]


@pytest.mark.parametrize(("rows", "order"), [row[1:] for row in ORDERS], ids=[row[0] for row in ORDERS])
def test_orders(rows: list[str], order: str) -> None:
    assert "".join(each.hit.title for each in merge(lists(*rows))) == order


def test_a_page_keeps_its_sources_and_ranks() -> None:
    (first, *_) = merge([ranked("A", "a", "b"), ranked("B", "b", first=11)])
    assert first.hit.title == "b"
    assert first.sources == (("A", 2), ("B", 11))
    assert first.score == 1 / (K + 2) + 1 / (K + 11)


def test_ranks_are_those_of_the_source() -> None:
    merged = merge([RankedHits("A", [(12, hit("a")), (15, hit("b"))])])
    assert [each.sources for each in merged] == [(("A", 12),), (("A", 15),)]


SAME = [
    ("https://a.example", "https://a.example/", True),
    ("https://A.example/x#y", "https://a.example/x", True),
    ("https://a.example:443/%7ex/../b", "https://a.example/b", True),
    ("http://a.example/", "https://a.example/", False),
    ("https://a.example/?a", "https://a.example/?b", False),
    ("https://a.example/%c3%a9", "https://a.example/%C3%A9", True),
    ("https://a.example/%6fne?%7E", "https://a.example/one?~", True),
    ("https://a.example/a%2fb", "https://a.example/a/b", False),
    ("https://a.example/%", "https://a.example/%25", False),
    ("urn:a", "urn:b", False),
]


@pytest.mark.parametrize(("one", "other", "is_same"), SAME)
def test_what_counts_as_the_same_page(one: str, other: str, is_same: bool) -> None:
    assert (page_key(hit(one)) == page_key(hit(other))) is is_same
    assert len(merge([ranked("A", one), ranked("B", other)])) == (1 if is_same else 2)


_ROWS = st.lists(st.text("abcdefgh", max_size=12), max_size=4)


@given(_ROWS, st.sets(st.sampled_from("abcdefgh")))
def test_no_page_is_lost_and_the_order_is_that_of_the_scores(rows: list[str], seen: set[str]) -> None:
    merged = merge(lists(*rows), {page_key(hit(letter)) for letter in seen})
    names = [each.hit.title for each in merged]
    assert sorted(names) == sorted(set("".join(rows)) - seen)
    expected = {name: fsum(1 / (K + row.index(name) + 1) for row in rows if name in row) for name in names}
    assert [each.score for each in merged] == sorted((expected[name] for name in names), reverse=True)
    assert {each.hit.title: each.score for each in merged} == expected


@given(_ROWS, st.text("abcdefgh", min_size=1, max_size=8))
def test_a_page_that_is_before_another_everywhere_stays_before_it(rows: list[str], pair: str) -> None:
    """Inserts `!?` into each row: in that order, next to each other."""
    rows = [row[: len(pair)] + "!?" + row[len(pair) :] for row in rows] or ["!?"]
    order = [each.hit.title for each in merge(lists(*rows))]
    assert order.index("!") < order.index("?")
