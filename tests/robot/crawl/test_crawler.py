"""The loop over a fake web and a fake clock: states, politeness, retries, bounds. Sleeping takes no time here."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import replace
from ipaddress import ip_network
from itertools import pairwise
from math import inf
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

import pytest

from goodbot.archive_values import EncodedRecords
from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.index import TantivyIndex, TantivySearch, prepare
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.batch import BATCH_S, Batch
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.permission import Permission
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.scope.scope import Scope
from goodbot.search_values import Document
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_record import encode_capture
from goodbot.testing import FakeClock, FakeWeb, MemoryArchive, MemoryFrontier
from goodbot.url import Url, parse_url
from goodbot.values import Discovery, Failure, Outcome, RecordRef, Request, Response
from goodbot.visit_values import VisitResult

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
HOME = "http://example.org/"
HTML = ("Content-Type", "text/html; charset=utf-8")


def page(*links: str, head: str = "", status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """A page that links to `links`."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return Response(status, (HTML, *headers), f"<html><head><title>title</title>{head}</head><body>{anchors}".encode())


class FullArchive(MemoryArchive):
    """On a disk without room."""

    def append(self, encoded: EncodedRecords) -> RecordRef:
        raise RunError("no space left")


class Scene:
    """A crawler with all its surroundings; each has a folder of its own below `root`."""

    root: ClassVar[Path]

    def __init__(
        self,
        answers: Answers,
        *seeds: str,
        frontier: MemoryFrontier | SqliteFrontier | None = None,
        archive: type[MemoryArchive] | None = MemoryArchive,
        elapsed_s: float = 0.0,
        peer: str | None = None,
        began_at: float = FakeClock().now(),
        **settings: object,
    ) -> None:
        self.clock = FakeClock(began_at)
        self.web = FakeWeb(answers, self.clock, elapsed_s=elapsed_s, peer=peer)
        self.frontier = frontier or MemoryFrontier()
        self.archive = archive() if archive else None
        self.folder = Path(mkdtemp(dir=self.root))
        self.index = TantivyIndex(self.folder)
        self.outcomes: list[Outcome] = []
        self.settings = Settings(seeds=seeds or (HOME,), **settings)  # type: ignore[arg-type]
        urls = [url for url in map(parse_url, self.settings.seeds) if url]
        self.scope = Scope(self.settings, urls, AddressGuard([ip_network("127.0.0.0/8")]))
        self.frontier.add(Discovery(url, 0) for url in urls)
        self.batch = Batch(self.frontier, self.frontier, self.archive, self.index, self.clock, self.outcomes.append)
        encode = encode_capture if self.archive else None
        self.crawler = Crawler(
            self.settings,
            leases=self.frontier,
            sink=self.batch,
            transport=self.web,
            permission=Permission(self.settings, "goodbot", self.web, self.frontier, self.clock),
            politeness=Politeness(self.settings),
            **readers_of(self.settings, "goodbot", self.scope, encode=encode, prepare=prepare)._asdict(),
            clock=self.clock,
            lessons=self.frontier,
        )

    def asked(self) -> list[str]:
        """Pages sent for, in order, robots.txt left out."""
        return [r.url.text for r in self.web.requests if not r.url.text.endswith("/robots.txt")]

    def times(self) -> list[float]:
        """When pages were sent for."""
        sent = zip(self.web.requests, self.web.times, strict=True)
        return [at for request, at in sent if not request.url.text.endswith("/robots.txt")]

    def decisions(self) -> list[tuple[str, str]]:
        """Every decision and its reason, in order."""
        return [(event.decision, event.reason) for outcome in self.outcomes for event in outcome.events]

    def states(self) -> dict[str, str]:
        """State by URL."""
        return {record.url.text: record.state for record in self.frontier.records()}

    def indexed(self) -> set[str]:
        """URLs that can be found: every page here has the title `title`."""
        search = TantivySearch(self.folder, now=self.clock.now)
        return {hit.url for hit in search.search("title", 100).hits}

    def why(self, url: str) -> str:
        """The sentence kept about a URL."""
        return next(record.why for record in self.frontier.records() if record.url.text == url)


def robots(body: str) -> Response:
    """A robots.txt."""
    return Response(200, (("Content-Type", "text/plain"),), body.encode())


@pytest.fixture(autouse=True)
def root(tmp_path: Path) -> Path:
    """Where scenes keep their index."""
    Scene.root = tmp_path
    return tmp_path


async def test_a_small_site() -> None:
    scene = Scene(
        {
            HOME + "robots.txt": robots("User-agent: *\nDisallow: /private/\n"),
            HOME: page("a", "private/x", "gone", "moved", "http://other.example/"),
            HOME + "a": page("/", "a"),
            HOME + "moved": Response(301, (("Location", "/target"),), b""),
            HOME + "target": page(),
        }
    )
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {
        HOME: "visited",
        HOME + "a": "visited",
        HOME + "private/x": "disallowed",
        HOME + "gone": "gone",
        HOME + "moved": "visited",
        "http://other.example/": "out-of-scope",
        HOME + "target": "visited",
    }
    assert scene.crawler.visited == 4
    assert HOME + "private/x" not in scene.asked()
    assert len(scene.asked()) == len(set(scene.asked()))
    assert "line 2" in scene.why(HOME + "private/x")
    assert scene.indexed() == {HOME, HOME + "a", HOME + "target"}
    assert scene.frontier.pending() == []


async def test_what_pages_ask_for() -> None:
    scene = Scene(
        {
            HOME: page("nofollow", "noindex", "noarchive", "header"),
            HOME + "nofollow": page("hidden", head='<meta name="robots" content="nofollow">'),
            HOME + "noindex": page("b", head='<meta name="ROBOTS" content="NOINDEX">'),
            HOME + "noarchive": page(head='<meta name="robots" content="noarchive">'),
            HOME + "header": page("hidden", headers=(("X-Robots-Tag", "none"),)),
            HOME + "b": page(),
        }
    )
    await scene.crawler.run()
    assert HOME + "hidden" not in scene.states()
    assert scene.indexed() == {HOME, HOME + "nofollow", HOME + "noarchive", HOME + "b"}
    assert scene.archive is not None
    withheld = [kept.url.text for kept in scene.archive.captures() if kept.headers_only]
    assert withheld == [HOME + "noarchive"]


@pytest.mark.parametrize(
    ("followed", "names"),
    [("both", ["a", "b", "c"]), ("ugc", ["a"]), ("sponsored", ["b", "c"]), ("none", [])],
)
async def test_rel(followed: str, names: list[str]) -> None:
    body = (
        b'<a rel="nofollow" href="no">no</a><a rel="UGC,NoFollow" href="no2">no</a><a href="yes">yes</a>'
        b'<a rel="ugc" href="a">a</a><a rel="sponsored" href="b">b</a><a rel="noopener,Sponsored" href="c">c</a>'
    )
    scene = Scene(
        {HOME: Response(200, (HTML,), body), **{HOME + name: page() for name in ("yes", *names)}}, follow_rel=followed
    )
    await scene.crawler.run()
    assert scene.asked() == [HOME, HOME + "yes", *(HOME + name for name in names)]


def marked(content: str) -> str:
    """META robots."""
    return f'<meta name="robots" content="{content}">'


async def test_the_deciding_directive_is_named() -> None:
    heads = {
        "before": marked("unavailable_after: 2023-11-14"),
        "after": marked("unavailable_after: 2123-11-16"),
        "dynamic": '<meta name="document-state" content="dynamic">',
        "static": '<meta name="document-state" content="static">',
        "none": marked("none, noarchive"),
    }
    answers: Answers = {HOME: page(*heads), **{HOME + name: page("x", head=head) for name, head in heads.items()}}
    scene = Scene(answers, duplicates=False)
    await scene.crawler.run()
    assert scene.indexed() == {HOME, HOME + "after", HOME + "static"}
    reasons = {
        outcome.url.text.removeprefix(HOME): event.reason
        for outcome in scene.outcomes
        for event in outcome.events
        if event.decision == "no"
    }
    assert reasons["before"].endswith("not to be shown any longer: unavailable_after:2023-11-14 in META robots")
    assert reasons["dynamic"].endswith("not to be indexed: dynamic in META document-state")
    assert reasons["none"].endswith("not to be indexed: none in META robots")


async def test_what_may_be_shown_of_a_page() -> None:
    body = b"<title>title</title>%s<p>Seen. <span data-nosnippet>Hidden.</span></p>"
    heads = {"all": "", "none": marked("nosnippet"), "some": marked("max-snippet:3")}
    scene = Scene(
        {
            HOME: page(*heads),
            **{HOME + name: Response(200, (HTML,), body % head.encode()) for name, head in heads.items()},
        },
        duplicates=False,
    )
    await scene.crawler.run()
    hits = TantivySearch(scene.folder).search("hidden", 10).hits
    assert {hit.url.removeprefix(HOME): hit.snippet for hit in hits} == {"all": "Seen.", "none": "", "some": "S …"}


async def test_gaps_of_a_public_host() -> None:
    scene = Scene({HOME: page(*"abc"), **{HOME + name: page() for name in "abc"}})
    await scene.crawler.run()
    gaps = [later - earlier for earlier, later in zip(scene.web.times, scene.web.times[1:], strict=False)]
    assert len(gaps) == 4  # robots.txt and four pages
    assert all(gap >= 1.0 for gap in gaps)


async def test_crawl_delay() -> None:
    answers: Answers = {HOME: page(*"ab"), HOME + "a": page(), HOME + "b": page()}
    scene = Scene({**answers, HOME + "robots.txt": robots("User-agent: goodbot\nCrawl-delay: 7.5\n")})
    await scene.crawler.run()
    gaps = [later - earlier for earlier, later in zip(scene.web.times, scene.web.times[1:], strict=False)]
    assert len(gaps) == 3
    assert all(gap >= 7.5 for gap in gaps)


async def test_other_hosts_do_not_wait_for_a_slow_one() -> None:
    hosts = [f"http://h{n}.example/" for n in range(5)]
    answers: Answers = {host: page() for host in hosts}
    answers[hosts[0] + "robots.txt"] = robots("User-agent: *\nCrawl-delay: 3600\n")
    scene = Scene(answers, *hosts)
    await scene.crawler.run()
    assert scene.asked()[-1] == hosts[0]
    assert scene.web.times[-1] - scene.web.times[0] >= 3600
    others = [
        at for at, request in zip(scene.web.times, scene.web.requests, strict=True) if hosts[0] not in request.url.text
    ]
    assert max(others) - scene.web.times[0] < 10


async def test_busy_then_well() -> None:
    answers = iter([page(status=503, headers=(("Retry-After", "30"),)), page(status=429), page()])
    scene = Scene({HOME: lambda request: next(answers)})
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {HOME: "visited"}
    pages = scene.web.times[1:]
    assert pages[1] - pages[0] >= 30
    assert pages[2] - pages[1] >= 2


FAULTS: list[tuple[str, Response | Failure, str, int]] = [
    ("server error", page(status=500), "failed", 3),
    ("busy for ever", page(status=503), "failed", 8),
    ("reset", Failure("reset", "broken off"), "failed", 3),
    ("forbidden", page(status=403), "failed", 1),
    ("too slow", page(status=408), "failed", 2),
    ("misdirected", page(status=421), "failed", 2),
    ("too early", page(status=425), "failed", 2),
    ("gone", page(status=410), "gone", 1),
    ("refused by our guard", Failure("private-address", "10.0.0.1"), "failed", 1),
    ("redirect without target", Response(302, (), b""), "failed", 1),
    ("redirect to mail", Response(302, (("Location", "mailto:x@example.org"),), b""), "failed", 1),
    ("redirect to itself", Response(302, (("Location", "/"),), b""), "visited", 1),
    ("no content", Response(204, (), b""), "visited", 1),
]


@pytest.mark.parametrize(("answer", "state", "fetches"), [c[1:] for c in FAULTS], ids=[c[0] for c in FAULTS])
async def test_faults(answer: Response | Failure, state: str, fetches: int) -> None:
    scene = Scene({HOME: answer})
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {HOME: state}
    assert len(scene.asked()) == fetches


@pytest.mark.parametrize("status", [408, 421, 425])
async def test_once_more_after_its_retry_after_on_a_new_connection(status: int) -> None:
    answers = iter([page(status=status, headers=(("Retry-After", "30"),)), page()])
    scene = Scene({HOME: lambda request: next(answers)})
    assert await scene.crawler.run() == "finished"
    assert scene.states() == {HOME: "visited"}
    first, second = scene.times()
    assert second - first >= 30
    assert [request.fresh for request in scene.web.requests[1:]] == [False, True]


async def test_an_endless_chain_of_redirects_ends() -> None:
    answers: Answers = {f"{HOME}{n}": Response(302, (("Location", f"/{n + 1}"),), b"") for n in range(100)}
    scene = Scene(answers, HOME + "0")
    await scene.crawler.run()
    assert len(scene.asked()) == 11
    assert scene.states()[HOME + "10"] == "failed"


async def test_a_redirect_does_not_count_as_a_link() -> None:
    scene = Scene({HOME: Response(301, (("Location", "/en"),), b""), HOME + "en": page("deep")}, depth=0)
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited", HOME + "en": "visited", HOME + "deep": "out-of-scope"}


async def test_robots_txt_that_stays_unreachable() -> None:
    scene = Scene({HOME + "robots.txt": page(status=500), HOME: page()})
    assert await scene.crawler.run() == "finished"
    assert scene.asked() == []
    assert scene.states() == {HOME: "failed"}
    assert "unreachable" in scene.why(HOME)


async def test_robots_txt_that_comes_back() -> None:
    answers = iter([page(status=503), page(status=503), robots("")])
    scene = Scene({HOME + "robots.txt": lambda request: next(answers), HOME: page()})
    await scene.crawler.run()
    assert scene.states() == {HOME: "visited"}


@pytest.mark.parametrize("concurrency", [1, 3, 64])
async def test_max_pages_is_exact(concurrency: int) -> None:
    hosts = [f"http://h{n}.example/" for n in range(10)]
    answers: Answers = {host: page("a", "b") for host in hosts}
    scene = Scene(answers, *hosts, concurrency=concurrency)
    assert await scene.crawler.run(max_pages=7) == "max-pages"
    assert scene.crawler.visited == 7
    status = scene.frontier.status()
    assert status.states["visited"] == 7
    assert status.states["leased"] == 0
    assert not status.finished


async def test_stop_and_resume() -> None:
    names = [str(n) for n in range(30)]
    answers: Answers = {HOME: page(*names), **{HOME + name: page() for name in names}}
    first = Scene(answers)

    def stop_after_ten(request: Request) -> Response:
        first.crawler.stop()
        return page()

    answers[HOME + "10"] = stop_after_ten
    assert await first.crawler.run() == "interrupted"
    assert first.frontier.status().states["leased"] == 0
    second = Scene(answers, frontier=first.frontier)
    assert await second.crawler.run() == "finished"
    together = first.asked() + second.asked()
    assert sorted(together) == sorted({HOME, *(HOME + name for name in names)})


async def test_a_run_after_a_kill_keeps_the_delay_of_the_host(root: Path) -> None:
    answers: Answers = {HOME + "robots.txt": robots("User-agent: *\nCrawl-delay: 20\n"), HOME: page("a")}
    file = root / "frontier.sqlite"
    with SqliteFrontier.open(file, create=True) as frontier:
        await Scene(answers, frontier=frontier).crawler.run(max_pages=1)
        frontier.lease(1, 1, FakeClock().now() + 1000)  # and killed: this lease is never released
    killed_at = FakeClock().now() + 5000
    with SqliteFrontier.open(file, now=lambda: killed_at) as frontier:
        again = Scene(answers, frontier=frontier)
        again.clock.advance(5000)
        await again.crawler.run()
    assert again.asked() == [HOME + "a"]
    assert again.web.times[0] - killed_at >= 20


async def test_a_run_after_one_that_was_broken_off_keeps_the_delay_of_the_host() -> None:
    def break_off(request: Request) -> Response:
        running.cancel()
        return page()

    robots_txt: Answers = {HOME + "robots.txt": robots("User-agent: *\nCrawl-delay: 20\n")}
    first = Scene({**robots_txt, HOME: break_off})
    running = asyncio.ensure_future(first.crawler.run())
    with pytest.raises(asyncio.CancelledError):
        await running
    again = Scene({**robots_txt, HOME: page()}, frontier=first.frontier)
    again.clock.advance(first.times()[0] + 1 - again.clock.now())
    await again.crawler.run()
    assert again.times()[0] - first.times()[0] >= 20


async def test_parallel_requests_to_a_host_only_without_a_delay() -> None:
    names = [str(n) for n in range(20)]
    local = "http://127.0.0.1:8000/"
    for robots_body, most in (("", 4), ("User-agent: *\nCrawl-delay: 0.1\n", 1)):
        answers: Answers = {local: page(*names), **{local + name: page() for name in names}}
        answers[local + "robots.txt"] = robots(robots_body)
        scene = Scene(answers, local, per_host=4, elapsed_s=1.0)
        scene.frontier.add(Discovery(url, 1) for url in map(parse_url, (local + n for n in names)) if url)
        await scene.crawler.run()
        assert scene.web.most_in_flight == most
        assert scene.frontier.status().states["visited"] == 21


async def test_a_slow_host_with_a_long_lease_is_committed_while_it_goes_on() -> None:
    pages: Answers = {f"http://127.0.0.1/{number}": page() for number in range(20)}
    scene = Scene({"http://127.0.0.1/": page(*pages), **pages}, "http://127.0.0.1/", elapsed_s=3.0)
    late: list[float] = []
    scene.batch._observe = lambda outcome: late.append(scene.clock.now() - outcome.at)
    await scene.crawler.run()
    assert len(late) == 21
    assert max(late) <= 3.0 + BATCH_S


async def test_an_error_of_the_disk_ends_the_crawl() -> None:
    scene = Scene({HOME: page()}, archive=FullArchive)
    with pytest.raises(RunError, match="no space left"):
        await scene.crawler.run()
    assert scene.frontier.status().states["visited"] == 0


async def test_without_an_archive_the_index_is_committed_first() -> None:
    scene = Scene({HOME: page("a"), HOME + "a": page()}, archive=None)
    await scene.crawler.run()
    assert scene.indexed() == {HOME, HOME + "a"}
    assert scene.frontier.pending() == []


async def test_every_decision_has_an_event() -> None:
    scene = Scene({HOME + "robots.txt": robots("User-agent: *\nAllow: /\n"), HOME: page("a")})
    await scene.crawler.run()
    url = parse_url(HOME)
    assert url is not None
    record = scene.frontier.record(url)
    assert record is not None
    assert [event.step for event in record.events] == ["found", "permission", "fetch", "follow", "index", "keep"]
    assert record.events[1].line == 2


async def test_a_narrower_scope_holds_for_what_was_ready() -> None:
    frontier = MemoryFrontier()
    wide = Scene({HOME: page("a", "private/b")}, frontier=frontier)
    await wide.crawler.run(max_pages=1)
    narrow = Scene({HOME + "a": page(), HOME + "private/b": page()}, frontier=frontier, exclude=("*/private/*",))
    await narrow.crawler.run()
    assert narrow.asked() == [HOME + "a"]
    assert narrow.states()[HOME + "private/b"] == "out-of-scope"
    assert "--exclude" in narrow.why(HOME + "private/b")


async def test_a_later_run_waits_no_longer_for_a_dead_host(tmp_path: Path) -> None:
    """The back-off of a host is kept; the tries for its robots.txt have pauses of their own."""
    began_at, took_s = FakeClock().now(), []
    for _ in range(3):
        frontier = SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True)
        scene = Scene({f"{HOME}robots.txt": Failure("connect", "refused")}, frontier=frontier, began_at=began_at)
        assert await scene.crawler.run() == "finished"
        assert scene.states() == {HOME: "failed"}
        took_s.append(scene.clock.now() - began_at)
        began_at = scene.clock.now() + 1
        frontier.close()
    assert took_s == pytest.approx([15 + 75 + 375] * 3, abs=5)


# ---- manners --------------------------------------------------------------------------------------------------------

LOCAL = "http://127.0.0.1:8000/"


def site(root: str, names: Iterable[str], robots_txt: str = "") -> Answers:
    """A page for each name, linked from the first one."""
    names = list(names)
    return {root + "robots.txt": robots(robots_txt), root: page(*names), **{root + name: page() for name in names}}


def minute(at: float) -> int:
    """Of the UTC day."""
    return int(at) // 60 % 1440


@pytest.mark.parametrize("per_host", [1, 4])
async def test_retry_after_is_never_cut_short(per_host: int) -> None:
    answers = site(LOCAL, map(str, range(30)))
    busy = iter([page(status=429, headers=(("Retry-After", "30"),))])
    answers[LOCAL + "7"] = lambda request: next(busy, page())
    scene = Scene(answers, LOCAL, per_host=per_host, elapsed_s=1.0)
    await scene.crawler.run()
    answered = scene.times()[scene.asked().index(LOCAL + "7")] + 1.0
    assert not [at for at in scene.times() if answered < at < answered + 30]
    assert scene.web.most_in_flight == per_host
    assert scene.frontier.status().states["visited"] == 31


async def test_retry_after_and_back_off_outlive_the_run(root: Path) -> None:
    busy = page(status=429, headers=(("Retry-After", "3600"),))
    file = root / "frontier.sqlite"
    with SqliteFrontier.open(file, create=True) as frontier:
        first = Scene({HOME: busy}, frontier=frontier)
        first.web._answers = {HOME: lambda request: first.crawler.stop() or busy}  # type: ignore[func-returns-value]
        assert await first.crawler.run() == "interrupted"
        answered = first.times()[0]
    with SqliteFrontier.open(file) as frontier:
        again = Scene({HOME: page("a", status=503)}, frontier=frontier)
        again.clock.advance(60)
        await again.crawler.run()
    assert again.times()[0] >= answered + 3600
    assert again.times()[1] - again.times()[0] >= 10  # twice what the first one added


async def test_a_link_is_new_once() -> None:
    """Not each time it goes to the frontier, which it does again when it is found for the 2nd, 4th, 8th… time."""
    scene = Scene(
        {LOCAL + "robots.txt": robots(""), LOCAL: page("a", "b"), **{LOCAL + name: page("c") for name in "ab"}}, LOCAL
    )
    await scene.crawler.run()
    counts = [reason.partition(", 0 of these")[0] for decision, reason in scene.decisions() if " new, " in reason]
    assert counts == ["2 links, 2 new", "1 link, 1 new", "1 link, 0 new"]


async def test_request_rate() -> None:
    scene = Scene(site(LOCAL, "abc", "User-agent: *\nRequest-rate: 2/1m\n"), LOCAL)
    await scene.crawler.run()
    assert [later - earlier for earlier, later in pairwise(scene.web.times)] == [30.0] * 4
    assert (
        "rest",
        "30.0 s until the next request to the host: its robots.txt asks for 30 s between two requests",
    ) in scene.decisions()


async def test_visit_time() -> None:
    scene = Scene(site(LOCAL, "ab", "User-agent: *\nVisit-time: 2300-2330\n"), LOCAL)
    began = scene.clock.now()
    await scene.crawler.run()
    assert scene.web.times[0] == began  # robots.txt itself is asked for at any time
    assert minute(scene.times()[0]) == 23 * 60
    assert scene.times()[-1] - scene.times()[0] < 60
    held = [reason for decision, reason in scene.decisions() if decision == "held off"]
    assert len(held) == 1
    assert held[0].startswith("The robot may not crawl before 2300 UTC")


async def test_a_visit_time_that_closes_while_we_crawl() -> None:
    scene = Scene(site(HOME, "abcdef", "User-agent: *\nVisit-time: 2200-2230\nCrawl-delay: 500\n"))
    await scene.crawler.run()
    assert len(scene.times()) == 7
    assert {minute(at) // 60 for at in scene.times()} == {22}
    assert max(minute(at) for at in scene.times()) <= 22 * 60 + 30
    assert scene.times()[-1] - scene.times()[0] > 86_400


async def test_a_robots_txt_that_says_how_long_it_holds_is_read_again() -> None:
    answers = site(HOME, map(str, range(20)))
    files = iter(["", "User-agent: *\nDisallow: /19\n"] + 99 * ["User-agent: *\nDisallow: /1\n"])
    fresh = (("Cache-Control", "max-age=2"),)
    answers[HOME + "robots.txt"] = lambda request: Response(200, fresh, next(files).encode())
    scene = Scene(answers, elapsed_s=0.5)
    await scene.crawler.run()
    asked = [at for at, r in zip(scene.web.times, scene.web.requests, strict=True) if r.url.path == "/robots.txt"]
    assert min(later - earlier for earlier, later in pairwise(asked)) >= 5
    assert scene.states()[HOME + "19"] == "disallowed"


# what a site answers with, which of it is asked, and why the rest fails
TOO_LONG: list[tuple[str, Answers, list[str], str]] = [
    ("Crawl-delay", {"robots.txt": robots("User-agent: *\nCrawl-delay: 1000000000\n")}, ["robots.txt"],
     "its robots.txt asks for 1000000000 s between two requests, more than --crawl-delay-most 3600"),
    ("Crawl-delay of 5,000 digits", {"robots.txt": robots(f"User-agent: *\nCrawl-delay: {'9' * 5000}\n")},
     ["robots.txt"],
     "its robots.txt asks for 10000000000 s or more between two requests, more than --crawl-delay-most 3600"),
    ("Request-rate of 5,000 digits", {"robots.txt": robots(f"User-agent: *\nRequest-rate: 1/{'9' * 5000}h\n")},
     ["robots.txt"],
     "its robots.txt asks for 10000000000 s or more between two requests, more than --crawl-delay-most 3600"),
    ("Request-rate", {"robots.txt": robots("User-agent: *\nRequest-rate: 1/2h\n")}, ["robots.txt"],
     "its robots.txt asks for 7200 s between two requests, more than --crawl-delay-most 3600"),
    ("of a page", {"": page(status=503, headers=(("Retry-After", "2592000"),))}, ["robots.txt", ""],
     "its Retry-After asks for 2592000 s, more than retry_after_most 86400 in goodbot.toml"),
    ("of robots.txt", {"robots.txt": Response(503, (("Retry-After", "9" * 400),), b"")}, ["robots.txt"],
     f"its Retry-After asks for {'9' * 20}… (400 digits) s, more than retry_after_most 86400 in goodbot.toml"),
    ("of a redirect", {"robots.txt": Response(302, (("Retry-After", "2592000"), ("Location", "/r")), b"")},
     ["robots.txt"], "its Retry-After asks for 2592000 s, more than retry_after_most 86400 in goodbot.toml"),
]  # fmt: skip


@pytest.mark.parametrize(("answers", "asked", "why"), [case[1:] for case in TOO_LONG], ids=[c[0] for c in TOO_LONG])
@pytest.mark.parametrize("per_host", [1, 4])
@pytest.mark.parametrize("pages", [0, 3, 100])
async def test_a_host_that_asks_for_more_than_a_crawl_waits_is_left_alone(
    answers: Answers, asked: list[str], why: str, per_host: int, pages: int
) -> None:
    urls = [HOME, *(f"{HOME}{number}" for number in range(pages))]
    other = site("http://other.example/", "ab")
    scene = Scene(
        {**{HOME + name: answer for name, answer in answers.items()}, **other}, *urls, *other, per_host=per_host
    )
    began_at = scene.clock.now()
    assert await scene.crawler.run() == "finished"
    assert [r.url.text for r in scene.web.requests if r.url.host == "example.org"] == [HOME + name for name in asked]
    assert scene.clock.now() - began_at < 60.0
    states = scene.states()
    assert {states[url] for url in urls} == {"failed"}
    assert {scene.why(url) for url in urls} == {why}
    assert ("given up", why) in scene.decisions()
    assert {states[url] for url in other if not url.endswith("robots.txt")} == {"visited"}


async def test_a_page_that_is_read_may_ask_for_more_than_a_crawl_waits() -> None:
    answers = site(HOME, "abcd")
    home = answers[HOME]
    assert isinstance(home, Response)
    answers[HOME] = replace(home, headers=(*home.headers, ("Retry-After", "31536000")))
    scene = Scene(answers)
    began_at = scene.clock.now()
    assert await scene.crawler.run() == "finished"
    assert [request.url.path for request in scene.web.requests] == ["/robots.txt", "/"]
    assert scene.clock.now() - began_at < 60.0
    why = "its Retry-After asks for 31536000 s, more than retry_after_most 86400 in goodbot.toml"
    assert scene.states() == {HOME: "visited", **{f"{HOME}{name}": "failed" for name in "abcd"}}
    assert {scene.why(f"{HOME}{name}") for name in "abcd"} == {why}
    assert (scene.frontier.next_ready_at() or inf) - began_at > 86_400


async def test_the_longest_accepted_delay_is_waited_for() -> None:
    for answers in (
        site(HOME, "ab", "User-agent: *\nCrawl-delay: 3600\n"),
        site(HOME, "ab") | {HOME: page("a", headers=(("Retry-After", "86400"),))},
    ):
        scene = Scene(answers)
        await scene.crawler.run()
        assert set(scene.states().values()) == {"visited"}


async def test_a_host_requested_for_another_keeps_its_own_pace() -> None:
    third = "http://third.example/"
    hosts = [f"http://h{number}.example/" for number in range(20)]
    answers = site(third, "abcdef", "User-agent: *\nCrawl-delay: 3\n")
    for number, host in enumerate(hosts):
        answers |= {host: page(), host + "robots.txt": Response(302, (("Location", f"{third}r{number}"),), b"")}
        answers[f"{third}r{number}"] = robots("User-agent: *\nDisallow: /no\n")
    scene = Scene(answers, third, *hosts)
    assert await scene.crawler.run() == "finished"
    assert {scene.states()[host] for host in hosts} == {"visited"}
    sent = zip(scene.web.requests, scene.web.times, strict=True)
    times = [at for request, at in sent if request.url.host == "third.example"]
    assert len(times) == 1 + 7 + 20
    assert min(later - earlier for earlier, later in pairwise(times[1:])) >= 3.0


async def test_a_dead_host_gets_longer_and_longer_delays_and_is_given_up() -> None:
    other = "http://other.example/"
    answers = site(HOME, map(str, range(200))) | site(other, "ab")
    answers |= {HOME + str(number): Failure("reset", "broken off") for number in range(200)}
    scene = Scene(answers, HOME, other)
    assert await scene.crawler.run() == "finished"
    assert scene.times()[-1] - scene.times()[0] < 3 * 3600
    troubled = [at for at, url in zip(scene.times(), scene.asked(), strict=True) if url[-1:].isdigit()]
    gaps = [later - earlier for earlier, later in pairwise(troubled)]
    assert gaps == [6.0, 11.0, 21.0, 41.0, 81.0, 161.0, 321.0, 641.0, 1281.0, 2561.0, 3601.0]
    states = scene.frontier.status().states
    assert (states["visited"], states["failed"]) == (4, 200)
    assert len(scene.asked()) == 16
    assert ("given up", "its host answered 429 or 503, or did not answer, too many times in a row") in scene.decisions()


async def test_a_host_that_recovers_is_trusted_again() -> None:
    answers = site(LOCAL, map(str, range(20)))
    replies = iter(3 * [page(status=503)])
    answers |= {LOCAL + str(number): lambda request: next(replies, page()) for number in range(20)}
    scene = Scene(answers, LOCAL)
    await scene.crawler.run()
    gaps = [round(later - earlier) for earlier, later in pairwise(scene.times())]
    assert gaps[1:7] == [1, 2, 4, 2, 1, 0]
    assert scene.frontier.status().states["visited"] == 21


async def test_many_answers_429_at_once_are_one_trouble() -> None:
    answers = site(LOCAL, map(str, range(20)))
    for number in range(20):
        replies = iter([page(status=429)])
        answers[LOCAL + str(number)] = lambda request, replies=replies: next(replies, page())  # type: ignore[misc]
    scene = Scene(answers, LOCAL, per_host=8, elapsed_s=1.0)
    scene.frontier.add(Discovery(url, 1) for url in map(parse_url, answers) if url and url.path != "/robots.txt")
    await scene.crawler.run()
    waits = [reason for decision, reason in scene.decisions() if decision == "rest"]
    assert all("adds 1 s" in reason for reason in waits[:8])
    assert scene.frontier.status().states["visited"] == 21


async def test_an_origin_that_asks_for_a_delay_is_not_requested_while_another_of_its_host_is() -> None:
    other = "https://127.0.0.1:8000/"
    answers = site(LOCAL, map(str, range(10))) | site(other, map(str, range(10)), "User-agent: *\nCrawl-delay: 0.2\n")
    scene = Scene(answers, LOCAL, other, per_host=4, elapsed_s=1.0)
    scene.frontier.add(Discovery(url, 1) for url in map(parse_url, answers) if url and url.path != "/robots.txt")
    await scene.crawler.run()
    sent = list(zip(scene.times(), scene.asked(), strict=True))
    for at, url in sent:
        if url.startswith(other):
            assert not [1 for before, _ in sent if at - 1.0 < before < at]
            assert not [1 for after, _ in sent if at < after < at + 1.2]
    assert len(sent) == 22
    assert scene.frontier.status().states["visited"] == 22


async def test_hosts_at_one_address_take_turns() -> None:
    hosts = [f"http://h{number}.example/" for number in range(6)]
    answers: Answers = {}
    for host in hosts:
        answers |= site(host, "ab")
    scene = Scene(answers, *hosts, peer="8.8.8.8", elapsed_s=0.5)
    await scene.crawler.run()
    gaps = [later - earlier for earlier, later in pairwise(scene.times())]
    assert min(gaps) >= 0.75
    assert len(scene.times()) == 18
    apart = Scene(answers, *hosts, peer="127.0.0.1", elapsed_s=0.5)
    await apart.crawler.run()
    assert apart.web.most_in_flight == 6


async def test_the_dialect_of_the_crawl() -> None:
    scene = Scene({HOME + "robots.txt": page(status=403), HOME: page()}, dialect="1996")
    await scene.crawler.run()
    assert scene.states() == {HOME: "disallowed"}
    assert scene.why(HOME) == "robots.txt is refused (status 403), so the whole site is disallowed."


async def test_pages_of_a_host_leave_the_index_at_once_and_none_follows() -> None:
    """Those indexed before, those that wait for their commit, and those read afterwards."""
    other = "http://other.example/"
    scene = Scene({HOME: page("a"), HOME + "a": page("b"), HOME + "b": page(), other: page()}, HOME, other)
    assert await scene.crawler.run(max_pages=3) == "max-pages"
    scene.batch.commit()
    assert other in scene.indexed()
    before = scene.indexed() - {other}
    assert before
    outcomes = [_visited(scene, url) for url in scene.states() if url.startswith(HOME) and url not in before]
    waiting, late = outcomes[0], _visited(scene, HOME + "late")
    scene.frontier.add([Discovery(late.outcome.url, 0)])
    scene.frontier.lease(9, 9, scene.clock.now() + 9)
    scene.batch.add(waiting)
    steps = scene.batch.unlist("example.org", [[Url(url)] for url in sorted(before)])
    assert len(list(steps)) == len(before) - 1
    assert scene.indexed() == {other}
    scene.batch.add(late)
    scene.batch.commit_all()
    assert scene.indexed() == {other}
    assert scene.frontier.pending() == []
    assert scene.states()[late.outcome.url.text] == "visited"


def _visited(scene: Scene, url: str) -> VisitResult:
    outcome = Outcome(Url(url), "visited", scene.clock.now(), "status 200", to_index=True)
    return VisitResult(outcome, prepare(Document(id=url, url=url, title="title", text="")))
