"""A machine starts again by the same command, or by another address of the same database, while others crawl."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest

from goodbot.cli import main
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity, beat
from goodbot.cluster.postgres.membership import PostgresMembership
from goodbot.cluster.postgres.overview import machines_of
from goodbot.cluster.postgres.shared_settings import starting
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError

TYPED: Final = "http://127.0.0.1:9/"
LISTED: Final = ("http://127.0.0.2:9/", "http://127.0.0.3:9/")
OPTIONS: Final = ("--scope", "all", "--allow-private", "--workers", "1", "--contact", "me@h.example")
Out = pytest.CaptureFixture[str]


def crawl(folder: Path, dsn: str, *more: object, capfd: Out) -> tuple[int, str]:
    """Exit status and messages. The seeds cannot be reached, which ends with status 3."""
    status = main(["crawl", "--into", str(folder), "--frontier", dsn, *map(str, more)])
    return status, capfd.readouterr().err


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    file = tmp_path / "seeds.txt"
    file.write_text("\n".join(LISTED))
    return file


@pytest.fixture
def begun(tmp_path: Path, postgres_dsn: str, seeds: Path, capfd: Out) -> Path:
    """The folder of the machine that began the crawl, which has ended."""
    folder = tmp_path / "crawl"
    assert crawl(folder, postgres_dsn, TYPED, "--seeds", seeds, *OPTIONS, capfd=capfd)[0] == 3
    return folder


@pytest.fixture
def other(begun: Path, postgres_dsn: str) -> Iterator[PostgresFrontier]:
    """Another machine takes part."""
    with PostgresFrontier.open(postgres_dsn, Identity("other", "the other one", 1)) as frontier:
        frontier.take_part()
        yield frontier


@pytest.mark.usefixtures("other")
def test_the_same_command_joins_again(begun: Path, postgres_dsn: str, seeds: Path, capfd: Out) -> None:
    status, err = crawl(begun, postgres_dsn, TYPED, "--seeds", seeds, *OPTIONS, capfd=capfd)
    assert (status, "1 other machine" in err) == (3, True), err


@pytest.mark.long
@pytest.mark.usefixtures("other")
def test_a_list_with_seeds_that_the_crawl_has_by_name(begun: Path, postgres_dsn: str, seeds: Path, capfd: Out) -> None:
    seeds.write_text(f"{TYPED}\n{LISTED[1]}")
    status, err = crawl(begun, postgres_dsn, "--seeds", seeds, capfd=capfd)
    assert (status, "1 other machine" in err) == (3, True), err


@pytest.mark.long
@pytest.mark.usefixtures("other")
def test_a_list_with_a_new_seed_is_refused(begun: Path, postgres_dsn: str, seeds: Path, capfd: Out) -> None:
    seeds.write_text("\n".join([*LISTED, "http://127.0.0.4:9/"]))
    before = sorted(begun.rglob("*"))
    status, err = crawl(begun, postgres_dsn, "--seeds", seeds, capfd=capfd)
    assert status == 2
    assert "the seed http://127.0.0.4:9/ would change the crawl on which 1 other machine works (the other one)" in err
    assert sorted(begun.rglob("*")) == before, "the list is not kept for the next start"


@pytest.mark.long
def test_a_list_with_a_new_seed_is_taken_when_no_other_machine_takes_part(
    begun: Path, postgres_dsn: str, seeds: Path, capfd: Out
) -> None:
    seeds.write_text("http://127.0.0.4:9/")
    assert crawl(begun, postgres_dsn, "--seeds", seeds, capfd=capfd)[0] == 3
    with psycopg.connect(postgres_dsn) as connection:
        assert ("http://127.0.0.4:9/",) in connection.execute("SELECT url FROM seeds").fetchall()


@pytest.mark.long
def test_a_machine_goes_on_with_another_role(begun: Path, postgres_dsn: str, capfd: Out) -> None:
    """As after the preparation in docs/database.md: the owner begins the crawl, then the crawler goes on."""
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("CREATE ROLE another LOGIN SUPERUSER")
        try:
            dsn = postgres_dsn.replace("//goodbot@", "//another@")
            assert dsn != postgres_dsn
            status, err = crawl(begun, dsn, capfd=capfd)
        finally:
            connection.execute("DROP ROLE another")
    assert (status, "127.0.0.1:9" in err) == (3, True), err
    assert CrawlFolder(begun).database == dsn


@pytest.mark.long
@pytest.mark.usefixtures("other")
def test_a_seed_of_a_list_may_be_typed_and_spelled_otherwise(begun: Path, postgres_dsn: str, capfd: Out) -> None:
    status, err = crawl(begun, postgres_dsn, LISTED[0], TYPED.replace("http", "HTTP"), capfd=capfd)
    assert (status, "1 other machine" in err) == (3, True), err


@pytest.mark.long
def test_machines_whose_heartbeat_has_expired_do_not_prevent_a_change(
    begun: Path, other: PostgresFrontier, postgres_dsn: str, capfd: Out
) -> None:
    """All machines were killed, so nobody has counted them as gone. One that only hung does not go on."""
    status, err = crawl(begun, postgres_dsn, "--depth", "3", capfd=capfd)
    assert (status, "--depth would change the crawl" in err) == (2, True), err
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("UPDATE heartbeats SET at = at - 60, expires_at = expires_at - 60")
        settings = other.settings()
        with starting(postgres_dsn, "one more", settings, []) as others:
            assert others == ()
        assert beat(connection, other.machine, other.clock, other.standing, "{}"), "the crawl has not changed"
        connection.execute("UPDATE heartbeats SET at = at - 60, expires_at = expires_at - 60")
        with starting(postgres_dsn, "one more", f"{settings}depth = 3\n", []) as others:
            assert others == ()
        assert not beat(connection, other.machine, other.clock, other.standing, "{}")
    (machine,) = (one for one in machines_of(postgres_dsn)[1] if one.name == "the other one")
    assert machine.state == "late"
    assert machine.since > machine.joined_at - 1000


def test_a_machine_that_was_cut_off_does_not_go_on_with_other_settings(begun: Path, postgres_dsn: str) -> None:
    with PostgresFrontier.open(postgres_dsn, Identity("other", "the other one", 1)) as frontier:
        membership = PostgresMembership(frontier, frontier.settings(), lambda: "{}")
        try:
            membership.rejoin()
            with psycopg.connect(postgres_dsn, autocommit=True) as connection:
                connection.execute("UPDATE crawl SET settings = 'depth = 3'")
            with pytest.raises(InputError, match="settings of the crawl were changed while this machine was cut off"):
                membership.rejoin()
        finally:
            membership.close()
