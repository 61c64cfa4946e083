"""PageRank: the sum, the limits, and that the names of pages do not matter."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.page_rank import DAMPING, ROUNDS, page_ranks

Graph = list[list[int]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """The links of up to 12 pages, also to themselves."""
    pages = draw(st.integers(1, 12))
    targets = st.lists(st.integers(0, pages - 1), unique=True, max_size=pages)
    return draw(st.lists(targets, min_size=pages, max_size=pages))


def ranks(links: Sequence[Sequence[int]]) -> list[float]:
    return list(page_ranks(len(links), links))


def by_definition(links: Graph) -> list[float]:
    """As in the paper, with pages and links written out."""
    pages = len(links)
    found = [1.0] * pages
    for _ in range(ROUNDS):
        now = [1.0 - DAMPING] * pages
        for page, linked in enumerate(links):
            for target in linked or range(pages):  # who finds no link goes to any page
                now[target] += DAMPING * found[page] / len(linked or range(pages))
        found = now
    return found


@given(graphs())
def test_as_defined(links: Graph) -> None:
    assert ranks(links) == pytest.approx(by_definition(links))


@given(graphs())
def test_the_mean_is_one_and_no_page_has_nothing(links: Graph) -> None:
    found = ranks(links)
    assert sum(found) == pytest.approx(len(links))
    assert min(found) >= 1.0 - DAMPING - 1e-9


@given(graphs(), st.randoms(use_true_random=False))
def test_numbers_of_pages_do_not_matter(links: Graph, random: "st.random.Random") -> None:  # type: ignore[name-defined]
    new = list(range(len(links)))
    random.shuffle(new)
    renumbered: Graph = [[] for _ in links]
    for page, linked in enumerate(links):
        renumbered[new[page]] = [new[target] for target in linked]
    before, after = ranks(links), ranks(renumbered)
    assert [after[number] for number in new] == pytest.approx(before)


@given(st.integers(0, 50))
def test_without_links_all_pages_are_equal(pages: int) -> None:
    assert ranks([[]] * pages) == pytest.approx([1.0] * pages)


def test_no_pages() -> None:
    assert ranks([]) == []


def test_links_of_each_page_to_itself_change_nothing() -> None:
    assert ranks([[0], [1], [2]]) == pytest.approx([1.0, 1.0, 1.0])


def test_a_page_that_links_to_itself_keeps_its_rank() -> None:
    with_link, without = ranks([[0, 1], [0]]), ranks([[1], [0]])
    assert with_link[0] > without[0] == pytest.approx(1.0)


def test_the_page_that_others_link_to_comes_first() -> None:
    center, *others = ranks([[], [0], [0], [0]])
    assert center > 2 * max(others)
    assert others == pytest.approx([others[0]] * 3)


def test_a_chain_grows_toward_its_end() -> None:
    found = ranks([[1], [2], [3], []])
    assert found == sorted(found)
    assert len({*found}) == 4


def test_the_rounds_are_enough_for_a_ring_with_a_shortcut() -> None:
    """Further rounds change little: the last of n rounds changes at most the share 0.85 to the power of n."""
    links = [[(page + 1) % 30] for page in range(30)]
    links[0] = [1, 15]
    found = ranks(links)
    again = [  # one more round
        1.0 - DAMPING + DAMPING * sum(found[page] / len(to) for page, to in enumerate(links) if target in to)
        for target in range(30)
    ]
    assert again == pytest.approx(found, abs=DAMPING**ROUNDS)


def test_links_may_be_an_iterator() -> None:
    assert list(page_ranks(3, iter([[1], [2], [0]]))) == pytest.approx([1.0, 1.0, 1.0])
