"""URLs that visitors submit to a crawl: what is said about each, with real frontiers, settings and control files."""

import shutil
import time
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from goodbot import files
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import BusyError, InputError
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, LastVisit, LeasedUrl, Outcome, Release, State
from goodbot.visitor_values import SubmissionResult
from goodbot.visitors.submissions import VisitorRequests
from web.russian import english_in

NOW = float(round(time.time()))
LATER = NOW + 20_000.0
SEED = Url("http://seed.example/")
SETTINGS = 'seeds = ["http://seed.example/", "http://127.0.0.1:8800/"]\nallow_private = true\nscope = "all"\n'
PUBLIC = SETTINGS + 'contact = "me@example.org"\n'
SEEN = LastVisit(at=NOW - 100, due_at=NOW + 100_000, interval_s=100_000, changed_at=NOW - 100, etag='"1"', indexed=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A crawl at rest that knows only its seed."""
    return make_crawl(tmp_path)


def make_crawl(folder: Path) -> Path:
    with opened(folder, create=True) as frontier:
        frontier.add([Discovery(SEED, 0)])
    (folder / "goodbot.toml").write_text(PUBLIC)
    return folder


def opened(folder: Path, **options: Any) -> SqliteFrontier:
    return SqliteFrontier.open(folder / "frontier.sqlite", **options)


def visitors(folder: Path) -> VisitorRequests:
    crawl = CrawlFolder(folder)
    return VisitorRequests(crawl, CrawlBounds(crawl), 0.0, now=lambda: NOW)


def leased(folder: Path) -> list[LeasedUrl]:
    """What the crawl would request next."""
    with opened(folder, revisit_until=inf) as frontier:
        found = [url for lease in frontier.lease(100, 1000, LATER) for url in lease.urls]
    opened(folder).close()  # the URLs are ready again
    return found


def settle(folder: Path, url: Url, state: State, seen: LastVisit | None = None, **more: Any) -> None:
    """The crawl knows the URL, and has settled it."""
    with opened(folder) as frontier:
        frontier.add([Discovery(url, 0)])
        leases = frontier.lease(100, 100, NOW)
        outcome = Outcome(url, state, NOW - 100, "said so", seen=seen, **more)
        frontier.settle([outcome], [Release(lease.host, 0.0) for lease in leases])


# ---- what is said ---------------------------------------------------------------------------------------------------

RESULTS: list[tuple[str, str, SubmissionResult, str]] = [
    ("a new page", "https://new.example/a", "submitted", ""),
    ("a new page, cleaned", "https://new.example/a?utm_source=x", "submitted", ""),
    ("the seed", "http://seed.example/", "known", ""),
    ("a page of a seed on a private address", "http://127.0.0.1:8800/a", "submitted", ""),
    ("the same, by https", "https://127.0.0.1:8800/a", "submitted", ""),
    ("another port", "http://127.0.0.1:8801/a", "private", "127.0.0.1 may be on a private network"),
    ("another private address", "http://10.1.2.3/", "private", "10.1.2.3 may be on a private network"),
    ("a number", "http://2130706433/", "private", "127.0.0.1 may be on a private network"),
    ("localhost", "http://localhost:8800/", "private", "localhost may be on a private network"),
    ("a name of a private network", "http://db.internal/", "private", "db.internal may be on a private network"),
    ("one word", "http://intranet/", "private", "intranet may be on a private network"),
    ("a barred host", "https://barred.example/a", "forgotten", "the operator of this crawl has excluded this host"),
    ("a trap", "https://traps.example/1", "out of scope", "these pages repeat"),
    ("closed by robots.txt", "https://ruled.example/closed/a", "disallowed", "Disallow: /closed (line 2)"),
    ("open by robots.txt", "https://ruled.example/open", "submitted", ""),
    ("closed by a robots.txt of yesterday", "https://stale.example/closed/a", "submitted", ""),
    ("robots.txt is unreachable", "https://down.example/a", "submitted", ""),
]


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A crawl that has learned a few things."""
    folder = make_crawl(tmp_path_factory.mktemp("learned"))
    text, rules = [("Content-Type", "text/plain")], b"User-agent: *\nDisallow: /closed\n"
    fresh = Access.from_response(200, text, rules, NOW - 10)
    with opened(folder) as frontier:
        frontier.save_robots("https://ruled.example", fresh)
        frontier.save_robots("https://stale.example", replace(fresh, fetched_at=NOW - 90_000, valid_until=NOW - 1))
        frontier.save_robots("https://down.example", Access.from_failure("timeout", NOW - 10))
        frontier.save_lessons(
            [Lesson("traps.example", "budget", "https://traps.example spent", "these pages repeat", NOW)]
        )
        frontier.bar_host("barred.example")
    return folder


@pytest.fixture
def knowing(learned: Path, tmp_path: Path) -> Path:
    """The same crawl, in a folder of its own."""
    return Path(shutil.copytree(learned, tmp_path / "crawl"))


@pytest.mark.parametrize(("typed", "result", "reason"), [row[1:] for row in RESULTS], ids=[row[0] for row in RESULTS])
def test_what_is_said(knowing: Path, typed: str, result: SubmissionResult, reason: str) -> None:
    before = {url.url for url in leased(knowing)}
    found = visitors(knowing).submit(typed)
    assert (found.result, bool(found.reason)) == (result, bool(reason))
    assert reason in found.reason
    assert english_in(found.reason) == (["these pages repeat"] if "traps" in typed else [])
    added = {url.url for url in leased(knowing)} - before
    assert added == ({found.url} if result == "submitted" else set())
    assert found.state == ("ready" if result in ("submitted", "known") else None)
    assert "utm_source" not in found.url.text


def test_nothing_is_submitted_by_foreseeing(knowing: Path) -> None:
    known = leased(knowing)
    urls = [Url(row[1]) for row in RESULTS if "2130706433" not in row[1]]
    expected = [row[2] for row in RESULTS if "2130706433" not in row[1]]
    assert [item.result for item in visitors(knowing).foresee(urls)] == expected
    assert leased(knowing) == known


REFUSED = [
    "file:///etc/passwd",
    "javascript:alert(1)",
    "http://me:x@seed.example/",
    "https://a.example/" + "x" * 2000,
    "",
]


@pytest.mark.parametrize("typed", REFUSED)
def test_what_is_no_url(folder: Path, typed: str) -> None:
    with pytest.raises(InputError):
        visitors(folder).submit(typed)


# ---- where such URLs may lead ---------------------------------------------------------------------------------------


def test_only_the_seeds_servers_may_be_private(folder: Path) -> None:
    """A name is judged by the crawl's guard, whatever address it has by then."""
    for typed in ("http://127.0.0.1:8800/a", "http://seed.example/a", "http://rebinding.example/"):
        assert visitors(folder).submit(typed).result == "submitted"
    found = {url.url.text: url.public_only for url in leased(folder)}
    assert found == {
        "http://seed.example/": False,
        "http://seed.example/a": False,
        "http://127.0.0.1:8800/a": False,
        "http://rebinding.example/": True,
    }


SETTINGS_AND_RESULTS: list[tuple[str, str, str, SubmissionResult]] = [
    ("no contact", SETTINGS, "https://new.example/", "out of scope"),
    ("no contact, private", SETTINGS, "http://127.0.0.1:8800/a", "submitted"),
    ("a proxy", PUBLIC + 'proxy = "http://127.0.0.1:3128"\n', "https://new.example/", "private"),
    ("a proxy, and a seed's host", PUBLIC + 'proxy = "http://127.0.0.1:3128"\n', "http://seed.example/a", "submitted"),
    ("another host", PUBLIC.replace('"all"', '"host"'), "https://new.example/", "out of scope"),
    ("excluded", PUBLIC + 'exclude = ["*/a"]\n', "http://seed.example/a", "out of scope"),
]


@pytest.mark.parametrize(
    ("settings", "typed", "result"),
    [row[1:] for row in SETTINGS_AND_RESULTS],
    ids=[row[0] for row in SETTINGS_AND_RESULTS],
)
def test_settings(folder: Path, settings: str, typed: str, result: SubmissionResult) -> None:
    (folder / "goodbot.toml").write_text(settings)
    found = visitors(folder).submit(typed)
    assert (found.result, bool(found.reason)) == (result, result != "submitted")


def test_settings_that_change_while_it_is_in_use(folder: Path) -> None:
    desk = visitors(folder)
    assert desk.submit("http://new.example/a").result == "submitted"
    (folder / "goodbot.toml").write_text(PUBLIC.replace('"all"', '"host"'))
    assert desk.submit("http://new.example/b").result == "out of scope"
    (folder / "seeds").mkdir()
    (folder / "seeds" / "0.txt").write_text("http://new.example/\n")
    assert desk.submit("http://new.example/b").result == "submitted"


def test_listed_seeds_on_private_addresses(folder: Path) -> None:
    (folder / "seeds").mkdir()
    (folder / "seeds" / "0.txt").write_text("http://10.1.2.3/\n")
    assert visitors(folder).submit("http://10.1.2.3/a").result == "submitted"
    assert visitors(folder).submit("http://10.1.2.4/a").result == "private"


# ---- pages that are known -------------------------------------------------------------------------------------------

PAGE = Url("https://new.example/a")
UNPLANNED = replace(SEEN, due_at=inf)
KNOWN: list[tuple[State, LastVisit | None, bool, SubmissionResult, State, float | None, bool]] = [
    ("visited", SEEN, False, "known", "visited", NOW + 100_000, False),
    ("visited", SEEN, True, "known", "visited", NOW, True),
    ("visited", UNPLANNED, False, "known", "visited", None, False),
    ("visited", UNPLANNED, True, "known", "visited", NOW, True),
    ("failed", None, False, "submitted", "ready", None, True),
    ("gone", None, False, "submitted", "ready", None, True),
    ("gone", None, True, "submitted", "ready", None, True),
    ("gone", SEEN, False, "known", "gone", NOW + 100_000, False),
    ("disallowed", None, False, "submitted", "ready", None, True),
    ("disallowed", SEEN, False, "known", "disallowed", NOW + 100_000, False),
    ("disallowed", None, True, "submitted", "ready", None, True),
]


@pytest.mark.parametrize(
    ("state", "seen", "changed", "result", "now", "due_at", "is_due"), KNOWN, ids=range(len(KNOWN))
)  # an id made from the values would have the time, which differs between the workers of pytest
def test_a_known_page(
    folder: Path,
    state: State,
    seen: LastVisit | None,
    changed: bool,
    result: SubmissionResult,
    now: State,
    due_at: float | None,
    is_due: bool,
) -> None:
    settle(folder, PAGE, state, seen)
    (found,) = visitors(folder).submit_urls([PAGE], changed=changed)
    assert (found.result, found.state_before, found.state, found.due_at) == (result, state, now, due_at)
    assert found.visited_at == (NOW - 100 if seen is not None else None)
    assert (PAGE in {item.url for item in leased(folder)}) == is_due


def test_a_changed_page_is_requested_as_a_whole(folder: Path) -> None:
    settle(folder, PAGE, "visited", SEEN)
    visitors(folder).submit_urls([PAGE], changed=True)
    (again,) = (item for item in leased(folder) if item.url == PAGE)
    assert again.seen is not None
    assert (again.seen.etag, again.seen.at) == (None, NOW - 100)


# ---- beside a crawl -------------------------------------------------------------------------------------------------


def test_many_urls(folder: Path) -> None:
    """The order of the URLs is that of the request, whatever address each may reach."""
    urls = [Url(f"http://{host}/{number}") for number in range(150) for host in ("seed.example", "new.example")]
    results = visitors(folder).submit_urls(urls)
    assert [item.url for item in results] == urls
    assert {item.result for item in results} == {"submitted"}
    assert len(leased(folder)) == 301


def test_a_folder_that_is_taken(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LOCK_TIMEOUT_S", 0.0)
    with opened(folder), pytest.raises(BusyError):
        visitors(folder).submit("http://new.example/a")
