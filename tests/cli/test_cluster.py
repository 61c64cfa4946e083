"""`goodbot cluster`: what it prints, its JSON, where it finds the database, and what it says if that fails."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from cli.test_hostile import EVIL_TEXT, raw
from goodbot.cli import main
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.config import Settings
from goodbot.live import LiveStatus
from goodbot.settings_file import save_settings
from goodbot.store.control.live_file import format_live
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release
from postgres_server import PostgresServer

Out = pytest.CaptureFixture[str]
FORMS = [("status",), ("workers",)]

STATUS = {
    "finished": bool,
    "states": dict.fromkeys(("ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone"), int),
    "pages": int,
    "bytes": int,
    "hosts": int,
    "next_ready_at": float,
    "queue": {"ready": int, "waiting": int, "leased": int},
    "machines": {"alive": int, "late": int, "left": int, "gone": int},
    "oldest_heartbeat_s": float,
    "partitions": {"owned": int, "free": int},
    "ending_leases": {"hosts": int, "urls": int},
    "pages_per_s": float,
    "database": {
        "address": str,
        "size_bytes": int,
        "tables_bytes": dict,
        "format": int,
        "begun_at": float,
        "at": float,
    },
}
MACHINE = {
    "machine": int,
    "name": str,
    "folder": str,
    "pid": int,
    "state": str,
    "since": float,
    "joined_at": float,
    "ended_at": float | None,
    "heartbeat_s": float,
    "partitions": int,
    "leased": {"hosts": int, "urls": int},
    "pages": int,
    "bytes": int,
    "pages_per_s": float | None,
}


def check_shape(value: Any, shape: Any, name: str = "") -> None:
    """Checks names, their order, and kinds of values."""
    if not isinstance(shape, dict):
        assert isinstance(value, shape), name
        return
    assert list(value) == list(shape)
    for key, part in shape.items():
        check_shape(value[key], part, key)


@pytest.fixture
def crawl(postgres_dsn: str) -> Iterator[str]:
    """A crawl of two machines, of which one has ended: 1 page visited, 1 leased, 1 ready."""
    other = PostgresFrontier.open(postgres_dsn, Identity("folder", f"ended {EVIL_TEXT}", 18), parts=2)
    other.take_part()
    other.close()
    with PostgresFrontier.open(postgres_dsn, Identity("folder", "worker-1", 17), parts=2) as frontier:
        frontier.take_part()
        frontier.add(Discovery(Url(f"http://h{host}.example/"), 0) for host in range(3))
        now = frontier.clock.now()
        (first,) = frontier.lease(1, 1, now)
        outcome = Outcome(first.urls[0].url, "visited", now, "said so", size_bytes=1500, token=first.token)
        frontier.settle([outcome], [Release(first.host, now, token=first.token)])
        frontier.lease(1, 1, now)
        live = format_live(LiveStatus(17, now, now, "running", 1, 1500, 2.5, 2.5, 2, 1, 1, 1))
        with psycopg.connect(postgres_dsn, autocommit=True) as connection:
            connection.execute("UPDATE heartbeats SET live = %s WHERE machine = %s", (live, frontier.machine))
        yield postgres_dsn


def test_status(crawl: str, capfd: Out) -> None:
    assert main(["cluster", "status", "--frontier", crawl]) == 0
    out, err = capfd.readouterr()
    lines = out.splitlines()
    assert (lines[0], err) == ("not finished: 1 page, 1.5 kB, 3 hosts", "")
    for line in (
        "           1  leased        being fetched",
        "hosts in the queue: 1 ready, 0 waiting until they are due, 1 leased",
        "partitions: 1,024 owned, 0 free",
        "2.5 pages/s in the last ten seconds",
    ):
        assert line in lines
    assert "machines: 1 alive, 1 left; oldest heartbeat " in out
    assert "tables: " in out
    assert "late or gone" not in out
    assert "format 1, in user=goodbot host=127.0.0.1 " in lines[-1]


def test_leases_that_end_are_named(crawl: str, capfd: Out) -> None:
    with psycopg.connect(crawl, autocommit=True) as connection:
        connection.execute(
            """UPDATE heartbeats SET at = at - 100, expires_at = expires_at - 100
              WHERE machine IN (SELECT id FROM machines WHERE ended_at IS NULL)"""
        )
    assert main(["cluster", "status", "--frontier", crawl]) == 0
    out = capfd.readouterr().out
    assert "machines: 1 late, 1 left; oldest heartbeat 10" in out
    assert "leased by machines that are late or gone: 1 host with 1 URL; " in out
    assert "pages/s" not in out


@pytest.mark.parametrize("columns", ["100", "60"])
def test_workers(columns: str, crawl: str, capfd: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert main(["cluster", "workers", "--frontier", crawl]) == 0
    out = capfd.readouterr().out
    assert raw(out) == []
    assert out.index("worker-1") < out.index("ended")
    if columns == "100":
        heading, first, *_ = out.splitlines()
        words = heading.split()
        assert words[0] == "machine"
        assert words[-1] == "pages/s"
        assert first.split()[:3] == ["worker-1", "17", "alive"]
        assert first.split()[-5:] == ["1,024", "1", "1", "1", "2.5"]
        for name in words[4:]:  # numbers end where their heading ends
            assert first[: heading.index(name) + len(name)].rstrip()[-1] != " "
    else:
        assert "worker-1, process 17: alive for " in out
        assert "leases 1 host and 1 URL, 1 page, 2.5 pages/s" in " ".join(out.split())


def test_colours_are_for_terminals(crawl: str, capfd: Out) -> None:
    assert main(["cluster", "workers", "--frontier", crawl]) == 0
    assert "\x1b" not in capfd.readouterr().out
    assert main(["cluster", "workers", "--frontier", crawl, "--color", "always"]) == 0
    assert "\x1b[32malive" in capfd.readouterr().out


def test_the_shapes_of_json(crawl: str, capfd: Out) -> None:
    assert main(["cluster", "status", "--frontier", crawl, "--json"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    check_shape(json.loads(line), STATUS)
    assert main(["cluster", "workers", "--frontier", crawl, "--json"]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    found = json.loads(line)
    check_shape(found, {"at": float, "machines": list})
    assert [machine["state"] for machine in found["machines"]] == ["alive", "left"]
    for machine in found["machines"]:
        check_shape(machine, MACHINE)


@pytest.mark.parametrize("command", FORMS)
def test_a_crawl_that_nobody_has_joined(command: tuple[str, ...], postgres_dsn: str, capfd: Out) -> None:
    assert main(["cluster", *command, "--frontier", postgres_dsn]) == 0
    out = capfd.readouterr().out
    assert "none has taken part" in out or out == "no machine has taken part\n"
    assert main(["cluster", *command, "--frontier", postgres_dsn, "--json"]) == 0
    found = json.loads(capfd.readouterr().out)
    assert found.get("machines") in ([], {"alive": 0, "late": 0, "left": 0, "gone": 0})


# ---- where the database is named ------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", FORMS)
def test_the_folder_or_the_settings_name_the_database(
    command: tuple[str, ...], crawl: str, tmp_path: Path, capfd: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "crawl"
    folder.mkdir()
    save_settings(folder / "goodbot.toml", Settings(frontier=crawl))
    assert main(["cluster", *command, "--in", str(folder)]) == 0
    assert main(["cluster", *command]) == 2
    assert "--frontier postgresql://HOST/DATABASE" in capfd.readouterr().err
    monkeypatch.setenv("GOODBOT_FRONTIER", crawl)
    assert main(["cluster", *command]) == 0
    assert main(["cluster", *command, "--frontier", crawl, "--in", str(folder)]) == 2
    assert "give one of them" in capfd.readouterr().err


@pytest.mark.long
@pytest.mark.parametrize("command", FORMS)
def test_the_crawl_of_one_machine_is_in_no_database(command: tuple[str, ...], tmp_path: Path, capfd: Out) -> None:
    arguments = ["crawl", "http://127.0.0.1:9/", "--into", str(tmp_path), "--allow-private", "-q"]
    assert main(arguments) == 3
    capfd.readouterr()
    assert main(["cluster", *command, "--in", str(tmp_path)]) == 2
    assert f"is in no database: see goodbot status --in {tmp_path}" in capfd.readouterr().err


# ---- what cannot be used --------------------------------------------------------------------------------------------


def refused(arguments: list[str], capfd: Out) -> tuple[int, str]:
    """Exit status and message, which is one line and has no password."""
    status = main(["cluster", *arguments])
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "secret" not in err
    return status, err


BAD = [
    ("", 2, "must be the address of a PostgreSQL database"),
    ("mysql://me:secret@h/c", 2, "must be the address of a PostgreSQL database"),
    ("postgresql://me:se@cret@127.0.0.1:1/c", 2, "write @ as %40"),
    ("postgresql://me:secret@127.0.0.1:1/c?pasword=secret", 2, "invalid URI query parameter"),
    ("postgresql://me:secret@127.0.0.1:1/c", 3, "does not answer"),
    ("postgresql://me:secret@127.0.0.1:1/c\udc80", 2, "percent-encode it"),
]


@pytest.mark.parametrize("command", FORMS)
@pytest.mark.parametrize(("address", "status", "message"), BAD)
def test_an_address_that_cannot_be_used(
    command: tuple[str, ...], address: str, status: int, message: str, capfd: Out
) -> None:
    found, err = refused([*command, "--frontier", address], capfd)
    assert (found, message in err) == (status, True), err


@pytest.mark.parametrize("command", FORMS)
def test_a_database_that_cannot_be_used(command: tuple[str, ...], postgres: PostgresServer, capfd: Out) -> None:
    def of(dsn: str) -> tuple[int, str]:
        return refused([*command, "--frontier", dsn], capfd)

    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP SCHEMA IF EXISTS other CASCADE; CREATE SCHEMA other")
        other = postgres.dsn(options="-csearch_path%3Dother")
        status, err = of(other)
        assert (status, "there is no crawl in" in err) == (2, True)
        connection.execute("CREATE TABLE other.crawl (format integer); INSERT INTO other.crawl VALUES (99)")
        status, err = of(other)
        assert (status, "upgrade goodbot" in err) == (3, True)
        connection.execute("UPDATE other.crawl SET format = 0")
        status, err = of(other)
        assert (status, "older goodbot" in err) == (3, True)
        connection.execute("DROP SCHEMA other CASCADE")
    status, err = of(postgres.dsn(options="-csearch_path%3Dother"))
    assert (status, "no schema for the crawl" in err) == (2, True)
    status, err = of(postgres.dsn("none"))
    assert (status, 'database "none" does not exist' in err) == (2, True)
    status, err = of(postgres.dsn().replace("goodbot@", "stranger:secret@"))
    assert (status, 'role "stranger" does not exist' in err) == (2, True)


@pytest.mark.parametrize("command", FORMS)
def test_psycopg_is_missing(
    command: tuple[str, ...], postgres_dsn: str, capfd: Out, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("goodbot.cluster.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    status, err = refused([*command, "--frontier", postgres_dsn], capfd)
    assert (status, "needs psycopg: pip install '.[postgres]'" in err) == (2, True)
