"""Tests the frontier of a dry run."""

import time
from pathlib import Path

import pytest

from goodbot.errors import RunError
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.rehearsal import SqliteRehearsal
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Outcome, Release

PAST = time.time() - 1000.0


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three hosts: `one` has 30 URLs ready, `two` has 5 and rests until it is asked again, `late` waits for a retry."""
    path = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True, now=lambda: PAST) as frontier:
        frontier.add(Discovery(Url(f"http://two.example/{number}"), 0) for number in range(6))
        (lease,) = frontier.lease(1, 1, PAST)
        outcome = Outcome(lease.urls[0].url, "visited", PAST, "status 200", status=200)
        frontier.settle([outcome], [Release("two.example", PAST + 1e6)])
        frontier.add([Discovery(Url("http://late.example/"), 0)])
        frontier.lease(1, 1, PAST)
        again = Outcome(Url("http://late.example/"), "ready", PAST, "timeout", ready_at=PAST + 2e6, tries=1)
        frontier.settle([again], [Release("late.example", PAST)])
        frontier.add(Discovery(Url(f"http://one.example/{number}"), 0) for number in range(30))
    return path


def test_what_is_due_again_is_asked_in_a_rehearsal_too_and_nothing_kept(file: Path) -> None:
    with SqliteFrontier.open(file) as frontier:
        frontier.add([Discovery(Url("http://again.example/"), 0)])
        lease = next(lease for lease in frontier.lease(9, 9, PAST + 9) if lease.host == "again.example")
        seen = LastVisit(PAST, PAST + 9, 9.0, PAST)
        frontier.settle([Outcome(lease.urls[0].url, "visited", PAST, "", seen=seen)], [Release(lease.host, PAST)])
    before = file.read_bytes()
    with SqliteRehearsal.open(file, revisit_until=PAST + 10) as frontier:
        tried = {host.host: lease for host, lease in frontier.lease_all(3)}
    assert [item.seen for item in tried["again.example"].urls] == [seen]
    assert file.read_bytes() == before
    with SqliteFrontier.open(file, read_only=True) as reader:
        assert reader.record(Url("http://again.example/")) is not None
        assert reader.status().states["visited"] == 2


def test_all_in_the_order_of_the_crawl_and_nothing_kept(file: Path) -> None:
    before = file.read_bytes()
    with SqliteRehearsal.open(file) as frontier:
        frontier.add([Discovery(Url("http://new.example/"), 0)])
        tried = frontier.lease_all(3)
    assert [(host.host, host.ready, host.ready_at, len(lease.urls)) for host, lease in tried] == [
        ("one.example", 30, 0.0, 3),
        ("new.example", 1, 0.0, 1),
        ("two.example", 5, PAST + 1e6, 3),
        ("late.example", 1, PAST + 2e6, 1),
    ]
    assert file.read_bytes() == before
    with SqliteFrontier.open(file, read_only=True) as frontier:
        assert frontier.record(Url("http://new.example/")) is None
        assert frontier.status().states["leased"] == 0


def test_what_a_dead_crawl_had_leased_is_ready_in_it(file: Path) -> None:
    with SqliteFrontier.open(file) as frontier:
        frontier.lease(1, 4, time.time())
    with SqliteRehearsal.open(file) as frontier:
        assert [host.ready for host, _ in frontier.lease_all(3)] == [30, 5, 1]
    with SqliteFrontier.open(file, read_only=True) as frontier:
        assert frontier.status().states["leased"] == 4


def test_not_beside_a_crawl(file: Path) -> None:
    with SqliteFrontier.open(file), pytest.raises(RunError, match="another crawl"):
        SqliteRehearsal.open(file)


def test_closed_twice(file: Path) -> None:
    frontier = SqliteRehearsal.open(file)
    frontier.add([Discovery(Url("http://new.example/"), 0)])
    frontier.close()
    frontier.close()
