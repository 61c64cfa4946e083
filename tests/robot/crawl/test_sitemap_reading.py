"""Sitemaps and feeds in a crawl over a fake web: read in pieces, in turn with pages, one level deep, with limits."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from goodbot.errors import RunError
from goodbot.exclusion import RobotsTxt
from goodbot.page.list_file import BATCH_ENTRIES
from goodbot.robot.crawl.read_ahead import ReadPage
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.testing import FakeClock, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, FoundLinks, LeasedUrl, Outcome, Release, Request, Response
from robot.crawl.test_crawler import Answers, Scene, page, robots

XML = (("Content-Type", "application/xml"),)
HOST = "http://127.0.0.1"
"""Of a private host no gap is asked, so that a lease has many turns."""


@pytest.fixture(autouse=True)
def root(tmp_path: Path) -> None:
    Scene.root = tmp_path


def index(*urls: str) -> Response:
    return Response(200, XML, f"<sitemapindex>{listed('sitemap', urls)}</sitemapindex>".encode())


def urlset(*urls: str, headers: tuple[tuple[str, str], ...] = ()) -> Response:
    return Response(200, (*XML, *headers), f"<urlset>{listed('url', urls)}</urlset>".encode())


def listed(name: str, urls: Sequence[str]) -> str:
    return "".join(f"<{name}><loc>{url}</loc></{name}>" for url in urls)


class Watched(MemoryFrontier):
    """Notes what each transaction held: how many URLs were named, and which outcomes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        super().__init__(now=clock)
        self.settled: list[tuple[int, list[str]]] = []

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        links = [len(part.links) for part in found] + [len(outcome.links) for outcome in outcomes]
        self.settled.append((sum(links), [outcome.url.text for outcome in outcomes]))
        return super().settle(outcomes, releases, found)


# ---- in pieces ------------------------------------------------------------------------------------------------------


async def test_a_list_is_sent_in_pieces_and_counts_as_read_with_the_last() -> None:
    names = [f"{HOST}/p{number}" for number in range(20 * BATCH_ENTRIES)]
    frontier = Watched(FakeClock().now)
    scene = Scene({f"{HOST}/s.xml": urlset(*names, *names[:9])}, f"{HOST}/s.xml", frontier=frontier)
    await scene.crawler.run(max_pages=1)
    assert frontier.status().states["ready"] == len(names)
    links = [named for named, _ in frontier.settled if named]
    assert sum(links) == len(names)
    assert max(links) < len(names) / 2
    done = [number for number, (_, urls) in enumerate(frontier.settled) if f"{HOST}/s.xml" in urls]
    assert done == [max(number for number, (named, _) in enumerate(frontier.settled) if named)]
    assert ("yes", f"a list of {len(names):,} URLs, 0 of them out of scope") in scene.decisions()


async def test_links_of_a_list_not_read_to_its_end_are_kept_and_it_is_read_again(root: None) -> None:
    names = [f"{HOST}/p{number}" for number in range(12 * BATCH_ENTRIES)]
    path = Scene.root / "frontier.sqlite"

    class Dying(SqliteFrontier):
        has_links = False

        def settle(
            self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
        ) -> list[int]:
            self.has_links = bool(found)
            return super().settle(outcomes, releases, found)

        @contextmanager
        def together(self) -> Iterator[None]:
            with super().together():
                yield
            if self.has_links:
                raise RunError("killed")

    answers: Answers = {f"{HOST}/s.xml": urlset(*names)}
    with Dying.open(path, create=True) as frontier:
        with pytest.raises(RunError, match="killed"):
            await Scene(answers, f"{HOST}/s.xml", frontier=frontier).crawler.run(max_pages=1)
        known = sum(frontier.status().states.values())
    assert BATCH_ENTRIES < known < len(names)
    with SqliteFrontier.open(path) as resumed:
        record = resumed.record(Url(f"{HOST}/s.xml"))
        assert record is not None
        assert record.state == "ready"
        scene = Scene(answers, f"{HOST}/s.xml", frontier=resumed)
        await scene.crawler.run(max_pages=1)
        assert scene.asked() == [f"{HOST}/s.xml"]
        assert resumed.status().states["ready"] == len(names)


@pytest.mark.parametrize(
    ("headers", "why"),
    [
        ((("X-Robots-Tag", "nofollow"),), "the page asks not to be followed: nofollow in X-Robots-Tag"),
    ],
)
async def test_no_link_is_sent_of_a_list_that_asks_not_to_be_followed(
    headers: tuple[tuple[str, str], ...], why: str
) -> None:
    names = [f"{HOST}/p{number}" for number in range(3 * BATCH_ENTRIES)]
    scene = Scene({f"{HOST}/s.xml": urlset(*names, headers=headers)}, f"{HOST}/s.xml")
    await scene.crawler.run()
    assert list(scene.states()) == [f"{HOST}/s.xml"]
    assert ("no", why) in scene.decisions()


async def test_a_short_list_does_not_wait_for_a_long_one() -> None:
    scene = Scene({}, f"{HOST}/")
    lists, held = scene.crawler._reader._sitemaps, asyncio.Event()
    told: list[FoundLinks] = []

    async def waits(found: FoundLinks) -> None:
        """There is no room for more for now."""
        told.append(found)
        await held.wait()

    def read(name: str, response: Response) -> "asyncio.Task[ReadPage | None]":
        leased = LeasedUrl(Url(f"{HOST}/{name}.xml"), 0)
        request = Request(leased.url, RobotsTxt.parse(b"").verdict(leased.url.text, "test"))
        return asyncio.create_task(lists.read(leased, Capture(request, response, 0.0, 0.0), response, waits))

    long = urlset(*(f"{HOST}/p{number}" for number in range(3 * BATCH_ENTRIES)))
    first, second = read("first", long), read("second", long)
    while not told:  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0)
    short = await asyncio.wait_for(read("short", urlset(f"{HOST}/a", f"{HOST}/b")), 10.0)
    assert short is not None
    assert short.followed is not None
    assert [found.url.path for found in short.followed[0]] == ["/a", "/b"]
    assert (len(told), first.done(), second.done()) == (1, False, False)
    held.set()
    ended = await asyncio.gather(first, second)
    assert [len(ahead.page.listed) for ahead in ended if ahead] == [BATCH_ENTRIES, BATCH_ENTRIES]
    assert len(told) == 4


# ---- by turns -------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("host", [HOST, "http://example.org"])
async def test_pages_are_visited_while_many_lists_wait(host: str) -> None:
    """200 indexes of 200 names each; what these names lead to are indexes again."""

    def nested(request: Request) -> Response:
        number = request.url.path.strip("/x.")
        return index(*(f"{host}/x{number}.{child}.xml" for child in range(200)))

    answers: Answers = {
        f"{host}/robots.txt": robots(f"User-agent: *\nDisallow:\nSitemap: {host}/x.xml"),
        f"{host}/": page("/1"),
        f"{host}/1": page(*(f"/2.{number}" for number in range(10))),
        f"{host}/x.xml": index(*(f"{host}/i{number}.xml" for number in range(40_000))),
        **{f"{host}/2.{number}": page() for number in range(10)},
        **{f"{host}/i{number}.xml": nested for number in range(40_000)},
    }
    scene = Scene(answers, f"{host}/")
    await scene.crawler.run(max_pages=40)
    visited = scene.asked()
    assert {f"{host}/2.{number}" for number in range(10)} <= set(visited)
    lists = [url for url in visited if url.endswith(".xml")]
    assert len(lists) >= 10
    assert not [url for url in lists if "/x" in url and url != f"{host}/x.xml"]
    assert ("no", "a sitemap index inside a sitemap index: the protocol allows one level") in scene.decisions()


async def test_a_redirect_does_not_make_a_list_forget_where_it_was_named() -> None:
    answers: Answers = {
        f"{HOST}/x.xml": index(f"{HOST}/old.xml"),
        f"{HOST}/old.xml": Response(301, (("Location", "/new.xml"),), b""),
        f"{HOST}/new.xml": index(f"{HOST}/never.xml"),
    }
    scene = Scene(answers, f"{HOST}/x.xml")
    await scene.crawler.run()
    assert scene.asked() == [f"{HOST}/x.xml", f"{HOST}/old.xml", f"{HOST}/new.xml"]


async def test_a_sitemap_that_an_index_names_is_followed() -> None:
    answers: Answers = {
        f"{HOST}/x.xml": index(f"{HOST}/s.xml"),
        f"{HOST}/s.xml": urlset(f"{HOST}/a", f"{HOST}/t.xml"),
        f"{HOST}/a": page("/feed.xml"),
        f"{HOST}/t.xml": urlset(f"{HOST}/never"),
        f"{HOST}/feed.xml": urlset(f"{HOST}/b"),
        f"{HOST}/b": page(),
    }
    scene = Scene(answers, f"{HOST}/x.xml")
    await scene.crawler.run()
    assert set(scene.asked()) == set(answers) - {f"{HOST}/never"}
    assert f"{HOST}/never" not in scene.states()


# ---- so many --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
async def test_a_host_has_so_many_lists_and_then_the_next_run_goes_on(kind: str, tmp_path: Path) -> None:
    answers: Answers = {
        f"{HOST}/x.xml": index(*(f"{HOST}/s{number}.xml" for number in range(30))),
        **{f"{HOST}/s{number}.xml": urlset(f"{HOST}/p{number}") for number in range(30)},
        **{f"{HOST}/p{number}": page() for number in range(30)},
    }
    path = tmp_path / "frontier.sqlite"
    frontier = (
        MemoryFrontier(host_lists=20) if kind == "memory" else SqliteFrontier.open(path, create=True, host_lists=20)
    )
    scene = Scene(answers, f"{HOST}/x.xml", frontier=frontier)
    await scene.crawler.run()
    states = scene.states()
    waiting = [url for url, state in states.items() if state == "out-of-scope"]
    assert len(waiting) == 10
    assert frontier.status().finished
    assert scene.why(waiting[0]) == (
        "20 sitemaps and feeds of its host were read within a day; this one is read in the next run, or when the"
        " sitemap index that names it is visited again"
    )
    if isinstance(frontier, SqliteFrontier):
        frontier.close()
        with SqliteFrontier.open(path, host_lists=20) as resumed:
            assert resumed.reconsider(lambda url, depth: None) == 10
            await Scene(answers, f"{HOST}/x.xml", frontier=resumed).crawler.run()
            assert resumed.status().states["visited"] == 61
