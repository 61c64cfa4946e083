"""The pages for visitors over a real crawl: submissions, IndexNow, copies, removals and stories, as a browser gets
them."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from urllib.parse import quote, urlencode

from goodbot.crawl_folder import open_search_or_nothing
from goodbot.web import Rate, Site, create_app, running
from journey.goodbot_process import goodbot
from visitors.visited_crawls import INSIDE, PUBLIC, crawl, services, url_at
from web.library import Answer, Visitor
from webserver import WebServer, answer

KEY = "0123456789abcdef"
TEXT = [("Content-Type", "text/plain")]
FORM = {"Content_Type": "application/x-www-form-urlencoded"}
PAGES = {
    "/robots.txt": answer(b"User-agent: *\nDisallow: /secret\n", headers=TEXT),
    "/": answer(
        b"<title>Home</title>home <a href=/zebra>z</a> <a href=/secret>s</a> <a href=/quiet>q</a> <a href=/gone>g</a>"
        b"<a href=/kept-out>k</a>"
    ),
    "/zebra": answer(b"<title>Zebra</title><h1>Zebras</h1><script>alert(1)</script><a href=/>home</a>"),
    "/quiet": answer(b"<title>Quiet</title><meta name=robots content=noindex>zebra"),
    "/kept-out": answer(b"<title>Kept</title><meta name=robots content=noarchive>zebra herd"),
}


class Pages:
    """The pages that are served for a crawl of `server`."""

    def __init__(self, visitor: Visitor, server: WebServer) -> None:
        self._visitor = visitor
        self._server = server

    def url(self, path: str) -> str:
        return url_at(self._server, path).text

    async def get(self, page: str, path: str = "", **fields: str) -> Answer:
        given = {**({"url": self.url(path)} if path else {}), **fields}
        return await asyncio.to_thread(self._visitor.ask, f"{page}?{urlencode(given)}")

    async def post(self, page: str, **fields: str) -> Answer:
        return await asyncio.to_thread(self._visitor.ask, page, "POST", urlencode(fields).encode(), **FORM)

    async def post_json(self, page: str, value: object) -> Answer:
        body = json.dumps(value).encode()
        return await asyncio.to_thread(self._visitor.ask, page, "POST", body, Content_Type="application/json")


@asynccontextmanager
async def pages_of(folder: Path) -> AsyncIterator[tuple[Pages, WebServer]]:
    """A site, its crawl, and the pages that show it."""
    async with WebServer(PAGES) as server:
        await crawl(server, folder)
        desk = services(folder)
        search = open_search_or_nothing(folder, desk.removals.hidden)
        with running(create_app(search, Site("Sample", post_rate=Rate(0, 1)), visitors=desk)) as base:
            yield Pages(Visitor(base), server), server


async def test_stories(tmp_path: Path) -> None:
    headings = {
        "/zebra": "Search can find this page",
        "/quiet": "Search does not find this page",
        "/secret": "robots.txt forbids this page",
        "/gone": "There is no such page",
        "/elsewhere": "The crawl does not know this URL",
    }
    async with pages_of(tmp_path) as (pages, _):
        found = {path: (await pages.get("/why", path)).text for path in headings}
        assert {path: _heading(html) for path, html in found.items()} == headings
        assert "line 2" in found["/secret"]
        assert "warc.gz" not in found["/zebra"]
        assert [path for path, html in found.items() if 'action="/submit"' in html] == ["/gone", "/elsewhere"]
        assert [path for path, html in found.items() if 'href="/cached?' in html] == ["/zebra"]
        assert 'action="/submit"' not in (await pages.get("/why", url="https://elsewhere.example/")).text
        assert f"linked from a page of {PUBLIC}" in found["/zebra"]
        story = json.loads((await pages.get("/api/why", "/zebra")).text)
        why = await goodbot("why", pages.url("/zebra"), "--in", tmp_path, "--json")
        assert why.json.keys() <= story.keys()
        assert (story["state"], story["in_index"]) == ("visited", True)
        assert [event["step"] for event in story["events"]] == [event["step"] for event in why.json["events"]]


async def test_a_page_that_is_gone_comes_back(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as (pages, _):
        answer = json.loads((await pages.post_json("/api/submit", {"url": pages.url("/gone")})).text)
        assert (answer["result"], answer["state_before"], answer["state"]) == ("submitted", "gone", "ready")
        assert _heading((await pages.get("/why", "/gone")).text) == "This page waits for a visit"


async def test_addresses_without_a_scheme(tmp_path: Path) -> None:
    """Copied from the results, where they have none."""
    async with pages_of(tmp_path) as (pages, _):
        address = pages.url("/zebra").removeprefix("http://")
        assert _heading((await pages.get("/why", url=address)).text) == "Search can find this page"
        assert json.loads((await pages.get("/api/why", url=address)).text)["url"] == pages.url("/zebra")
        assert "This is a copy of" in (await pages.get("/cached", url=address)).text
        assert "Search can find this page now." in (await pages.get("/removal", url=address)).text
        unknown = pages.url("/brand-new").removeprefix("http://")
        posted = await pages.post("/submit", url=unknown)
        assert posted.headers["Location"] == f"/submit?url={quote(pages.url('/brand-new'), safe='')}"
        for address in (unknown, pages.url("/zebra")):
            answer = json.loads((await pages.post_json("/api/submit", {"url": address})).text)
            assert (answer["result"], answer["url"][:7]) == ("known", "http://")


async def test_copies(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as (pages, _):
        page, document = await pages.get("/cached", "/zebra"), await pages.get("/cached/document", "/zebra")
        assert (page.status, document.status) == (200, 200)
        assert "This is a copy of" in page.text
        assert "<h1>Zebras</h1>" in document.text
        assert document.headers["Content-Security-Policy"].startswith("sandbox ")
        for path, reason in (("/kept-out", "asks not to be archived"), ("/quiet", "not to be indexed")):
            refused = await pages.get("/cached", path)
            assert (refused.status, reason in refused.text) == (404, True)


async def test_submissions(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as (pages, server):
        posted = await pages.post("/submit", url=pages.url("/new"))
        assert posted.status == 303
        shown = await pages.get("/submit", "/new")
        assert posted.headers["Location"] == f"/submit?url={quote(pages.url('/new'), safe='')}"
        assert _heading(shown.text) == "This page waits for its first visit"
        results = {
            pages.url("/newer"): (200, "submitted"),
            pages.url("/zebra"): (200, "known"),
            pages.url("/secret"): (403, "disallowed"),
            f"http://{INSIDE}:{server.port}/": (403, "out of scope"),
            "http://127.0.0.2/": (403, "private"),
        }
        for url, expected in results.items():
            done = await pages.post_json("/api/submit", {"url": url})
            assert (done.status, json.loads(done.text)["result"]) == expected, url
        server.routes["/new"] = answer(b"<title>New</title>new")
        await crawl(server, tmp_path)
        assert _heading((await pages.get("/why", "/new")).text) == "Search can find this page"


async def test_indexnow(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as (pages, server):
        body = {"host": f"{PUBLIC}:{server.port}", "key": KEY, "urlList": [pages.url("/reported")]}
        assert (await pages.post_json("/indexnow", body)).status == 403
        server.routes[f"/{KEY}.txt"] = answer(KEY.encode(), headers=TEXT)
        taken = await pages.post_json("/indexnow", body)
        assert (taken.status, json.loads(taken.text)) == (200, {"message": "1 of 1 URLs belong to this crawl"})
        assert (await pages.get("/indexnow", "/reported", key=KEY)).status == 200
        assert json.loads((await pages.get("/api/why", "/reported")).text)["state"] == "ready"


async def test_a_removal(tmp_path: Path) -> None:
    async with pages_of(tmp_path) as (pages, server):
        refused = await pages.post("/removal", url=pages.url("/zebra"))
        assert refused.status == 422
        file, content = (unescape(text) for text in re.findall(r'<dd><code dir="ltr">([^<]*)</code>', refused.text))
        server.routes[file.removeprefix(pages.url("/").rstrip("/"))] = answer(content.encode(), headers=TEXT)
        removed = await pages.post("/removal", url=pages.url("/zebra"))
        assert removed.status == 303
        assert _heading((await pages.get("/removal", "/zebra")).text) == "Removed from the search"
        assert (await pages.get("/cached", "/zebra")).status == 404
        assert _heading((await pages.get("/why", "/zebra")).text) == "This page was removed at its owner's request"
        hits = json.loads((await pages.get("/api/search", q="zebras")).text)["hits"]
        assert pages.url("/zebra") not in [hit["url"] for hit in hits]


def _heading(html: str) -> str:
    found = re.search(r"<h1>([^<]*)</h1>", html)
    return unescape(found[1]) if found is not None else ""
