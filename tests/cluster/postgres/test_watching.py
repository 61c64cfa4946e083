"""`goodbot serve` over a crawl in a database: /metrics and the crawl page show its machines, and say when the database
does not answer."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.crawl_admin import KEPT_S, CrawlConsole
from goodbot.store.control.control_token import make_token
from goodbot.url import Url
from goodbot.values import Discovery
from goodbot.web import Site, create_app, running
from postgres_server import PostgresServer
from web.crawls import cookie_of
from web.library import Visitor


class Clock:
    """The time that passes for the figures that are kept."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def frontier(postgres_dsn: str) -> Iterator[PostgresFrontier]:
    """A crawl of two machines, one of which has ended: it knows two hosts, of which one is leased."""
    with PostgresFrontier.open(postgres_dsn, Identity("other", "ended", 2), parts=2) as other:
        other.take_part()
    with PostgresFrontier.open(postgres_dsn, Identity("writer", "first", 1), parts=2) as frontier:
        frontier.take_part()
        frontier.add(Discovery(Url(f"http://{host}.example/{number}"), 0) for host in "ab" for number in range(3))
        frontier.lease(1, 2, frontier.clock.now())
        yield frontier


@pytest.fixture
def console(tmp_path: Path, postgres_dsn: str, clock: Clock, frontier: PostgresFrontier) -> CrawlConsole:
    (tmp_path / "goodbot.toml").write_text(f'frontier = "{postgres_dsn}"\n')
    make_token(tmp_path)
    return CrawlConsole(tmp_path, passed=clock)


def of_machines(visitor: Visitor) -> dict[str, str]:
    """The figures of the database and the machines."""
    lines = visitor.ask("/metrics").text.splitlines()
    kept = ("goodbot_database", "goodbot_crawl_machine", "goodbot_urls")
    return dict(line.rsplit(" ", 1) for line in lines if line.startswith(kept))


def test_metrics(console: CrawlConsole, frontier: PostgresFrontier, clock: Clock) -> None:
    first = f'{{machine="{frontier.machine}",name="first"}}'
    with running(create_app(None, Site("Sample"), console)) as url:
        found = of_machines(Visitor(url))
        assert found["goodbot_database_up"] == "1.0"
        assert found['goodbot_urls{state="ready"}'] == "4.0"
        assert found['goodbot_crawl_machines{state="alive"}'] == "1.0"
        assert found[f"goodbot_crawl_machine_partitions{first}"] == "1024.0"
        assert found[f"goodbot_crawl_machine_leased_hosts{first}"] == "1.0"
        assert found[f"goodbot_crawl_machine_leased_urls{first}"] == "2.0"
        assert 0 <= float(found[f"goodbot_crawl_machine_heartbeat_age_seconds{first}"]) < 3600
        frontier.add([Discovery(Url("http://c.example/"), 0)])
        assert of_machines(Visitor(url)) == found, "they are kept"
        clock.seconds += KEPT_S
        assert of_machines(Visitor(url))['goodbot_urls{state="ready"}'] == "5.0"


def test_metrics_while_the_server_is_away(
    console: CrawlConsole, clock: Clock, postgres: PostgresServer, caplog: pytest.LogCaptureFixture
) -> None:
    with running(create_app(None, Site("Sample"), console)) as url:
        visitor = Visitor(url)
        postgres.stop("fast")
        try:
            answer = visitor.ask("/metrics")
            assert answer.status == 200
            assert "goodbot_running 0.0" in answer.text
            assert of_machines(visitor) == {"goodbot_database_up": "0.0"}
            clock.seconds += KEPT_S
            assert of_machines(visitor) == {"goodbot_database_up": "0.0"}
            assert caplog.text.count("/metrics lacks the figures of the database") == 1, "it is said once"
            token = console.token
            assert token is not None
            page = visitor.ask("/crawl", Cookie=cookie_of(visitor, token))
            assert page.status == 503
            assert "The files or the database of the crawl cannot be read at the moment." in page.text
        finally:
            postgres.start()
        assert of_machines(visitor) == {"goodbot_database_up": "0.0"}, "it is kept as well"
        clock.seconds += KEPT_S
        assert of_machines(visitor)["goodbot_database_up"] == "1.0"


def test_the_crawl_page(console: CrawlConsole, postgres_dsn: str) -> None:
    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute("UPDATE heartbeats SET at = at - 100, expires_at = expires_at - 100")
    token = console.token
    assert token is not None
    with running(create_app(None, Site("Sample"), console)) as url:
        visitor = Visitor(url)
        text = visitor.ask("/crawl", Cookie=cookie_of(visitor, token)).text
    assert [machine.state for machine in console.machines()] == ["late", "gone"]
    assert text.index("first") < text.index("ended")
    assert text.index("late</td>") < text.index("taken over</td>")
