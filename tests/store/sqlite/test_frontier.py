"""Tests the SQLite frontier: crashes, damage, two writers, readers; and that it behaves as the one in memory."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.store.merge.coding import hash_of
from goodbot.store.merge.limits import MAX_DUE
from goodbot.store.merge.recent_links import RecentLinks
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.schema import FORMAT
from goodbot.url import Url
from goodbot.values import Discovery, Event, LastVisit, Lease, Outcome, Release
from store.sqlite.same_as_memory import SameAsInMemory

HOME = Url("https://example.org/")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl" / "frontier.sqlite"


@pytest.fixture
def frontier(path: Path) -> Iterator[SqliteFrontier]:
    with SqliteFrontier.open(path, create=True) as made:
        yield made


def pages(count: int, host: str = "example.org") -> list[Discovery]:
    return [Discovery(Url(f"https://{host}/{number}"), 1, source=HOME) for number in range(count)]


def again(frontier: SqliteFrontier, count: int, due_at: float = 200.0) -> None:
    """So many pages that were visited and are due again."""
    frontier.add(pages(count))
    (lease,) = frontier.lease(1, count, 0.0)
    seen = LastVisit(100.0, due_at, 100.0, 100.0)
    done = [Outcome(item.url, "visited", 100.0, "", seen=seen) for item in lease.urls]
    frontier.settle(done, [Release(lease.host, 100.0)])


def lease_again(frontier: SqliteFrontier, most: int = 9) -> list[Lease]:
    """As if it had been opened for revisits."""
    frontier._revisit_until = inf
    with frontier._writing() as transaction:
        transaction.set_until()
    return frontier.lease(1, most, 1e9)


# ---- opening --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("read_only", [False, True])
def test_where_no_crawl_is_none_is_opened_and_nothing_is_made(path: Path, read_only: bool) -> None:
    with pytest.raises(InputError, match=r"no crawl in .*crawl: start one with `goodbot crawl SEED --into "):
        SqliteFrontier.open(path, read_only=read_only)
    assert not path.parent.exists()


def test_what_a_dead_crawl_leased_is_ready_again(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(pages(3))
        frontier.lease(1, 2, 0.0)
        assert frontier.status().states["leased"] == 2
    with SqliteFrontier.open(path) as frontier:
        assert (frontier.status().states["leased"], frontier.status().states["ready"]) == (0, 3)
        assert frontier.next_ready_at() == 0.0
        assert [len(lease.urls) for lease in frontier.lease(1, 9, 0.0)] == [3]


def test_a_lease_that_was_cut_says_when_its_host_may_last_have_been_asked(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add([*pages(3), *pages(1, "other.example")])
        assert [lease.cut_at for lease in frontier.lease(1, 2, 0.0)] == [None]
    with SqliteFrontier.open(path, now=lambda: 70.0) as frontier:
        cut, other = frontier.lease(2, 1, 0.0)
        assert [(lease.host, lease.cut_at) for lease in (cut, other)] == [
            ("example.org", 70.0),
            ("other.example", None),
        ]
        frontier.settle([], [Release("example.org", 80.0, token=cut.token)])
        assert [lease.cut_at for lease in frontier.lease(1, 9, 80.0)] == [None]


def test_a_second_writer_is_refused_until_the_first_ends(path: Path) -> None:
    first = SqliteFrontier.open(path, create=True)
    for create in (False, True):
        with pytest.raises(RunError, match=r"another crawl or command is using .*crawl: "):
            SqliteFrontier.open(path, create=create)
    first.add(pages(1))
    first.close()
    with SqliteFrontier.open(path) as second:
        assert second.status().states["ready"] == 1


def test_closing_twice_does_no_harm(frontier: SqliteFrontier) -> None:
    frontier.close()
    frontier.close()


# ---- readers --------------------------------------------------------------------------------------------------


def test_a_reader_sees_a_crawl_that_runs(frontier: SqliteFrontier, path: Path) -> None:
    frontier.add(pages(3))
    with SqliteFrontier.open(path, read_only=True) as reader:
        frontier.lease(1, 2, 0.0)
        assert reader.status().states["leased"] == 2
        records = reader.records()
        assert next(records).state == "leased"
        frontier.settle([Outcome(pages(1)[0].url, "gone", 1.0, "410")], [])
        assert [record.state for record in records] == ["leased", "ready"]
        assert reader.status().states["gone"] == 1


def test_a_reader_cannot_write(frontier: SqliteFrontier, path: Path) -> None:
    with (
        SqliteFrontier.open(path, read_only=True) as reader,
        pytest.raises(RunError, match=r"frontier\.sqlite is open for reading only"),
    ):
        reader.add(pages(1))
    assert frontier.status().states["ready"] == 0


def test_reading_changes_no_byte(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(pages(5))
    before = path.read_bytes()
    with SqliteFrontier.open(path, read_only=True) as reader:
        assert len(list(reader.records())) == 5
    assert path.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to any folder")
def test_a_folder_that_cannot_be_written_can_be_read(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(pages(5))
    path.parent.chmod(0o500)
    try:
        with SqliteFrontier.open(path, read_only=True) as reader:
            assert len(list(reader.records())) == 5
        with pytest.raises(RunError):
            SqliteFrontier.open(path)
    finally:
        path.parent.chmod(0o700)


# ---- damage ---------------------------------------------------------------------------------------------------


def _truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(random.Random(7).randbytes(path.stat().st_size - 4096))


def _tear(path: Path) -> None:
    """The second half of each page but the first was never written."""
    with path.open("r+b") as file:
        for page in range(4096, path.stat().st_size, 4096):
            file.seek(page + 2048)
            file.write(bytes(2048))


def _zero(path: Path) -> None:
    with path.open("r+b") as file:
        for page in range(8192, path.stat().st_size, 4096):
            file.seek(page)
            file.write(bytes(4096))


def _other_application(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE urls (host, hash)")


def _without_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE totals")


def _not_utf8(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE urls SET path = CAST(x'2fff' AS TEXT)")


DAMAGES: list[tuple[str, Callable[[Path], object]]] = [
    ("zero bytes", lambda path: path.write_bytes(b"")),
    ("garbage", lambda path: path.write_bytes(random.Random(5).randbytes(20_000))),
    ("text", lambda path: path.write_text("this is no database\n" * 999)),
    ("truncated", _truncate),
    ("head only", lambda path: path.write_bytes(path.read_bytes()[:100])),
    ("scribbled over", _scribble),
    ("torn pages", _tear),
    ("pages of zeros", _zero),
    ("a database of something else", _other_application),
    ("a table is gone", _without_table),
    ("text that is not UTF-8", _not_utf8),
]


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize("damage", [row[1] for row in DAMAGES], ids=[row[0] for row in DAMAGES])
def test_a_damaged_file_is_one_clear_line(path: Path, damage: Callable[[Path], object], read_only: bool) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(pages(2000))
    damage(path)
    with pytest.raises(DamagedError, match=r"frontier\.sqlite is damaged \(.*\): restore it, or move it") as caught:
        _read_all(path, read_only=read_only)
    assert "\n" not in str(caught.value)
    path.unlink()
    with SqliteFrontier.open(path, create=True) as fresh:
        assert fresh.status().finished


def _read_all(path: Path, *, read_only: bool) -> None:
    with SqliteFrontier.open(path, create=not read_only, read_only=read_only) as frontier:
        frontier.status()
        list(frontier.records())


def test_a_broken_audit_is_damage(path: Path, frontier: SqliteFrontier) -> None:
    frontier.add(pages(1))
    frontier.lease(1, 1, 0.0)
    frontier.settle([Outcome(pages(1)[0].url, "gone", 1.0, "410")], [])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        for text in ("[1", "[[1]]", "7"):
            other.execute("UPDATE visits SET events = ?", (text,))
            with pytest.raises(DamagedError):
                frontier.record(pages(1)[0].url)


@pytest.mark.parametrize("column", ["at", "due_at", "interval_s", "changed_at", "gone", "indexed"])
def test_what_was_seen_and_is_half_there_is_damage(frontier: SqliteFrontier, column: str) -> None:
    again(frontier, 1)
    frontier._db.execute("PRAGMA writable_schema = ON")
    shape = "UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'seen'"
    frontier._db.execute(shape)
    frontier._db.execute("PRAGMA writable_schema = RESET")
    frontier._db.execute(f"UPDATE seen SET {column} = NULL")
    for ask in (
        lambda: frontier.record(pages(1)[0].url),
        lambda: list(frontier.records()),
        lambda: lease_again(frontier),
    ):
        with pytest.raises(DamagedError, match="the last visit of a page is missing"):
            ask()


def test_a_page_due_again_of_which_nothing_is_seen_is_damage(frontier: SqliteFrontier) -> None:
    again(frontier, 2)
    frontier._db.execute("DELETE FROM seen WHERE seq = 1")
    with pytest.raises(DamagedError, match="the last visit of a page is missing"):
        lease_again(frontier)
    assert frontier.status().states["visited"] == 2


def test_a_lesson_that_is_half_there_is_damage(frontier: SqliteFrontier) -> None:
    frontier.save_lessons([Lesson("example.org", "prefix", "/", "few texts", 1.0)])
    frontier._db.execute("PRAGMA writable_schema = ON")
    frontier._db.execute("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'lessons'")
    frontier._db.execute("PRAGMA writable_schema = RESET")
    frontier._db.execute("UPDATE lessons SET evidence = NULL")
    with pytest.raises(DamagedError, match="a lesson is missing"):
        frontier.load_lessons(["example.org"])


def test_a_newer_file_asks_for_an_upgrade(path: Path) -> None:
    SqliteFrontier.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    for read_only in (False, True):
        with pytest.raises(RunError, match=f"newer goodbot .format {FORMAT + 1}; this one reads {FORMAT}"):
            SqliteFrontier.open(path, read_only=read_only)


def test_a_file_older_than_all_migrations_is_refused(path: Path) -> None:
    SqliteFrontier.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")
    for read_only in (False, True):
        with pytest.raises(RunError, match=f"older goodbot .format 1; this one reads {FORMAT}.: resume"):
            SqliteFrontier.open(path, read_only=read_only)


def test_a_full_disk_is_one_clear_line_and_changes_nothing(frontier: SqliteFrontier) -> None:
    frontier.add(pages(10))
    (used,) = frontier._db.execute("PRAGMA page_count").fetchone()
    frontier._db.execute(f"PRAGMA max_page_count = {used}")
    with pytest.raises(RunError, match=r"cannot use .*frontier\.sqlite: .*full; what was done before is kept"):
        frontier.add(pages(5000, "other.example"))
    frontier._db.execute("PRAGMA max_page_count = 1000000")
    assert frontier.status().states["ready"] == 10
    assert frontier.add(pages(5000, "other.example")) == 5000


def test_an_unfinished_creation_is_no_crawl(path: Path) -> None:
    path.parent.mkdir()
    path.with_name("frontier.sqlite.new").write_bytes(b"half")
    with pytest.raises(InputError):
        SqliteFrontier.open(path)
    with SqliteFrontier.open(path, create=True) as frontier:
        assert frontier.status().finished


# ---- what is stored -------------------------------------------------------------------------------------------


def test_the_robots_table_has_the_fields_of_an_access(frontier: SqliteFrontier) -> None:
    columns = [row[1] for row in frontier._db.execute("PRAGMA table_info (robots)")]
    assert columns == ["origin", *(item.name for item in fields(Access))]


def test_texts_of_strangers_are_kept_as_far_as_utf8_goes(frontier: SqliteFrontier) -> None:
    frontier.add([Discovery(HOME, 0), Discovery(Url("https://far.example/"), 1, HOME, refused="far \udc80")])
    frontier.lease(1, 1, 0.0)
    event = Event(1.0, "read", "title", "\ud800\x00", None)
    frontier.settle([Outcome(HOME, "visited", 1.0, "why \ud800", title="a\x00b\ud800", events=(event,))], [])
    record = frontier.record(HOME)
    assert record is not None
    assert (record.title, record.why, record.events[-1]) == ("a\ufffdb?", "why ?", event)


def test_hashes_are_spread_over_64_signed_bits() -> None:
    hashes = {hash_of(f"https://example.org/{number % 999}/{number}") for number in range(10_000)}
    assert len(hashes) == 10_000
    assert -(2**63) <= min(hashes) < -(2**62) < 2**62 < max(hashes) < 2**63


def test_hashes_of_one_folder_lie_together_whatever_the_query() -> None:
    folders = {hash_of(f"https://example.org/a/b/{number}?x={number}") >> 52 for number in range(1000)}
    assert len(folders) == 1
    assert len({hash_of(f"https://example.org/{number}/b") >> 52 for number in range(1000)}) > 800


def test_the_memory_of_recent_urls_is_bounded_and_never_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecentLinks, "PLACES", 16)
    recent = RecentLinks()
    found = pages(1000, "example.org")
    assert list(recent.unknown(found)) == found
    assert list(recent.unknown(found[-1:])) == []
    assert len(list(recent.unknown(found))) >= 984
    recent.clear()
    assert list(recent.unknown(found[-1:])) == found[-1:]


def test_the_memory_of_recent_urls_knows_what_could_change_one() -> None:
    def news(depth: int, source: Url | None = HOME, **more: Any) -> bool:
        return bool(list(recent.unknown([Discovery(HOME, depth, source, **more)])))

    recent = RecentLinks()
    assert [news(5), news(5), news(6), news(4), news(5), news(4)] == [True, False, False, True, False, False]
    assert [news(9, inlinks=2), news(4, inlinks=3), news(9, inlinks=4)] == [True, False, True]
    assert [news(9, priority=1), news(4, priority=1, inlinks=7), news(3, priority=-1)] == [True, False, True]
    assert [news(0, refused="too deep"), news(7, None), news(7, None)] == [False, True, True]
    assert [news(9, modified_at=1.0), news(9, interval_s=60.0), news(9, modified_at=1.0), news(9)] == [
        *[True] * 3,
        False,
    ]
    recent.clear()
    assert [news(3, refused="too deep"), news(3, refused="too deep"), news(9), news(9)] == [True, False, True, False]


def test_choosing_costs_the_same_whatever_is_known(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine."""
    steps: dict[int, int] = {}
    for hosts in (100, 5000):
        with SqliteFrontier.open(tmp_path / str(hosts) / "frontier.sqlite", create=True) as frontier:
            frontier.add(
                Discovery(Url(f"https://h{host}.example/{page}"), 1) for host in range(hosts) for page in (1, 2)
            )
            counted = [0]
            frontier._db.set_progress_handler(lambda counted=counted: counted.append(1), 1)  # type: ignore[misc]
            assert len(frontier.lease(64, 2, 0.0)) == 64
            frontier._db.set_progress_handler(None, 1)
            steps[hosts] = len(counted)
    assert steps[5000] == pytest.approx(steps[100], rel=0.02)


def test_revisits_of_a_large_host_are_made_ready_a_thousand_at_a_time(frontier: SqliteFrontier) -> None:
    """So that a lease is not held up by all the pages of the host."""
    again(frontier, 3 * MAX_DUE)
    for round_ in range(1, 4):
        (lease,) = lease_again(frontier, 64)
        assert len(lease.urls) == 64
        assert frontier.status().states["ready"] == round_ * MAX_DUE - 64
        frontier.settle([], [Release(lease.host, 0.0)])


def test_waiting_revisits_cost_nothing_to_those_who_choose(tmp_path: Path) -> None:
    """Counted in steps of SQLite's machine, for a release that asks when its host is due next."""
    steps: dict[int, int] = {}
    for count in (200, 5000):
        path = tmp_path / str(count) / "frontier.sqlite"
        with SqliteFrontier.open(path, create=True, revisit_until=inf) as frontier:
            again(frontier, count, 500.0)
            frontier.add([Discovery(HOME, 0)])
            (lease,) = frontier.lease(1, 9, 150.0)
            counted = [0]
            frontier._db.set_progress_handler(lambda counted=counted: counted.append(1), 1)  # type: ignore[misc]
            frontier.settle([Outcome(HOME, "gone", 150.0, "")], [Release(lease.host, 150.0)])
            frontier._db.set_progress_handler(None, 1)
            assert frontier.next_ready_at() == 500.0
            steps[count] = len(counted)
    assert steps[5000] == pytest.approx(steps[200], rel=0.02)


def test_a_settlement_that_fails_leaves_no_memory_of_its_links(frontier: SqliteFrontier) -> None:
    frontier.add([Discovery(HOME, 0)])
    frontier.lease(1, 1, 0.0)
    good = Outcome(HOME, "visited", 1.0, "fetched", links=tuple(pages(50, "new.example")))
    broken = Outcome(HOME, "visited", 1.0, "fetched", links=(None,))  # type: ignore[arg-type]
    with pytest.raises(AttributeError):
        frontier.settle([good, broken], [])
    assert frontier.add(pages(50, "new.example")) == 50


# ---- kill -9 --------------------------------------------------------------------------------------------------

_CRAWL = """
import sys
from pathlib import Path
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, RecordRef, Release

frontier = SqliteFrontier.open(Path(sys.argv[1]), create=True)
frontier.add([Discovery(Url("https://example.org/"), 0)])
print("open", flush=True)
while True:
    for lease in frontier.lease(1, 20, 1e9):
        outcomes = []
        for item in lease.urls:
            name = item.url.text.rstrip("/")
            links = tuple(Discovery(Url(f"{name}/{n}"), item.depth + 1, item.url) for n in "12")
            outcomes.append(Outcome(
                item.url, "visited", 1.0, "ok", to_index=True, links=links, size_bytes=1, token=lease.token
            ))
        frontier.settle(outcomes, [Release(lease.host, 0.0, token=lease.token)])
        print(*(item.url for item in lease.urls), flush=True)
"""


_REVISIT = """
import sys
from math import inf
from pathlib import Path
from goodbot.store.sqlite.frontier import SqliteFrontier

frontier = SqliteFrontier.open(Path(sys.argv[1]), revisit_until=inf)
print(*(item.url for lease in frontier.lease(1, 2, 300.0) for item in lease.urls), flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("revisit_until", [None, inf])
def test_kill_9_in_the_middle_of_a_revisit(path: Path, revisit_until: float | None) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        again(frontier, 3)
    with subprocess.Popen(
        [sys.executable, "-c", _REVISIT, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as crawl:
        assert crawl.stdout is not None
        asked = crawl.stdout.readline().split()
        crawl.send_signal(signal.SIGKILL)
    assert len(asked) == 2
    with SqliteFrontier.open(path, revisit_until=revisit_until, host_pages=3) as frontier:
        assert frontier.status().states["ready"] == 3
        (lease,) = frontier.lease(1, 9, 300.0)
        assert [(item.url.text, item.seen) for item in lease.urls[:2]] == [
            (text, LastVisit(100.0, 200.0, 100.0, 100.0)) for text in asked
        ]
        done = [Outcome(item.url, "visited", 300.0, "", seen=item.seen, token=lease.token) for item in lease.urls]
        frontier.settle(done, [Release(lease.host, 300.0, token=lease.token)])
        assert frontier.status().states["visited"] == 3
        assert frontier.add([Discovery(HOME, 0)]) == 1
        assert frontier.status().states["out-of-scope"] == 1


@pytest.mark.parametrize("round_", range(4))
def test_kill_9_loses_no_acknowledged_batch(path: Path, round_: int) -> None:
    acknowledged: set[str] = set()
    for life in range(2):
        crawl = subprocess.Popen([sys.executable, "-c", _CRAWL, str(path)], stdout=subprocess.PIPE, text=True)
        assert crawl.stdout is not None
        with crawl, crawl.stdout:
            assert crawl.stdout.readline() == "open\n"
            time.sleep(random.Random(10 * round_ + life).uniform(0.01, 0.15))
            crawl.send_signal(signal.SIGKILL)
            for line in crawl.stdout.read().splitlines(keepends=True):
                acknowledged |= set(line.split()) if line.endswith("\n") else set()
    with SqliteFrontier.open(path) as frontier:
        records = {record.url.text: record for record in frontier.records()}
        status = frontier.status()
        pending = {url.text for url, _ in frontier.pending()}
    visited = {text for text, record in records.items() if record.state == "visited"}
    assert acknowledged <= visited
    assert visited == pending
    assert len(records) == 2 * len(visited) + 1
    assert (status.pages, status.bytes) == (len(visited), len(visited))
    assert (status.states["leased"], status.states["ready"]) == (0, len(visited) + 1)


# ---- as in memory ---------------------------------------------------------------------------------------------


class SameAsInMemoryWithFewPages(SameAsInMemory):
    """With a bound on the pages of a host."""

    host_pages = 2


class SameAsInMemoryWithRevisits(SameAsInMemory):
    """As a service: whatever is due again is asked again."""

    revisit_until = inf


class SameAsInMemoryWithFewRevisits(SameAsInMemory):
    """What is due by a certain time, on hosts of few pages."""

    host_pages = 2
    revisit_until = 5.0


class SameAsInMemoryWithFewLists(SameAsInMemory):
    """With a bound on the lists of a host."""

    revisit_until = inf
    host_lists = 1


TestSameAsInMemory = SameAsInMemory.TestCase
TestSameAsInMemoryWithFewPages = SameAsInMemoryWithFewPages.TestCase
TestSameAsInMemoryWithRevisits = SameAsInMemoryWithRevisits.TestCase
TestSameAsInMemoryWithFewRevisits = SameAsInMemoryWithFewRevisits.TestCase
TestSameAsInMemoryWithFewLists = SameAsInMemoryWithFewLists.TestCase
TestSameAsInMemory.settings = TestSameAsInMemoryWithFewPages.settings = settings(
    max_examples=settings().max_examples // 6,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestSameAsInMemoryWithFewLists.settings = TestSameAsInMemory.settings
TestSameAsInMemoryWithRevisits.settings = TestSameAsInMemoryWithFewRevisits.settings = TestSameAsInMemory.settings


def test_a_clock_set_back_by_a_year_makes_nobody_wait_a_year(path: Path) -> None:
    now = 1_700_000_000.0
    with SqliteFrontier.open(path, create=True, now=lambda: now) as frontier:
        frontier.add(pages(3))
        (lease,) = frontier.lease(1, 2, now)
        again = Outcome(lease.urls[0].url, "ready", now, "status 503", ready_at=now + 60, tries=1)
        frontier.settle([again], [Release(lease.host, now + 5)])
    then = now - 365 * 86400.0
    with SqliteFrontier.open(path, now=lambda: then) as frontier:
        ready_at = frontier.next_ready_at()
        assert ready_at is not None
        assert then <= ready_at <= then + 5
        (lease,) = frontier.lease(1, 9, then + 61)
        assert len(lease.urls) == 3


def test_a_clock_set_back_by_a_year_keeps_what_was_seen_in_step(path: Path) -> None:
    now, year = 1_700_000_000.0, 365 * 86400.0
    seen = LastVisit(now, now + 60, 60.0, now - 5.0, whole_at=now - 1.0)
    with SqliteFrontier.open(path, create=True, now=lambda: now) as frontier:
        frontier.add(pages(1))
        (lease,) = frontier.lease(1, 1, now)
        frontier.settle([Outcome(lease.urls[0].url, "visited", now, "", seen=seen)], [Release(lease.host, now)])
    with SqliteFrontier.open(path, now=lambda: now - year, revisit_until=inf) as frontier:
        assert frontier.next_ready_at() == now - year + 60
        (lease,) = frontier.lease(1, 1, now - year + 60)
        earlier = LastVisit(now - year, now - year + 60, 60.0, now - year - 5.0, whole_at=now - year - 1.0)
        assert lease.urls[0].seen == earlier


def test_a_clock_set_back_by_a_year_takes_no_host_into_the_crawl(path: Path) -> None:
    now = 1_700_000_000.0
    elsewhere = Discovery(Url("http://elsewhere.test/"), 1, refused="not the host of a seed (--scope host)")
    with SqliteFrontier.open(path, create=True, now=lambda: now) as frontier:
        frontier.add([*pages(1), elsewhere])
        assert frontier.status().hosts == 1
    with SqliteFrontier.open(path, now=lambda: now - 365 * 86400.0) as frontier:
        assert frontier.status().hosts == 1


def add_and_fail(frontier: SqliteFrontier) -> None:
    with frontier.together():
        frontier.save_courtesies([Courtesy("h.example", requests=1)])
        frontier.add([Discovery(Url("https://h.example/"), 0)])
        raise RuntimeError


def test_an_error_undoes_all_calls_made_together_and_the_next_are_separate_again(tmp_path: Path) -> None:
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True) as frontier:
        with pytest.raises(RuntimeError):
            add_and_fail(frontier)
        assert frontier.load_courtesies(["h.example"]) == {}
        assert frontier.lease(9, 9, 1e9) == []
        assert frontier.add([Discovery(Url("https://h.example/"), 0)]) == 1
        assert [lease.host for lease in frontier.lease(9, 9, 1e9)] == ["h.example"]
