"""The loop over a fake web and a fake clock: states, politeness, retries, bounds. Sleeping takes no time here."""

from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp
from typing import ClassVar

import pytest

from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.index import TantivyIndex, TantivySearch
from goodbot.robot.crawler import Crawler
from goodbot.robot.guard import AddressGuard
from goodbot.robot.permission import Permission
from goodbot.robot.politeness import Politeness
from goodbot.robot.reading import Reader
from goodbot.robot.scope import Scope
from goodbot.store.frontier import SqliteFrontier
from goodbot.testing import FakeClock, FakeWeb, MemoryArchive, MemoryFrontier
from goodbot.url import parse_url
from goodbot.values import Capture, Discovery, Failure, Outcome, RecordRef, Request, Response

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
HOME = "http://example.org/"
HTML = ("Content-Type", "text/html; charset=utf-8")


def page(*links: str, head: str = "", status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    """A page that links to `links`."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return Response(status, (HTML, *headers), f"<html><head><title>title</title>{head}</head><body>{anchors}".encode())


class FullArchive(MemoryArchive):
    """On a disk without room."""

    def put(self, capture: Capture, *, headers_only: bool = False) -> RecordRef:
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
        **settings: object,
    ) -> None:
        self.clock = FakeClock()
        self.web = FakeWeb(answers, self.clock, elapsed_s=elapsed_s)
        self.frontier = frontier or MemoryFrontier()
        self.archive = archive() if archive else None
        self.folder = Path(mkdtemp(dir=self.root))
        self.index = TantivyIndex(self.folder)
        self.outcomes: list[Outcome] = []
        self.settings = Settings(seeds=seeds or (HOME,), **settings)  # type: ignore[arg-type]
        urls = [url for url in map(parse_url, self.settings.seeds) if url]
        self.scope = Scope(self.settings.scope, urls, self.settings.depth, AddressGuard([]))
        self.frontier.add(Discovery(url, 0) for url in urls)
        self.crawler = Crawler(
            self.settings,
            frontier=self.frontier,
            queue=self.frontier,
            archive=self.archive,
            index=self.index,
            transport=self.web,
            permission=Permission(self.settings, "goodbot", self.web, self.frontier, self.clock),
            politeness=Politeness(self.settings),
            reader=Reader(self.settings, "goodbot", self.scope, self.archive),
            clock=self.clock,
            observe=self.outcomes.append,
        )

    def asked(self) -> list[str]:
        """Pages sent for, in order, robots.txt left out."""
        return [r.url.text for r in self.web.requests if not r.url.text.endswith("/robots.txt")]

    def states(self) -> dict[str, str]:
        """State by URL."""
        return {record.url.text: record.state for record in self.frontier.records()}

    def indexed(self) -> set[str]:
        """URLs that can be found: every page here has the title `title`."""
        return {hit.url for hit in TantivySearch(self.folder).search("title", 100).hits}

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


async def test_rel_nofollow() -> None:
    body = b'<a rel="nofollow" href="no">no</a><a href="yes">yes</a>'
    scene = Scene({HOME: Response(200, (HTML,), body), HOME + "yes": page()})
    await scene.crawler.run()
    assert scene.asked() == [HOME, HOME + "yes"]


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


async def test_a_run_after_a_kill_keeps_the_rest_of_the_host(root: Path) -> None:
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


async def test_per_host_lanes_only_where_no_rest_is_asked() -> None:
    names = [str(n) for n in range(20)]
    local = "http://127.0.0.1:8000/"
    for robots_body, most in (("", 4), ("User-agent: *\nCrawl-delay: 0.1\n", 1)):
        answers: Answers = {local: page(*names), **{local + name: page() for name in names}}
        answers[local + "robots.txt"] = robots(robots_body)
        scene = Scene(answers, local, per_host=4, elapsed_s=1.0, scope="page")
        scene.frontier.add(Discovery(url, 1) for url in map(parse_url, (local + n for n in names)) if url)
        await scene.crawler.run()
        assert scene.web.most_in_flight == most
        assert scene.frontier.status().states["visited"] == 21


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


async def test_every_decision_can_be_told() -> None:
    scene = Scene({HOME + "robots.txt": robots("User-agent: *\nAllow: /\n"), HOME: page("a")})
    await scene.crawler.run()
    url = parse_url(HOME)
    assert url is not None
    record = scene.frontier.record(url)
    assert record is not None
    assert [event.step for event in record.events] == ["found", "permission", "fetch", "follow", "index", "keep"]
    assert record.events[1].line == 2
