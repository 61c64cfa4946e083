"""docs/database.md against the code and a real server: every table and column, and that the rights of each role suffice
for what it does."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest

from cluster.quotes import PAGE, QUOTES
from goodbot.cli import main
from goodbot.clock import SharedClock
from goodbot.cluster.postgres.connection import connect
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity, beat
from goodbot.cluster.postgres.schema import FORMAT, PARTS
from goodbot.cluster.postgres.shared_settings import listed_seeds, load_shared, starting
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.partitions import PARTITIONS
from goodbot.robot.fetch.standing import Standing
from goodbot.search_values import IndexMark
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, Lease, Outcome, RecordRef, Release
from postgres_server import PostgresServer
from programs import blocks_of

ROLES: Final = ("goodbot_owner", "goodbot_crawler", "goodbot_reader")
OWNER, CRAWLER, READER = ROLES
PASSWORD: Final = "secret/@ %"
SEED: Final = Url("http://h.example/")
COPY: Final = Url("http://copy.example/")


def documented() -> dict[str, set[str]]:
    """Columns by table."""
    rows = re.findall(r"^\| `(\w+)` \| [^|`]* \| (`[^|]*) \|$", PAGE.partition("## Tables")[2], re.MULTILINE)
    return {table: set(re.findall(r"`(\w+)`", columns)) for table, columns in rows}


def test_every_table_and_column_is_documented(postgres_tables: str) -> None:
    with psycopg.connect(postgres_tables) as connection:
        found = connection.execute(
            """SELECT relname, array_agg(attname::text) FROM pg_class JOIN pg_attribute ON attrelid = pg_class.oid
              WHERE relkind IN ('r', 'p') AND NOT relispartition AND attnum > 0 AND NOT attisdropped
              AND relnamespace = current_schema()::regnamespace GROUP BY relname"""
        ).fetchall()
    assert documented() == {table: set(columns) for table, columns in found}


def test_the_numbers_on_the_page_are_those_of_the_code() -> None:
    assert f"**format {FORMAT}**" in PAGE
    assert f"each of {PARTITIONS:,} partitions" in PAGE
    assert len(re.findall(rf"in {PARTS} parts by", PAGE)) == 3


def test_every_message_on_the_page_is_tested() -> None:
    tests = Path(__file__).parents[2]
    files = [*(tests / "cluster").rglob("test_*.py"), tests / "cli" / "test_bad_databases.py"]
    text = "".join(re.sub(r'"\s*"', "", file.read_text(encoding="utf-8")) for file in files)
    assert len(QUOTES) > 10
    assert [quote for quote in QUOTES if quote not in text] == []


# ---- rights ---------------------------------------------------------------------------------------------------------


class Database:
    """A database with the roles of the page. Connections on TCP need the password."""

    def __init__(self, server: PostgresServer) -> None:
        self._server = server
        self.in_any, self.in_crawl, self.of_owner, self.of_vacuum = blocks_of(PAGE, "sql")

    def run(self, text: str, database: str = "crawl", role: str = "goodbot") -> None:
        """Runs statements as a superuser, or as a role."""
        with psycopg.connect(self._server.dsn(database), autocommit=True) as connection:
            connection.execute(f"SET ROLE {role}")
            if role != "goodbot":
                connection.execute("SET search_path = goodbot")
            for statement in text.split(";\n"):
                connection.execute(statement)

    def dsn(self, role: str, password: str = "") -> str:
        given = f"{role}:{password}" if password else role
        return self._server.dsn("crawl").replace("//goodbot@", f"//{given}@")


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> Iterator[Database]:
    """Made by the statements of the page; the owner has made the tables."""
    made = Database(postgres)
    made.run(made.in_any, "postgres")
    made.run(made.in_crawl)
    passwords = ";\n".join(f"ALTER ROLE {role} PASSWORD '{PASSWORD}'" for role in ROLES)
    made.run(passwords)
    with psycopg.connect(postgres.dsn()) as connection:
        (hba,) = connection.execute("SHOW hba_file").fetchone() or ("",)
    rules = Path(hba).read_text()
    Path(hba).write_text("".join(f"host all {role} 127.0.0.1/32 scram-sha-256\n" for role in ROLES) + rules)
    made.run("SELECT pg_reload_conf()")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PGPASSWORD", PASSWORD)
        PostgresFrontier.open(made.dsn(OWNER), Identity("owner", "owner", 1), parts=2).close()
        made.run(made.of_owner, role=OWNER)
        made.run(made.of_vacuum, role=OWNER)
        yield made
    Path(hba).write_text(rules)
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP DATABASE crawl WITH (FORCE)")
        for role in ROLES:
            connection.execute(f"DROP ROLE {role}")


def visited(lease: Lease, frontier: PostgresFrontier, number: int) -> Iterator[Outcome]:
    """Outcomes that write every table: pages to index, a copy, a page that leaves the index."""
    now, place = frontier.clock.now(), RecordRef("a.warc.gz", number)
    for leased in lease.urls:
        seen = LastVisit(now, now - 1, 1.0, now, etag='"e"', record=place, indexed=True, text="t")
        yield Outcome(
            leased.url,
            "visited",
            now,
            "said so",
            200,
            100,
            record=place,
            to_index=leased.url != COPY,
            from_index=number > 0,
            seen=seen,
            same_as=SEED if leased.url == COPY else None,
            alike=True,
            links=(Discovery(Url(f"http://h.example/{number}"), 1, SEED, modified_at=now, interval_s=9.0),),
            token=lease.token,
        )


def crawl_step(dsn: str) -> None:
    """Everything that a machine does with the database."""
    with PostgresFrontier.open(
        dsn, Identity("folder", "crawler", 1), host_pages=100, host_lists=100, revisit_until=9e9
    ) as frontier:
        with starting(dsn, "folder", "depth = 3", [SEED]) as others:
            assert others == ()
            frontier.take_part()
        with connect(dsn, "settings") as connection:
            assert beat(connection, frontier.machine, SharedClock(), Standing(0.0), "")
        shared = load_shared(dsn, "folder")
        assert (shared is not None, [*listed_seeds(dsn)]) == (True, [SEED])
        frontier.add([Discovery(SEED, 0), Discovery(COPY, 0), Discovery(Url("http://out.example/"), 0, refused="far")])
        for number in range(3):
            leases = frontier.lease(10, 10, frontier.clock.now())
            assert leases
            outcomes = [outcome for lease in leases for outcome in visited(lease, frontier, number)]
            assert frontier.settle(outcomes, [Release(lease.host, 0.0, token=lease.token) for lease in leases]) == []
        frontier.indexed([SEED], IndexMark("index", 1))
        frontier.passed_over([SEED])
        frontier.lose_records([SEED])
        frontier.requeue([COPY])
        frontier.expect_index(IndexMark("index", 2))
        frontier.index_skipped()
        assert frontier.reconsider(lambda url, depth: None) == 1
        for body in (b"", b"User-agent: *\n"):
            frontier.save_robots("http://h.example", Access("successful", "rfc9309", 1.0, 2.0, 200, body=body))
        frontier.save_courtesies([Courtesy("h.example:80", 1)])
        lesson = Lesson("h.example:80", "parameter", "sid", "changes nothing", 1.0)
        frontier.save_lessons([lesson])
        frontier.drop_lessons([lesson])
        assert frontier.status().states["ready"] > 0
        assert frontier.record(SEED) is not None
        assert frontier.bar_host(SEED.host_key)
        assert frontier.remove_host(SEED.host_key) > 0
        assert frontier.unbar_host(SEED.host_key)
        frontier.lease(10, 10, frontier.clock.now())
        frontier.balance()
        frontier._transactions.close()  # it dies: its leases are ended by the next one
        with PostgresFrontier.open(dsn, Identity("folder", "crawler", 2)) as following:
            following.take_part()


def test_the_rights_of_the_crawler_suffice_to_crawl(database: Database) -> None:
    crawl_step(database.dsn(CRAWLER))


@pytest.mark.long
def test_the_crawler_has_no_right_that_it_does_not_need(database: Database) -> None:
    with psycopg.connect(database.dsn("goodbot"), autocommit=True) as connection:
        connection.execute("SET search_path = goodbot")
        rights = connection.execute(_RIGHTS, (CRAWLER,)).fetchall()
        unneeded, refusals = [], []
        for right, table in rights:
            for statement in _ANEW:
                connection.execute(statement)
            connection.execute(f"REVOKE {right} ON {table} FROM {CRAWLER}")
            try:
                crawl_step(database.dsn(CRAWLER))
                unneeded.append((right, table))
            except (InputError, psycopg.errors.InsufficientPrivilege) as error:
                refusals.append(str(error))
            connection.execute(f"GRANT {right} ON {table} TO {CRAWLER}")
    assert len(rights) > 60
    assert unneeded == []
    assert [text for text in refusals if "permission denied" not in text] == []


_RIGHTS: Final = """SELECT privilege_type, table_name FROM information_schema.role_table_grants
  WHERE grantee = %s AND table_schema = 'goodbot' AND table_name !~ '_[0-9]+$'"""
_ANEW: Final = (
    "UPDATE crawl SET settings = '', revisit_until = NULL",
    "UPDATE partitions SET machine = NULL",
    *(f"DELETE FROM {table}" for table in sorted(documented()) if table not in ("crawl", "machines", "partitions")),
    "DELETE FROM machines",
)


def test_the_crawler_cannot_change_tables(database: Database) -> None:
    with psycopg.connect(database.dsn(CRAWLER), autocommit=True) as connection:
        for statement in ("CREATE TABLE x (y integer)", "ALTER TABLE urls ADD x integer", "TRUNCATE urls"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(statement)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("command", ["status", "workers"])
def test_every_role_may_look(role: str, command: str, database: Database, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", command, "--frontier", database.dsn(role)]) == 0
    assert "secret" not in capfd.readouterr().out


def test_the_reader_only_reads(database: Database) -> None:
    with pytest.raises(InputError, match="permission denied"):
        PostgresFrontier.open(database.dsn(READER), Identity("reader", "reader", 1))
    with psycopg.connect(database.dsn(READER), autocommit=True) as connection:
        for table in documented():
            for statement in (f"DELETE FROM {table}", f"INSERT INTO {table} DEFAULT VALUES"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute(statement)


def test_passwords_come_from_the_usual_places_and_are_never_shown(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def look(dsn: str) -> tuple[int, str]:
        status = main(["cluster", "status", "--frontier", dsn])
        out, err = capfd.readouterr()
        assert "secret" not in out + err
        assert len(err.splitlines()) <= 1
        return status, err

    reader = database.dsn(READER)
    assert look(reader)[0] == 0, "PGPASSWORD"
    monkeypatch.setenv("PGPASSWORD", "secret but wrong")
    status, err = look(reader)
    assert (status, "password authentication failed" in err) == (2, True)
    monkeypatch.delenv("PGPASSWORD")
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    status, err = look(reader)
    assert (status, "no password supplied" in err) == (2, True)
    (tmp_path / "pgpass").write_text(f"127.0.0.1:*:crawl:{READER}:{PASSWORD}\n")
    (tmp_path / "pgpass").chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "pgpass"))
    assert look(reader)[0] == 0
    port = reader.rpartition(":")[2].partition("/")[0]
    (tmp_path / "services").write_text(f"[crawl]\nhost=127.0.0.1\nport={port}\ndbname=crawl\nuser={READER}\n")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "services"))
    assert look("postgresql:///?service=crawl")[0] == 0
    monkeypatch.delenv("PGPASSFILE")
    assert look(database.dsn(READER, "secret%2F%40%20%25"))[0] == 0
    status, err = look(f"{reader}&sslmode=verify-full")
    assert status == 2, err
