"""The place of a waiting URL among those of its host."""

from pathlib import Path

import pytest

from goodbot.report_values import QueuePlace
from goodbot.store.sqlite import queue_place as module
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.queue_place import queue_place
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Outcome, Release


def url(number: int, host: str = "example.org") -> Url:
    return Url(f"https://{host}/{number}")


def test_the_place_is_the_one_in_which_urls_are_leased(tmp_path: Path) -> None:
    file = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(file, create=True) as frontier:
        depths = [3, 1, 2, 1, 3]
        frontier.add(Discovery(url(number), depth) for number, depth in enumerate(depths))
        frontier.add([Discovery(url(0, "example.net"), 0)])
        places = [queue_place(file, url(number)) for number in range(5)]
        (first, _) = frontier.lease(2, 100, 0.0)
        order = [item.url for item in first.urls]
        assert [place and place.before for place in places] == [order.index(url(number)) for number in range(5)]
        assert [place and place.ready_at for place in places] == [0.0] * 5
        assert queue_place(file, url(1)) == QueuePlace(0, None)  # its host is being requested
    assert queue_place(file, url(9)) is None
    assert queue_place(file, url(0, "example.com")) is None


def test_the_count_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_COUNT", 3)
    file = tmp_path / "frontier.sqlite"
    with SqliteFrontier.open(file, create=True) as frontier:
        frontier.add(Discovery(url(number), 1) for number in range(6))
    assert [queue_place(file, url(number)) for number in (2, 5)] == [QueuePlace(2, 0.0), QueuePlace(3, 0.0)]


def test_urls_that_wait_for_a_time(tmp_path: Path) -> None:
    file = tmp_path / "frontier.sqlite"
    seen = LastVisit(at=10.0, due_at=50.0, interval_s=40.0, changed_at=10.0)
    with SqliteFrontier.open(file, create=True) as frontier:
        frontier.add(Discovery(url(number), 1) for number in range(3))
        frontier.lease(1, 100, 0.0)
        outcomes = [
            Outcome(url(0), "ready", 10.0, "timeout", ready_at=40.0),
            Outcome(url(1), "visited", 10.0, "status 200", seen=seen),
            Outcome(url(2), "failed", 10.0, "timeout"),
        ]
        frontier.settle(outcomes, [Release("example.org", 20.0)])
    assert [queue_place(file, url(number)) for number in range(3)] == [QueuePlace(0, 40.0), None, None]
