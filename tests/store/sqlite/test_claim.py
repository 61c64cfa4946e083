"""Leasing given URLs, whatever their state: how imported captures are settled."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Outcome, State

NOW = 1_780_000_000.0
PAGE = Url("http://example.org/page")


@pytest.fixture
def frontier(tmp_path: Path) -> Iterator[SqliteFrontier]:
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True, now=lambda: NOW) as opened:
        yield opened


def settle(frontier: SqliteFrontier, state: State, at: float = NOW, seen: LastVisit | None = None) -> LastVisit | None:
    """Claims the page and settles it; returns its last visit before."""
    with frontier.together():
        (claim,) = frontier.claim([PAGE], at)
        assert claim is not None
        leased, token = claim
        assert leased.url == PAGE
        outcome = Outcome(PAGE, state, at, "test", 200, 7, seen=seen, token=token)
        assert frontier.settle([outcome], []) == []
    return leased.seen


def visit(at: float) -> LastVisit:
    return LastVisit(at, at + 100, 100.0, at, etag=f'"{at}"')


def test_an_unknown_url_is_added_and_settled(frontier: SqliteFrontier) -> None:
    assert settle(frontier, "visited") is None
    status = frontier.status()
    assert (status.states["visited"], status.states["ready"], status.pages) == (1, 0, 1)
    assert status.finished


@pytest.mark.parametrize("first", ["visited", "disallowed", "out-of-scope", "failed", "gone"])
@pytest.mark.parametrize("second", ["visited", "disallowed", "out-of-scope", "failed", "gone"])
@pytest.mark.parametrize("remembers", [True, False])
def test_every_state_can_follow_every_state(
    frontier: SqliteFrontier, first: State, second: State, *, remembers: bool
) -> None:
    before = visit(NOW) if remembers and first in ("visited", "disallowed", "gone") else None
    settle(frontier, first, seen=before)
    found = settle(frontier, second, NOW + 50, visit(NOW + 50) if second == "visited" else None)
    assert found == before
    states = frontier.status().states
    assert states == {state: int(state == second) for state in states}
    assert frontier.status().pages == int(second == "visited")


def test_a_url_that_a_link_left_out_is_settled(frontier: SqliteFrontier) -> None:
    frontier.add([Discovery(PAGE, 1, Url("http://example.org/"), "not in the imported archives")])
    settle(frontier, "visited")
    assert frontier.status().states["out-of-scope"] == 0
    assert frontier.status().pages == 1


def test_a_ready_url_is_settled_and_its_host_has_nothing_left(frontier: SqliteFrontier) -> None:
    frontier.add([Discovery(PAGE, 0)])
    settle(frontier, "visited")
    assert frontier.lease(10, 10, NOW + 1) == []


def test_urls_of_a_forgotten_host_are_not_leased(frontier: SqliteFrontier) -> None:
    settle(frontier, "visited")
    assert frontier.bar_host(PAGE.host_key)
    with frontier.together():
        assert frontier.claim([PAGE], NOW) == [None]


def test_a_transaction_that_fails_changes_nothing(frontier: SqliteFrontier) -> None:
    settle(frontier, "visited", seen=visit(NOW))
    before = frontier.record(PAGE)
    with pytest.raises(ZeroDivisionError):
        claim_and_fail(frontier)
    assert frontier.record(PAGE) == before
    assert before is not None
    assert settle(frontier, "visited", NOW + 1) == visit(NOW)


def claim_and_fail(frontier: SqliteFrontier) -> None:
    with frontier.together():
        frontier.claim([PAGE], NOW)
        raise ZeroDivisionError


@pytest.mark.parametrize(("until", "due_s"), [(None, 100), (NOW + 30, 30), (NOW + 300, 100), (NOW - 30, 100)])
def test_visits_are_planned_of_pages_that_have_none_and_are_accepted(
    frontier: SqliteFrontier, until: float | None, due_s: float
) -> None:
    settle(frontier, "visited", seen=replace(visit(NOW), due_at=inf, available_until=until))
    assert frontier.due_again_at() is None
    assert frontier.plan_visits(lambda url, depth: f"{url} is refused") == 0
    assert frontier.due_again_at() is None
    assert frontier.plan_visits(lambda url, depth: None) == 1
    assert frontier.due_again_at() == NOW + due_s
    record = frontier.record(PAGE)
    assert record is not None
    assert record.seen is not None
    assert record.seen.due_at == NOW + due_s
    assert frontier.plan_visits(lambda url, depth: None) == 0
