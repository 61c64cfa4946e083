"""Pages state how search may show them, change their mind, and change it back: each wish is kept at the next visit."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.archive_values import ArchivedResponse
from goodbot.clock import SystemClock
from goodbot.crawl_folder import CrawlFolder
from goodbot.exclusion import Access
from goodbot.index import TantivySearch
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import Url
from journey.goodbot_process import Ended, goodbot
from page.documents import made_pdf
from webserver import Exchange, WebServer, answer

HTML = ("Content-Type", "text/html; charset=utf-8")
ETAG = '"same"'
PLAIN = "copy picture sections text"
"""What a search shows of a page without wishes: a cached copy, sections, a snippet; and its pictures are found."""

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Stated:
    """What a page states: in its head, in its header fields, in a robots.txt for its path. `around` is markup before
    and after its text."""

    head: str = ""
    fields: Fields = ()
    rules: str = ""
    around: tuple[str, str] = ("", "")


@dataclass(frozen=True)
class Case:
    """A page, what it states before and after, and what is shown of it then. `validates`: its server answers 304, and
    states its header fields there."""

    name: str
    before: Stated
    after: Stated
    shown_before: str
    shown_after: str
    validates: bool = False


def meta(content: str, name: str = "robots") -> Stated:
    return Stated(head=f'<meta name="{name}" content="{content}">')


def tag(value: str, name: str = "X-Robots-Tag") -> Stated:
    return Stated(fields=((name, value),))


def linked(page: str) -> Stated:
    return tag(f"</{page}>; rel=canonical", "Link")


NOTHING = Stated()
PERMITS = tag("all")
LATE = "unavailable_after: 2001-01-01"
HIDDEN = Stated(around=("<div data-nosnippet>", "</div><p>Something that is shown."))
CANONICAL, MIRRORED = "<link rel=canonical href=/{}>", "<meta name=url content=/{}>"

CASES = [
    Case("nothing", NOTHING, NOTHING, PLAIN, PLAIN),
    Case("nothing, 304", NOTHING, NOTHING, PLAIN, PLAIN, validates=True),
    Case("noindex, META", NOTHING, meta("noindex"), PLAIN, ""),
    Case("noindex, header", NOTHING, tag("noindex"), PLAIN, ""),
    Case("noindex, 304", PERMITS, tag("noindex"), PLAIN, "", validates=True),
    Case("noindex at first, META", meta("noindex"), NOTHING, "", PLAIN),
    Case("noindex at first, header", tag("noindex"), NOTHING, "", PLAIN),
    Case("noindex at first, 304", tag("noindex"), PERMITS, "", PLAIN, validates=True),
    Case("noindex, Robots-Tag", NOTHING, tag("*;noindex", "Robots-Tag"), PLAIN, ""),
    Case("noindex, META goodbot", NOTHING, meta("noindex", "goodbot"), PLAIN, ""),
    Case("noindex for another robot", NOTHING, tag("otherbot: noindex"), PLAIN, PLAIN),
    Case("none, META", NOTHING, meta("none"), PLAIN, ""),
    Case("none, header", NOTHING, tag("none"), PLAIN, ""),
    Case("none, 304", PERMITS, tag("none"), PLAIN, "", validates=True),
    Case("noarchive, META", NOTHING, meta("noarchive"), PLAIN, "picture sections text"),
    Case("noarchive, header", NOTHING, tag("noarchive"), PLAIN, "picture sections text"),
    Case("noarchive, 304", PERMITS, tag("noarchive"), PLAIN, "picture sections text", validates=True),
    Case("nosnippet, META", NOTHING, meta("nosnippet"), PLAIN, "picture"),
    Case("nosnippet, header", NOTHING, tag("nosnippet"), PLAIN, "picture"),
    Case("nosnippet, 304", PERMITS, tag("nosnippet"), PLAIN, "picture", validates=True),
    Case("max-snippet, META", NOTHING, meta("max-snippet:20"), PLAIN, "copy picture short"),
    Case("max-snippet, header", NOTHING, tag("max-snippet:20"), PLAIN, "copy picture short"),
    Case("max-snippet, 304", PERMITS, tag("max-snippet:20"), PLAIN, "copy picture short", validates=True),
    Case("noimageindex, META", NOTHING, meta("noimageindex"), PLAIN, "copy sections text"),
    Case("noimageindex, header", NOTHING, tag("noimageindex"), PLAIN, "copy sections text"),
    Case("noimageindex, 304", PERMITS, tag("noimageindex"), PLAIN, "copy sections text", validates=True),
    Case("unavailable_after, META", NOTHING, meta(LATE), PLAIN, ""),
    Case("unavailable_after, header", NOTHING, tag(LATE), PLAIN, ""),
    Case("unavailable_after, 304", PERMITS, tag(LATE), PLAIN, "", validates=True),
    Case("left out noindex, 304", tag("noindex"), NOTHING, "", PLAIN, validates=True),
    Case("left out noarchive, 304", tag("noarchive"), NOTHING, "picture sections text", PLAIN, validates=True),
    Case("left out nosnippet, 304", tag("nosnippet"), NOTHING, "picture", PLAIN, validates=True),
    Case("left out max-snippet, 304", tag("max-snippet:20"), NOTHING, "copy picture short", PLAIN, validates=True),
    Case("left out noimageindex, 304", tag("noimageindex"), NOTHING, "copy sections text", PLAIN, validates=True),
    Case("left out one of two, 304", tag("noimageindex, nosnippet"), tag("nosnippet"), "", "picture", validates=True),
    Case("left out Robots-Tag, 304", tag("*;nosnippet", "Robots-Tag"), NOTHING, "picture", PLAIN, validates=True),
    Case("left out Content-Usage, 304", tag("search=n", "Content-Usage"), NOTHING, "", PLAIN, validates=True),
    Case("left out Content-Signal, 304", tag("search=no", "Content-Signal"), NOTHING, "", PLAIN, validates=True),
    Case("data-nosnippet", NOTHING, HIDDEN, PLAIN, "copy picture other"),
    Case("description", meta("Summary A.", "description"), meta("Summary B.", "description"), "A", "B"),
    Case("Content-Usage field", NOTHING, tag("search=n", "Content-Usage"), PLAIN, ""),
    Case("Content-Usage field, 304", PERMITS, tag("search=n", "Content-Usage"), PLAIN, "", validates=True),
    Case("Content-Usage field about training", NOTHING, tag("train-ai=n", "Content-Usage"), PLAIN, PLAIN),
    Case("Content-Signal field", NOTHING, tag("search=no", "Content-Signal"), PLAIN, ""),
    Case("Content-Signal field, 304", PERMITS, tag("search=no, ai-input=yes", "Content-Signal"), PLAIN, "", True),
    Case(
        "Content-Signal field about training", NOTHING, tag("search=yes, ai-train=no", "Content-Signal"), PLAIN, PLAIN
    ),
    Case("Content-Usage in robots.txt", NOTHING, Stated(rules="Content-Usage: {}$ search=n"), PLAIN, ""),
    Case("Content-Usage in robots.txt, 304", NOTHING, Stated(rules="Content-Usage: {}$ search=n"), PLAIN, "", True),
    Case("Content-Usage in robots.txt at first", Stated(rules="Content-Usage: {}$ search=n"), NOTHING, "", PLAIN),
    Case("canonical, one", NOTHING, Stated(head=CANONICAL.format("canonical-two")), PLAIN, ""),
    Case("canonical, two", Stated(head=CANONICAL.format("canonical-one")), NOTHING, "", PLAIN),
    Case("canonical, three", linked("canonical-three"), linked("canonical-four"), PLAIN, "", validates=True),
    Case("canonical, four", NOTHING, NOTHING, PLAIN, PLAIN),
    Case("canonical, five", linked("canonical-six"), NOTHING, "", PLAIN, validates=True),
    Case("canonical, six", NOTHING, NOTHING, PLAIN, PLAIN),
    Case("META URL, one", NOTHING, Stated(head=MIRRORED.format("meta-url-two")), PLAIN, ""),
    Case("META URL, two", Stated(head=MIRRORED.format("meta-url-one")), NOTHING, "", PLAIN),
]


def slug(name: str) -> str:
    return "-".join(name.lower().replace(",", "").replace("_", " ").replace(".", " ").split())


def word(name: str) -> str:
    """A word that is on no other page."""
    return "zq" + "".join(letter for letter in name.lower() if letter.isalnum())


class Site:
    """Serves the pages of the table. `is_after`: they state what they do afterwards."""

    def __init__(self) -> None:
        self.is_after = False
        self.asked: Counter[str] = Counter()
        self._cases = {f"/{slug(case.name)}": case for case in CASES}

    def stated(self, case: Case) -> Stated:
        return case.after if self.is_after else case.before

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.send(answer(self.robots_txt(), headers=[("Content-Type", "text/plain")]))
            return
        self.asked[exchange.target] += 1
        case = self._cases.get(exchange.target)
        if case is None:
            links = "".join(f"<a href={path}>{path}</a> " for path in self._cases)
            await exchange.send(answer(f"<title>Home</title>{links}".encode()))
            return
        stated = self.stated(case)
        fields = [*stated.fields, *([("ETag", ETAG)] if case.validates else [])]
        if case.validates and exchange.header("If-None-Match") == ETAG:
            await exchange.send(answer(b"", 304, fields))
        else:
            await exchange.send(answer(page(case.name, stated), headers=[HTML, *fields]))

    def robots_txt(self) -> bytes:
        rules = [self.stated(case).rules.format(path) for path, case in self._cases.items() if self.stated(case).rules]
        return "\n".join(["User-agent: *", "Disallow: /closed", *rules]).encode()


def page(name: str, stated: Stated) -> bytes:
    before, after = stated.around
    title = f"Page {word(name)}" if name == "description" else f"Page of {slug(name)}"
    own = "" if name == "description" else f"<h2 id=part>Part {word(name)}</h2><p>The text says {word(name)} and more."
    picture = f"<p><img src=x.png alt={word(name)}picture>"
    return f"<title>{title}</title>{stated.head}{before}{own}{picture}{after}".encode()


def shown(search: TantivySearch, case: Case) -> str:
    """What a search shows of the page of a case."""
    hits = [hit for hit in search.search(word(case.name)).hits if hit.url.endswith(f"/{slug(case.name)}")]
    if not hits:
        return ""
    (hit,) = hits
    if case.name == "description":
        return hit.snippet.removeprefix("Summary ").removesuffix(".")
    pictures = search.search(word(case.name) + "picture").hits
    marks = {
        "copy": hit.has_copy,
        "picture": any(found.url == hit.url for found in pictures),
        "sections": bool(hit.sections),
        "text": "The text says" in hit.snippet,
        "short": 0 < len(hit.snippet) <= 20 and "The text says" not in hit.snippet,
        "other": hit.snippet == "Something that is shown.",
    }
    return " ".join(name for name, is_shown in marks.items() if is_shown)


def differences(folder: Path, *, is_after: bool, but: Iterable[str] = ()) -> dict[str, tuple[str, str]]:
    """Which pages are shown otherwise than expected: what is shown of them, and what is expected."""
    search = TantivySearch(folder / "index")
    found = {case.name: (shown(search, case), case.shown_after if is_after else case.shown_before) for case in CASES}
    return {name: pair for name, pair in found.items() if pair[0] != pair[1] and name not in but}


def forget_robots_txt(folder: Path, *origins: str) -> None:
    """Makes the stored robots.txt files expire, as after a day."""
    with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
        for origin in origins:
            frontier.save_robots(origin, replace(stored(frontier, origin), valid_until=0.0))


def stored(frontier: SqliteFrontier, origin: str) -> Access:
    access = frontier.load_robots(origin)
    assert access is not None
    return access


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    """Every page is due at once."""
    file = tmp_path / "settings.toml"
    file.write_text("revisit_first = 0\nrevisit_least = 0\n")
    return file


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


async def revisit(folder: Path, *more: str) -> Ended:
    run = await goodbot("crawl", "--into", folder, "--keep-fresh", "--once", *more, "--json")
    assert (run.status, run.lines[-1]["reason"]) == (0, "finished"), run.err
    return run


def archived(folder: Path, url: str) -> ArchivedResponse:
    """The record of a page."""
    with SqliteFrontier.open(folder / "frontier.sqlite", read_only=True) as frontier:
        record = frontier.record(Url(url))
    assert record is not None
    assert record.record is not None
    archive = WarcArchive(CrawlFolder(folder).warc, SystemClock(), "test", read_only=True)
    try:
        return archive.read(record.record)
    finally:
        archive.close()


NOARCHIVE = [case for case in CASES if "noarchive" in case.name]
WITHHELD = [case.name for case in NOARCHIVE if case.shown_after != PLAIN]
VALIDATING = {f"/{slug(case.name)}" for case in CASES if case.validates and case.before != case.after}


def read_twice(*, is_after: bool) -> set[str]:
    """The pages that had no wishes, and whose 304 states how they may be shown: all of the page is requested at
    once."""
    stated = {case: (case.after, case.before) if is_after else (case.before, case.after) for case in CASES}
    new = {case for case, (now, then) in stated.items() if then in (NOTHING, PERMITS) and now not in (NOTHING, PERMITS)}
    return {f"/{slug(case.name)}" for case in new if case.shown_before and case.shown_after} & VALIDATING


@pytest.mark.long
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_each_wish_is_kept_at_the_next_visit(folder: Path, settings: Path, workers: str) -> None:
    site = Site()
    async with WebServer(fallback=site) as server:
        options = ("--into", folder, "--config", settings, "--allow-private", "--workers", workers, "--json")
        first = await goodbot("crawl", server.url("/"), *options)
        assert (first.status, first.lines[-1]["visited"]) == (0, len(CASES) + 1), first.err
        assert differences(folder, is_after=False) == {}
        for is_after in (True, False, True):
            site.is_after = is_after
            site.asked.clear()
            forget_robots_txt(folder, server.origin)
            await revisit(folder, "--workers", workers)
            assert differences(folder, is_after=is_after) == {}
            assert set(site.asked.values()) == {1, 2}
            twice = {path for path, times in site.asked.items() if times == 2}
            assert read_twice(is_after=is_after) <= twice <= VALIDATING
            for case in NOARCHIVE:
                is_plain = (case.shown_after if is_after else case.shown_before) == PLAIN
                assert archived(folder, server.url(f"/{slug(case.name)}")).headers_only is not is_plain
        site.asked.clear()
        await revisit(folder, "--workers", workers)
        assert set(site.asked.values()) == {1}, "nothing has changed"
        assert differences(folder, is_after=True) == {}
        rebuilt = await goodbot("index", "rebuild", "--in", folder)
        assert rebuilt.status == 0, rebuilt.err
        assert differences(folder, is_after=True, but=WITHHELD) == {}
        await revisit(folder, "--workers", workers)
        assert differences(folder, is_after=True) == {}


async def why(folder: Path, url: str) -> list[dict[str, Any]]:
    """Why a page is not in the index."""
    told = (await goodbot("why", url, "--in", folder, "--json")).json
    return [event for event in told["events"] if event["step"] == "index" and event["decision"] == "no"]


SIGNALS = "User-agent: *\nAllow: /\nContent-Signal: search={}, ai-train=no\n"


@dataclass
class SignalSite:
    """Two pages, of which one is validated, a PDF, and a robots.txt that permits search or does not."""

    search: str = "yes"

    async def __call__(self, exchange: Exchange) -> None:
        if exchange.target == "/robots.txt":
            await exchange.send(answer(SIGNALS.format(self.search).encode(), headers=[("Content-Type", "text/plain")]))
        elif exchange.header("If-None-Match") == ETAG:
            await exchange.send(answer(b"", 304, [("ETag", ETAG)]))
        elif exchange.target == "/":
            await exchange.send(answer(b"<title>Signal home</title><a href=/tagged>tagged</a><a href=/paper>paper</a>"))
        elif exchange.target == "/paper":
            await exchange.send(answer(PAPER, headers=[("Content-Type", "application/pdf")]))
        else:
            await exchange.send(answer(b"<title>Signal tagged</title>", headers=[HTML, ("ETag", ETAG)]))


def titles(folder: Path) -> set[str]:
    return {hit.title for hit in TantivySearch(folder / "index").search("signal").hits}


PAPER = made_pdf(["The words of the paper."], title="Signal paper")
ALL = {"Signal home", "Signal tagged", "Signal paper"}


@pytest.fixture
def phases() -> Iterator[tuple[str, set[str]]]:
    return iter([("no", set()), ("no", set()), ("yes", ALL), ("yes", ALL)])


async def test_a_signal_for_the_whole_site(
    folder: Path, settings: Path, phases: Iterator[tuple[str, set[str]]]
) -> None:
    site = SignalSite()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(WebServer(fallback=site))
        options = ("--into", folder, "--config", settings, "--allow-private", "--json")
        assert (await goodbot("crawl", server.url("/"), *options)).status == 0
        assert titles(folder) == ALL
        for search, expected in phases:
            site.search = search
            forget_robots_txt(folder, server.origin)
            run = await revisit(folder)
            assert {line["state"] for line in run.lines if line["event"] == "page"} == {"visited"}, "it is crawled"
            assert titles(folder) == expected
            for path in ("/", "/tagged", "/paper"):
                reasons = [(event["line"], event["reason"]) for event in await why(folder, server.url(path))]
                assert len(reasons) == (not expected)
                assert all(line == 3 and "Content-Signal: search=no" in text for line, text in reasons)


async def test_a_rebuild_obeys_the_robots_txt_that_is_stored(folder: Path, settings: Path) -> None:
    site = SignalSite()
    async with WebServer(fallback=site) as server:
        options = ("--into", folder, "--config", settings, "--allow-private", "--json")
        assert (await goodbot("crawl", server.url("/"), *options)).status == 0
        with SqliteFrontier.open(folder / "frontier.sqlite") as frontier:
            closed = replace(stored(frontier, server.origin), body=SIGNALS.format("no").encode())
            frontier.save_robots(server.origin, closed)
        assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
        assert titles(folder) == set()
        forget_robots_txt(folder, server.origin)
        await revisit(folder)
        assert titles(folder) == ALL
