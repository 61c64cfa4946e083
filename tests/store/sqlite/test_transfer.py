"""Tests that a crawl can be taken out of a frontier, as rows, and be put into a new one that behaves the same."""

import logging
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from goodbot.errors import BusyError, DamagedError, InputError, RunError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.partitions import partition_of
from goodbot.store.merge import coding
from goodbot.store.merge.crawl_rows import HostRow, UrlRow, VisitRow
from goodbot.store.sqlite import crawl_writing
from goodbot.store.sqlite.crawl_dump import CrawlDump
from goodbot.store.sqlite.crawl_writing import write_crawl
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.schema import create
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Lease, Outcome, RecordRef, Release
from store.sqlite.same_as_memory import SameAsInMemory

NOW = 1_700_000_000.0
HOME = Url("https://example.org/")
FILE = "1.warc.gz"
SEEN = LastVisit(
    *(
        NOW,
        NOW + 200.0,
        60.5,
        NOW - 50.0,
        '"v1"',
        "Sat, 21 Nov 2026 00:00:00 GMT",
        "sha1:X",
        RecordRef(FILE, 7),
        "Home",
    ),
    gone=2,
    available_until=1e9,
    indexed=True,
    text="00ff",
    wishes="robots.txt: nosearch",
    whole_at=NOW - 70.0,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "from" / "frontier.sqlite"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return tmp_path / "to" / "frontier.sqlite"


def rows_of(path: Path, now: float = NOW) -> tuple[list[HostRow], list[UrlRow]]:
    with CrawlDump.open(path, now=lambda: now) as dump:
        return list(dump.hosts()), list(dump.urls())


def transfer(path: Path, copy: Path, now: float = NOW) -> tuple[list[HostRow], list[UrlRow]]:
    """Copies the crawl, and returns its rows. The copy has the same."""
    with CrawlDump.open(path, now=lambda: now) as dump:
        write_crawl(copy, dump.hosts(), dump.urls(), size_bytes=dump.size_bytes)
    rows = rows_of(path, now)
    assert rows_of(copy, now) == rows
    return rows


# ---- it behaves the same --------------------------------------------------------------------------------------------


class SameAfterTransfers(SameAsInMemory):
    """In between, it is taken out of its file and put into a new one."""

    revisit_until: float | None = inf

    def possible(self, outcome: Outcome) -> Outcome:
        """The page has one place in the archive, whichever visit made it pending: rows do not have that of each."""
        record = RecordRef(FILE, coding.hash_of(outcome.url.text) & 0xFFFF)
        return replace(outcome, record=record, seen=outcome.seen and replace(outcome.seen, record=record))

    @rule()
    def move(self) -> None:
        self.sqlite.close()
        copy = self.path.with_name("copy.sqlite")
        hosts, urls = transfer(self.path, copy, self.now)
        assert hosts == sorted(hosts)
        assert urls == sorted(urls, key=lambda row: (row.host, row.url))
        assert {row.state for row in urls}.isdisjoint({coding.LEASED})
        self.path.unlink()
        self.path.with_name("frontier.sqlite-wal").unlink(missing_ok=True)
        copy.rename(self.path)
        self.sqlite = self.open()
        self.forget_leases()
        for host in self.memory._hosts.values():
            host.token = 0


class SameAfterTransfersWithFewPages(SameAfterTransfers):
    """With a bound on the pages of a host, and no revisits."""

    host_pages = 2
    revisit_until = None


class SameAfterTransfersWithFewLists(SameAfterTransfers):
    """With a bound on the lists of a host, and few revisits."""

    host_lists = 1
    revisit_until = 5.0


TestSameAfterTransfers = SameAfterTransfers.TestCase
TestSameAfterTransfersWithFewPages = SameAfterTransfersWithFewPages.TestCase
TestSameAfterTransfersWithFewLists = SameAfterTransfersWithFewLists.TestCase
TestSameAfterTransfers.settings = TestSameAfterTransfersWithFewPages.settings = settings(
    max_examples=settings().max_examples // 6,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestSameAfterTransfersWithFewLists.settings = TestSameAfterTransfers.settings


HOSTS = ("a.example", "b.example", "127.0.0.1:8001", "www.a.example")
some_host = st.sampled_from(HOSTS)
ORIGINS = ("https://a.example", "http://a.example:8080", "http://127.0.0.1:8001", "http://c.example", "http://[::1]:81")
READ = Access.from_response(200, [("Cache-Control", "max-age=60")], b"User-agent: *\nDisallow: /\xff\x00\n", NOW)
ANSWERS = (READ, Access.from_response(404, [], b"", NOW + 9.5), Access.from_failure("dns", NOW + 90.0, "google", READ))
lesson = st.builds(
    Lesson,
    some_host | st.just("d.example"),
    st.sampled_from(["prefix", "mirror"]),
    st.text(max_size=3),
    st.text(max_size=3),
    st.sampled_from([NOW, NOW + 1.0]),
    st.sampled_from([inf, NOW + 5.0]),
    st.integers(1, 3),
    st.booleans(),
)
courtesy = st.sampled_from([*HOSTS, "e.example"]).flatmap(
    lambda host: st.sampled_from(
        [Courtesy(host, 2, agent="goodbot"), Courtesy(host, 9, least_gap_s=1.5, last_status=503)]
    )
)
found_on = st.tuples(some_host, st.integers(0, 5), st.none() | st.tuples(some_host, st.integers(0, 5)), st.booleans())
step = st.one_of(
    st.tuples(st.just("find"), st.lists(found_on, min_size=1, max_size=8)),
    st.tuples(st.just("visit"), st.booleans()),
    st.tuples(st.sampled_from(["bar", "remove", "unbar"]), some_host | st.just("f.example")),
    st.tuples(st.just("robots"), st.tuples(st.sampled_from(ORIGINS), st.sampled_from(ANSWERS))),
    st.tuples(st.just("courtesies"), courtesy),
    st.tuples(st.just("learn"), lesson),
)


def take(path: Path, kind: str, what: object, now: float) -> None:
    """Does one step of a crawl, which is killed then."""
    with SqliteFrontier.open(path, now=lambda: now, revisit_until=inf) as frontier:
        _take(frontier, kind, what, now)


def _take(frontier: SqliteFrontier, kind: str, what: object, now: float) -> None:
    match kind, what:
        case "find", list(items):
            frontier.add(_found(*item) for item in items)
        case "visit", bool(has_page):
            for lease in frontier.lease(2, 2, now):
                page = replace(SEEN, due_at=now + 60, indexed=has_page)
                links = (_found(HOSTS[0], 9, None, refused=False), _found(HOSTS[3], int(now) % 7, None, refused=True))
                outcomes = [
                    Outcome(
                        *(item.url, "visited", now, "status 200", 200, 9, "sha1:X", "Home", page.record),
                        to_index=has_page,
                        from_index=not has_page,
                        seen=page,
                        same_as=None if has_page else HOME,
                        links=tuple(link._replace(source=item.url, depth=1) for link in links),
                    )
                    for item in lease.urls
                ]
                release = Release(lease.host, now + 1, 0.5, now, 3, lease.token, 17)
                frontier.settle(outcomes[:1] if now % 2 else outcomes, [release] if has_page else [])
        case "bar", str(host):
            frontier.bar_host(host)
        case "remove", str(host):
            frontier.bar_host(host)
            frontier.remove_host(host)
        case "unbar", str(host):
            frontier.unbar_host(host)
        case "robots", (str(origin), Access() as access):
            frontier.save_robots(origin, access)
        case "courtesies", Courtesy() as known:
            frontier.save_courtesies([known])
        case "learn", Lesson() as learned:
            frontier.save_lessons([learned])


def _found(host: str, page: int, source: tuple[str, int] | None, refused: bool) -> Discovery:
    url, of = Url(f"http://{host}/{page}"), source and Url(f"http://{source[0]}/{source[1]}")
    return Discovery(url, 0 if of is None else 1, of, "too far" if refused else None)


def said(path: Path, now: float) -> list[object]:
    """What a frontier says after it is opened again. Hosts that are due at once may be leased in any order, as one that
    was removed keeps its old place."""
    with SqliteFrontier.open(path, now=lambda: now, revisit_until=inf) as frontier:
        robots, courtesies = frontier.load_all_robots(ORIGINS), frontier.load_courtesies((*HOSTS, "e.example"))
        urls = [record.url for record in frontier.records()]
        queue = [sorted(frontier.pending()), frontier.leaving(), frontier.index_mark()]
        facts = [robots, courtesies, frontier.lessons(), frontier.forgotten_hosts(), frontier.hosts_to_remove()]
        leases = frontier.lease(99, 99, now + 1000)
        return [
            *(frontier.status(), urls, [frontier.record(url) for url in urls], *queue, *facts),
            *(frontier.next_ready_at(), sorted((_plain(lease) for lease in leases), key=lambda lease: lease.host)),
        ]


def _plain(lease: Lease) -> Lease:
    return replace(lease, token=0)


@settings(max_examples=settings().max_examples // 2, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(step, max_size=14))
def test_all_that_is_known_of_hosts_is_kept(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, object]]
) -> None:
    folder = tmp_path_factory.mktemp("transfer")
    path, copy = folder / "frontier.sqlite", folder / "copy" / "frontier.sqlite"
    create_empty(path)
    for second, (kind, what) in enumerate(steps):
        take(path, kind, what, NOW + second)
    now = NOW + len(steps)
    transfer(path, copy, now)
    assert said(copy, now) == said(path, now)


# ---- the rows -------------------------------------------------------------------------------------------------------


def crawl(path: Path, pages: int = 4) -> list[Url]:
    """A crawl of so many pages, the first two of which are visited, and the third is leased by a killed crawl."""
    urls = [Url(f"https://example.org/{number}") for number in range(pages)]
    with SqliteFrontier.open(path, create=True, now=lambda: NOW, revisit_until=inf) as frontier:
        frontier.add(Discovery(url, 0) for url in urls)
        (lease,) = frontier.lease(1, 2, NOW)
        rendered = replace(SEEN, rendered=True)
        frontier.settle(
            [
                Outcome(urls[0], "visited", NOW, "ok", 200, 5, record=RecordRef(FILE, 3), seen=SEEN, to_index=True),
                Outcome(urls[1], "visited", NOW, "ok", 200, 6, record=RecordRef(FILE, 4), seen=rendered, to_index=True),
            ],
            [Release(lease.host, NOW + 5)],
        )
        frontier.lease(1, 1, NOW + 5)
    return urls


def test_rows_of_urls(path: Path, copy: Path) -> None:
    urls = crawl(path)
    hosts, (first, second, third, fourth) = transfer(path, copy, NOW + 9)
    visit = VisitRow(NOW, 200, None, None, "ok", FILE, 3, "[]")
    assert first == UrlRow(
        *("example.org", urls[0].text, 8, first.rank, NOW),
        ready_at=NOW + 200.0,
        visit=visit,
        seen=SEEN,
        pending=True,
    )
    assert (second.place, second.visit, second.seen) == (
        1,
        visit._replace(offset=4),
        replace(SEEN, rendered=True),
    )
    assert third == UrlRow("example.org", urls[2].text, 0, third.rank, NOW, place=2)
    assert fourth == third._replace(url=urls[3].text, place=3)
    partition = partition_of("example.org")
    assert hosts == [HostRow("example.org", partition, NOW + 5, cut_at=NOW + 9, pages=2, turn=0)]


def test_a_rendered_page_is_not_indexed_from_the_archive_and_others_are_from_their_last_whole_record(
    path: Path, copy: Path
) -> None:
    urls = crawl(path)
    transfer(path, copy)
    with SqliteFrontier.open(copy) as frontier:
        assert frontier.pending() == [(urls[0], RecordRef(FILE, 7)), (urls[1], None)]
        assert frontier.status().bytes == 11


def test_a_page_without_a_planned_visit_is_indexed_from_the_record_of_the_last_one(path: Path, copy: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add([Discovery(HOME, 0)])
        (lease,) = frontier.lease(1, 1, NOW)
        done = Outcome(HOME, "visited", NOW, "ok", record=RecordRef(FILE, 3), to_index=True)
        frontier.settle([done], [Release(lease.host, NOW)])
    transfer(path, copy)
    with SqliteFrontier.open(copy) as frontier:
        assert frontier.pending() == [(HOME, RecordRef(FILE, 3))]


def test_a_revisit_under_way_goes_on(path: Path, copy: Path) -> None:
    crawl(path)
    with SqliteFrontier.open(path, now=lambda: NOW + 300, revisit_until=inf) as frontier:
        assert len(frontier.lease(1, 9, NOW + 300)[0].urls) == 4
    _, rows = transfer(path, copy)
    assert [(row.state, row.was, row.ready_at) for row in rows] == [(0, 8, None)] * 2 + [(0, None, None)] * 2
    with SqliteFrontier.open(copy, host_pages=2) as frontier:
        (lease,) = frontier.lease(1, 9, NOW + 600)
        assert [item.seen is None for item in lease.urls] == [False, False], "the limit of pages is for new ones"


def test_nothing_changes_in_the_file_that_is_read(path: Path, copy: Path) -> None:
    crawl(path)
    before = content(path)
    transfer(path, copy)
    assert content(path) == before


def content(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_a_file_that_is_copied_in_order_has_the_same_tables(path: Path, copy: Path) -> None:
    crawl(path)
    with SqliteFrontier.open(path) as frontier:
        source = frontier.lease(1, 1, NOW + 9)[0].urls[0].url
        links = tuple(Discovery(Url(f"{origin}/x"), 1, source) for origin in ORIGINS[:3])
        frontier.settle([Outcome(source, "failed", NOW + 9, "no", links=links, token=1)], [])
        frontier.save_robots(ORIGINS[0], READ)
        frontier.save_lessons([Lesson("example.org", "prefix", "/x", "few", NOW)])
        frontier.save_courtesies([Courtesy("example.org", 2)])
    SqliteFrontier.open(path).close()
    transfer(path, copy)
    SqliteFrontier.open(copy).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE hosts SET token = 0")
        connection.execute("UPDATE to_index SET offset = 7 WHERE file IS NOT NULL")
    assert sorted(content(copy)) == sorted(content(path))


def test_the_places_of_removed_urls_stay_free(path: Path, copy: Path) -> None:
    with SqliteFrontier.open(path, create=True, now=lambda: NOW) as frontier:
        frontier.add(Discovery(Url(f"http://{host}.example/{number}"), 0) for number in range(3) for host in "gab")
        frontier.bar_host("g.example")
        frontier.remove_host("g.example")
    _, rows = transfer(path, copy)
    assert [row.place for row in rows] == [1, 4, 7, 2, 5, 8]


# ---- rows from elsewhere --------------------------------------------------------------------------------------------


def row(url: str, found_at: float = NOW, place: int = 0, source: str | None = None, rank: int = 0) -> UrlRow:
    return UrlRow(Url(url).host_key, url, coding.READY, rank, found_at, source, place)


def hosts_of(rows: list[UrlRow]) -> list[HostRow]:
    return [HostRow(host, partition_of(host)) for host in dict.fromkeys(row.host for row in rows)]


def test_urls_are_leased_by_time_and_place_in_whatever_order_they_come(copy: Path) -> None:
    rows = [
        row("http://b.example/3", NOW + 1, 0, "http://z.example/"),
        row("http://a.example/1", NOW, 7, "http://y.example/"),
        row("http://b.example/2", NOW, 7, "http://x.example/"),
        row("http://b.example/0", NOW, 2, "http://x.example/"),
        row("https://a.example/4", NOW + 1, 0),
        row("http://b.example/9", NOW - 9, 1 << 40, rank=9),
    ]
    write_crawl(copy, hosts_of(rows), rows, size_bytes=0)
    with SqliteFrontier.open(copy) as frontier:
        assert [record.url.text[-1] for record in frontier.records()] == list("901234")
        events = [frontier.record(Url(item.url)).events[0] for item in rows]  # type: ignore[union-attr]
        assert [(event.at, event.reason.partition(",")[0].split()[2]) for event in events] == [
            (item.found_at, item.source or "submitted") for item in rows
        ]
        leases = frontier.lease(9, 9, NOW)
        assert [[item.url.text[-1] for item in lease.urls] for lease in leases] == [list("0239"), list("14")]
        assert frontier.add([Discovery(Url("http://c.example/"), 0), Discovery(Url(rows[0].url), 0)]) == 1
    again = copy.with_name("again.sqlite")
    transfer(copy, again)


def test_of_two_urls_with_one_hash_the_first_is_kept(
    copy: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(crawl_writing, "hash_of", lambda _: 7)
    visit = VisitRow(NOW, 200, None, None, "ok", FILE, 3, "[]")
    kept = row("http://a.example/kept")
    other = row("http://a.example/left-out", NOW + 1)._replace(
        visit=visit, seen=SEEN, pending=True, same_as="http://b/"
    )
    rows = [other, kept, row("http://b.example/")]
    with caplog.at_level(logging.WARNING):
        write_crawl(copy, hosts_of(rows), rows, size_bytes=0)
    assert "1 URLs are not in" in caplog.text
    assert rows_of(copy)[1] == [kept, rows[2]._replace(place=1)]
    with closing(sqlite3.connect(copy)) as connection:
        counts = [
            connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("visits", "seen", "copies")
        ]
    assert counts == [0, 0, 0]
    monkeypatch.undo()
    with SqliteFrontier.open(copy) as frontier:
        assert frontier.status().states["ready"] == 2
        assert frontier.add([Discovery(Url("http://c.example/"), 0)]) == 1


def test_an_empty_crawl(path: Path, copy: Path) -> None:
    create_empty(path)
    assert transfer(path, copy) == ([], [])
    with SqliteFrontier.open(copy) as frontier:
        assert frontier.is_finished()


def create_empty(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    create(path)


def test_a_resumed_crawl_expects_no_index(path: Path, copy: Path) -> None:
    crawl(path)
    transfer(path, copy)
    with SqliteFrontier.open(copy) as frontier:
        assert frontier.index_mark() is None
        frontier.indexed(url for url, _ in frontier.pending())
        assert frontier.lacks_documents(0), "so the next crawl makes an index of all pages, from the archive"


# ---- bad input ------------------------------------------------------------------------------------------------------


def test_no_crawl_is_read_where_there_is_none(path: Path) -> None:
    with pytest.raises(InputError, match="no crawl in"):
        CrawlDump.open(path)
    assert not path.parent.exists()


def test_a_crawl_that_runs_is_not_read_and_one_that_is_read_is_not_written(path: Path) -> None:
    with SqliteFrontier.open(path, create=True), pytest.raises(BusyError, match="another crawl or command is using"):
        CrawlDump.open(path)
    with CrawlDump.open(path) as dump:
        with pytest.raises(BusyError):
            SqliteFrontier.open(path)
        dump.close()
        SqliteFrontier.open(path).close()


def test_a_folder_with_a_crawl_gets_no_other(path: Path, copy: Path) -> None:
    crawl(path)
    crawl(copy, 3)
    before = content(copy)
    with CrawlDump.open(path) as dump, pytest.raises(InputError, match=r"there is a crawl in .*to already: choose"):
        write_crawl(copy, dump.hosts(), dump.urls(), size_bytes=0)
    assert content(copy) == before
    with SqliteFrontier.open(copy), pytest.raises(BusyError):
        write_crawl(copy, [], [], size_bytes=0)
    copy.rename(copy.with_name("frontier.sqlite-wal"))
    with pytest.raises(InputError, match="there is a crawl"):
        write_crawl(copy, [], [], size_bytes=0)


def test_an_older_frontier_is_to_be_brought_up_to_date_first(path: Path) -> None:
    create_empty(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 10")
    with pytest.raises(RunError, match=r"is of an older goodbot .*resume the crawl"):
        CrawlDump.open(path)


DAMAGES = (
    "UPDATE urls SET path = '' WHERE seq = 1",
    "UPDATE urls SET state = 99 WHERE seq = 1",
    "UPDATE urls SET state = 1 WHERE seq = 1",
    "DROP TABLE seen",
    "DROP TABLE robots_versions",
    "INSERT INTO robots_versions VALUES ('x', 0, 0, 0, '', 0, '', '', 0)",
)


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_is_named(path: Path, copy: Path, damage: str) -> None:
    crawl(path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(damage)
    with pytest.raises(DamagedError, match=r"from/frontier\.sqlite is damaged"):
        transfer(path, copy)
    assert left_in(copy) in ([], ["frontier.lock"])
    SqliteFrontier.open(path, read_only=True).close()


def left_in(copy: Path) -> list[str]:
    return sorted(os.listdir(copy.parent)) if copy.parent.exists() else []


HALF_WRITTEN = (
    ("hosts", "partition"),
    ("hosts", "pages"),
    ("hosts", "origin"),
    ("urls", "path"),
    ("urls", "rank"),
    ("urls", "hops"),
    ("urls", "seq"),
    ("visits", "why"),
    ("visits", "events"),
    ("seen", "due_at"),
    ("lessons", "evidence"),
)


@pytest.mark.parametrize(("table", "column"), HALF_WRITTEN)
def test_rows_half_written_are_damage(path: Path, copy: Path, table: str, column: str) -> None:
    """SQLite reads NULL where a row of a damaged page ends."""
    crawl(path)
    with SqliteFrontier.open(path) as frontier:
        frontier.save_lessons([Lesson("example.org", "prefix", "/x", "few", NOW)])
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = replace(sql, 'NOT NULL', '') WHERE type = 'table'")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE {table} SET {column} = NULL")
    with pytest.raises(DamagedError, match=r"from/frontier\.sqlite is damaged .* (is|are) missing"):
        transfer(path, copy)


def test_a_crawl_is_made_completely_or_not_at_all(copy: Path) -> None:
    rows = [row("http://a.example/"), row("http://b.example/")]

    def broken() -> Iterator[UrlRow]:
        yield rows[0]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_crawl(copy, hosts_of(rows), broken(), size_bytes=0)
    assert left_in(copy) == ["frontier.lock"]
    for leftover in (".draft", ".draft.new", ".stage"):
        copy.with_name(copy.name + leftover).write_text("of a run that was killed")
    with pytest.raises(DamagedError, match=r"there are URLs of b\.example, but its own row is missing"):
        write_crawl(copy, hosts_of(rows[:1]), rows, size_bytes=0)
    assert left_in(copy) == ["frontier.lock"]
    write_crawl(copy, hosts_of(rows), rows, size_bytes=0)
    assert left_in(copy) == ["frontier.lock", "frontier.sqlite"]


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="a file is in the way"):
        write_crawl(tmp_path / "file" / "frontier.sqlite", [], [], size_bytes=0)
