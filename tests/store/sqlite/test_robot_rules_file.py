"""Tests RobotRules on disk: restarts, kill -9, two processes at once, damage."""

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
from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.exclusion.access.access import Access
from goodbot.exclusion.access.robot_rules import RobotRules, Visits
from goodbot.store.sqlite.robot_rules_file import FORMAT, SqliteRulesStore

NOW = 1_800_000_000.0
SITE = "https://example.org/"
CLOSED = "User-agent: *\nDisallow: /"
LONGEST_S = 300.0
"""For one process of a test."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "robot" / "rules.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteRulesStore]:
    with SqliteRulesStore.open(path) as made:
        yield made


def rules_in(store: SqliteRulesStore) -> RobotRules:
    return RobotRules("me", lambda: NOW, store)


# ---- opening --------------------------------------------------------------------------------------------------------


def test_all_survives_a_restart(path: Path) -> None:
    with SqliteRulesStore.open(str(path)) as store:
        rules_in(store).parse(SITE, CLOSED, NOW + 5)
        rules_in(store).visit(SITE)
    with SqliteRulesStore.open(path) as store:
        rules = rules_in(store)
        assert (rules.allowed(SITE), rules.fresh_until(SITE)) == (False, NOW + 5)
        assert (rules.visits(SITE), rules.last_visit(SITE)) == (1, NOW)
    assert [found.name for found in path.parent.iterdir()] == ["rules.sqlite"]


def test_closing_twice_does_no_harm(store: SqliteRulesStore) -> None:
    store.close()
    store.close()


def test_a_folder_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder: name a file in it"):
        SqliteRulesStore.open(tmp_path)


def test_a_file_where_a_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match=r"cannot use .*rules\.sqlite: "):
        SqliteRulesStore.open(tmp_path / "file" / "rules.sqlite")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write anything")
@pytest.mark.parametrize(("file_mode", "folder_mode"), [(None, 0o500), (0o600, 0o500), (0o400, 0o700), (0o600, 0)])
def test_no_permission(path: Path, file_mode: int | None, folder_mode: int) -> None:
    path.parent.mkdir()
    if file_mode is not None:
        SqliteRulesStore.open(path).close()
        path.chmod(file_mode)
    path.parent.chmod(folder_mode)
    try:
        with pytest.raises(RunError, match=r"cannot use .*rules\.sqlite: "):
            SqliteRulesStore.open(path)
    finally:
        path.parent.chmod(0o700)


def test_an_unfinished_creation_is_begun_anew(path: Path) -> None:
    path.parent.mkdir()
    path.with_name("rules.sqlite.new").write_bytes(b"half")
    with SqliteRulesStore.open(path) as store:
        assert store.load_robots("https://example.org") is None


# ---- damage ---------------------------------------------------------------------------------------------------------


def _scribble(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(random.Random(7).randbytes(path.stat().st_size - 4096))


def _other_application(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE robots (origin)")


def _without_tables(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TABLE robots; DROP TABLE visits;")


def _not_utf8(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE robots SET result = CAST(x'2fff' AS TEXT)")


DAMAGES: list[tuple[str, Callable[[Path], object]]] = [
    ("zero bytes", lambda path: path.write_bytes(b"")),
    ("garbage", lambda path: path.write_bytes(random.Random(5).randbytes(20_000))),
    ("text", lambda path: path.write_text("this is no database\n" * 999)),
    ("truncated", lambda path: os.truncate(path, path.stat().st_size // 2)),
    ("head only", lambda path: path.write_bytes(path.read_bytes()[:100])),
    ("scribbled over", _scribble),
    ("a database of something else", _other_application),
    ("the tables are gone", _without_tables),
    ("text that is not UTF-8", _not_utf8),
]


@pytest.mark.parametrize("damage", [row[1] for row in DAMAGES], ids=[row[0] for row in DAMAGES])
def test_a_damaged_file_is_one_clear_line(path: Path, damage: Callable[[Path], object]) -> None:
    with SqliteRulesStore.open(path) as store:
        for number in range(200):
            rules_in(store).parse(f"https://{number}.example/", CLOSED)
    damage(path)
    with pytest.raises(DamagedError, match=r"rules\.sqlite is damaged \(.*\): restore it, or move it") as caught:
        _use_all(path)
    assert "\n" not in str(caught.value)
    path.unlink()
    _use_all(path)


def _use_all(path: Path) -> None:
    with SqliteRulesStore.open(path) as store:
        rules = rules_in(store)
        for number in range(200):
            rules.allowed(f"https://{number}.example/")
            rules.visit(f"https://{number}.example/")


def test_a_newer_file_asks_for_an_upgrade(path: Path) -> None:
    SqliteRulesStore.open(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {FORMAT + 1}")
    with pytest.raises(RunError, match=f"newer goodbot .format {FORMAT + 1}; this one reads {FORMAT}"):
        SqliteRulesStore.open(path)


def test_a_full_disk_is_one_clear_line_and_changes_nothing(store: SqliteRulesStore) -> None:
    rules = rules_in(store)
    rules.parse(SITE, CLOSED)
    (used,) = store._db.execute("PRAGMA page_count").fetchone()
    store._db.execute(f"PRAGMA max_page_count = {used}")
    with pytest.raises(RunError, match=r"cannot use .*rules\.sqlite: .*full; what was done before is kept"):
        rules.parse(SITE, "#" * 100_000)
    assert rules.allowed(SITE) is False
    store._db.execute("PRAGMA max_page_count = 1000000")
    rules.parse(SITE, "#" * 100_000)
    assert rules.allowed(SITE) is True


def test_the_robots_table_has_the_fields_of_an_access(store: SqliteRulesStore) -> None:
    columns = [row[1] for row in store._db.execute("PRAGMA table_info (robots)")]
    assert columns == ["origin", *(item.name for item in fields(Access))]


# ---- two processes --------------------------------------------------------------------------------------------------

_VISITS = """
import sys
from goodbot.exclusion.access.robot_rules import RobotRules
from goodbot.store.sqlite.robot_rules_file import SqliteRulesStore

print("ready", flush=True)
sys.stdin.readline()
with SqliteRulesStore.open(sys.argv[1]) as store:
    rules = RobotRules("me", store=store)
    for number in range(int(sys.argv[2])):
        rules.visit("https://example.org/", float(number))
        print(number, flush=True)
"""


def _visitor(path: Path, visits: int) -> subprocess.Popen[str]:
    """A process that is ready to make visits, and makes them at a line on its standard input."""
    arguments = [sys.executable, "-c", _VISITS, str(path), str(visits)]
    process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.parametrize("round_", range(3))
def test_two_processes_lose_no_visit(path: Path, round_: int) -> None:
    """Neither do they when both make the file."""
    processes = [_visitor(path, 200) for _ in range(2)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=LONGEST_S)
    assert [process.returncode for process in processes] == [0, 0]
    with SqliteRulesStore.open(path) as store:
        assert store.load_visits("me", "example.org:443") == Visits(400, 199.0)


@pytest.mark.parametrize("round_", range(3))
def test_kill_9_loses_no_visit(path: Path, round_: int) -> None:
    process = _visitor(path, 10**9)
    assert process.stdin is not None
    assert process.stdout is not None
    with process, process.stdin, process.stdout:
        process.stdin.write("go\n")
        process.stdin.flush()
        process.stdout.readline()
        time.sleep(random.Random(round_).uniform(0.01, 0.15))
        process.send_signal(signal.SIGKILL)
        printed = process.stdout.read().splitlines(keepends=True)
    acknowledged = 1 + sum(line.endswith("\n") for line in printed)
    with SqliteRulesStore.open(path) as store:
        visits = rules_in(store).visits(SITE)
        assert acknowledged <= visits <= acknowledged + 1
        rules_in(store).visit(SITE)
        assert rules_in(store).visits(SITE) == visits + 1


_PARSES = """
import sys
from goodbot.exclusion.access.robot_rules import RobotRules
from goodbot.store.sqlite.robot_rules_file import SqliteRulesStore

with SqliteRulesStore.open(sys.argv[1]) as store:
    rules = RobotRules("other/1.0", lambda: 1_800_000_000.0, store)
    print(rules.allowed("https://example.org/"))
    rules.parse("https://example.org/robots.txt", sys.argv[2])
    rules.visit("https://example.org/")
"""


def test_each_process_answers_by_what_the_other_wrote(path: Path, store: SqliteRulesStore) -> None:
    rules = rules_in(store)
    for content, before, after in ((CLOSED, None, False), ("", False, True), (CLOSED, True, False)):
        assert rules.allowed(SITE) is before
        ended = subprocess.run(
            [sys.executable, "-c", _PARSES, str(path), content],
            capture_output=True,
            text=True,
            check=True,
            timeout=LONGEST_S,
        )
        assert ended.stdout == f"{before}\n"
        assert rules.allowed(SITE) is after
    assert (rules.visits(SITE), RobotRules("Other", store=store).visits(SITE)) == (0, 3)
