"""Cached copies: of a real crawl, its frontier and its archive."""

import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.archive_values import ArchivedResponse
from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.search_values import Hidden
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import NOT_INDEXED, Event, LastVisit, RecordRef, Response, State, UrlRecord
from goodbot.visitor_values import CachedCopy, NoCopy
from goodbot.visitors.copies import CachedCopies, copy_from, hides, withheld
from page.documents import made_pdf
from visitors.visited_crawls import PUBLIC, crawl, url_at
from web.russian import english_in
from webserver import WebServer, answer

HTML = ("Content-Type", "text/html; charset=utf-8")
NAMES = (
    "text",
    "koi",
    "gzip",
    "base",
    "noarchive",
    "nosnippet",
    "short",
    "header",
    "noindex",
    "later",
    "gone",
    "moved",
)


def page(body: str, *headers: tuple[str, str], status: int = 200) -> bytes:
    return answer(body.encode(), status, (HTML, *headers))


def site() -> dict[str, bytes]:
    links = "".join(f"<a href=/{name}>{name}</a>" for name in NAMES)
    text = answer("кот & <b>\n".encode(), headers=[("Content-Type", "text/plain; charset=utf-8")])
    packed = answer(gzip.compress(b"<title>Packed</title>words"), headers=[HTML, ("Content-Encoding", "gzip")])
    return {
        "/": page(f"<title>Home</title>{links}"),
        "/text": text,
        "/koi": answer(
            "<title>Кот</title>мяу".encode("koi8-r"), headers=[("Content-Type", "text/html; charset=koi8-r")]
        ),
        "/gzip": packed,
        "/base": page("<title>Base</title><base href=/dir/><a href=x>x</a> words"),
        "/noarchive": page("<title>N</title><meta name=robots content=noarchive>secret words"),
        "/nosnippet": page("<title>N</title><meta name=robots content=nosnippet>other words"),
        "/short": page("<title>S</title><meta name=goodbot content='max-snippet:0'>some words"),
        "/header": page("<title>H</title>kept words", ("X-Robots-Tag", "noarchive")),
        "/noindex": page("<title>N</title><meta name=robots content=noindex>hidden words"),
        "/later": page("<title>L</title><meta name=robots content='unavailable_after: 2036-01-01'>lasting words"),
        "/gone": page("", status=404),
        "/moved": page("", ("Location", "/text"), status=301),
    }


class Shelf:
    """The copies of a crawl, with a clock and removals that the test sets."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hidden = Hidden()
        self.now = 1_800_000_000.0
        crawl_folder = CrawlFolder(folder)
        self.copies = CachedCopies(crawl_folder, CrawlBounds(crawl_folder), lambda: self.hidden, lambda: self.now)

    def copy(self, server: WebServer, path: str) -> CachedCopy:
        found = self.copies.copy_of(url_at(server, path))
        assert isinstance(found, CachedCopy)
        return found

    def why_not(self, server: WebServer, path: str) -> str:
        found = self.copies.copy_of(url_at(server, path))
        assert isinstance(found, NoCopy)
        assert english_in(found.reason) == []
        return found.reason


async def test_copies(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        shelf = Shelf(tmp_path)
        home = shelf.copy(server, "/")
        assert (home.title, home.media_type, home.text, home.base) == ("Home", "text/html", None, url_at(server, "/"))
        assert home.html is not None
        assert home.html.startswith("<title>Home</title><a href=/text>")
        text = shelf.copy(server, "/text")
        assert (text.html, text.text, text.media_type) == (None, "кот & <b>\n", "text/plain")
        assert shelf.copy(server, "/koi").html == "<title>Кот</title>мяу"
        assert shelf.copy(server, "/gzip").html == "<title>Packed</title>words"
        assert shelf.copy(server, "/base").base == url_at(server, "/dir/")
        assert shelf.copy(server, "/?utm_source=x").url == url_at(server, "/")
        assert shelf.copy(server, "/later").title == "L"
        with SqliteFrontier.open(tmp_path / "frontier.sqlite", read_only=True) as frontier:
            record = frontier.record(url_at(server, "/"))
        assert record is not None
        assert home.fetched_at == pytest.approx(record.fetched_at, abs=1e-5)


def forget_robots_txt(folder: Path, origin: str) -> None:
    """Makes the crawl fetch it again."""
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        access = frontier.load_robots(origin)
        assert access is not None
        frontier.save_robots(origin, replace(access, valid_until=0.0))


NONE = {
    "/unknown": "this crawl does not know the page",
    "/noarchive": "the page asks not to be archived",
    "/header": "the page asks not to be archived",
    "/nosnippet": "the page asks that nothing of its text be shown",
    "/short": "the page asks that nothing of its text be shown",
    "/noindex": "the page is not in the search index: the page asks not to be indexed: noindex in META robots",
    "/gone": "the page is gone",
    "/moved": "its server redirects to another page",
}


async def test_pages_without_a_copy(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        shelf = Shelf(tmp_path)
        assert {path: shelf.why_not(server, path) for path in NONE} == NONE
        shelf.now = 2_100_000_000.0
        assert shelf.why_not(server, "/later") == "the page asks not to be shown after 2036-01-01 00:00:00 UTC"


async def test_wishes_that_come_later(tmp_path: Path) -> None:
    """Each takes effect with the next visit, also one that brings no page."""
    async with WebServer(site()) as server:
        (tmp_path / "goodbot.toml").write_text("revisit_first = 0\nrevisit_least = 0\n")
        await crawl(server, tmp_path)
        shelf = Shelf(tmp_path)
        changes = {
            "/text": answer(
                "кот & <b>\n".encode(), headers=[("Content-Type", "text/plain"), ("X-Robots-Tag", "noarchive")]
            ),
            "/koi": page("<title>Кот</title><meta name=robots content=nosnippet>"),
            "/gzip": page("", status=410),
            "/base": page("", ("Location", "/"), status=301),
            "/robots.txt": answer(b"User-agent: *\nDisallow: /later\n", headers=[("Content-Type", "text/plain")]),
        }
        server.routes.update(changes)
        forget_robots_txt(tmp_path, url_at(server, "/").origin)
        await crawl(server, tmp_path, "--keep-fresh", "--once")
        shelf.now = 0.0
        assert shelf.copy(server, "/").title == "Home"
        reasons = {path: shelf.why_not(server, path) for path in ("/text", "/koi", "/gzip", "/base", "/later")}
        assert reasons == {
            "/text": "the page asks not to be archived",
            "/koi": "the page asks that nothing of its text be shown",
            "/gzip": "the page is gone",
            "/base": "its server redirects to another page",
            "/later": "robots.txt of its site forbids the page",
        }


async def test_a_pdf(tmp_path: Path) -> None:
    pdf = made_pdf(["some words"])
    routes = {"/": answer(pdf, headers=[("Content-Type", "application/pdf")])}
    async with WebServer(routes) as server:
        await crawl(server, tmp_path)
        found = Shelf(tmp_path).copy(server, "/")
        assert (found.html, found.media_type) == (None, "application/pdf")
        assert "some words" in (found.text or "")


async def test_a_removed_page(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        shelf = Shelf(tmp_path)
        for hidden in (Hidden(frozenset({url_at(server, "/").text})), Hidden(sites=frozenset({"public.example"}))):
            shelf.hidden = hidden
            assert shelf.why_not(server, "/?utm_source=x") == "the owner of the page had it removed from this search"
        shelf.hidden = Hidden(frozenset({url_at(server, "/text").text}), frozenset({"public.example:1"}))
        assert shelf.copy(server, "/").title == "Home"


async def test_a_host_that_was_barred_while_the_crawl_runs(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        assert Shelf(tmp_path).copy(server, "/").title == "Home"
        with SqliteFrontier.open(tmp_path / "frontier.sqlite") as frontier:
            frontier.bar_host(PUBLIC)
        assert Shelf(tmp_path).why_not(server, "/") == "the operator of this crawl has excluded this host"


async def test_a_crawl_without_an_archive(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path, "--no-archive")
        assert Shelf(tmp_path).why_not(server, "/") == "this crawl keeps no archive"


async def test_a_crawl_without_an_index(tmp_path: Path) -> None:
    """Only the wishes of pages count, also while pages wait to be indexed, and after a visit that brought no page."""
    stated = "the page is not in the search index: the site asks search services to leave the page out"
    async with WebServer({**site(), "/signal": page("<title>Signal</title>", ("Content-Usage", "search=n"))}) as server:
        server.routes["/"] = page(
            "<title>Home</title><a href=/signal></a>" + "".join(f"<a href={name}></a>" for name in NAMES)
        )
        (tmp_path / "goodbot.toml").write_text("revisit_first = 0\nrevisit_least = 0\n")
        await crawl(server, tmp_path, "--no-index")
        shelf = Shelf(tmp_path)
        assert shelf.copy(server, "/").title == "Home"
        assert {path: shelf.why_not(server, path) for path in NONE} == NONE
        assert shelf.why_not(server, "/signal").startswith(stated)
        await crawl(server, tmp_path, "--no-index", "--keep-fresh", "--once")
        assert shelf.copy(server, "/").title == "Home"
        settings = (tmp_path / "goodbot.toml").read_text()
        assert "index = false" in settings
        (tmp_path / "goodbot.toml").write_text(settings.replace("index = false", "index = true"))
        assert shelf.copy(server, "/").title == "Home"


async def test_an_archive_that_has_lost_files(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        shelf = Shelf(tmp_path)
        (file,) = (tmp_path / "warc").glob("*.warc.gz")
        whole = file.read_bytes()
        lost = "the copy of the page is no longer in the archive"
        for damaged in (whole[: len(whole) // 3], b"\0" * len(whole), whole[1:] + b"\0", b""):
            file.write_bytes(damaged)
            assert shelf.why_not(server, "/base") == lost
        file.unlink()
        assert shelf.why_not(server, "/base") == lost
        file.parent.rename(tmp_path / "elsewhere")
        assert shelf.why_not(server, "/base") == lost


async def test_a_record_of_another_page(tmp_path: Path) -> None:
    """As after a mix-up of archive files: nothing is shown."""
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        with SqliteFrontier.open(tmp_path / "frontier.sqlite", read_only=True) as frontier:
            record = frontier.record(url_at(server, "/base"))
            other = frontier.record(url_at(server, "/text"))
        assert record is not None
        assert other is not None
        found = Shelf(tmp_path).copies._read(replace(record, record=other.record))
        assert found == NoCopy("the copy of the page is no longer in the archive")


# ---- what the frontier knows ----------------------------------------------------------------------------------------

URL, OTHER = Url("https://example.org/a"), Url("https://example.org/b")
RECORD = RecordRef("goodbot-20261126000000-00000.warc.gz", 7)
SEEN = LastVisit(at=1.0, due_at=2.0, interval_s=1.0, changed_at=1.0, record=RECORD, indexed=True)
OUT = replace(SEEN, indexed=False)
WITHHELD: list[tuple[str, State, LastVisit | None, dict[str, Any], str]] = [
    ("indexed", "visited", SEEN, {}, ""),
    ("due again", "ready", SEEN, {}, ""),
    ("being visited again", "leased", SEEN, {}, ""),
    ("available until later", "visited", replace(SEEN, available_until=101.0), {}, ""),
    ("no longer available", "visited", replace(SEEN, available_until=100.0), {}, "asks not to be shown after 1970"),
    ("waiting", "ready", None, {}, "has not visited the page yet"),
    ("leased", "leased", None, {}, "has not visited the page yet"),
    ("disallowed", "disallowed", None, {}, "robots.txt of its site forbids"),
    ("disallowed by now", "disallowed", SEEN, {}, "robots.txt of its site forbids"),
    ("out of scope", "out-of-scope", None, {}, "does not belong to this crawl"),
    ("failed", "failed", None, {}, "could not fetch the page"),
    ("gone by now", "gone", SEEN, {}, "is gone"),
    ("a redirect", "visited", OUT, {"status": 301}, "redirects to another page"),
    ("a copy", "visited", OUT, {"same_as": OTHER}, "is a copy of https://example.org/b"),
    ("left out", "visited", OUT, {"events": (Event(1.0, "index", "no", "a soft 404"),)}, "search index: a soft 404"),
    ("waiting to be indexed", "visited", OUT, {"events": (Event(1.0, "index", "no", NOT_INDEXED),)}, ""),
    ("left out, unknown why", "visited", OUT, {}, "search index: it left the index"),
    ("rendered", "visited", replace(SEEN, rendered=True), {}, "a browser rendered the page"),
    ("not archived", "visited", replace(SEEN, record=None), {}, "no longer in the archive"),
]


UNINDEXED: list[tuple[str, LastVisit, dict[str, Any], str]] = [
    ("visited", OUT, {"events": (Event(1.0, "index", "no", NOT_INDEXED),)}, ""),
    ("not modified", OUT, {}, ""),
    ("a copy", OUT, {"same_as": OTHER}, ""),
    ("noindex", OUT, {"events": (Event(1.0, "index", "no", "noindex in META robots"),)}, "noindex in META robots"),
    ("noindex before", replace(OUT, wishes="x-robots-tag: noindex, nofollow"), {}, "asks not to be indexed"),
    ("no search, by robots.txt", replace(OUT, wishes="robots.txt: nosearch"), {}, "asks not to be indexed"),
    ("nofollow", replace(OUT, wishes="x-robots-tag: nofollow; robots-tag: max-snippet:0"), {}, ""),
    ("a redirect", OUT, {"status": 302}, "redirects to another page"),
    ("over", replace(OUT, available_until=99.0), {}, "asks not to be shown after"),
]


@pytest.mark.parametrize(("seen", "more", "reason"), [row[1:] for row in UNINDEXED], ids=[row[0] for row in UNINDEXED])
def test_what_the_frontier_knows_without_an_index(seen: LastVisit, more: dict[str, Any], reason: str) -> None:
    found = withheld(UrlRecord(URL, "visited", 0, seen=seen, **more), 100.0, archives=True, keeps_index=False)
    assert reason in found
    assert bool(found) == bool(reason)


@pytest.mark.parametrize(
    ("state", "seen", "more", "reason"), [row[1:] for row in WITHHELD], ids=[row[0] for row in WITHHELD]
)
def test_what_the_frontier_knows(state: State, seen: LastVisit | None, more: dict[str, Any], reason: str) -> None:
    found = withheld(UrlRecord(URL, state, 0, seen=seen, **more), 100.0, archives=True)
    assert reason in found
    assert bool(found) == bool(reason)
    assert english_in(found) == ["a soft 404"] * ("a soft 404" in reason)


# ---- what the archive has -------------------------------------------------------------------------------------------


def archived(response: Response, *, headers_only: bool = False) -> ArchivedResponse:
    return ArchivedResponse(URL, 1.0, response, RECORD, headers_only)


ARCHIVED: list[tuple[str, ArchivedResponse, str]] = [
    ("withheld", archived(Response(200, (HTML,), b""), headers_only=True), "asks not to be archived"),
    ("an error", archived(Response(404, (HTML,), b"x")), "no longer in the archive"),
    (
        "an image",
        archived(Response(200, (("Content-Type", "image/png"),), b"\x89PNG")),
        "no text can be shown of image/png",
    ),
    ("of no type", archived(Response(200, (), b"\0\1")), "no text can be shown of a document without type"),
    ("empty text", archived(Response(200, (("Content-Type", "text/plain"),), b" \n")), "no text can be shown"),
    (
        "half a PDF",
        archived(Response(200, (("Content-Type", "application/pdf"),), b"%PDF-1.4")),
        "no text can be shown",
    ),
    (
        "over",
        archived(Response(200, (HTML, ("X-Robots-Tag", "unavailable_after: 2020-01-01")), b"x")),
        "after 2020-01-01",
    ),
    ("none", archived(Response(200, (HTML, ("X-Robots-Tag", "none")), b"x")), "asks not to be indexed"),
]


@pytest.mark.parametrize(("found", "reason"), [row[1:] for row in ARCHIVED], ids=[row[0] for row in ARCHIVED])
def test_what_the_archive_has(found: ArchivedResponse, reason: str) -> None:
    copy = copy_from(found, Settings(), 1_795_000_000.0)
    assert isinstance(copy, NoCopy)
    assert reason in copy.reason
    assert english_in(copy.reason) == []


def test_a_long_page_is_cut() -> None:
    bomb = gzip.compress(b"<title>x</title>" + b"y" * 50_000_000)
    copy = copy_from(archived(Response(200, (HTML, ("Content-Encoding", "gzip")), bomb)), Settings(), 1.0)
    assert isinstance(copy, CachedCopy)
    assert len(copy.html or "") == Settings().decoded_limit


HIDES = [
    (Hidden(), False),
    (Hidden(frozenset({"https://www.example.org/a"})), True),
    (Hidden(frozenset({"https://www.example.org/"})), False),
    (Hidden(sites=frozenset({"www.example.org"})), True),
    (Hidden(sites=frozenset({"example.org"})), True),
    (Hidden(sites=frozenset({"ample.org"})), False),
    (Hidden(sites=frozenset({"www.example.org:8443"})), False),
]


@pytest.mark.parametrize(("hidden", "hides_it"), HIDES)
def test_what_is_hidden(hidden: Hidden, hides_it: bool) -> None:
    assert hides(hidden, Url("https://www.example.org/a")) is hides_it
