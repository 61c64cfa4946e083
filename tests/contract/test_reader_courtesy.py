"""The report for a site's owner, of every CrawlReader: versions of robots.txt, refused URLs, hosts with several
origins, sums."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy
from goodbot.report_values import REFUSED_SHOWN, WALLED_SHOWN, CourtesyTotals, HostReport
from goodbot.store.merge.limits import MAX_VERSIONS
from goodbot.url import Url
from goodbot.values import Discovery, Event, Outcome, Release
from stores import Stores

NOW = 1_700_000_000.0


@pytest.fixture(params=["sqlite", "postgres"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Stores]:
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores
    stores.close()


@pytest.fixture
def store(stores: Stores) -> Any:
    return stores.open()


def read(text: str, at: float = NOW) -> Access:
    return Access.from_response(200, [], text.encode(), at)


def report(stores: Stores, host: str) -> HostReport:
    with stores.reading() as reader:
        found = reader.courtesy_report(host, "goodbot")
    assert found is not None
    return found


def test_versions_are_told_apart_and_bounded(store: Any, stores: Stores) -> None:
    store.save_courtesies([Courtesy("a.example", 1)])
    for number in range(3 * MAX_VERSIONS):
        for again in range(2):
            access = read(f"Crawl-delay: {number}\nUser-agent: *\nDisallow: /{number}", NOW + 10 * number + again)
            store.save_robots("http://a.example", access)
    store.save_robots("http://a.example", Access.from_failure("timeout", NOW + 900, last_good=access))
    (origin,) = report(stores, "a.example").origins
    assert len(origin.versions) == MAX_VERSIONS
    assert [one.first_at for one in origin.versions] == sorted((one.first_at for one in origin.versions), reverse=True)
    failed, last, *_ = origin.versions
    assert (failed.failure, failed.digest, failed.bytes) == ("timeout", None, None)
    assert (last.fetches, last.first_at, last.last_at, last.bytes) == (2, NOW + 290, NOW + 291, 43)
    assert len({one.digest for one in origin.versions}) == MAX_VERSIONS


def test_a_host_of_several_origins_asks_for_the_longest_gap(store: Any, stores: Stores) -> None:
    store.save_courtesies([Courtesy("a.example", 3), Courtesy("127.0.0.1:80", 1)])
    store.save_robots("http://a.example", read("User-agent: *\nCrawl-delay: 2"))
    store.save_robots("https://a.example:8443", read("User-agent: *\nRequest-rate: 1/10", NOW + 1))
    store.save_robots("http://a.example.org", read("User-agent: *\nCrawl-delay: 60"))
    store.save_robots("http://127.0.0.1", read("User-agent: *\nCrawl-delay: 3"))
    store.save_robots("http://127.0.0.1:81", read("User-agent: *\nCrawl-delay: 4"))
    found = report(stores, "a.example")
    assert [origin.origin for origin in found.origins] == ["https://a.example:8443", "http://a.example"]
    assert found.asked_gap_s == 10
    assert found.latest == found.origins[0]
    assert report(stores, "127.0.0.1:80").asked_gap_s == 3
    with stores.reading() as reader:
        assert [each.host for each in reader.courtesy_reports("goodbot")] == ["127.0.0.1:80", "a.example"]


def refuse(store: Any, count: int) -> None:
    store.add(Discovery(Url(f"http://a.example/{number}"), 0) for number in range(count))
    (lease,) = store.lease(1, count, NOW)
    event = Event(NOW, "permission", "disallowed", "line 2 of robots.txt, Disallow: /", 2)
    outcomes = [Outcome(leased.url, "disallowed", NOW, "no", events=(event,)) for leased in lease.urls]
    store.settle(outcomes, [Release(lease.host, NOW)])


def test_refused_urls_are_counted_and_some_are_shown(store: Any, stores: Stores) -> None:
    refuse(store, 3 * REFUSED_SHOWN)
    found = report(stores, "a.example")
    assert (found.refused, len(found.refused_urls)) == (3 * REFUSED_SHOWN, REFUSED_SHOWN)
    assert {(item.line, item.reason) for item in found.refused_urls} == {(2, "line 2 of robots.txt, Disallow: /")}


def test_walls_are_counted_by_name_and_some_of_their_pages_shown(store: Any, stores: Stores) -> None:
    """Of pages that failed, and of those that will be tried once more; a page that only says so is none."""
    whys = ["wall: Anubis (status 200); its last copy is kept", "wall: Cloudflare (status 503)"]
    store.add(Discovery(Url(f"http://a.example/{number}"), 0) for number in range(3 * WALLED_SHOWN))
    (lease,) = store.lease(1, 3 * WALLED_SHOWN, NOW)
    outcomes = [
        Outcome(leased.url, "failed", NOW, whys[number % 2 * (number < 4)] if number else "status 403")
        for number, leased in enumerate(lease.urls)
    ]
    outcomes[1] = replace(outcomes[1], state="ready", ready_at=NOW + 9, tries=1)
    store.settle(outcomes, [Release(lease.host, NOW)])
    anubis, cloudflare = report(stores, "a.example").walls
    assert (cloudflare.wall, cloudflare.pages, len(cloudflare.urls)) == ("Cloudflare", 2, 2)
    assert (anubis.wall, anubis.pages, len(anubis.urls)) == ("Anubis", 3 * WALLED_SHOWN - 3, WALLED_SHOWN)
    assert outcomes[1].url.text in cloudflare.urls


def test_a_host_nobody_knows(store: Any, stores: Stores) -> None:
    with stores.reading() as reader:
        assert reader.courtesy_report("a.example", "goodbot") is None
        assert list(reader.courtesy_reports("goodbot")) == []
        assert reader.courtesy_hosts() == []
        assert reader.some_courtesy_reports("goodbot", 2, "", 5) == ((), None)


def test_lessons_in_force(store: Any, stores: Stores) -> None:
    lesson = Lesson("a.example", "family", "https://a.example /x/", "x says the same", 1.0)
    store.save_courtesies([Courtesy("a.example", 3)])
    store.save_lessons([lesson, lesson._replace(kind="branch", lapsed=True)])
    assert report(stores, "a.example").lessons == (lesson,)


def test_reports_come_in_parts(store: Any, stores: Stores) -> None:
    store.add(Discovery(Url(f"http://{letter}.example/{number}"), 0) for letter in "abc" for number in range(6))
    store.save_courtesies([Courtesy(f"{letter}.example", 2, 1) for letter in "abxy"])
    store.bar_host("c.example")
    names: list[str] = []
    after: str | None = ""
    with stores.reading() as reader:
        while after is not None:
            reports, after = reader.some_courtesy_reports("goodbot", 2, after, 5)
            assert len(reports) <= 2
            names += [each.host for each in reports]
            assert all(each.is_partial == (each.host in ("a.example", "b.example", "c.example")) for each in reports)
        assert names == ["a.example", "b.example", "c.example", "x.example", "y.example"] == reader.courtesy_hosts()
        assert [each.host for each in reader.courtesy_reports("goodbot")] == names
        barred = reader.courtesy_report("c.example", "goodbot")
    assert barred is not None
    assert barred.forgotten_at is not None


def test_totals(store: Any, stores: Stores) -> None:
    kept = Courtesy("a.example", 120, 2, status_429=1, status_503=1, waited_s=151.0)
    store.save_courtesies([kept, Courtesy("b.example", 7, 1, sooner=2, inside=1), Courtesy("quiet.example")])
    with stores.reading() as reader:
        assert reader.courtesy_totals() == CourtesyTotals(2, 127, 3, 2, 1, 1, 1, 151.0)
        assert reader.courtesy_totals("a.example") == CourtesyTotals(1, 120, 2, 0, 0, 1, 1, 151.0)
    store.save_courtesies([Courtesy("c.example", 2, 2)])
    with stores.reading() as reader:
        assert reader.courtesy_totals() == CourtesyTotals(3, 129, 5, 2, 1, 1, 1, 151.0, robots_txt_only=1)
        assert reader.courtesy_totals("unknown.example") == CourtesyTotals(0, 0, 0, 0, 0, 0, 0, 0.0)
