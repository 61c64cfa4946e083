"""Sitemaps: in files, in the answers of servers, and those that they name."""

import gzip
from io import BytesIO
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.announce_values import Change, Unread
from goodbot.announce.sitemap_fetching import MOST_FAILED, SitemapFetcher
from goodbot.announce.sitemap_reading import Sitemap, sitemap_in_answer, sitemap_in_file
from goodbot.announce.sources import listed_changes
from goodbot.announce.unusable_urls import UnusableUrls
from goodbot.errors import InputError, RunError
from goodbot.one_shot import service_request
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, Response

SITE = "https://a.example"
XML = (("Content-Type", "application/xml"),)


def urlset(*entries: str, root: str = "urlset", item: str = "url") -> bytes:
    return f"<{root}>{''.join(f'<{item}>{entry}</{item}>' for entry in entries)}</{root}>".encode()


PAGES = urlset(
    f"<loc>{SITE}/a</loc><lastmod>2026-11-01</lastmod>", f"<loc>{SITE}/b</loc>", "<loc>ftp://a.example/</loc>"
)
LINE = f"{SITE}/a\n".encode()
CHANGES = [Change(Url(f"{SITE}/a"), "lastmod 1793491200"), Change(Url(f"{SITE}/b"))]


@pytest.mark.parametrize("content", [PAGES, gzip.compress(PAGES)], ids=["plain", "gzip"])
def test_a_sitemap_in_a_file(content: bytes) -> None:
    sitemap = sitemap_in_file(BytesIO(content))
    assert sitemap is not None
    assert (sitemap.kind, [*listed_changes(sitemap.entries)], sitemap.unread) == ("sitemap", CHANGES, "")


DATES = [
    ("2026-11-01T00:00:00.5Z", "lastmod 1793491200.500"),
    ("2026-11-01", "lastmod 1793491200"),
    ("27.11.2026", "written 27.11.2026"),
    ("1793491200", "written 1793491200"),
    ("2026-9-4", "written 2026-9-4"),
    ("", ""),
]


@pytest.mark.parametrize(("lastmod", "mark"), DATES)
def test_a_date_that_cannot_be_read_marks_a_page_too(lastmod: str, mark: str) -> None:
    sitemap = sitemap_in_file(BytesIO(urlset(f"<loc>{SITE}/a</loc><lastmod>{lastmod}</lastmod>")))
    assert sitemap is not None
    assert [each.mark for each in listed_changes(sitemap.entries)] == [mark]


NO_SITEMAPS = {
    "nothing": b"",
    "a page": b"<!doctype html><p>not here",
    "text": b"plain",
    "binary": b"\0" * 100,
    "packed text": gzip.compress(b"x"),
}


@pytest.mark.parametrize("content", NO_SITEMAPS.values(), ids=NO_SITEMAPS)
def test_what_is_no_sitemap(content: bytes) -> None:
    assert sitemap_in_file(BytesIO(content)) is None
    assert sitemap_in_answer(Url(f"{SITE}/sitemap.xml"), Response(200, XML, content)) is None


def test_a_bomb_is_read_up_to_a_limit() -> None:
    bomb = gzip.compress(b"<urlset>" + b" " * 60_000_000 + PAGES, 1)
    sitemap = sitemap_in_file(BytesIO(bomb))
    assert sitemap is not None
    assert [*sitemap.entries] == []
    assert "52428800 bytes" in sitemap.unread


def test_a_torn_sitemap_says_so() -> None:
    sitemap = sitemap_in_file(BytesIO(gzip.compress(PAGES * 10)[:-20]))
    assert sitemap is not None
    assert [*listed_changes(sitemap.entries)][:2] == CHANGES
    assert sitemap.unread


@given(
    st.binary()
    | st.binary().map(gzip.compress)
    | st.binary().map(lambda body: PAGES + body)
    | st.binary().map(LINE.__add__)
)
def test_no_sitemap_raises(content: bytes) -> None:
    for sitemap in (
        sitemap_in_file(BytesIO(content)),
        sitemap_in_answer(Url(f"{SITE}/s.xml"), Response(200, XML, content)),
    ):
        assert sitemap is None or len([*listed_changes(sitemap.entries)]) < 50
        assert sitemap is None or sitemap.unread is not None


def both(content: bytes) -> list[Sitemap]:
    """The sitemap in a file and in an answer."""
    answer = Response(200, XML, content)
    found = [sitemap_in_file(BytesIO(content)), sitemap_in_answer(Url(f"{SITE}/s.xml"), answer)]
    return [sitemap for sitemap in found if sitemap is not None]


A = f"<url><loc>{SITE}/a</loc></url>"
LONG = f"<!--{'x' * 50_000}-->"
WHOLE = [
    ("a sitemap", f"<urlset>{A}</urlset>"),
    ("a prefix", f"<sm:urlset xmlns:sm='x'>{A.replace('<', '<sm:').replace('<sm:/', '</sm:')}</sm:urlset >"),
    ("a comment behind it", f"<urlset>{A}</urlset>{LONG}"),
    ("a feed", f"<rss><channel><item><link>{SITE}/a</link></item></channel></rss>"),
    ("RDF", f"<rdf:RDF><item><link>{SITE}/a</link></item></rdf:RDF>"),
    ("Atom", f"<feed><entry><link href='{SITE}/a'/></entry></feed>"),
    ("an index", f"<sitemapindex><sitemap><loc>{SITE}/a</loc></sitemap></sitemapindex>"),
]


@pytest.mark.parametrize("text", [case[1] for case in WHOLE], ids=[case[0] for case in WHOLE])
def test_the_end_of_a_sitemap(text: str) -> None:
    cut = text.removesuffix(LONG)[:-6]
    for content, unread in ((text, ""), (cut, "it ends too early"), (f"{cut}{'y' * 200_000}", "it ends too early")):
        for encoding in ("utf-8", "utf-16"):
            sitemaps = both(content.encode(encoding))
            assert [[entry.url.text for entry in sitemap.entries] for sitemap in sitemaps] == [[f"{SITE}/a"]] * 2
            assert [sitemap.unread for sitemap in sitemaps] == [unread] * 2


def test_an_empty_sitemap_is_whole() -> None:
    for sitemap in both(b"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>"):
        assert ([*sitemap.entries], sitemap.unread) == ([], "")


def test_cut_inside_a_url() -> None:
    for end in (f"<url><loc>{SITE}/b", "<url><loc>", "<url>", "<ur"):
        for sitemap in both(f"<urlset>{A}{end}".encode()):
            assert [entry.url.path for entry in sitemap.entries] == ["/a"]
            assert [*sitemap.notes("x.xml")] == ["only a part of x.xml was read: it ends too early"]
    for sitemap in both(f"<urlset>{A}<url><loc>/</loc></url><url><loc>".replace("<loc>/", "<loc>no:").encode()):
        assert [entry.url.path for entry in sitemap.entries] == ["/a"]
        assert ([*sitemap.notes("x.xml")][1:], sitemap.invalid) == ([LEFT_OUT.format("1 entry")], 1)


def test_a_line_that_is_cut_is_no_url() -> None:
    content = gzip.compress("".join(f"{SITE}/{number * 7919}\n" for number in range(2000)).encode())
    for sitemap in both(content[: len(content) // 2]):
        pages = [*sitemap.entries]
        assert [entry.url.text for entry in pages] == [f"{SITE}/{number * 7919}" for number in range(len(pages))]
        assert (sitemap.unread, sitemap.invalid, len(pages) > 100) == ("the data ends early", 0, True)


LEFT_OUT = "left out {} of x.xml without a valid http or https URL"

UNUSABLE = [
    ("an entity", f"{SITE}/&l;", None),
    ("an HTML entity", f"{SITE}/a&nbsp;b", None),
    ("an entity as a host", "https://&l;/x", None),
    ("an entity as a URL", "&l;", None),
    ("a byte order mark before a URL", f"\ufeff{SITE}/x", None),
    ("no entity", f"{SITE}/?a=1&amp;l;&#38;l;&b=2;&3;", "/?a=1&l;&l;&b=2;&3;"),
    ("CDATA", f"<![CDATA[{SITE}/&l;]]>", "/&l;"),
    ("an entity in a comment", f"<!-- &l; http:///x -->{SITE}/x", "/x"),
    ("no host", "http:///x", None),
    ("no host, with spaces", "\n  HTTPS:///x ", None),
    ("no host in CDATA", "<![CDATA[http:///x]]>", None),
    ("one slash", "http:/a.example/x", None),
    ("no slash", "https:x", None),
    ("a URL in a URL", f"{SITE}/http:///x?u=http:/y", "/http:///x?u=http:/y"),
    ("U+FFFF, encoded", f"{SITE}/%EF%BF%BF", "/%EF%BF%BF"),
]


@pytest.mark.parametrize(("loc", "target"), [case[1:] for case in UNUSABLE], ids=[case[0] for case in UNUSABLE])
def test_urls_of_which_the_parser_would_make_others(loc: str, target: str | None) -> None:
    for sitemap in both(f"<urlset><url><loc>{loc}</loc></url>{A}</urlset>".encode()):
        assert [entry.url.target for entry in sitemap.entries] == ([target] if target else []) + ["/a"]
        assert [*sitemap.notes("x.xml")] == ([] if target else [LEFT_OUT.format("1 entry")])


PIECES = st.sampled_from(["<loc>", "</loc>", "&l;", "&", "amp;", "http:", "///", "/", "x", " ", '="'])


@given(st.lists(st.lists(PIECES, max_size=8).map("".join)))
def test_blocks_do_not_matter(blocks: list[str]) -> None:
    whole = "<loc>" + "".join(blocks)
    assert "".join(UnusableUrls().marked(["<loc>", *blocks])) == "".join(UnusableUrls().marked([whole]))


def test_invalid_urls_are_counted() -> None:
    content = urlset("<loc></loc>", "<loc>javascript:1</loc>", f"<loc>{SITE}/a</loc>", "<loc>ftp://x/</loc>")
    for sitemap in both(content):
        assert [entry.url.path for entry in sitemap.entries] == ["/a"]
        assert [*sitemap.notes("x.xml")] == ["left out 3 entries of x.xml without a valid http or https URL"]
    sitemap = both(urlset("<loc>not a URL</loc>"))[0]
    assert [*sitemap.entries] == []
    assert [*sitemap.notes("\x1b")] == [r"left out 1 entry of \x1b without a valid http or https URL"]


LINES = [
    ("lines", f"{SITE}/a\n{SITE}/b\n", ["/a", "/b"], 0),
    ("no line end", f"\ufeff\r\n {SITE}/a\r\n\r\n{SITE}/b", ["/a", "/b"], 0),
    ("old line ends", f"{SITE}/a\r{SITE}/b", ["/a", "/b"], 0),
    ("no host", f"{SITE}/a\nhttp:///x\n", ["/a"], 1),
    ("other lines", f"{SITE}/a\nsome words\n/c\n{SITE}/b\n{'x' * 300_000}\n{SITE}/c", ["/a", "/b", "/c"], 3),
]


@pytest.mark.parametrize(("text", "paths", "invalid"), [case[1:] for case in LINES], ids=[case[0] for case in LINES])
@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_one_url_a_line(text: str, paths: list[str], invalid: int, pack: type[bytes]) -> None:
    content = pack(text.encode())
    answer = Response(200, (("Content-Type", "text/plain"),), content)
    for sitemap in (sitemap_in_file(BytesIO(content)), sitemap_in_answer(Url(f"{SITE}/sitemap.txt"), answer)):
        assert sitemap is not None
        assert [entry.url.path for entry in sitemap.entries] == paths
        assert (sitemap.kind, sitemap.invalid, sitemap.unread) == ("sitemap", invalid, "")


def test_lines_have_a_limit() -> None:
    sitemap = sitemap_in_file(BytesIO(f"{SITE}/\n".encode() * 50_001))
    assert sitemap is not None
    assert (len([*sitemap.entries]), sitemap.unread[:27]) == (50_000, "it lists more than 50000 UR")


# ---- on servers -----------------------------------------------------------------------------------------------------


def index_of(*texts: str) -> Response:
    return Response(200, XML, urlset(*(f"<loc>{text}</loc>" for text in texts), root="sitemapindex", item="sitemap"))


def moved(text: str) -> Response:
    return Response(301, (("Location", text),), b"")


VALID = PAGES.replace(b"<url><loc>ftp://a.example/</loc></url>", b"")
OK = Response(200, XML, VALID)
HTML = Response(200, (("Content-Type", "text/html"),), b"<!doctype html><p>x")
FETCHED: list[tuple[str, dict[str, Response | Failure], int | str]] = [
    ("a sitemap", {"/s.xml": OK}, 1),
    ("gzip", {"/s.xml": Response(200, XML, gzip.compress(VALID))}, 1),
    ("an index", {"/s.xml": index_of(f"{SITE}/1.xml", f"{SITE}/2.xml"), "/1.xml": OK, "/2.xml": OK}, 2),
    ("a redirect", {"/s.xml": moved("/1.xml"), "/1.xml": OK}, 1),
    ("redirects without end", {"/s.xml": moved("/s.xml")}, "redirects too often"),
    ("a page", {"/s.xml": HTML}, "is not a sitemap: it is an HTML page"),
    ("a page, said to be XML", {"/s.xml": Response(200, XML, HTML.body)}, "is not a sitemap: it is an HTML page"),
    ("an image", {"/s.xml": Response(200, (("Content-Type", "image/png"),), b"x")}, r"not a sitemap \(image/png\)"),
    ("no type", {"/s.xml": Response(200, (), b"x")}, r"is not a sitemap \(a document without type\)"),
    ("missing", {}, "answers with status 404"),
    ("no answer", {"/s.xml": Failure("timeout", "no answer in 30 s")}, "cannot fetch .*no answer in 30 s"),
    ("not modified", {"/s.xml": Response(304, (("Location", "/1.xml"),), b""), "/1.xml": OK}, "with status 304"),
]


class Fetcher:
    """A fetcher, and what it notes."""

    def __init__(self, web: FakeWeb, clock: FakeClock, counts: list[tuple[int, int]]) -> None:
        self.notes = list[str]()
        self.unread = list[Unread]()
        self.it = SitemapFetcher(
            web, clock, service_request, self._finished, self.unread.append, lambda *count: counts.append(count)
        )

    def _finished(self, name: str, sitemap: Sitemap) -> None:
        self.notes.extend(sitemap.notes(name))


@pytest.mark.parametrize(("answers", "expected"), [case[1:] for case in FETCHED], ids=[case[0] for case in FETCHED])
async def test_sitemaps_on_servers(answers: dict[str, Response | Failure], expected: int | str) -> None:
    clock, counts = FakeClock(), list[tuple[int, int]]()
    web = FakeWeb({SITE + path: result for path, result in answers.items()}, clock, peer="93.184.216.34")
    fetcher = Fetcher(web, clock, counts)
    found = list[Change]()

    async def fetch() -> None:
        async for sitemap in fetcher.it.sitemaps(Url(f"{SITE}/s.xml")):
            found.extend(listed_changes(sitemap.entries))

    if isinstance(expected, str):
        with pytest.raises((InputError, RunError), match=expected):
            await fetch()
        return
    await fetch()
    assert (found, fetcher.notes) == (CHANGES * expected, [])
    assert counts == [(number, len(counts)) for number in range(1, len(counts) + 1)]
    times = web.times
    assert all(later - earlier >= 1 for earlier, later in pairwise(times))
    assert [request.public_only for request in web.requests[1:]] == [
        isinstance(answers["/s.xml"], Response) and answers["/s.xml"].status == 301 for _ in web.requests[1:]
    ]


NAMED: list[tuple[str, Response | Failure | None, str]] = [
    ("missing", None, "the sitemap {} answers with status 404"),
    ("in trouble", Response(500, (), b""), "the sitemap {} answers with status 500"),
    ("no answer", Failure("timeout", "no answer in 30 s"), "cannot fetch the sitemap {}: no answer in 30 s"),
    ("a page", HTML, "{} is not a sitemap: it is an HTML page"),
    ("redirects", moved("/2.xml"), "the sitemap {} redirects too often"),
    ("another index", index_of(f"{SITE}/s.xml"), "{} is another sitemap index: the protocol allows one level"),
]


@pytest.mark.parametrize(("result", "why"), [case[1:] for case in NAMED], ids=[case[0] for case in NAMED])
async def test_one_sitemap_of_an_index_cannot_be_read(result: Response | Failure | None, why: str) -> None:
    index = index_of(*(f"{SITE}/{number}.xml" for number in "123"))
    answers: dict[str, Response | Failure] = {"/s.xml": index, "/1.xml": OK, "/3.xml": OK}
    if result is not None:
        answers["/2.xml"] = result
    clock, counts = FakeClock(), list[tuple[int, int]]()
    fetcher = Fetcher(FakeWeb({SITE + path: each for path, each in answers.items()}, clock), clock, counts)
    found = [
        change async for each in fetcher.it.sitemaps(Url(f"{SITE}/s.xml")) for change in listed_changes(each.entries)
    ]
    assert found == CHANGES * 2
    bad = f"{SITE}/2.xml"
    assert (fetcher.unread, fetcher.notes) == ([Unread(bad, why.format(bad))], [])
    assert counts == [(1, 3), (2, 3), (3, 3)]


async def test_an_index_is_given_up_after_many_failures() -> None:
    paths = [f"/{number}.xml" for number in range(2 * MOST_FAILED + 5)]
    answers = {SITE + "/s.xml": index_of(*(SITE + path for path in paths)), SITE + paths[MOST_FAILED - 1]: OK}
    clock = FakeClock()
    web = FakeWeb(answers, clock)
    fetcher = Fetcher(web, clock, [])
    found = [[*each.entries] async for each in fetcher.it.sitemaps(Url(f"{SITE}/s.xml"))]
    assert (len(found), len(web.requests)) == (1, 1 + 2 * MOST_FAILED)
    assert len(fetcher.unread) == 2 * MOST_FAILED
    why = f"5 more sitemaps named by {SITE}/s.xml, since the last {MOST_FAILED} could not be read"
    assert fetcher.unread[-1] == Unread(f"{SITE}/s.xml", why)


PRIVATE = "http://127.0.0.1:81"


@pytest.mark.parametrize(
    ("source", "left_out"), [(SITE, 3), ("http://127.0.0.1:82", 3), (PRIVATE, 0)], ids=["public", "port", "same"]
)
async def test_private_addresses_are_left_out_with_a_note(source: str, left_out: int) -> None:
    pages = Response(
        200, XML, urlset(f"<loc>{source}/a</loc>", *(f"<loc>{PRIVATE}/{number}</loc>" for number in "123"))
    )
    answers = {
        f"{source}/s.xml": pages,
        f"{source}/i.xml": index_of(f"{PRIVATE}/1.xml", f"{source}/s.xml"),
        f"{PRIVATE}/1.xml": pages,
    }
    clock = FakeClock()
    fetcher = Fetcher(FakeWeb(answers, clock), clock, [])
    for name, sitemaps in (("s", 1), ("i", 1 if left_out else 2)):
        found = [len([*each.entries]) async for each in fetcher.it.sitemaps(Url(f"{source}/{name}.xml"))]
        assert found == [4 - left_out] * sitemaps
    why = "one server must not name private addresses of another"
    pages_note = f"left out 3 URLs named by {source}/s.xml: {why}"
    expected = [pages_note, f"left out 1 sitemap named by {source}/i.xml: {why}", pages_note]
    assert fetcher.notes == (expected if left_out else [])
