"""The order of hits: priors, copies and translations, and the mixing of hosts."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.keys import tongue_of
from goodbot.index.ranking import (
    DEPTH_WEIGHT,
    HITS_IN_A_ROW,
    LIST_FACTOR,
    MAX_DEPTH,
    OTHER_LANGUAGE,
    PARTS,
    Candidate,
    Ranked,
    Ranking,
)

EN, DE, FR = map(tongue_of, ("en", "de", "fr"))
ALL_OFF = Ranking(frozenset(PARTS))


def order(*found: Candidate, tongues: tuple[int, ...] = (), without: str = "", mixes_hosts: bool = True) -> list[int]:
    ranking = Ranking(frozenset(without.split()))
    return [hit.place for hit in ranking.order(found, tongues, mixes_hosts=mixes_hosts)]


# ---- priors ---------------------------------------------------------------------------------------------------------

PRIORS = [
    ("rank", Candidate(1.0, 0, rank=0.5), Candidate(1.0, 1, rank=5.0), ()),
    ("depth", Candidate(1.0, 0, depth=3), Candidate(1.0, 1, depth=1), ()),
    ("language", Candidate(1.0, 0, tongue=FR), Candidate(1.0, 1, tongue=DE), (EN, DE)),
    ("lists", Candidate(1.0, 0, is_list=True), Candidate(1.0, 1), ()),
]


@pytest.mark.parametrize(("part", "worse", "better", "tongues"), PRIORS, ids=[prior[0] for prior in PRIORS])
def test_a_prior_decides_between_equal_scores(
    part: str, worse: Candidate, better: Candidate, tongues: tuple[int, ...]
) -> None:
    assert order(worse, better, tongues=tongues) == [1, 0]
    assert order(worse, better, tongues=tongues, without=part) == [0, 1]
    assert part in PARTS


def test_a_prior_does_not_outweigh_a_much_better_score() -> None:
    worst = Candidate(3.0, 0, rank=0.15, depth=100, tongue=FR, is_list=True)
    assert order(Candidate(1.0, 1, rank=100.0), worst, tongues=(EN,)) == [0, 1]


def test_the_factors() -> None:
    ranking = Ranking()
    assert ranking.factor(Candidate(1.0, 0), ()) == 1.0
    assert ranking.factor(Candidate(1.0, 0, is_list=True), ()) == LIST_FACTOR
    assert ranking.factor(Candidate(1.0, 0, tongue=FR), (EN, DE)) == OTHER_LANGUAGE
    assert ranking.factor(Candidate(1.0, 0, depth=99), ()) == 1.0 - DEPTH_WEIGHT * MAX_DEPTH
    assert ranking.factor(Candidate(1.0, 0, depth=2), ()) == 1.0 - DEPTH_WEIGHT * 2


@pytest.mark.parametrize(
    ("tongue", "tongues"), [(0, (EN,)), (FR, ()), (FR, (EN, FR))], ids=["unknown", "any will do", "one of them"]
)
def test_no_language_is_worse_if_nothing_is_known(tongue: int, tongues: tuple[int, ...]) -> None:
    assert Ranking().factor(Candidate(1.0, 0, tongue=tongue), tongues) == 1.0


def test_with_all_parts_off_only_scores_count() -> None:
    found = [Candidate(float(n % 3), n, n, 1, 2, 3, FR, n, n % 2 == 0, 9.0 - n) for n in range(9)]
    ranked = ALL_OFF.order(found, [EN])
    assert ranked == [Ranked(item.score, item.place) for item in sorted(found, key=lambda item: -item.score)]
    assert all(ALL_OFF.factor(item, [EN]) == 1.0 for item in found)
    assert not any(map(ALL_OFF.has, PARTS))
    assert all(map(Ranking().has, PARTS))


# ---- copies and translations ----------------------------------------------------------------------------------------


def test_equal_texts_are_one_hit_at_the_place_of_the_best() -> None:
    found = [Candidate(3.0, 0, twin=7), Candidate(2.0, 1), Candidate(1.0, 2, twin=7)]
    assert [hit[:3] for hit in Ranking().order(found)] == [(3.0, 0, (2,)), (2.0, 1, ())]
    assert order(*found, without="twins") == [0, 1, 2]


def test_pages_without_a_group_are_not_alike() -> None:
    assert order(*[Candidate(1.0, place) for place in range(4)]) == [0, 1, 2, 3]


def test_the_readers_language_is_in_front_of_a_group() -> None:
    group = [Candidate(3.0, 0, group=5, tongue=FR), Candidate(2.9, 1, group=5, tongue=DE), Candidate(2.8, 2, group=5)]
    best = Ranking().factor(group[0], (DE, EN)) * 3.0
    first, last = Ranking().order([*group, Candidate(0.1, 3)], (DE, EN))
    assert (first.place, {*first.others}, last.place) == (1, {0, 2}, 3)
    assert first.score == pytest.approx(max(best, 2.9))
    assert order(*group) == [0]
    assert Ranking().order(group, (EN, FR))[0].place == 0


def test_each_language_of_a_group_comes_before_further_copies() -> None:
    tongues = [EN, EN, FR, FR, DE, EN]
    group = [Candidate(9.0 - place, place, group=5, tongue=tongue) for place, tongue in enumerate(tongues)]
    assert Ranking().order(group)[0].others == (2, 4, 1, 3, 5)


def test_documents_of_earlier_calls_and_their_copies_are_left_out() -> None:
    known = set[int]()
    first = [Candidate(3.0, 0, 11, group=5), Candidate(2.0, 1, 12, twin=7)]
    later = [
        Candidate(1.9, 2, 11),
        Candidate(1.8, 3, 13, twin=7),
        Candidate(1.7, 4, 14, group=5),
        Candidate(1.6, 5, 15),
    ]
    assert [hit.place for hit in Ranking().order(first, (), known)] == [0, 1]
    assert [hit.place for hit in Ranking().order(later, (), known)] == [5]
    without = Ranking(frozenset({"twins"}))
    known.clear()
    assert [hit.place for hit in without.order(first, (), known)] == [0, 1]
    assert [hit.place for hit in without.order(later, (), known)] == [3, 4, 5]


def test_a_copy_of_a_translation_joins_its_group() -> None:
    found = [Candidate(3.0, 0, group=5, twin=8), Candidate(2.0, 1, group=5), Candidate(1.0, 2, group=6, twin=8)]
    (only,) = Ranking().order(found)
    assert (only.place, only.others) == (0, (1, 2))


# ---- hosts ----------------------------------------------------------------------------------------------------------


def rows(hosts: str) -> str:
    """The hosts of the hits, in order, for hits of these hosts with falling scores."""
    found = [Candidate(100.0 - place, place, host=ord(host)) for place, host in enumerate(hosts)]
    return "".join(hosts[place] for place in order(*found))


@pytest.mark.parametrize(
    ("hosts", "mixed"),
    [
        ("aaab", "aaab"),
        ("aaaab", "aaaba"),
        ("aaaaaab", "aaabaaa"),
        ("aaaaaaabc", "aaabaaaca"),
        ("aaaaa", "aaaaa"),
        ("aaaaabbbbb", "aaabaabbbb"),
        ("ababab", "ababab"),
        ("", ""),
    ],
)
def test_hosts_are_mixed(hosts: str, mixed: str) -> None:
    assert rows(hosts) == mixed


def test_a_hit_of_another_host_that_is_much_worse_stays_behind() -> None:
    scores = [20.0, 19.0, 18.0, 17.0, 16.0, 7.0, 15.0, 4.0]
    found = [Candidate(score, place, host=1 + (place in (5, 7))) for place, score in enumerate(scores)]
    assert order(*found) == [0, 1, 2, 3, 4, 6, 5, 7]
    worse = [item._replace(score=9.0) if item.place == 5 else item for item in found]
    assert order(*worse) == [0, 1, 2, 5, 3, 4, 6, 7]


def test_a_search_of_one_site_and_a_part_that_is_off_mix_nothing() -> None:
    found = [Candidate(10.0 - place, place, host=1 + (place == 5)) for place in range(6)]
    assert order(*found) == [0, 1, 2, 5, 3, 4]
    assert order(*found, mixes_hosts=False) == order(*found, without="hosts") == [0, 1, 2, 3, 4, 5]


@given(st.text("abc", max_size=40))
def test_no_hit_is_lost_and_no_host_fills_the_page(hosts: str) -> None:
    mixed = rows(hosts)
    assert sorted(mixed) == sorted(hosts)
    rest = mixed
    for host, run in groupby(mixed):
        length = len(list(run))
        rest = rest[length:]
        assert length <= HITS_IN_A_ROW or {*rest} <= {host}


# ---- everything at once ---------------------------------------------------------------------------------------------

CANDIDATES = st.builds(
    Candidate,
    score=st.floats(0.0, 100.0),
    place=st.just(0),
    host=st.integers(0, 3),
    group=st.integers(0, 3),
    twin=st.integers(0, 3),
    tongue=st.sampled_from([0, EN, DE, FR]),
    depth=st.integers(0, 100),
    is_list=st.booleans(),
    rank=st.floats(0.15, 1e6),
)


@given(
    st.lists(CANDIDATES, max_size=30),
    st.lists(st.sampled_from([EN, DE, FR]), unique=True),
    st.frozensets(st.sampled_from(sorted(PARTS))),
)
def test_every_candidate_is_there_once(found: list[Candidate], tongues: list[int], without: frozenset[str]) -> None:
    found = [item._replace(place=place) for place, item in enumerate(found)]
    ranked = Ranking(without).order(found, tongues)
    assert sorted(place for hit in ranked for place in (hit.place, *hit.others)) == list(range(len(found)))
    assert ranked == Ranking(without).order(iter(found), tongues)
    if "hosts" in without:
        assert [hit.score for hit in ranked] == sorted((hit.score for hit in ranked), reverse=True)
