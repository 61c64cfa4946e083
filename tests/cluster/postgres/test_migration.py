"""Tables of another format: older ones are migrated by one of the machines that start, newer ones are refused."""

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from cluster.quotes import quotes_in
from goodbot.cli import main
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.cluster.postgres.schema import FORMAT, migrate, prepare
from goodbot.errors import RunError
from postgres_server import PostgresServer

OLD: Final = FORMAT - 1
STEPS: Final[Mapping[int, str]] = {
    OLD: "ALTER TABLE crawl ADD COLUMN note text DEFAULT 'kept'; SELECT pg_sleep(0.5); INSERT INTO steps VALUES (1)"
}
"""A step that can be made once only, and takes a while."""


@pytest.fixture
def dsn(postgres: PostgresServer) -> Iterator[str]:
    """A database with tables of the format before this one, with a list of the steps that were made."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS older")
        connection.execute("CREATE DATABASE older")
        dsn = postgres.dsn("older")
        with psycopg.connect(dsn, autocommit=True) as older:
            prepare(older, parts=1)
            older.execute("CREATE TABLE steps (step integer)")
            older.execute("UPDATE crawl SET format = %s, settings = 'x = 1'", (OLD,))
        yield dsn
        connection.execute("DROP DATABASE older WITH (FORCE)")


def all_of(dsn: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(query).fetchall()


def test_one_of_the_machines_that_start_migrates_while_the_others_wait(dsn: str) -> None:
    def start(number: int) -> int:
        with psycopg.connect(dsn, autocommit=True) as connection:
            if number % 2:
                prepare(connection, steps=STEPS)
            else:
                assert migrate(connection, STEPS)
        with PostgresFrontier.open(dsn, Identity(f"folder {number}", "machine", 1), parts=1) as frontier:
            return frontier.machine

    with ThreadPoolExecutor(6) as pool:
        machines = set(pool.map(start, range(6)))
    assert len(machines) == 6
    assert all_of(dsn, "SELECT step FROM steps") == [(1,)]
    assert all_of(dsn, "SELECT format, settings, note FROM crawl") == [(FORMAT, "x = 1", "kept")]


def test_a_step_that_fails_changes_nothing(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.DivisionByZero):
            migrate(connection, {OLD: f"{STEPS[OLD]}; SELECT 1 / 0"})
        assert connection.execute("SELECT * FROM steps").fetchall() == []
        assert connection.execute("SELECT format FROM crawl").fetchall() == [(OLD,)]
        assert migrate(connection, STEPS)
    assert all_of(dsn, "SELECT format, note FROM crawl") == [(FORMAT, "kept")]


def test_machines_of_the_older_goodbot_have_to_stop_first(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE crawl SET format = %s", (FORMAT,))
        with PostgresFrontier.open(dsn, Identity("folder", "worker-1", 1), parts=1):
            connection.execute("UPDATE crawl SET format = %s", (OLD,))
            with pytest.raises(RunError, match=r"\(worker-1\)") as caught:
                migrate(connection, STEPS)
            quote = (
                "the database is of an older goodbot (format 0; this one writes 1), and machines with that one still "
                "crawl (…): stop them, then start again"
            )
            assert quotes_in(str(caught.value)) == [quote]
            assert connection.execute("SELECT * FROM steps").fetchall() == []
        assert migrate(connection, STEPS)
        assert connection.execute("SELECT * FROM steps").fetchall() == [(1,)]


@pytest.mark.parametrize("command", ["crawl", "cluster status", "cluster workers", "status"])
@pytest.mark.parametrize(
    ("version", "message"),
    [
        (FORMAT + 1, f"was written by a newer goodbot (format {FORMAT + 1}; this one reads {FORMAT}): upgrade goodbot"),
        (OLD, f"is of an older goodbot (format {OLD}; this one reads {FORMAT}): run goodbot crawl on it, which"),
    ],
)
def test_what_the_commands_say(
    command: str, version: int, message: str, dsn: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("UPDATE crawl SET format = %s", (version,))
    (tmp_path / "goodbot.toml").write_text(f'frontier = "{dsn}"\n')
    seed = ["http://127.0.0.1:9/", "--into"] if command == "crawl" else ["--in"]
    assert main([*command.split(), *seed, str(tmp_path)]) == 3
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    if command == "crawl" and version == OLD == 0:  # no step leads from there to the first format
        message = "the database has format 0, which this goodbot cannot bring up to date"
    assert message in err
    newer = "the database was written by a newer goodbot (format 2; this one reads 1): upgrade goodbot"
    older = (
        "the database is of an older goodbot (format 0; this one reads 1): run goodbot crawl on it, which brings it "
        "up to date"
    )
    if command != "crawl" or version > FORMAT:
        assert quotes_in(err) == [newer if version > FORMAT else older]
