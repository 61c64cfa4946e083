"""Tests that pages whose records are lost become ready again, and are requested as new ones."""

from math import inf
from pathlib import Path

import pytest

from goodbot.store.sqlite import ledger
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Outcome, RecordRef, Release, State

NOW = 1_700_000_000.0
FILE = "goodbot-20260101000000-00000.warc.gz"


def settled(path: Path, states: list[State]) -> list[Url]:
    """A frontier with a URL in each of these states, each with a record and with what was seen of it."""
    urls = [Url(f"http://example.org/{number}") for number in range(len(states))]
    with SqliteFrontier.open(path, create=True, now=lambda: NOW, revisit_until=inf) as frontier:
        frontier.add(Discovery(url, 0) for url in urls)
        (lease,) = frontier.lease(1, len(urls), NOW)
        outcomes = []
        for number, (leased, state) in enumerate(zip(lease.urls, states, strict=True)):
            record = RecordRef(FILE, 1000 * number)
            seen = LastVisit(NOW, NOW + 100, 100.0, NOW, etag='"1"', record=record) if state == "visited" else None
            outcomes.append(Outcome(leased.url, state, NOW, "why", 200, record=record, seen=seen, to_index=True))
        frontier.settle(outcomes, [Release(lease.host, NOW)])
    return urls


def test_pages_are_asked_for_whole_and_others_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "frontier.sqlite"
    first, second, gone, failed = settled(path, ["visited", "visited", "gone", "failed"])
    with SqliteFrontier.open(path, revisit_until=inf) as frontier:
        frontier.lose_records([first, gone, failed, Url("http://example.org/unknown"), Url("http://b.example/")])
        states = {record.url: (record.state, record.record, record.seen) for record in frontier.records()}
        assert states[first] == ("ready", None, None)
        assert (states[gone], states[failed]) == (("gone", None, None), ("failed", None, None))
        assert states[second][0] == "visited"
        assert states[second][1] == RecordRef(FILE, 1000)
        assert frontier.status().states["ready"] == 1
        assert frontier.status().pages == 1
        ((leased,),) = [lease.urls for lease in frontier.lease(1, 9, NOW + 1)]
        assert (leased.url, leased.seen) == (first, None)


def test_one_that_waits_to_be_asked_again_is_asked_for_whole(tmp_path: Path) -> None:
    path = tmp_path / "frontier.sqlite"
    (page,) = settled(path, ["visited"])
    with SqliteFrontier.open(path, revisit_until=inf) as frontier:
        (lease,) = frontier.lease(1, 9, NOW + 200)
        assert lease.urls[0].seen is not None
    with SqliteFrontier.open(path, revisit_until=inf) as frontier:
        frontier.lose_records([page])
        ((leased,),) = [lease.urls for lease in frontier.lease(1, 9, NOW + 300)]
        assert leased.seen is None


def test_where_the_last_record_of_each_file_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True) as frontier:
        assert frontier.last_records() == {}
    path.unlink()
    settled(path, ["visited"] * 30)
    with SqliteFrontier.open(path, read_only=True) as frontier:
        assert frontier.last_records() == {FILE: 29_000}
        monkeypatch.setattr(ledger, "MAX_LOOKED_AT", 5)
        assert frontier.last_records()[FILE] > 23_000
