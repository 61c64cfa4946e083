"""What forgetting a host removes from every store that outlives its process, and what a new index finds pending."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest

from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.search_values import IndexMark
from goodbot.url import Url
from goodbot.values import NOT_INDEXED, Discovery, Event, LastVisit, Outcome, RecordRef, Release
from stores import Stores

HOST: Final = "gone.example"
HERE: Final = Url(f"http://{HOST}/")
THERE: Final = Url("http://b.example/")
COPY: Final = Url("http://b.example/copy")
RECORD: Final = RecordRef("1-writer.warc.gz", 7)
SEEN: Final = LastVisit(1.0, 9e9, 8.0, 1.0, record=RECORD, indexed=True)


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores
    stores.close()


@pytest.fixture
def store(stores: Stores) -> Any:
    """A crawl that has visited a page on each of two hosts, and knows more of them."""
    store: Any = stores.open()
    others = [Url(f"http://{HOST}/more"), Url(f"https://{HOST}:8443/plain")]
    store.add(Discovery(url, 0) for url in (HERE, THERE, COPY, *others))
    for lease in store.lease(9, 9, 0.0):
        done = [
            Outcome(leased.url, "visited", 1.0, "ok", 200, to_index=True, seen=SEEN, record=RECORD)
            for leased in lease.urls
            if leased.url in (HERE, THERE)
        ]
        copies = [
            Outcome(COPY, "visited", 1.0, "ok", 200, seen=replace(SEEN, indexed=False), same_as=HERE)
            for leased in lease.urls
            if leased.url == COPY
        ]
        linked = Discovery(Url("http://b.example/found"), 1, HERE)
        if lease.host == HOST:
            done = [replace(item, links=(linked,)) for item in done]
        store.settle([*done, *copies], [Release(lease.host, 0.0)])
    for origin in (f"http://{HOST}", f"https://{HOST}:8443", "http://b.example", f"http://www.{HOST}"):
        store.save_robots(origin, Access.from_response(404, [], b"", 1.0))
    store.save_courtesies([Courtesy(HOST, 2), Courtesy("b.example", 2)])
    store.save_lessons([Lesson(HOST, "prefix", "/x/", "why", 1.0), Lesson("b.example", "mirror", HOST, "why", 1.0)])
    return store


def test_a_barred_host_is_neither_leased_nor_found(store: Any) -> None:
    assert store.bar_host(HOST)
    assert not store.bar_host("unheard.example")
    assert store.add([Discovery(Url(f"http://{HOST}/new"), 0), Discovery(Url("http://unheard.example/"), 0)]) == 0
    assert {lease.host for lease in store.lease(9, 9, 100.0)} == {"b.example"}
    assert store.forgotten_hosts() == {HOST, "unheard.example"}
    assert store.hosts_to_remove() == [HOST]
    assert [url for part in store.visited_on(HOST) for url in part] == [HERE]


def test_everything_about_it_goes_but_its_courtesy_record(store: Any, stores: Stores) -> None:
    before = store.status()
    store.bar_host(HOST)
    assert store.remove_host(HOST) == 3
    store.purge()
    store = stores.open()
    assert store.hosts_to_remove() == []
    assert store.record(HERE) is None
    assert not any(record.url.host_key == HOST for record in store.records())
    assert {url.host_key for url, _ in store.pending()} == {"b.example"}
    known = [f"http://{HOST}", f"https://{HOST}:8443", "http://b.example", f"http://www.{HOST}"]
    assert [store.load_robots(origin) is not None for origin in known] == [False, False, True, True]
    assert store.load_lessons([HOST, "b.example"]) == []
    assert store.load_courtesies([HOST])[HOST].requests == 2
    found = store.record(Url("http://b.example/found"))
    assert found is not None
    assert HOST not in found.events[0].reason
    status = store.status()
    assert status.states["visited"] == before.states["visited"] - 2, "its page, and the copy that is an original now"
    copy = store.record(COPY)
    assert (copy.state, copy.same_as) == ("ready", None)


def test_who_is_remembered_is_found_again(store: Any) -> None:
    store.bar_host(HOST)
    store.remove_host(HOST)
    assert store.unbar_host(HOST)
    assert not store.unbar_host(HOST)
    assert store.add([Discovery(HERE, 0)]) == 1
    assert HOST in {lease.host for lease in store.lease(9, 9, 100.0)}


def test_similar_hosts(store: Any) -> None:
    assert store.knows_host(HOST)
    assert not store.knows_host("unheard.example")
    store.add([Discovery(Url(f"http://127.0.0.1:{port}/"), 0) for port in (8081, 8080, 9)])
    assert store.similar_hosts("127.0.0.1:9") == ("127.0.0.1:8080", "127.0.0.1:8081")
    assert store.similar_hosts(HOST) == ()


def test_a_new_index_finds_all_pages_pending(store: Any, stores: Stores) -> None:
    pages = {HERE, THERE}
    assert {url for url, _ in store.pending()} == pages
    store.indexed(pages, IndexMark("one", 2))
    assert store.pending_count() == 0
    assert store.index_mark() == IndexMark("one", 2)
    assert [store.lacks_documents(count) for count in (1, 2)] == [True, False]
    assert store.expect_index(IndexMark("two", 0)) == 2
    assert dict(stores.open().pending()) == dict.fromkeys(pages, RECORD)


def test_pages_that_were_fetched_without_an_index_become_pending(store: Any) -> None:
    store.indexed([HERE, THERE])
    url = Url(f"http://{HOST}/more")
    (lease,) = [lease for lease in store.lease(9, 9, 100.0) if lease.host == HOST]
    skipped = Event(2.0, "index", "no", NOT_INDEXED)
    seen = replace(SEEN, indexed=False)
    store.settle([Outcome(url, "visited", 2.0, "ok", 200, events=(skipped,), seen=seen, token=lease.token)], [])
    assert store.pending_count() == 0
    assert store.index_skipped() == 1
    assert [page for page, _ in store.pending()] == [url]


def test_pages_whose_records_are_lost_are_fetched_again(store: Any) -> None:
    assert store.last_records() == {"1-writer.warc.gz": 7}
    store.lose_records([HERE, Url("http://unheard.example/")])
    record = store.record(HERE)
    assert (record.state, record.record, record.seen) == ("ready", None, None)
    assert store.to_fetch() == store.status().states["ready"]
