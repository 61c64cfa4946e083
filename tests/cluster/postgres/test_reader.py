"""Reading a crawl in PostgreSQL: with the right SELECT alone, beside a crawl, from its folder, without a server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from goodbot.cli import main
from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.cluster.postgres.reader import PostgresReader
from goodbot.cluster.postgres.report_rows import translated_query
from goodbot.crawl_admin import CrawlConsole
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError, RunError, StoreAwayError
from goodbot.live import Courtesy
from goodbot.store.control.control_token import make_token
from goodbot.url import Url
from goodbot.values import Discovery
from goodbot.web import Site, create_app, running
from postgres_server import PostgresServer
from web.crawls import cookie_of
from web.library import Visitor


@pytest.fixture
def frontier(postgres_dsn: str) -> Iterator[PostgresFrontier]:
    """A crawl that knows two hosts, and has sent a request to one."""
    with PostgresFrontier.open(postgres_dsn, Identity("writer", "test", 1), parts=2) as frontier:
        frontier.take_part()
        frontier.add(Discovery(Url(f"http://{host}.example/{number}"), 0) for host in "ab" for number in range(3))
        frontier.save_courtesies([Courtesy("a.example", 2, 1, first_at=1.0, last_at=2.0)])
        yield frontier


@pytest.fixture
def folder(tmp_path: Path, postgres_dsn: str) -> CrawlFolder:
    """A folder whose crawl is in the database."""
    (tmp_path / "goodbot.toml").write_text(f'frontier = "{postgres_dsn}"\n')
    return CrawlFolder(tmp_path)


def test_a_role_that_may_only_select(frontier: PostgresFrontier, postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS only_reads")
        connection.execute("CREATE ROLE only_reads LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO only_reads")
        try:
            with PostgresReader.open(postgres.dsn().replace("goodbot@", "only_reads@"), "") as reader:
                assert reader.status().states["ready"] == 6
                assert [entry.host for entry in reader.list_hosts(9).entries] == ["a.example", "b.example"]
                assert len(list(reader.records())) == 6
                assert reader.left_out(lambda lesson: True).urls == 0
                details = reader.host_details("a.example", "goodbot")
                assert details is not None
                assert details.report is not None
                assert details.report.done.requests == 2
        finally:
            connection.execute("DROP OWNED BY only_reads")
            connection.execute("DROP ROLE only_reads")


def test_it_writes_nothing(frontier: PostgresFrontier, postgres_dsn: str) -> None:
    with (
        PostgresReader.open(postgres_dsn, "") as reader,
        pytest.raises(RunError, match="read-only transaction"),
    ):
        reader._rows("UPDATE hosts SET due = 0 RETURNING 1")


def test_it_waits_for_no_transaction_and_none_waits_for_it(frontier: PostgresFrontier, postgres_dsn: str) -> None:
    with PostgresReader.open(postgres_dsn, "") as reader:
        with frontier.together():
            assert frontier.lease(2, 9, time.time())
            begun = time.monotonic()
            assert reader.status().states["leased"] == 0
            assert [host.ready for host in reader.hosts_ahead(9)] == [3, 3]
            assert time.monotonic() - begun < 5
        records = reader.records()
        next(records)
        frontier.bar_host("b.example")
        assert frontier.remove_host("b.example") == 3
        assert len(list(records)) == 5, "as of the first"
        assert reader.status().states["ready"] == 0


@pytest.mark.usefixtures("frontier")
def test_the_crawl_of_a_folder(folder: CrawlFolder, capsys: pytest.CaptureFixture[str]) -> None:
    assert folder.is_crawl
    assert not folder.is_import
    folder.check()
    place = ["--in", str(folder.path)]
    assert main(["status", *place, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["states"]["ready"] == 6
    assert main(["courtesy", *place, "--json"]) == 0
    assert [report["host"] for report in json.loads(capsys.readouterr().out)] == ["a.example"]
    main(["why", "http://b.example/1", *place])
    assert "seed or submitted" in capsys.readouterr().out
    with pytest.raises(InputError, match="a dry run needs a frontier in the folder"), folder.open_rehearsal(Path(), 1):
        pass


def test_a_command_changes_the_crawl_of_a_folder(frontier: PostgresFrontier, folder: CrawlFolder) -> None:
    with folder.open_store() as store:
        store.add([Discovery(Url("http://c.example/"), 0)])
        assert store.bar_host("b.example")
    assert frontier.record(Url("http://c.example/")) is not None
    assert frontier.forgotten_hosts() == {"b.example"}


def test_no_crawl_and_no_server(
    postgres: PostgresServer, folder: CrawlFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS empty_one")
        connection.execute("CREATE DATABASE empty_one")
        folder.settings_file.write_text(f'frontier = "{postgres.dsn("empty_one")}"\n')
        for opened in (folder.open_reader, folder.open_store):
            with pytest.raises(InputError, match="no crawl in the database"), opened():
                pass
        connection.execute("DROP DATABASE empty_one")
    folder.settings_file.write_text('frontier = "postgresql://goodbot:secret@127.0.0.1:1/x"\n')
    with pytest.raises(StoreAwayError, match="does not answer"), folder.open_reader():
        pass
    assert main(["status", "--in", str(folder.path)]) == 3
    printed = capsys.readouterr()
    assert printed.out == ""
    assert len(printed.err.splitlines()) == 1
    assert "secret" not in printed.err


def test_pages_while_the_server_is_away(folder: CrawlFolder, caplog: pytest.LogCaptureFixture) -> None:
    folder.settings_file.write_text('frontier = "postgresql://goodbot:secret@127.0.0.1:1/x"\n')
    make_token(folder.path)
    console = CrawlConsole(folder.path)
    token = console.token
    assert token is not None
    with running(create_app(None, Site("Sample"), console)) as url:
        visitor = Visitor(url)
        cookie = cookie_of(visitor, token)
        for path in ("/crawl", "/crawl/hosts", "/crawl/refused", "/crawl/courtesy"):
            assert visitor.ask(path, Cookie=cookie).status == 503
    assert "does not answer" in caplog.text
    assert "secret" not in caplog.text


def test_names_are_ordered_by_their_bytes_in_any_database(postgres: PostgresServer) -> None:
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS english")
        connection.execute("CREATE DATABASE english TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US'")
    with PostgresFrontier.open(postgres.dsn("english"), Identity("writer", "test", 1), parts=1) as frontier:
        hosts = ["a-z.example", "a.example", "aa.example", "a.example:8080", "a.example.org"]
        frontier.add(Discovery(Url(f"http://{host}/"), 0) for host in hosts)
        frontier.save_courtesies(Courtesy(Url(f"http://{host}/").host_key, 1) for host in hosts)
        names = sorted({Url(f"http://{host}/").host_key for host in hosts})
        assert [entry.host for entry in frontier.list_hosts(9).entries] == names
        assert frontier.courtesy_hosts() == names
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        connection.execute("DROP DATABASE english")


def test_queries_are_translated() -> None:
    query = "SELECT 1 FROM urls INDEXED BY urls_ready CROSS JOIN hosts ON instr(key, :name) > 0 AND a LIKE '%'"
    assert translated_query(query) == ("SELECT 1 FROM urls  JOIN hosts ON strpos(key, %(name)s) > 0 AND a LIKE '%%'")
