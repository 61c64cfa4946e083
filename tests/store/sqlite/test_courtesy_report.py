"""Tests the report for a site's owner: versions of robots.txt, refused URLs, hosts with several origins."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from goodbot.errors import DamagedError
from goodbot.exclusion import Access
from goodbot.live import Courtesy
from goodbot.report_values import REFUSED_SHOWN, WALLED_SHOWN, HostReport
from goodbot.store.merge.limits import MAX_VERSIONS
from goodbot.store.sqlite.courtesy_report import host_reports
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Event, Outcome, Release

NOW = 1_700_000_000.0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "frontier.sqlite"


def read(text: str, at: float = NOW) -> Access:
    return Access.from_response(200, [], text.encode(), at)


def report(path: Path, host: str) -> HostReport:
    (found,) = host_reports(path, "goodbot", host)
    return found


def test_versions_are_told_apart_and_bounded(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.save_courtesies([Courtesy("a.example", 1)])
        for number in range(3 * MAX_VERSIONS):
            for again in range(2):
                access = read(f"Crawl-delay: {number}\nUser-agent: *\nDisallow: /{number}", NOW + 10 * number + again)
                frontier.save_robots("http://a.example", access)
        frontier.save_robots("http://a.example", Access.from_failure("timeout", NOW + 900, last_good=access))
    (origin,) = report(path, "a.example").origins
    assert len(origin.versions) == MAX_VERSIONS
    assert [one.first_at for one in origin.versions] == sorted((one.first_at for one in origin.versions), reverse=True)
    failed, last, *_ = origin.versions
    assert (failed.failure, failed.digest, failed.bytes) == ("timeout", None, None)
    assert (last.fetches, last.first_at, last.last_at, last.bytes) == (2, NOW + 290, NOW + 291, 43)
    assert len({one.digest for one in origin.versions}) == MAX_VERSIONS


def test_a_host_of_several_origins_asks_for_the_longest_gap(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.save_courtesies([Courtesy("a.example", 3), Courtesy("127.0.0.1:80", 1)])
        frontier.save_robots("http://a.example", read("User-agent: *\nCrawl-delay: 2"))
        frontier.save_robots("https://a.example:8443", read("User-agent: *\nRequest-rate: 1/10", NOW + 1))
        frontier.save_robots("http://a.example.org", read("User-agent: *\nCrawl-delay: 60"))
        frontier.save_robots("http://127.0.0.1", read("User-agent: *\nCrawl-delay: 3"))
        frontier.save_robots("http://127.0.0.1:81", read("User-agent: *\nCrawl-delay: 4"))
    found = report(path, "a.example")
    assert [origin.origin for origin in found.origins] == ["https://a.example:8443", "http://a.example"]
    assert found.asked_gap_s == 10
    assert found.latest == found.origins[0]
    assert report(path, "127.0.0.1:80").asked_gap_s == 3
    assert [each.host for each in host_reports(path, "goodbot")] == ["127.0.0.1:80", "a.example"]


def refuse(frontier: SqliteFrontier, count: int) -> None:
    frontier.add(Discovery(Url(f"http://a.example/{number}"), 0) for number in range(count))
    (lease,) = frontier.lease(1, count, NOW)
    event = Event(NOW, "permission", "disallowed", "line 2 of robots.txt, Disallow: /", 2)
    outcomes = [Outcome(leased.url, "disallowed", NOW, "no", events=(event,)) for leased in lease.urls]
    frontier.settle(outcomes, [Release(lease.host, NOW)])


def test_refused_urls_are_counted_and_some_are_shown(path: Path) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        refuse(frontier, 3 * REFUSED_SHOWN)
    found = report(path, "a.example")
    assert (found.refused, len(found.refused_urls)) == (3 * REFUSED_SHOWN, REFUSED_SHOWN)
    assert {(item.line, item.reason) for item in found.refused_urls} == {(2, "line 2 of robots.txt, Disallow: /")}


def test_walls_are_counted_by_name_and_some_of_their_pages_shown(path: Path) -> None:
    """Of pages that failed, and of those that will be tried once more; a page that only says so is none."""
    whys = ["wall: Anubis (status 200); its last copy is kept", "wall: Cloudflare (status 503)"]
    with SqliteFrontier.open(path, create=True) as frontier:
        frontier.add(Discovery(Url(f"http://a.example/{number}"), 0) for number in range(3 * WALLED_SHOWN))
        (lease,) = frontier.lease(1, 3 * WALLED_SHOWN, NOW)
        outcomes = [
            Outcome(leased.url, "failed", NOW, whys[number % 2 * (number < 4)] if number else "status 403")
            for number, leased in enumerate(lease.urls)
        ]
        outcomes[1] = replace(outcomes[1], state="ready", ready_at=NOW + 9, tries=1)
        frontier.settle(outcomes, [Release(lease.host, NOW)])
    anubis, cloudflare = report(path, "a.example").walls
    assert (cloudflare.wall, cloudflare.pages, len(cloudflare.urls)) == ("Cloudflare", 2, 2)
    assert (anubis.wall, anubis.pages, len(anubis.urls)) == ("Anubis", 3 * WALLED_SHOWN - 3, WALLED_SHOWN)
    assert outcomes[1].url.text in cloudflare.urls


@pytest.mark.parametrize("events", ["[", "[[1]]", "7", "[7]"])
def test_damage_is_said(path: Path, events: str) -> None:
    with SqliteFrontier.open(path, create=True) as frontier:
        refuse(frontier, 1)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE visits SET events = ?", (events,))
        connection.commit()
    with pytest.raises(DamagedError, match="damaged"):
        report(path, "a.example")


def test_a_host_nobody_knows(path: Path) -> None:
    SqliteFrontier.open(path, create=True).close()
    assert list(host_reports(path, "goodbot", "a.example")) == []
    assert list(host_reports(path, "goodbot")) == []
