"""Requests of owners to remove pages from the search: proofs on a real server, a real crawl and its index."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import DamagedError, InputError
from goodbot.exclusion import Access
from goodbot.index import TantivySearch
from goodbot.search_values import Hidden
from goodbot.url import Url
from goodbot.values import LastVisit, State, UrlRecord
from goodbot.visitor_values import Proof, Removal, RemovalAnswer
from goodbot.visitors.removals import SETTLE_S, RemovalRequests, is_over
from goodbot.visitors.submissions import VisitorRequests
from visitors.visited_crawls import CONTACT, INSIDE, PUBLIC, crawl, sites, url_at
from web.russian import english_in
from webserver import WebServer, answer

TEXT = [("Content-Type", "text/plain")]
OPEN = answer(b"User-agent: *\nDisallow: /closed\n", headers=TEXT)


def page(name: str, head: str = "") -> bytes:
    return answer(f"<title>Page {name}</title>{head}<p>words of {name}".encode())


def site() -> dict[str, bytes]:
    links = b"<a href=/a>a</a><a href=/b>b</a><a href=/gone>gone</a>"
    home = answer(b"<title>Home</title>" + links)
    return {"/robots.txt": OPEN, "/": home, "/a": page("a"), "/b": page("b"), "/gone": page("gone")}


class Desk:
    """The requests of a crawl, at a time that the test sets."""

    def __init__(self, folder: Path, settings: Settings | None = None) -> None:
        crawl_folder = CrawlFolder(folder)
        bounds = CrawlBounds(crawl_folder)
        self.ahead_s = 0.0
        self.visited = sites(settings)
        visitors = VisitorRequests(crawl_folder, bounds)
        self.removals = RemovalRequests(
            crawl_folder, bounds, self.visited, visitors, lambda: time.time() + self.ahead_s
        )
        self.search = TantivySearch(crawl_folder.index, hidden=self.removals.hidden)

    async def ask(self, url: Url | str, *, site: bool = False) -> RemovalAnswer:
        answered = await self.removals.request(str(url), site=site)
        assert english_in(answered.removal.reason if answered.removal is not None else answered.reason) == []
        return answered

    def later(self) -> Hidden:
        """What is hidden after the removals were compared with the crawl once more."""
        self.ahead_s += SETTLE_S
        return self.removals.hidden()

    def found(self) -> set[str]:
        """The paths of all pages that a search finds."""
        return {Url(hit.url).path for hit in self.search.search("page OR home").hits}


# ---- proofs ---------------------------------------------------------------------------------------------------------

NOINDEX = page("a", "<meta name=robots content=noindex>")
PROOFS: list[tuple[str, dict[str, bytes], Proof, str]] = [
    (
        "robots.txt",
        {"/robots.txt": answer(b"User-agent: *\nDisallow: /a\n", headers=TEXT)},
        "robots.txt",
        "Disallow: /a (line 2)",
    ),
    ("META", {"/a": NOINDEX}, "page", "noindex in META robots"),
    ("a header", {"/a": answer(b"x", headers=[("X-Robots-Tag", "none")])}, "page", "none in X-Robots-Tag"),
    ("404", {"/a": answer(b"", 404)}, "page", "status 404"),
    ("410", {"/a": answer(b"", 410)}, "page", "status 410"),
    ("moved", {"/a": answer(b"", 301, [("Location", "/b")])}, "page", "redirects it to http://public.example"),
]


@pytest.mark.parametrize(("changes", "proof", "reason"), [row[1:] for row in PROOFS], ids=[row[0] for row in PROOFS])
async def test_a_page_is_hidden_until_its_next_visit(
    tmp_path: Path, changes: dict[str, bytes], proof: Proof, reason: str
) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk, url = Desk(tmp_path), url_at(server, "/a")
        assert desk.found() == {"/", "/a", "/b", "/gone"}
        server.routes.update(changes)
        answered = await desk.ask(url)
        assert (answered.result, answered.subject) == ("removed", url.text)
        assert answered.removal is not None
        assert (answered.removal.proof, answered.removal.url) == (proof, url)
        assert reason in answered.reason
        until = "visited the page again" if proof == "page" else "read robots.txt again and the page is due"
        assert answered.reason.endswith(f"until the crawl has {until}")
        assert desk.found() == {"/", "/b", "/gone"}
        assert desk.later() == Hidden(frozenset({url.text}))

        asked = server.targets.count("/a")
        await crawl(server, tmp_path, "--keep-fresh", "--once")
        is_left = proof == "page"
        assert server.targets.count("/a") == asked + is_left  # after robots.txt forbade the page, it is not due
        assert desk.later() == (Hidden() if is_left else Hidden(frozenset({url.text})))
        assert desk.found() == {"/", "/b", "/gone"}


async def test_a_page_that_may_be_shown_after_all(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk = Desk(tmp_path)
        server.routes["/a"] = NOINDEX
        await desk.ask(url_at(server, "/a"))
        server.routes["/a"] = page("a")
        assert "/a" not in desk.found()
        await crawl(server, tmp_path, "--keep-fresh", "--once")
        assert desk.later() == Hidden()
        assert "/a" in desk.found()
        assert desk.removals.granted() == []


async def test_the_next_visit_requests_the_whole_page(tmp_path: Path) -> None:
    """A 304 would not show the META tag."""
    async with WebServer(site()) as server:
        server.routes["/a"] = answer(
            b"<title>Page a</title>x", headers=[("ETag", '"1"'), ("Content-Type", "text/html")]
        )
        await crawl(server, tmp_path)
        server.routes["/a"] = NOINDEX
        await Desk(tmp_path).ask(url_at(server, "/a"))
        asked = len(server.exchanges)
        await crawl(server, tmp_path, "--keep-fresh", "--once")
        (again,) = (exchange for exchange in server.exchanges[asked:] if exchange.target == "/a")
        assert again.header("If-None-Match") is None


@pytest.mark.parametrize("is_site", [False, True])
async def test_a_token_file(tmp_path: Path, is_site: bool) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk, url = Desk(tmp_path), url_at(server, "/a")
        file = desk.removals.token_file(url.text, site=is_site)
        assert file.url == url_at(server, f"/goodbot-removal-{file.content}.txt")
        assert file.subject == (f"{PUBLIC}:{server.port}" if is_site else url.text)
        answered = await desk.ask(url, site=is_site)
        assert (answered.result, answered.removal) == ("not proved", None)
        assert f"{file.url} answers with status 404" in answered.reason
        server.routes[file.url.target] = answer(file.content.encode() + b"\n", headers=TEXT)
        answered = await desk.ask(url, site=is_site)
        assert (answered.result, answered.removal is not None) == ("removed", True)
        assert answered.reason.endswith("until the operator of this search lifts it")
        assert desk.found() == (set() if is_site else {"/", "/b", "/gone"})

        await crawl(server, tmp_path, "--keep-fresh", "--once")
        assert desk.later() != Hidden()  # only the operator ends it
        (removal,) = Desk(tmp_path).removals.granted()
        assert removal.proof == "token file"
        assert not desk.removals.lift("another")
        assert desk.removals.lift(removal.id)
        assert desk.found() == {"/", "/a", "/b", "/gone"}


async def test_a_file_for_one_page_removes_nothing_else(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk = Desk(tmp_path)
        file = desk.removals.token_file(url_at(server, "/a").text)
        server.routes[file.url.target] = answer(file.content.encode(), headers=TEXT)
        assert (await desk.ask(url_at(server, "/b"))).result == "not proved"
        assert (await desk.ask(url_at(server, "/a"), site=True)).result == "not proved"
        assert desk.removals.token_file(url_at(server, "/b").text).content != file.content
        assert desk.removals.token_file(f"https://{PUBLIC}/a").content != file.content


async def test_what_proves_nothing(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk = Desk(tmp_path)
        for changes, said in (
            ({}, "neither robots.txt nor the page asks search services to leave it out"),
            ({"/a": answer(b"", 403)}, "neither robots.txt nor the page"),
            ({"/a": answer(b"", 500)}, "neither robots.txt nor the page"),
            (
                {"/robots.txt": answer(b"", 503)},
                "robots.txt is unreachable (its server answered 503), so everything is disallowed",
            ),
        ):
            server.routes.update(changes)
            answered = await desk.ask(url_at(server, "/a"))
            assert (answered.result, answered.removal) == ("not proved", None)
            assert answered.reason.startswith(said)
            assert answered.reason.count("robots.txt is unreachable") <= 1
        assert desk.removals.granted() == []


async def test_a_file_that_robots_txt_forbids(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        server.routes["/robots.txt"] = answer(b"User-agent: *\nDisallow: /\n", headers=TEXT)
        answered = await Desk(tmp_path).ask(url_at(server, "/a"), site=True)
        assert answered.result == "not proved"
        assert answered.reason.startswith("robots.txt must allow this robot to fetch /goodbot-removal-")
        assert answered.reason.endswith(
            ".txt; Disallow: / (line 2) is the longest rule that matches in the group for all robots (*) (line 1)"
        )


# ---- what is not removed --------------------------------------------------------------------------------------------


async def test_pages_that_no_search_shows(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        asked = len(server.exchanges)
        desk = Desk(tmp_path)
        for path in ("/unknown", "/closed"):
            answered = await desk.ask(url_at(server, path))
            assert (answered.result, "has not visited this page" in answered.reason) == ("unknown", True)
        answered = await desk.ask("https://other.example/", site=True)
        assert (answered.result, "knows nothing of this site" in answered.reason) == ("unknown", True)
        assert len(server.exchanges) == asked


NOT_CHECKED = [
    (f"http://{INSIDE.replace('.example', '.internal')}/a", None, "may be on a private network"),
    ("http://127.0.0.1/a", None, "may be on a private network"),
    ("http://localhost/a", None, "may be on a private network"),
    (f"http://{PUBLIC}/a", Settings(), "cannot fetch"),
    (f"http://{PUBLIC}/a", Settings(contact=CONTACT, proxy="http://127.0.0.1:9"), "cannot fetch"),
]


@pytest.mark.parametrize(("typed", "settings", "reason"), NOT_CHECKED)
async def test_what_only_the_operator_can_remove(
    tmp_path: Path, typed: str, settings: Settings | None, reason: str
) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        asked = len(server.exchanges)
        answered = await Desk(tmp_path, settings).ask(typed)
        assert (answered.result, answered.removal) == ("not checked", None)
        assert reason in answered.reason
        assert "only the operator of this search can remove it" in answered.reason
        assert len(server.exchanges) == asked


async def test_a_name_inside(tmp_path: Path) -> None:
    """Its address is private, which shows only when it is looked up."""
    async with WebServer(site(), host="127.0.0.2") as inside:
        folder = tmp_path / "crawl"
        await crawl(inside, folder, name=INSIDE)
        with pytest.raises(InputError, match="fetches from public sites only"):
            await Desk(folder).ask(url_at(inside, "/a", INSIDE))


@pytest.mark.parametrize("typed", ["", "file:///etc/passwd", "http://me@public.example/"])
async def test_what_is_no_url(tmp_path: Path, typed: str) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk = Desk(tmp_path)
        with pytest.raises(InputError):
            await desk.ask(typed)
        with pytest.raises(InputError):
            desk.removals.token_file(typed)


async def test_a_damaged_file_stops_searches(tmp_path: Path) -> None:
    async with WebServer(site()) as server:
        await crawl(server, tmp_path)
        desk = Desk(tmp_path)
        (tmp_path / "removals.jsonl").write_text("nonsense\n")
        with pytest.raises(DamagedError, match="damaged in line 1"):
            desk.found()


# ---- when a removal has served its purpose --------------------------------------------------------------------------

AT = 1000.0
SEEN = LastVisit(at=900.0, due_at=2000.0, interval_s=100.0, changed_at=900.0, indexed=True)
AGAIN = replace(SEEN, at=1100.0)
OUT = replace(SEEN, indexed=False)
OLD, NEW = (Access.from_response(200, [], b"", at) for at in (900.0, 1100.0))
OVER: list[tuple[str, Proof, State | None, LastVisit | None, Access | None, bool]] = [
    ("not visited since", "page", "visited", SEEN, NEW, False),
    ("visited since, and still shown", "page", "visited", AGAIN, None, True),
    ("visited since, and left out", "page", "visited", OUT, None, True),
    ("waiting", "page", "ready", AGAIN, None, False),
    ("being visited", "page", "leased", SEEN, None, False),
    ("gone", "page", "gone", OUT, None, True),
    ("gone for good", "page", "gone", None, None, True),
    ("disallowed", "robots.txt", "disallowed", OUT, NEW, True),
    ("visited by old rules", "robots.txt", "visited", AGAIN, OLD, False),
    ("visited by rules that are not known", "robots.txt", "visited", AGAIN, None, False),
    ("visited by new rules", "robots.txt", "visited", AGAIN, NEW, True),
    ("not visited by new rules", "robots.txt", "visited", SEEN, NEW, False),
    ("failed since", "page", "visited", SEEN, NEW, False),
    ("out of scope", "page", "out-of-scope", None, None, True),
    ("unknown by now", "page", None, None, None, True),
]


@pytest.mark.parametrize(
    ("proof", "state", "seen", "access", "over"), [row[1:] for row in OVER], ids=[row[0] for row in OVER]
)
def test_when_a_removal_ends(
    proof: Proof, state: Any, seen: LastVisit | None, access: Access | None, over: bool
) -> None:
    url = Url("https://example.org/a")
    record = None if state is None else UrlRecord(url, state, 0, seen=seen)
    assert is_over(Removal("1", AT, proof, "x", url=url), record, access) is over
