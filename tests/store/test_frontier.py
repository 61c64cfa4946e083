"""The SQLite frontier alone: crashes, damage, two writers, readers; and that it behaves as the one in memory."""

import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.exclusion import Access
from goodbot.store.frontier import SqliteFrontier
from goodbot.store.memory import MemoryFrontier
from goodbot.store.schema import FORMAT, hash_of
from goodbot.store.transaction import Recent
from goodbot.url import Url
from goodbot.values import Discovery, Event, Lease, Outcome, RecordRef, Release, State

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
        assert [(lease.host, lease.cut_at) for lease in frontier.lease(2, 1, 0.0)] == [
            ("example.org", 70.0),
            ("other.example", None),
        ]
        frontier.settle([], [Release("example.org", 80.0)])
        assert [lease.cut_at for lease in frontier.lease(1, 9, 80.0)] == [None]


def test_a_second_writer_is_refused_until_the_first_ends(path: Path) -> None:
    first = SqliteFrontier.open(path, create=True)
    for create in (False, True):
        with pytest.raises(RunError, match=r"another crawl is using .*crawl: "):
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


def test_a_newer_file_asks_for_an_upgrade(path: Path) -> None:
    SqliteFrontier.open(path, create=True).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    for read_only in (False, True):
        with pytest.raises(RunError, match=f"newer goodbot .format {FORMAT + 1}; this one reads {FORMAT}"):
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
    assert (record.title, record.why, record.events[-1]) == ("a\x00b?", "why ?", event)


def test_hashes_are_spread_over_64_signed_bits() -> None:
    hashes = {hash_of(f"https://example.org/{number}") for number in range(10_000)}
    assert len(hashes) == 10_000
    assert min(hashes) < -(2**62) < 2**62 < max(hashes) < 2**63


def test_the_memory_of_recent_urls_is_bounded_and_never_wrong(frontier: SqliteFrontier) -> None:
    recent = Recent()
    recent.URLS = 10
    found = pages(1000, "example.org")
    for item in found:
        recent.put(item)
        assert recent.covers(item)
    assert [item for item in found if recent.covers(item)] == found[980:]


def test_the_memory_of_recent_urls_knows_what_could_change_one(frontier: SqliteFrontier) -> None:
    recent = Recent()
    recent.put(Discovery(HOME, 5, HOME))
    depths = {depth: recent.covers(Discovery(HOME, depth, HOME)) for depth in (4, 5, 6)}
    assert depths == {4: False, 5: True, 6: True}
    recent.put(Discovery(HOME, 3, HOME, refused="too deep"))
    assert recent.covers(Discovery(HOME, 3, HOME, refused="too deep"))
    assert not recent.covers(Discovery(HOME, 9, HOME))


def test_a_settlement_that_fails_leaves_no_memory_of_its_links(frontier: SqliteFrontier) -> None:
    frontier.add([Discovery(HOME, 0)])
    frontier.lease(1, 1, 0.0)
    good = Outcome(HOME, "visited", 1.0, "fetched", links=tuple(pages(50, "new.example")))
    with pytest.raises(ValueError, match="not leased"):
        frontier.settle([good, good], [])
    assert frontier.add(pages(50, "new.example")) == 50


# ---- kill -9 --------------------------------------------------------------------------------------------------

_CRAWL = """
import sys
from pathlib import Path
from goodbot.store.frontier import SqliteFrontier
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
            outcomes.append(Outcome(item.url, "visited", 1.0, "ok", to_index=True, links=links, size_bytes=1))
        frontier.settle(outcomes, [Release(lease.host, 0.0)])
        print(*(item.url for item in lease.urls), flush=True)
"""


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

URLS = [
    Url(f"{origin}/{page}")
    for origin in ("https://a.example", "http://a.example", "https://b.example", "http://127.0.0.1:8001")
    for page in ("", "1", "2?q=3")
]
some_url = st.sampled_from(URLS)
some_state: st.SearchStrategy[State] = st.sampled_from(
    ["ready", "visited", "disallowed", "out-of-scope", "failed", "gone"]
)
reason = st.none() | st.sampled_from(["too far", "too deep"])
discoveries = st.lists(
    st.builds(Discovery, some_url, st.integers(0, 3), st.none() | some_url, reason, st.booleans()), max_size=6
)
outcome_parts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "state": some_state,
        "why": st.text(max_size=5),
        "status": st.none() | st.sampled_from([200, 404]),
        "size_bytes": st.integers(0, 10**10),
        "digest": st.none() | st.just("sha1:X"),
        "title": st.none() | st.text(max_size=5),
        "record": st.none() | st.builds(RecordRef, st.just("1.warc.gz"), st.integers(0, 2**62)),
        "to_index": st.booleans(),
        "tries": st.integers(0, 3),
        "events": st.lists(
            st.builds(
                Event, st.floats(0, 1e9), st.just("fetch"), st.text(max_size=3), st.text(), st.none() | st.just(3)
            ),
            max_size=2,
        ).map(tuple),
        "links": discoveries.map(tuple),
    }
)


class SameAsInMemory(RuleBasedStateMachine):
    """Does everything to both frontiers and compares what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.leases: dict[str, list[Url]] = {}
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "frontier.sqlite"
        self.memory = MemoryFrontier(now=lambda: self.now)
        self.sqlite = SqliteFrontier.open(self.path, create=True, now=lambda: self.now)

    def teardown(self) -> None:
        self.sqlite.close()
        self.folder.cleanup()

    def both(self, ask: Callable[[Any], Any]) -> Any:
        expected = ask(self.memory)
        assert ask(self.sqlite) == expected
        return expected

    @rule(found=discoveries)
    def add(self, found: list[Discovery]) -> None:
        self.both(lambda store: store.add(found))

    @rule(hosts=st.integers(0, 3), urls=st.integers(0, 3))
    def lease(self, hosts: int, urls: int) -> None:
        leases: list[Lease] = self.both(lambda store: store.lease(hosts, urls, self.now))
        for lease in leases:
            assert lease.host not in self.leases
            assert lease.urls
            self.leases[lease.host] = [item.url for item in lease.urls]

    @rule(data=st.data(), release=st.booleans(), wait=st.sampled_from([0.0, 1.0, 5.0]))
    def settle(self, data: st.DataObject, release: bool, wait: float) -> None:
        if not self.leases:
            return
        host = data.draw(st.sampled_from(sorted(self.leases)))
        done = [self.leases[host].pop() for _ in range(data.draw(st.integers(0, len(self.leases[host]))))]
        outcomes = [
            Outcome(url, at=self.now, ready_at=self.now + wait, **data.draw(outcome_parts)) for url in reversed(done)
        ]
        releases = [Release(host, self.now + wait, wait)] if release else []
        self.both(lambda store: store.settle(outcomes, releases))
        if release:
            del self.leases[host]

    @rule(url=some_url, host=st.sampled_from(["a.example", "nowhere.example"]))
    def settle_wrongly(self, url: Url, host: str) -> None:
        if url not in (item for urls in self.leases.values() for item in urls):
            for store in (self.memory, self.sqlite):
                with pytest.raises(ValueError, match="not leased"):
                    store.settle([Outcome(url, "visited", self.now, "", links=(Discovery(URLS[0], 0),))], [])
        if host not in self.leases:
            for store in (self.memory, self.sqlite):
                with pytest.raises(ValueError, match="not leased"):
                    store.settle([], [Release(host, 0.0)])

    @rule(seconds=st.sampled_from([0.5, 1.0, 5.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(wanted=st.sets(some_url), why=st.sampled_from(["too far", "no"]))
    def reconsider(self, wanted: set[Url], why: str) -> None:
        self.both(lambda store: store.reconsider(lambda url, _: None if url in wanted else why))

    @rule(urls=st.lists(some_url, max_size=3), again=st.booleans())
    def take_off_the_queue(self, urls: list[Url], again: bool) -> None:
        self.both(lambda store: (store.requeue if again else store.indexed)(urls))

    @rule()
    def reopen(self) -> None:
        """With leases out it would be a crash, which the one in memory does not survive."""
        if not self.leases:
            self.sqlite.close()
            self.sqlite = SqliteFrontier.open(self.path, now=lambda: self.now)

    @invariant()
    def they_say_the_same(self) -> None:
        status = self.both(lambda store: store.status())
        assert sum(status.states.values()) == len(self.both(lambda store: list(store.records())))
        self.both(lambda store: store.next_ready_at())
        self.both(lambda store: store.pending())
        self.both(lambda store: [store.record(url) for url in URLS])


TestSameAsInMemory = SameAsInMemory.TestCase
TestSameAsInMemory.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
