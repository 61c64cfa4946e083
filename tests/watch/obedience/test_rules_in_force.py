from collections.abc import Sequence
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import Access
from goodbot.watch.obedience.rules_in_force import GRACE_S, MOST_VERSIONS, RulesInForce

OPEN = b"User-agent: *\nDisallow:\n"
CLOSED = b"User-agent: *\nDisallow: /\n"
OTHER = b"User-agent: *\nDisallow: /x\n"

H = 3600


def copy(at: float, body: bytes, status: int = 200) -> Access:
    return Access.from_response(status, (), body, at)


def bodies_at(rules: RulesInForce, at: float) -> list[bytes]:
    return [rules.versions[place].access.body for place in rules.choice(rules.choice_at(at))]


HISTORY = [copy(0, OPEN), copy(10 * H, OPEN), copy(16 * H, CLOSED), copy(60 * H, CLOSED), copy(66 * H, OPEN)]


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        pytest.param(-0.1, [], id="before the first copy"),
        pytest.param(0, [OPEN], id="the first copy"),
        pytest.param(9.9, [OPEN], id="between equal copies"),
        pytest.param(12, [OPEN, CLOSED], id="the change was made before it was noticed"),
        pytest.param(16, [CLOSED, OPEN], id="the change is noticed"),
        pytest.param(39.9, [CLOSED, OPEN], id="24 hours after it was noticed"),
        pytest.param(40, [CLOSED], id="later"),
        pytest.param(61, [CLOSED, OPEN], id="the next change"),
        pytest.param(89.9, [OPEN, CLOSED], id="24 hours after the next change"),
        pytest.param(1000, [OPEN], id="after the last copy"),
    ],
)
def test_versions_in_force(hour: float, expected: list[bytes]) -> None:
    assert bodies_at(RulesInForce.of_copies(HISTORY), hour * H) == expected


def test_three_versions_within_a_day() -> None:
    rules = RulesInForce.of_copies([copy(0, OPEN), copy(48 * H, CLOSED), copy(50 * H, OTHER)])
    assert bodies_at(rules, 51 * H) == [OTHER, CLOSED, OPEN]
    assert bodies_at(rules, 73 * H) == [OTHER, CLOSED]
    assert bodies_at(rules, 75 * H) == [OTHER]


@pytest.mark.parametrize(
    ("copies", "versions"),
    [
        pytest.param([], 0, id="none"),
        pytest.param([copy(0, OPEN), copy(5, b"# hello\n" + OPEN + b"\n\n")], 1, id="comments and blank lines"),
        pytest.param([copy(0, OPEN), copy(5, b"", 503), copy(9, OPEN)], 1, id="an outage"),
        pytest.param([copy(0, b"", 503)], 0, id="only an outage"),
        pytest.param([copy(0, OPEN), copy(5, b"", 404)], 2, id="no robots.txt any more"),
        pytest.param([copy(9, CLOSED), copy(0, OPEN)], 2, id="in any order"),
        pytest.param([copy(5, OPEN), copy(5, OPEN)], 1, id="at one time"),
        pytest.param([copy(n, b"User-agent: *\nDisallow: /%d\n" % n) for n in range(1100)], MOST_VERSIONS, id="many"),
    ],
)
def test_copies_become_versions(copies: list[Access], versions: int) -> None:
    assert len(RulesInForce.of_copies(copies).versions) == versions


def test_bounds_are_whole_seconds_in_favour_of_the_robot() -> None:
    rules = RulesInForce.of_copies([copy(100.7, OPEN), copy(200.7, CLOSED)])
    assert bodies_at(rules, 99) == []
    assert bodies_at(rules, 100) == [OPEN, CLOSED]
    assert bodies_at(rules, 200) == [CLOSED, OPEN]
    assert bodies_at(rules, 200 + GRACE_S) == [CLOSED, OPEN]
    assert bodies_at(rules, 201 + GRACE_S) == [CLOSED]


def test_one_file_counts_for_all_times() -> None:
    rules = RulesInForce.always(copy(0, CLOSED))
    assert bodies_at(rules, 0) == bodies_at(rules, 2e9) == [CLOSED]
    assert not rules.is_dated
    assert RulesInForce.of_copies(HISTORY).is_dated


@given(st.lists(st.tuples(st.integers(0, 100), st.sampled_from([OPEN, CLOSED, OTHER]))), st.integers(-5, 140))
def test_a_version_may_be_obeyed_if_it_was_possible_in_the_last_day(copies: list[tuple[int, bytes]], hour: int) -> None:
    copies.sort(key=lambda pair: pair[0])
    rules = RulesInForce.of_copies([copy(at * H, body) for at, body in copies])
    found, expected = bodies_at(rules, hour * H), _by_hand(copies, hour)
    assert (found[:1], sorted(found)) == (expected[:1], sorted(expected))


def _by_hand(copies: Sequence[tuple[int, bytes]], hour: int) -> list[bytes]:
    """Says the same from the copies, one after the other."""
    found: list[list[tuple[int, bytes]]] = []
    runs: list[list[tuple[int, bytes]]] = []
    for at, body in copies:
        if runs and runs[-1][-1][1] == body:
            runs[-1].append((at, body))
        else:
            runs.append([(at, body)])
    for number, run in enumerate(runs):
        start = runs[number - 1][-1][0] if number else run[0][0]
        end = runs[number + 1][0][0] + GRACE_S // H if number + 1 < len(runs) else inf
        if start <= hour < end:
            found.insert(0, run)
    found.sort(key=lambda run: run[0][0] > hour)  # what was seen later comes last
    return [run[0][1] for run in found]
