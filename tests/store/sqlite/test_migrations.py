"""Tests that frontiers of older formats are migrated step by step, and stay whole if that is interrupted."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from goodbot.errors import RunError
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.partitions import partition_of
from goodbot.search_values import IndexMark
from goodbot.store.merge.limits import FIRST_URLS
from goodbot.store.sqlite import migrations
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.schema import APPLICATION_ID, FORMAT
from goodbot.url import Url
from goodbot.values import Discovery, Event, LastVisit, Outcome, RecordRef, Release

FORMAT_2 = """
CREATE TABLE found (seq INTEGER PRIMARY KEY, at REAL NOT NULL, source TEXT);
INSERT INTO "found" VALUES(0,10.0,NULL);
INSERT INTO "found" VALUES(1,10.0,'https://example.org/');
INSERT INTO "found" VALUES(2,10.0,NULL);
INSERT INTO "found" VALUES(3,20.0,'https://example.org/');
CREATE TABLE hosts (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL,
  ready_at REAL NOT NULL, backoff REAL NOT NULL DEFAULT 0, due REAL,
  leased INTEGER NOT NULL DEFAULT 0, cut_at REAL, in_scope INTEGER NOT NULL DEFAULT 0
);
INSERT INTO "hosts" VALUES(1,'example.org','https://example.org',30.0,0.0,NULL,1,NULL,1);
INSERT INTO "hosts" VALUES(2,'example.net','https://example.net',0.0,0.0,NULL,1,NULL,1);
INSERT INTO "hosts" VALUES(3,'far.example','https://far.example',20.0,0.0,NULL,0,NULL,0);
CREATE TABLE robots (
  origin TEXT PRIMARY KEY, result TEXT NOT NULL, dialect TEXT NOT NULL, fetched_at REAL NOT NULL,
  valid_until REAL NOT NULL, status INTEGER, failure TEXT, body BLOB NOT NULL, good_at REAL,
  cut_bytes INTEGER NOT NULL, tries INTEGER NOT NULL, failing_since REAL, site_answers INTEGER NOT NULL
);
CREATE TABLE to_index (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, file TEXT, offset INTEGER, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO "to_index" VALUES(1,7982605172991246264,'1.warc.gz',7);
CREATE TABLE totals (name TEXT PRIMARY KEY, value INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
INSERT INTO "totals" VALUES('bytes',512);
INSERT INTO "totals" VALUES('disallowed',0);
INSERT INTO "totals" VALUES('failed',0);
INSERT INTO "totals" VALUES('gone',1);
INSERT INTO "totals" VALUES('hosts',2);
INSERT INTO "totals" VALUES('leased',3);
INSERT INTO "totals" VALUES('out-of-scope',1);
INSERT INTO "totals" VALUES('ready',2);
INSERT INTO "totals" VALUES('urls',8);
INSERT INTO "totals" VALUES('visited',1);
CREATE TABLE urls (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  depth INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, public_only INTEGER NOT NULL, hops INTEGER NOT NULL,
  ready_at REAL, refused TEXT, path TEXT NOT NULL,
  PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO "urls" VALUES(1,-9044722692004862259,4,0,2,0,1,1,NULL,NULL,'/a/2?x=1');
INSERT INTO "urls" VALUES(1,-7481958011560098485,3,1,1,0,0,0,NULL,NULL,'/a/1');
INSERT INTO "urls" VALUES(1,-1358992509978654579,1,1,1,0,0,0,NULL,NULL,'http://example.org/plain');
INSERT INTO "urls" VALUES(1,4185597802370556774,7,2,1,1,0,0,90.0,NULL,'/retry');
INSERT INTO "urls" VALUES(1,7982605172991246264,0,3,0,0,0,0,NULL,NULL,'/');
INSERT INTO "urls" VALUES(1,8482212264813044802,5,7,1,0,0,0,NULL,NULL,'/gone');
INSERT INTO "urls" VALUES(2,7924936555964312144,2,1,0,0,0,0,NULL,NULL,'/');
INSERT INTO "urls" VALUES(3,6051924353207297850,6,5,1,0,0,0,NULL,'far','/');
CREATE TABLE visits (
  seq INTEGER PRIMARY KEY, at REAL NOT NULL, status INTEGER, digest TEXT, title TEXT, why TEXT NOT NULL,
  file TEXT, offset INTEGER, events TEXT NOT NULL
);
INSERT INTO "visits" VALUES(0,20.0,200,'sha256:00','Home','status 200','1.warc.gz',7,
  '[[20.0,"permission","allowed","Allow: /",3]]');
INSERT INTO "visits" VALUES(5,45.0,404,NULL,NULL,'status 404',NULL,NULL,'[]');
INSERT INTO "visits" VALUES(7,46.0,NULL,NULL,NULL,'connect: refused',NULL,NULL,'[]');
CREATE INDEX hosts_due ON hosts (due) WHERE due IS NOT NULL;
CREATE INDEX hosts_leased ON hosts (id) WHERE leased = 1;
CREATE INDEX urls_ready ON urls (host, depth, seq) WHERE state = 0;
CREATE INDEX urls_leased ON urls (host) WHERE state = 1;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0) THEN ready_at
  ELSE (SELECT min(urls.ready_at) FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT host, hash, urls.seq AS seq,
  origin, path, state, depth, refused, at, status, digest, title, why, file, offset
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq;
"""
"""A crawl of format 2 that was killed with three URLs leased, as its own code wrote it."""

HOME = Url("https://example.org/")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file of format 2."""
    made = tmp_path / "frontier.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(
            f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 2; {FORMAT_2} COMMIT;"
        )
    return made


def version(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def shape(path: Path) -> dict[str, list[object]]:
    """The columns of every table, view and index."""
    with closing(sqlite3.connect(path)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_schema WHERE sql IS NOT NULL")]
        return {
            name: [
                row[1:]
                for pragma in ("table_info", "index_xinfo")
                for row in connection.execute(f"PRAGMA {pragma} ({name})")
            ]
            for name in names
        }


def test_a_file_of_format_2_goes_on_as_it_was(path: Path) -> None:
    with SqliteFrontier.open(path, now=lambda: 60.0) as frontier:
        states = {record.url.text: (record.state, record.depth) for record in frontier.records()}
        assert states == {
            "https://example.org/": ("visited", 0),
            "http://example.org/plain": ("ready", 1),
            "https://example.net/": ("ready", 0),
            "https://example.org/a/1": ("ready", 1),
            "https://example.org/a/2?x=1": ("ready", 2),
            "https://example.org/gone": ("gone", 1),
            "https://far.example/": ("out-of-scope", 1),
            "https://example.org/retry": ("ready", 1),
        }
        status = frontier.status()
        assert (status.states["ready"], status.states["leased"], status.pages, status.hosts) == (5, 0, 1, 2)
        assert frontier.pending() == [(HOME, RecordRef("1.warc.gz", 7))]
        record = frontier.record(HOME)
        assert record is not None
        assert record.events == (
            Event(10.0, "found", "known", "seed or submitted, depth 0"),
            Event(20.0, "permission", "allowed", "Allow: /", 3),
        )
        assert frontier.add([Discovery(HOME, 0), Discovery(Url("https://example.org/gone"), 1, HOME)]) == 0
        leases = {lease.host: lease for lease in frontier.lease(9, 9, 100.0)}
        assert [item.url.path for item in leases["example.org"].urls] == ["/plain", "/a/1", "/retry", "/a/2"]
        assert [item.tries for item in leases["example.org"].urls] == [0, 0, 1, 0]
        assert (leases["example.org"].urls[3].public_only, leases["example.org"].urls[3].hops) == (True, 1)
        assert {lease.cut_at for lease in leases.values()} == {60.0}
        token = leases["example.org"].token
        done = Outcome(Url("https://example.org/a/1"), "visited", 1.0, "", token=token)
        frontier.settle([done], [Release("example.org", 0.0, token=token)])


def test_the_pages_of_a_host_are_counted(path: Path) -> None:
    with SqliteFrontier.open(path, host_pages=1) as frontier:
        assert frontier.status().states["out-of-scope"] == 5
        assert [lease.host for lease in frontier.lease(9, 9, 1e9)] == ["example.net"]


def test_a_file_brought_up_has_the_shape_of_a_new_one(path: Path, format_4: Path, tmp_path: Path) -> None:
    SqliteFrontier.open(tmp_path / "new" / "frontier.sqlite", create=True).close()
    for file in (path, format_4):
        SqliteFrontier.open(file).close()
        assert version(file) == FORMAT
        assert shape(file) == shape(tmp_path / "new" / "frontier.sqlite")


def test_a_reader_changes_nothing_and_says_what_to_do(path: Path) -> None:
    with pytest.raises(RunError, match=rf"older goodbot \(format 2; this one reads {FORMAT}\): resume the crawl"):
        SqliteFrontier.open(path, read_only=True)
    assert version(path) == 2


@pytest.fixture
def format_3(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same crawl as the code of format 3 left it, with a robots.txt."""
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "FORMAT", 3)
        migrations.migrate(path)
    with closing(sqlite3.connect(path)) as connection:
        columns = "origin, result, dialect, fetched_at, valid_until, body, cut_bytes, tries, site_answers"
        connection.execute(f"INSERT INTO robots ({columns}) VALUES ('http://a', 'successful', '', 5, 9, x'', 0, 0, 0)")
        connection.commit()
    return path


def dump(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return set(connection.iterdump())


def test_a_file_of_format_3_keeps_all_it_holds(format_3: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert version(format_3) == 3
    before = dump(format_3)
    monkeypatch.setattr(migrations, "FORMAT", 4)
    migrations.migrate(format_3)
    assert version(format_3) == 4
    after = dump(format_3)
    assert before < after
    assert {line.split()[2] for line in after - before} == {"courtesies", "robots_versions", "forgotten"}


def test_a_file_of_format_3_goes_on(format_3: Path) -> None:
    with SqliteFrontier.open(format_3, now=lambda: 60.0) as frontier:
        frontier.save_courtesies([Courtesy("example.org", 2)])
        assert frontier.bar_host("example.org")
        assert frontier.remove_host("example.org") == 6
        assert frontier.load_courtesies(["example.org"])["example.org"].requests == 2
        assert [lease.host for lease in frontier.lease(9, 9, 100.0)] == ["example.net"]


@pytest.fixture
def format_4(tmp_path: Path) -> Path:
    """A file of format 4."""
    made = tmp_path / "four.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(Path(__file__).with_name("format_4.sql").read_text(encoding="utf-8"))
        connection.executescript(f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 4;")
    return made


def test_what_a_file_of_format_4_holds_is_there(format_4: Path) -> None:
    altered = ('"urls"', '"leased"', '"hosts"')
    before = {
        line for line in dump(format_4) if line.startswith("INSERT") and not any(name in line for name in altered)
    }
    migrations.migrate(format_4)
    assert version(format_4) == FORMAT
    after = dump(format_4)
    assert before - after == set()
    with SqliteFrontier.open(format_4, read_only=True) as frontier:
        records = {record.url.path: record for record in frontier.records() if record.url.host == "example.org"}
        status = frontier.status()
    assert {path: record.state for path, record in records.items()} == {
        "/": "visited",
        "/gone": "gone",
        "/plain": "leased",
        "/no": "disallowed",
        "/retry": "ready",
        "/redirect": "visited",
        "/late": "ready",
    }
    assert {path for path, record in records.items() if record.seen is not None} == {"/", "/redirect"}
    assert {record.same_as for record in records.values()} == {None}
    assert (status.states["leased"], status.states["ready"], status.pages, status.next_ready_at) == (2, 2, 2, 30.0)


def test_what_was_visited_in_a_file_of_format_4_is_due_a_week_later(format_4: Path) -> None:
    week = 7 * 86400.0
    with SqliteFrontier.open(format_4, now=lambda: 60.0, revisit_until=20.0 + week) as frontier:
        assert frontier.pending() == [(HOME, RecordRef("1.warc.gz", 7))]
        leases = {lease.host: lease for lease in frontier.lease(9, 9, 100.0)}
        assert [item.url.path for item in leases["example.org"].urls] == ["/plain", "/retry", "/late"]
        assert [item.seen for item in leases["example.org"].urls] == [None] * 3
        done = [
            Outcome(item.url, "gone", 100.0, "404", token=lease.token)
            for lease in leases.values()
            for item in lease.urls
        ]
        frontier.settle(done, [Release(lease.host, 100.0, token=lease.token) for lease in leases.values()])
        assert frontier.next_ready_at() == 20.0 + week
        (lease,) = frontier.lease(9, 9, 1e9)
        assert [(item.url, item.seen) for item in lease.urls] == [
            (
                HOME,
                LastVisit(
                    20.0,
                    20.0 + week,
                    week,
                    20.0,
                    None,
                    None,
                    "sha1:00",
                    RecordRef("1.warc.gz", 7),
                    "Home",
                    indexed=True,
                ),
            )
        ]


def test_pages_that_a_browser_made_are_known_after_format_6(format_4: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "FORMAT", 6)
        migrations.migrate(format_4)
    with closing(sqlite3.connect(format_4)) as connection:
        events = '[[20.0,"read","rendered","in 9 ms",null]]'
        of_home = "seq IN (SELECT seq FROM seen JOIN urls USING (seq) WHERE path = '/')"
        assert connection.execute(f"UPDATE visits SET events = ? WHERE {of_home}", (events,)).rowcount == 1
        connection.commit()
    with SqliteFrontier.open(format_4) as frontier:
        records = {record.url: record.seen for record in frontier.records()}
        assert [url for url, seen in records.items() if seen is not None and seen.rendered] == [HOME]
        assert frontier.index_mark() is None
        assert frontier.expect_index(IndexMark("new", 3)) == 2
        assert frontier.index_mark() == IndexMark("new", 3)
        assert (HOME, None) in frontier.pending()


def test_a_step_that_fails_leaves_the_file_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = migrations.STEPS[2]

    def fail(connection: sqlite3.Connection) -> None:
        step(connection)
        raise LookupError

    before = shape(path)
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "STEPS", {2: fail})
        with pytest.raises(LookupError):
            SqliteFrontier.open(path)
    assert (version(path), shape(path)) == (2, before)
    with SqliteFrontier.open(path) as frontier:
        assert frontier.status().states["ready"] == 5


def test_every_format_since_the_first_that_can_be_read_has_a_step() -> None:
    assert sorted(migrations.STEPS) == list(range(min(migrations.STEPS), FORMAT))


def test_lessons_of_format_6_hold_for_a_week(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for step in range(2, 6):
            migrations.STEPS[step](connection)
        connection.execute("PRAGMA user_version = 6")
        connection.execute("INSERT INTO lessons VALUES ('example.org', 'canonical', '/c', 'a mistake', 900.0)")
        connection.execute("INSERT INTO lessons VALUES ('example.org', 'family', '/gone/*', 'a trap', 1000.0)")
    with SqliteFrontier.open(path) as frontier:
        assert frontier.load_lessons(["example.org"]) == [
            Lesson("example.org", "canonical", "/c", "a mistake", 900.0),
            Lesson("example.org", "family", "/gone/*", "a trap", 1000.0, 1000.0 + 7 * 86400.0, 1),
        ]


def test_pages_of_format_8_state_nothing_that_is_known(format_4: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(migrations, "FORMAT", 8)
        migrations.migrate(format_4)
    with SqliteFrontier.open(format_4) as frontier:
        seen = [record.seen for record in frontier.records() if record.seen is not None]
        assert {(one.wishes, one.whole_at) for one in seen} == {("", None)}
        assert len(seen) == 2


def test_hosts_of_format_7_get_a_first_lease_as_new_ones_do(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for step in range(2, 7):
            migrations.STEPS[step](connection)
        connection.execute("PRAGMA user_version = 7")
    with SqliteFrontier.open(path) as frontier:
        leases = frontier.lease(9, 9, 100.0, sized=True)
        assert max(len(lease.urls) for lease in leases) == FIRST_URLS
        frontier.settle([], [Release(leases[0].host, 0.0, next_urls=1, token=leases[0].token)])
        assert [len(lease.urls) for lease in frontier.lease(9, 9, 100.0, sized=True)] == [1]


def test_hosts_of_format_10_are_in_the_partitions_of_their_names(path: Path) -> None:
    with SqliteFrontier.open(path) as frontier:
        leases = frontier.lease(9, 9, 100.0)
    assert [lease.partition for lease in leases] == [partition_of(lease.host) for lease in leases] != []
