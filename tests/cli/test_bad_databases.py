"""Commands whose database cannot be used: one line that says why, exit status 2 or 3, and no password."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from cluster.quotes import quotes_in
from goodbot.cli import main
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.crawl_preparation import new_settings
from goodbot.errors import StoreAwayError
from postgres_server import PostgresServer

Out = pytest.CaptureFixture[str]
COMMANDS = ("crawl", "cluster status", "cluster workers", "status", "serve")
READING = COMMANDS[1:4]


def run(command: str, dsn: str, folder: Path, capfd: Out) -> tuple[int, str]:
    """Exit status and message of a command for a crawl in this database."""
    if command in ("status", "serve"):
        (folder / "goodbot.toml").write_text(f'frontier = "{dsn}"\n')
    arguments = {
        "crawl": ["http://127.0.0.1:9/", "--into", str(folder / "crawl"), "--allow-private", "--frontier", dsn],
        "status": ["--in", str(folder)],
        "serve": ["--in", str(folder), "--port", "0"],
    }
    status = main([*command.split(), *arguments.get(command, ["--frontier", dsn])])
    out, err = capfd.readouterr()
    assert (out, len(err.splitlines())) == ("", 1), err
    assert err.startswith("goodbot: ")
    assert "secret" not in err
    return status, err


@contextmanager
def answering(answer: bytes) -> Iterator[int]:
    """A port at which another service gives this answer to everything."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(1000)
                connection.sendall(answer)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("mysql://me:secret@h/c", "must be the address of a PostgreSQL database: postgresql://HOST/DATABASE"),
        ("postgresql:/me:secret@h/c", "must be the address of a PostgreSQL database: postgresql://HOST/DATABASE"),
        ("postgresql://me:se@cret@127.0.0.1:1/c", "write @ as %40"),
        ("postgresql://me:%zzsecret@127.0.0.1:1/c", "not an address of a PostgreSQL database: invalid percent-encoded"),
        ("postgresql://me:secret@127.0.0.1:1/c?pasword=secret", 'invalid URI query parameter: "pasword"'),
        ("postgresql://me:top secret@127.0.0.1/c", "it has spaces: write them as %20"),
        ("postgresql://me@127.0.0.1/c?password=secret x", "it has spaces: write them as %20"),
        ("postgresql://me@127.0.0.1/c?password secret", "not an address of a PostgreSQL database"),
        ("postgresql://me:secret@127.0.0.1:99x/c", 'invalid integer value "99x" for connection option "port"'),
        ("postgresql://me:secret@127.0.0.1:99999/c", 'invalid port number: "99999"'),
        ("postgresql:///?service=none_of_this_name", 'definition of service "none_of_this_name" not found'),
    ],
)
def test_an_address_that_cannot_be_used(command: str, address: str, message: str, tmp_path: Path, capfd: Out) -> None:
    status, err = run(command, address, tmp_path, capfd)
    assert (status, message in err) == (2, True), err


def is_kept_out(dsn: str) -> bool:
    try:
        psycopg.connect(dsn).close()
    except psycopg.OperationalError as error:
        return "rejects" in str(error)
    return False


@pytest.fixture(scope="module")
def roles(postgres: PostgresServer) -> Iterator[PostgresServer]:
    """A server with a role that needs a password, and one that may not connect."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("CREATE ROLE with_password LOGIN PASSWORD 'the right one'; CREATE ROLE kept_out LOGIN")
        (hba,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(hba).read_text()
        ours = "host all with_password 127.0.0.1/32 scram-sha-256\nhost all kept_out 127.0.0.1/32 reject\n"
        Path(hba).write_text(ours + rules)
        connection.execute("SELECT pg_reload_conf()")
        while not is_kept_out(postgres.dsn().replace("goodbot@", "kept_out@")):
            pass  # until the server has read them
        yield postgres
        Path(hba).write_text(rules)
        connection.execute("SELECT pg_reload_conf()")
        connection.execute("DROP ROLE with_password; DROP ROLE kept_out")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("user", "place", "message"),
    [
        ("goodbot:secret", "none", 'dbname=none: database "none" does not exist'),
        ("stranger:secret", "postgres", 'role "stranger" does not exist'),
        ("with_password:secret", "postgres", 'password authentication failed for user "with_password"'),
        ("with_password", "postgres", "no password supplied"),
        ("kept_out:secret", "postgres", "pg_hba.conf rejects connection"),
        ("goodbot:secret", "postgres?sslmode=require", "server does not support SSL, but SSL was required"),
        ("goodbot:secret", "postgres?options=-csearch_path%3Dnone", "the database has no schema for the crawl"),
    ],
)
def test_a_database_that_refuses(
    command: str, user: str, place: str, message: str, roles: PostgresServer, tmp_path: Path, capfd: Out
) -> None:
    status, err = run(command, f"postgresql://{user}@127.0.0.1:{roles.port}/{place}", tmp_path, capfd)
    assert (status, message in err) == (2, True), err
    quotes = ('password authentication failed for user "…"', 'database "…" does not exist')
    assert [quote in quotes_in(err) for quote in quotes] == ["authentication" in message, place == "none"]


@pytest.mark.parametrize(
    "table", ["CREATE TABLE crawl (name text)", "CREATE TABLE crawl (format text); INSERT INTO crawl VALUES ('x')"]
)
@pytest.mark.parametrize("command", ["crawl", "cluster status", "status"])
def test_a_table_of_another_program(
    command: str, table: str, postgres: PostgresServer, tmp_path: Path, capfd: Out
) -> None:
    dsn = postgres.dsn(options="-csearch_path%3Dof_others")
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA of_others; SET search_path = of_others; {table}".encode())
        try:
            status, err = run(command, dsn, tmp_path, capfd)
        finally:
            connection.execute("DROP SCHEMA of_others CASCADE")
    assert (status, "the table crawl in the schema of_others is not one of goodbot" in err) == (2, True), err


# ---- another frontier than before -----------------------------------------------------------------------------------


@pytest.mark.long
def test_a_crawl_that_has_another_frontier(tmp_path: Path, postgres: PostgresServer, capfd: Out) -> None:
    """It would begin anew, unnoticed."""
    folder = tmp_path / "crawl"
    assert main(["crawl", "http://127.0.0.1:9/", "--into", str(folder), "--allow-private", "--delay", "0"]) == 3
    capfd.readouterr()
    status, err = run("crawl", "postgresql://127.0.0.1:1/c", tmp_path, capfd)
    assert (status, "has its frontier in the folder, and cannot move to a database" in err) == (2, True), err
    (folder / "frontier.sqlite").unlink()
    (folder / "goodbot.toml").write_text('frontier = "postgresql://me@127.0.0.1:1/c"\n')
    (folder / "writer").write_text("01234567\n")
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE other")
        try:
            status, err = run("crawl", postgres.dsn("other"), tmp_path, capfd)
        finally:
            connection.execute("DROP DATABASE other WITH (FORCE)")
    assert (status, "belongs to the crawl in postgresql://me@127.0.0.1:1/c, not to" in err) == (2, True), err


def test_a_dry_run_has_no_database(tmp_path: Path, capfd: Out) -> None:
    folder = tmp_path / "crawl"
    folder.mkdir()
    (folder / "goodbot.toml").write_text('frontier = "postgresql://127.0.0.1:1/c"\n')
    for more in (["--into", str(tmp_path / "b"), "--frontier", "postgresql://127.0.0.1:1/c"], ["--into", str(folder)]):
        assert main(["crawl", "http://127.0.0.1:9/", "--allow-private", "--dry-run", *more]) == 2
        assert "--dry-run works only with a frontier in the folder" in capfd.readouterr().err


def test_a_role_without_rights(roles: PostgresServer, tmp_path: Path, capfd: Out) -> None:
    with psycopg.connect(roles.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS guarded")
        connection.execute("CREATE DATABASE guarded")
        dsn = f"postgresql://with_password:the%20right%20one@127.0.0.1:{roles.port}/guarded"
        status, err = run("crawl", dsn, tmp_path, capfd)
        connection.execute("DROP DATABASE guarded WITH (FORCE)")
    assert (status, "cannot use …: permission denied for …" in quotes_in(err)) == (2, True), err


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("options", ["", "?sslmode=disable"])
def test_another_service_at_the_port(command: str, options: str, tmp_path: Path, capfd: Out) -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        status, err = run(command, f"postgresql://me:secret@127.0.0.1:{port}/c{options}", tmp_path, capfd)
    assert status == 2
    assert err == f"goodbot: cannot use user=me host=127.0.0.1 port={port} dbname=c: what answers is not PostgreSQL\n"
    assert "cannot use …: what answers is not PostgreSQL" in quotes_in(err)


@pytest.mark.parametrize("command", READING)
@pytest.mark.parametrize(
    ("place", "message"), [("127.0.0.1:1", "Connection refused"), ("nowhere.invalid", "'nowhere.invalid'")]
)
def test_no_server_answers(command: str, place: str, message: str, tmp_path: Path, capfd: Out) -> None:
    status, err = run(command, f"postgresql://me:secret@{place}/c", tmp_path, capfd)
    assert status == 3
    assert err.startswith("goodbot: the database server does not answer (user=me host=")
    assert message in err
    quote = "the database server does not answer (…: Connection refused)"
    assert (quote in quotes_in(err)) == (message == "Connection refused")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_cannot_store_every_text(
    encoding: str, postgres: PostgresServer, tmp_path: Path, capfd: Out
) -> None:
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS other_encoding")
        connection.execute(f"CREATE DATABASE other_encoding ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
        status, err = run("crawl", postgres.dsn("other_encoding"), tmp_path, capfd)
        connection.execute("DROP DATABASE other_encoding")
    assert (status, err) == (2, f"goodbot: the database has the encoding {encoding}: make one with ENCODING 'UTF8'\n")
    quote = "the database has the encoding LATIN1: make one with ENCODING 'UTF8'"
    assert (quote in quotes_in(err)) == (encoding == "LATIN1")


# ---- a crawl that starts while the server is away -------------------------------------------------------------------


def test_a_crawl_waits_for_the_server_as_long_as_it_should(tmp_path: Path) -> None:
    said: list[str] = []
    settings = Settings(frontier="postgresql://me:secret@127.0.0.1:1/c")
    with pytest.raises(StoreAwayError, match="does not answer") as caught:
        new_settings(CrawlFolder(tmp_path), settings, {}, ["http://h.example/"], say=said.append, away_s=0.0)
    assert (caught.value.exit_status, said) == (3, []), "it need not say that it waits if it does not"
    with pytest.raises(StoreAwayError):
        new_settings(CrawlFolder(tmp_path), settings, {}, ["http://h.example/"], say=said.append, away_s=1.0)
    (line,) = said
    where = "user=me host=127.0.0.1 port=1 dbname=c"
    assert line == f"the database server does not answer ({where}: Connection refused); trying again for 1 s"
