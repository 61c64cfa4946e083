"""The lists that every CrawlReader gives: hosts with their URLs by state, refused URLs; in parts, with bounded work."""

import time
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from goodbot.ports import CrawlReader
from goodbot.report_values import REFUSED_STATES, START, HostList, RefusedList
from goodbot.store.reports import host_list
from goodbot.url import Url
from goodbot.values import Discovery, Event, LastVisit, Outcome, Release, State
from stores import Stores

NOW = 1_700_000_000.0
SEEN = LastVisit(NOW, NOW + 9e9, 60.0, NOW)
RESULTS: dict[str, tuple[State, bool]] = {
    "visited": ("visited", False),
    "again": ("visited", True),
    "disallowed": ("disallowed", False),
    "disallowed-again": ("disallowed", True),
    "gone": ("gone", False),
    "gone-again": ("gone", True),
    "failed": ("failed", False),
    "later": ("ready", False),
}
"""The last part of a path, with the state that its visit leads to, and whether it is due again at some time."""


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stores]:
    """A crawl with three hosts that have a URL of each kind, one that is leased, one only out of scope."""
    path = tmp_path_factory.mktemp("reports") / "frontier.sqlite"
    stores = Stores(request.param, path, request, time.time, postgres="emptied_tables")
    store: Any = stores.open()
    for host in "abc":
        names = (*RESULTS, "new")
        store.add([Discovery(Url(f"http://{host}.example/{name}"), 0) for name in names])
        store.add([Discovery(Url(f"http://{host}.example/out"), 1, refused="it is deeper than --depth")])
    for lease in store.lease(9, 20, NOW):
        outcomes = [outcome(leased.url, lease.token) for leased in lease.urls if not leased.url.text.endswith("/new")]
        store.settle(outcomes, [Release(lease.host, NOW + 5, token=lease.token)])
    store.add([Discovery(Url(f"http://leased.example/{number}"), 0) for number in range(3)])
    store.add([Discovery(Url("http://out.example/"), 1, refused="another host")])
    store.lease(1, 2, NOW + 1)
    yield stores
    stores.close()


@pytest.fixture
def reader(stores: Stores) -> Iterator[CrawlReader]:
    with stores.reading() as reader:
        yield reader


def outcome(url: Url, token: int) -> Outcome:
    name = url.text.rpartition("/")[2]
    state, again = RESULTS[name]
    seen = SEEN if again else None
    events = (Event(NOW, "permission", "disallowed", "line 2 forbids it", 2),) if state == "disallowed" else ()
    status = {"visited": 200, "gone": 404}.get(state)
    return Outcome(
        url, state, NOW + len(name), f"why {name}", status, seen=seen, events=events, ready_at=NOW + 99, token=token
    )


def hosts_in_parts(
    reader: CrawlReader, most: int, looked_at: int, name: str, *, everything: bool
) -> Iterator[HostList]:
    after: str | None = ""
    while after is not None:
        part = reader.list_hosts(most, name, after, looked_at=looked_at, everything=everything)
        yield part
        after = part.after


@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("looked_at", [1, 2, 3, 50])
def test_hosts_come_in_parts_each_once(reader: CrawlReader, most: int, looked_at: int) -> None:
    for name, everything, expected in (
        ("", False, ["a.example", "b.example", "c.example", "leased.example"]),
        ("", True, ["a.example", "b.example", "c.example", "leased.example", "out.example"]),
        ("e.", True, []),
        ("d.ex", False, ["leased.example"]),
    ):
        parts = list(hosts_in_parts(reader, most, looked_at, name, everything=everything))
        assert [entry.host for part in parts for entry in part.entries] == expected
        assert all(len(part.entries) <= most for part in parts)
        assert all((one.after or "") < (other.after or "~") for one, other in pairwise(parts))


def test_urls_of_a_host_by_state(reader: CrawlReader) -> None:
    a, *_, leased = reader.list_hosts(9).entries
    expected = {"ready": 2, "leased": 0, "visited": 2, "disallowed": 2, "out-of-scope": 1, "failed": 1, "gone": 2}
    assert dict(a.states) == expected
    assert (a.is_partial, a.leased, a.ready_at, a.forgotten_at, a.robots) == (False, False, NOW + 5, None, None)
    assert (leased.states["ready"], leased.states["leased"], leased.leased, leased.ready_at) == (1, 2, True, None)


@pytest.mark.parametrize(("counted", "is_partial"), [(9, True), (10, False)])
def test_so_many_urls_of_a_host_are_counted(
    reader: CrawlReader, monkeypatch: pytest.MonkeyPatch, counted: int, is_partial: bool
) -> None:
    monkeypatch.setattr(host_list, "URLS_COUNTED", counted)
    entry = reader.list_hosts(1).entries[0]
    assert entry.is_partial is is_partial
    assert sum(entry.states.values()) == 10


def refused_in_parts(
    reader: CrawlReader, most: int, looked_at: int, states: tuple[State, ...], host: str | None
) -> Iterator[RefusedList]:
    after = START
    while True:
        part = reader.list_refused(most, states, host, after, looked_at)
        yield part
        if part.after is None:
            return
        assert part.after > after
        after = part.after


@pytest.mark.parametrize(("most", "looked_at"), [(1, 1), (1, 50), (2, 3), (3, 2), (50, 7), (50, 50)])
@pytest.mark.parametrize("states", [REFUSED_STATES, *((state,) for state in REFUSED_STATES)])
@pytest.mark.parametrize("host", [None, "a.example", "c.example", "leased.example", "unknown.example"])
def test_refused_urls_come_in_parts_each_once(
    reader: CrawlReader, most: int, looked_at: int, states: tuple[State, ...], host: str | None
) -> None:
    urls = {"disallowed": ["disallowed", "disallowed-again"], "gone": ["gone", "gone-again"], "failed": ["failed"]}
    expected = {
        f"http://{letter}.example/{name}": state
        for letter in "abc"
        for state, names in {**urls, "out-of-scope": ["out"]}.items()
        for name in names
        if state in states and host in (None, f"{letter}.example")
    }
    if host is None and "out-of-scope" in states:
        expected["http://out.example/"] = "out-of-scope"
    parts = list(refused_in_parts(reader, most, looked_at, states, host))
    found = [(entry.url, entry.state) for part in parts for entry in part.entries]
    assert len(found) == len(set(found))
    assert dict(found) == expected
    assert all(len(part.entries) <= most for part in parts)


def test_a_refused_url_has_its_reason(reader: CrawlReader) -> None:
    entries = {entry.url: entry for entry in reader.list_refused(50, host="a.example").entries}
    disallowed = entries["http://a.example/disallowed"]
    assert (disallowed.reason, disallowed.line, disallowed.at, disallowed.status) == (
        "why disallowed", 2, NOW + 10, None
    )  # fmt: skip
    out = entries["http://a.example/out"]
    assert (out.reason, out.line, out.at) == ("it is deeper than --depth", None, None)
    assert entries["http://a.example/gone"].status == 404


def test_one_host_with_its_errors(reader: CrawlReader) -> None:
    details = reader.host_details("b.example", "goodbot")
    assert details is not None
    assert [(entry.url, entry.state, entry.status) for entry in details.errors] == [
        ("http://b.example/gone-again", "gone", 404),
        ("http://b.example/failed", "failed", None),
        ("http://b.example/later", "ready", None),
        ("http://b.example/gone", "gone", 404),
    ]
    assert details.report is not None
    assert (details.report.refused, details.report.is_partial) == (2, False)
    assert reader.host_details("unknown.example", "goodbot") is None


@pytest.mark.parametrize(("urls_read", "refused", "is_partial"), [(None, 2, False), (10, 2, False), (0, 0, True)])
def test_a_report_reads_so_many_urls(
    reader: CrawlReader, urls_read: int | None, refused: int, is_partial: bool
) -> None:
    report = reader.courtesy_report("a.example", "goodbot", urls_read)
    assert report is not None
    assert (report.refused, report.is_partial) == (refused, is_partial)
