"""Stories of URLs from a real crawl: its frontier, its index and its removals."""

import shutil
from pathlib import Path

from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.removals import RemovalFile
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.values import Discovery
from goodbot.visitor_values import CachedCopy, Removal, Story
from goodbot.visitors.stories import UrlStories
from visitors.visited_crawls import PUBLIC, crawl, services, url_at
from webserver import WebServer, answer

HTML = ("Content-Type", "text/html; charset=utf-8")
NAMES = ("page", "copy", "noindex", "gone", "moved", "closed", "empty", "later", "noarchive", "nosnippet")


def page(body: str, *headers: tuple[str, str], status: int = 200) -> bytes:
    return answer(body.encode(), status, (HTML, *headers))


def site() -> dict[str, bytes]:
    links = "".join(f"<a href=/{name}>{name}</a>" for name in NAMES)
    rules = answer(b"User-agent: *\nDisallow: /closed\n", headers=[("Content-Type", "text/plain")])
    return {
        "/robots.txt": rules,
        "/": page(f"<title>Home</title>{links}"),
        "/page": page("<title>Page</title>" + "some words of the page " * 20),
        "/copy": page("<title>Page</title>" + "some words of the page " * 20 + "<!-- a copy -->"),
        "/noindex": page("<title>N</title><meta name=robots content=noindex>hidden words"),
        "/gone": page("", status=404),
        "/moved": page("", ("Location", "/page"), status=301),
        "/empty": page("<p></p>"),
        "/later": page("<title>L</title><meta name=robots content='unavailable_after: 2036-01-01'>lasting words"),
        "/noarchive": page("<title>N</title><meta name=robots content=noarchive>secret words"),
        "/nosnippet": page("<title>S</title><meta name=robots content=nosnippet>other words"),
    }


async def test_stories(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        stories = services(tmp_path).stories

        def story(path: str, name: str = PUBLIC) -> Story:
            return stories.story_of(url_at(server, path, name))

        told = {path: (story(path).in_index, story(path).summary) for path in ("/", *(f"/{name}" for name in NAMES))}
        assert told == {
            "/": (True, "it is in the search index"),
            "/page": (True, "it is in the search index"),
            "/copy": (False, f"it is a copy of {url_at(server, '/page')}, which is shown instead"),
            "/noindex": (False, "the page asks not to be indexed: noindex in META robots"),
            "/gone": (False, "its server reports that the page does not exist: status 404"),
            "/moved": (False, f"its server redirects it (status 301, to {url_at(server, '/page')})"),
            "/closed": (False, "robots.txt forbids it (line 2)"),
            "/empty": (False, "no text found in text/html"),
            "/later": (True, "it is in the search index"),
            "/noarchive": (True, "it is in the search index"),
            "/nosnippet": (True, "it is in the search index"),
        }
        assert story("/page").title == "Page"
        assert story("/copy").same_as == url_at(server, "/page")
        assert story("/page?utm_source=x").requested_as == url_at(server, "/page")
        assert story("/page?utm_source=x").in_index is True
        assert story("/new").summary == "the crawl has followed no link to it"
        assert story("/closed/new").summary == (
            "the crawl has followed no link to it, and robots.txt forbids it (line 2)"
        )
        assert story("/", "other.example").summary.startswith("it does not belong to this crawl: other.example is not")

        with SqliteFrontier.open(tmp_path / "frontier.sqlite") as frontier:
            frontier.add(Discovery(url_at(server, f"/{number}"), number) for number in range(3))
        assert story("/2").summary == "it was not fetched yet: 2 URLs of its host come first"
        assert story("/2").advice == "the crawl fetches the page when the operator runs the crawl again"
        running = ControlFolder(tmp_path)
        running.attend()
        try:
            assert story("/2").advice == "wait for its turn"
        finally:
            running.close()

        RemovalFile(tmp_path).add(Removal("1", 1.0, "token file", "x", site=f"{PUBLIC}:{server.port}"))
        assert (story("/page").in_index, story("/page").summary) == (True, "it was removed at its owner's request")
        assert RemovalFile(tmp_path).drop({"1"})

        with SqliteFrontier.open(tmp_path / "frontier.sqlite") as frontier:
            frontier.bar_host(PUBLIC)
        assert story("/new").summary == "the operator of this crawl has excluded this host"


async def test_what_has_a_copy(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        opened = services(tmp_path)
        paths = ("/", *(f"/{name}" for name in NAMES), "/new")
        have = {path for path in paths if opened.stories.story_of(url_at(server, path)).has_copy}
        assert have == {"/", "/page", "/later"}
        assert have == {path for path in paths if isinstance(opened.copies.copy_of(url_at(server, path)), CachedCopy)}
        RemovalFile(tmp_path).add(Removal("1", 1.0, "token file", "x", site=f"{PUBLIC}:{server.port}"))
        assert not opened.stories.story_of(url_at(server, "/page")).has_copy


async def test_a_page_whose_time_is_over(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        folder, url = CrawlFolder(tmp_path), url_at(server, "/later")
        story = UrlStories(folder, CrawlBounds(folder), now=lambda: 2_082_758_400.0).story_of(url)
        assert (story.in_index, story.has_copy) == (False, False)
        assert story.summary == "the page asks not to be shown after 2036-01-01 00:00:00 UTC"
        assert story.advice == "remove `unavailable_after`, or give it a later date"
        assert services(tmp_path).stories.story_of(url).in_index is True


async def test_an_index_that_comes_and_goes(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        stories, url = services(tmp_path).stories, url_at(server, "/page")
        index = tmp_path / "index"
        index.rename(tmp_path / "away")
        assert stories.story_of(url).in_index is None
        assert "cannot be read" in stories.story_of(url).summary
        (tmp_path / "away").rename(index)
        assert stories.story_of(url).in_index is True
        shutil.rmtree(index)
        assert stories.story_of(url).in_index is None


async def test_a_crawl_without_an_index(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path, "--no-index")
        stories = services(tmp_path).stories
        story = stories.story_of(url_at(server, "/page"))
        assert (story.in_index, story.summary) == (None, "this crawl keeps no search index")
        have = {name for name in NAMES if stories.story_of(url_at(server, f"/{name}")).has_copy}
        assert have == {"page", "copy", "empty", "later", "nosnippet"}  # META tags are not read again
