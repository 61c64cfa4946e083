"""What every CrawlReader says about what is to fetch: the place of a URL, the hosts with most URLs, what lessons left
out."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goodbot.report_values import HostAhead, QueuePlace
from goodbot.store.reports import queue_place
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Outcome, Release
from stores import Stores

PAST = time.time() - 1000.0


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores
    stores.close()


@pytest.fixture
def store(stores: Stores) -> Any:
    return stores.open()


def place(stores: Stores, url: Url) -> QueuePlace | None:
    with stores.reading() as reader:
        return reader.queue_place(url)


def url(number: int, host: str = "example.org") -> Url:
    return Url(f"https://{host}/{number}")


def test_the_place_is_the_one_in_which_urls_are_leased(store: Any, stores: Stores) -> None:
    depths = [3, 1, 2, 1, 3]
    store.add(Discovery(url(number), depth) for number, depth in enumerate(depths))
    store.add([Discovery(url(0, "example.net"), 0)])
    places = [place(stores, url(number)) for number in range(5)]
    (first, _) = store.lease(2, 100, 0.0)
    order = [item.url for item in first.urls]
    assert [each and each.before for each in places] == [order.index(url(number)) for number in range(5)]
    assert [each and each.ready_at for each in places] == [0.0] * 5
    assert place(stores, url(1)) == QueuePlace(0, None)  # its host is being requested
    assert place(stores, url(9)) is None
    assert place(stores, url(0, "example.com")) is None


def test_the_count_is_limited(store: Any, stores: Stores, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue_place, "MAX_COUNT", 3)
    store.add(Discovery(url(number), 1) for number in range(6))
    assert [place(stores, url(number)) for number in (2, 5)] == [QueuePlace(2, 0.0), QueuePlace(3, 0.0)]


def test_urls_that_wait_for_a_time(store: Any, stores: Stores) -> None:
    seen = LastVisit(at=10.0, due_at=50.0, interval_s=40.0, changed_at=10.0)
    store.add(Discovery(url(number), 1) for number in range(3))
    store.lease(1, 100, 0.0)
    outcomes = [
        Outcome(url(0), "ready", 10.0, "timeout", ready_at=40.0),
        Outcome(url(1), "visited", 10.0, "status 200", seen=seen),
        Outcome(url(2), "failed", 10.0, "timeout"),
    ]
    store.settle(outcomes, [Release("example.org", 20.0)])
    assert [place(stores, url(number)) for number in range(3)] == [QueuePlace(0, 40.0), None, None]


@pytest.fixture
def hosts(store: Any) -> Any:
    """`one` has 30 URLs ready, `two` has 5 and waits for its delay, `late` waits for a retry."""
    store.add(Discovery(Url(f"http://two.example/{number}"), 0) for number in range(6))
    (lease,) = store.lease(1, 1, PAST)
    outcome = Outcome(lease.urls[0].url, "visited", PAST, "status 200", status=200)
    store.settle([outcome], [Release("two.example", PAST + 1e6)])
    store.add([Discovery(Url("http://late.example/"), 0)])
    store.lease(1, 1, PAST)
    again = Outcome(Url("http://late.example/"), "ready", PAST, "timeout", ready_at=PAST + 2e6, tries=1)
    store.settle([again], [Release("late.example", PAST)])
    store.add(Discovery(Url(f"http://one.example/{number}"), 0) for number in range(30))
    return store


@pytest.mark.usefixtures("hosts")
def test_hosts_ahead(stores: Stores) -> None:
    with stores.reading() as reader:
        assert reader.hosts_ahead(10) == [HostAhead("one.example", 30, 0.0), HostAhead("two.example", 5, PAST + 1e6)]
        assert [host.host for host in reader.hosts_ahead(1)] == ["one.example"]


def test_hosts_that_are_requested_now_count(hosts: Any, stores: Stores) -> None:
    hosts.lease(1, 4, time.time())
    with stores.reading() as reader:
        assert next((host.host, host.ready_at) for host in reader.hosts_ahead(10)) == ("one.example", 0.0)
        status = reader.status()
        assert (status.states["leased"], reader.to_fetch()) == (4, 36)
        assert reader.next_ready_at() == PAST + 1e6
        assert not reader.is_finished()
