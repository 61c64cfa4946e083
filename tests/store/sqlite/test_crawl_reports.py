"""The reports for the operator: hosts with their URLs by state, refused URLs, courtesy; in parts, with bounded work."""

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from goodbot.errors import DamagedError
from goodbot.live import Courtesy
from goodbot.report_values import REFUSED_STATES, START, CourtesyTotals, HostList, RefusedList
from goodbot.store.sqlite.courtesy_report import courtesy_totals, report_on, some_reports
from goodbot.store.sqlite.crawl_reports import CrawlReports
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.host_list import host_entry, list_hosts
from goodbot.store.sqlite.refused_urls import list_refused
from goodbot.store.sqlite.schema import connect
from goodbot.url import Url
from goodbot.values import Discovery, Event, LastVisit, Outcome, Release, State

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


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A frontier with three hosts that have a URL of each kind, one that is leased, one only out of scope."""
    path = Path(tmp_path_factory.mktemp("reports")) / "frontier.sqlite"
    with SqliteFrontier.open(path, create=True) as frontier:
        for host in "abc":
            names = (*RESULTS, "new")
            frontier.add([Discovery(Url(f"http://{host}.example/{name}"), 0) for name in names])
            frontier.add([Discovery(Url(f"http://{host}.example/out"), 1, refused="it is deeper than --depth")])
        for lease in frontier.lease(9, 20, NOW):
            outcomes = [outcome(leased.url) for leased in lease.urls if not leased.url.text.endswith("/new")]
            frontier.settle(outcomes, [Release(lease.host, NOW + 5)])
        frontier.add([Discovery(Url(f"http://leased.example/{number}"), 0) for number in range(3)])
        frontier.add([Discovery(Url("http://out.example/"), 1, refused="another host")])
        frontier.lease(1, 2, NOW + 1)
    return path


@pytest.fixture
def own(path: Path, tmp_path: Path) -> Path:
    """A copy, to change."""
    return Path(shutil.copy(path, tmp_path))


def outcome(url: Url) -> Outcome:
    name = url.text.rpartition("/")[2]
    state, again = RESULTS[name]
    seen = SEEN if again else None
    events = (Event(NOW, "permission", "disallowed", "line 2 forbids it", 2),) if state == "disallowed" else ()
    status = {"visited": 200, "gone": 404}.get(state)
    return Outcome(url, state, NOW + len(name), f"why {name}", status, seen=seen, events=events, ready_at=NOW + 99)


def hosts_in_parts(path: Path, most: int, looked_at: int, name: str = "", **options: bool) -> Iterator[HostList]:
    after: str | None = ""
    while after is not None:
        part = list_hosts(path, most, name, after, looked_at=looked_at, **options)
        yield part
        after = part.after


@pytest.mark.parametrize("most", [1, 2, 50])
@pytest.mark.parametrize("looked_at", [1, 2, 3, 50])
def test_hosts_come_in_parts_each_once(path: Path, most: int, looked_at: int) -> None:
    for name, everything, expected in (
        ("", False, ["a.example", "b.example", "c.example", "leased.example"]),
        ("", True, ["a.example", "b.example", "c.example", "leased.example", "out.example"]),
        ("e.", True, []),
        ("d.ex", False, ["leased.example"]),
    ):
        parts = list(hosts_in_parts(path, most, looked_at, name, everything=everything))
        assert [entry.host for part in parts for entry in part.entries] == expected
        assert all(len(part.entries) <= most for part in parts)
        assert all((one.after or "") < (other.after or "~") for one, other in pairwise(parts))


def test_urls_of_a_host_by_state(path: Path) -> None:
    a, *_, leased = list_hosts(path, 9).entries
    expected = {"ready": 2, "leased": 0, "visited": 2, "disallowed": 2, "out-of-scope": 1, "failed": 1, "gone": 2}
    assert dict(a.states) == expected
    assert (a.is_partial, a.leased, a.ready_at, a.forgotten_at, a.robots) == (False, False, NOW + 5, None, None)
    assert (leased.states["ready"], leased.states["leased"], leased.leased, leased.ready_at) == (1, 2, True, None)
    with closing(connect(path, read_only=True)) as connection:
        for counted, is_partial in ((9, True), (10, False)):
            entry = host_entry(connection, "a.example", counted)
            assert entry is not None
            assert entry.is_partial is is_partial
            assert sum(entry.states.values()) == 10
        assert host_entry(connection, "unknown.example") is None


def refused_in_parts(
    path: Path, most: int, looked_at: int, states: tuple[State, ...], host: str | None
) -> Iterator[RefusedList]:
    after = START
    while True:
        part = list_refused(path, most, states, host, after, looked_at)
        yield part
        if part.after is None:
            return
        assert part.after > after
        after = part.after


@pytest.mark.parametrize(("most", "looked_at"), [(1, 1), (1, 50), (2, 3), (3, 2), (50, 7), (50, 50)])
@pytest.mark.parametrize("states", [REFUSED_STATES, *((state,) for state in REFUSED_STATES)])
@pytest.mark.parametrize("host", [None, "a.example", "c.example", "leased.example", "unknown.example"])
def test_refused_urls_come_in_parts_each_once(
    path: Path, most: int, looked_at: int, states: tuple[State, ...], host: str | None
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
    parts = list(refused_in_parts(path, most, looked_at, states, host))
    found = [(entry.url, entry.state) for part in parts for entry in part.entries]
    assert len(found) == len(set(found))
    assert dict(found) == expected
    assert all(len(part.entries) <= most for part in parts)


def test_a_refused_url_has_its_reason(path: Path) -> None:
    entries = {entry.url: entry for entry in list_refused(path, 50, host="a.example").entries}
    disallowed = entries["http://a.example/disallowed"]
    assert (disallowed.reason, disallowed.line, disallowed.at, disallowed.status) == (
        "why disallowed", 2, NOW + 10, None
    )  # fmt: skip
    out = entries["http://a.example/out"]
    assert (out.reason, out.line, out.at) == ("it is deeper than --depth", None, None)
    assert entries["http://a.example/gone"].status == 404


def test_one_host_with_its_errors(path: Path) -> None:
    reports = CrawlReports(path, "goodbot", 60.0)
    details = reports.host("b.example")
    assert details is not None
    assert [(entry.url, entry.state, entry.status) for entry in details.errors] == [
        ("http://b.example/gone-again", "gone", 404),
        ("http://b.example/failed", "failed", None),
        ("http://b.example/later", "ready", None),
        ("http://b.example/gone", "gone", 404),
    ]
    assert details.report is not None
    assert (details.report.refused, details.report.is_partial) == (2, False)
    assert reports.host("unknown.example") is None


def test_courtesy_reports_come_in_parts(own: Path) -> None:
    with SqliteFrontier.open(own) as frontier:
        frontier.save_courtesies([Courtesy(f"{letter}.example", 2, 1) for letter in "abxy"])
        frontier.bar_host("c.example")
    names: list[str] = []
    after: str | None = ""
    while after is not None:
        reports, after = some_reports(own, "goodbot", 2, after, 5)
        assert len(reports) <= 2
        names += [report.host for report in reports]
        assert all(report.is_partial == (report.host in ("a.example", "b.example", "c.example")) for report in reports)
    assert names == ["a.example", "b.example", "c.example", "x.example", "y.example"]
    assert courtesy_totals(own, "x.example") == CourtesyTotals(1, 2, 1, 0, 0, 0, 0, 0.0)
    assert courtesy_totals(own).requests == 8


@pytest.mark.parametrize(("urls_read", "refused", "is_partial"), [(-1, 2, False), (10, 2, False), (0, 0, True)])
def test_a_report_reads_so_many_urls(path: Path, urls_read: int, refused: int, is_partial: bool) -> None:
    with closing(connect(path, read_only=True)) as connection:
        report = report_on(connection, "goodbot", "a.example", urls_read)
    assert report is not None
    assert (report.refused, report.is_partial) == (refused, is_partial)


def test_events_that_cannot_be_read_are_damage(own: Path) -> None:
    with closing(sqlite3.connect(own)) as connection, connection:
        connection.execute("UPDATE visits SET events = '{' WHERE why = 'why disallowed'")
    with pytest.raises(DamagedError, match="decisions about a URL cannot be read"):
        list_refused(own, 50)
