"""Reports about a file with rows that goodbot does not write say that it is damaged."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from goodbot.errors import DamagedError
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Event, Outcome, Release

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A frontier with a URL that robots.txt disallows."""
    path = tmp_path / "frontier.sqlite"
    event = Event(NOW, "permission", "disallowed", "line 2 of robots.txt, Disallow: /", 2)
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add([Discovery(Url("http://a.example/"), 0)])
        (lease,) = frontier.lease(1, 1, NOW)
        outcome = Outcome(lease.urls[0].url, "disallowed", NOW, "no", events=(event,))
        frontier.settle([outcome], [Release(lease.host, NOW)])
    return path


@pytest.mark.parametrize("events", ["[", "[[1]]", "7", "[7]"])
def test_events(path: Path, events: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE visits SET events = ?", (events,))
    with SqliteFrontier.open(path, read_only=True) as reader:
        with pytest.raises(DamagedError, match=r"damaged .the decisions about a URL cannot be read"):
            reader.courtesy_report("a.example", "goodbot")
        with pytest.raises(DamagedError, match="decisions about a URL cannot be read"):
            reader.list_refused(50)


def test_names(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE urls SET path = ''")
    with (
        SqliteFrontier.open(path, read_only=True) as reader,
        pytest.raises(DamagedError, match=r"damaged .a URL is missing"),
    ):
        reader.list_refused(50)
