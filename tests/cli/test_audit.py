"""`goodbot audit`: every finding is where it was planted, and a sound site has none."""

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest

from audit.example_server import audited, crawled
from check.test_json_report import sarif_schema
from journey.goodbot_process import goodbot
from webserver import Exchange, Route, WebServer, answer

XML = [("Content-Type", "application/xml")]
TEXT = [("Content-Type", "text/plain")]


def html(title: str, body: str, *, lang: str = ' lang="en"', head: str = "") -> bytes:
    return answer(
        f"<!doctype html>\n<html{lang}><head><title>{title}</title>{head}</head>\n<body>{body}</body>".encode()
    )


def redirect(target: str, status: int = 301) -> bytes:
    return answer(b"", status, [("Location", target)])


async def slowly(exchange: Exchange) -> None:
    await asyncio.sleep(0.4)
    await exchange.send(html("Slow", "<p>late"))


HOME = """<p>é <a href="/gone">Prices <b>2026</b></a>
<a href="/moved">Moved</a> <a href="/for-now">For now</a> <a href="/chain">Chain</a>
<a href="/loop">Loop</a> <a href="/lost">Lost</a> <a href="/fails">Fails</a>
<a href="/a">A</a> <a href="/b">B</a> <a href="/one">1</a> <a href="/two">2</a> <a href="/closed">C</a>
<a href="/slow">Slow</a> <a href="/heavy">Heavy</a> <a href="/plain">P</a> <a href="/odd">O</a>
<a href="/untitled">U</a> <a href="/quiet">Q</a> <a href="/en">En</a> <a href="/de">De</a> <a href="/copy">Copy</a>"""

LISTED = ("/", "/gone", "/moved", "/closed", "/quiet", "/copy", "/fails", "/orphan", "/one", "/two", "/slow", "/heavy")


def faulty(site: str) -> dict[str, Route]:
    entries = "".join(f"<url><loc>{site}{path}</loc></url>\n" for path in LISTED)
    canonical = '<link rel="canonical" href="{}">'
    return {
        "/robots.txt": answer(
            f"User-agent: Googlebot\nDisallow: /closed\n\nSitemap: {site}/s.xml\nSitemap: /none.xml\n".encode(),
            headers=TEXT,
        ),
        "/s.xml": answer(f"<urlset>\n{entries}</urlset>".encode(), headers=XML),
        "/": html("Home", HOME),
        "/moved": redirect("/one"),
        "/for-now": redirect("/two", 302),
        "/chain": redirect("/moved"),
        "/loop": redirect("/loop-2", 302),
        "/loop-2": redirect("/loop", 302),
        "/lost": redirect("/gone"),
        "/fails": answer(b"", 500),
        "/a": html("A", "<p>a", head=canonical.format("/b")),
        "/b": html("B", "<p>b", head=canonical.format("/a")),
        "/copy": html("Copy", "<p>copy", head=canonical.format("/quiet")),
        "/one": html("Same title", '<p>1 <a href="/gone">again</a>'),
        "/two": html("Same title", "<p>2"),
        "/closed": html("Closed", "<p>closed", head='<meta name="robots" content="noindex">'),
        "/quiet": html("Quiet", "<p>quiet", head='<meta name="robots" content="noindex">'),
        "/slow": slowly,
        "/heavy": html("Heavy", f"<p>{'word ' * 1000}"),
        "/plain": html("Plain", "<p>plain", lang=""),
        "/odd": html("Odd", "<p>odd", lang=' lang="en_US"'),
        "/untitled": html("", "<p>untitled"),
        "/en": html("English", "<p>e", head='<link rel="alternate" hreflang="de" href="/de">'),
        "/de": html("Deutsch", "<p>d", lang=' lang="de"'),
        "/orphan": html("Orphan", "<p>alone"),
    }


# code, path, what stands at the place, severity, path of the target
FAULTS: list[tuple[str, str, str | None, str, str | None]] = [
    ("A101", "/", '<a href="/gone">', "error", "/gone"),
    ("A101", "/one", '<a href="/gone">', "error", "/gone"),
    ("A102", "/", '<a href="/fails">', "warning", "/fails"),
    ("A103", "/", '<a href="/for-now">', "info", "/for-now"),
    ("A103", "/", '<a href="/moved">', "warning", "/moved"),
    ("A104", "/", '<a href="/chain">', "warning", "/chain"),
    ("A105", "/", '<a href="/loop">', "error", "/loop"),
    ("A106", "/", '<a href="/lost">', "error", "/lost"),
    ("A201", "/s.xml", "{site}/closed", "error", "/closed"),
    ("A202", "/s.xml", "{site}/closed", "warning", "/closed"),
    ("A202", "/s.xml", "{site}/quiet", "warning", "/quiet"),
    ("A203", "/s.xml", "{site}/gone", "error", "/gone"),
    ("A204", "/s.xml", "{site}/moved", "warning", "/moved"),
    ("A205", "/s.xml", "{site}/fails", "warning", "/fails"),
    *(("A206", path, None, "info", None) for path in ("/de", "/en", "/odd", "/plain", "/untitled")),
    ("A207", "/s.xml", "{site}/copy", "warning", "/copy"),
    ("A208", "/robots.txt", "/none.xml", "error", "/none.xml"),
    ("A301", "/closed", '<meta name="robots"', "warning", None),
    ("A305", "/copy", '<link rel="canonical"', "warning", "/quiet"),
    ("A307", "/b", '<link rel="canonical"', "error", "/a"),
    ("A307", "/a", '<link rel="canonical"', "error", "/b"),
    ("A401", "/untitled", None, "warning", None),
    ("A402", "/one", "<title>", "warning", None),
    ("A402", "/two", "<title>", "warning", None),
    ("A403", "/plain", "<html", "warning", None),
    ("A404", "/odd", "<html", "warning", None),
    ("A405", "/en", '<link rel="alternate"', "warning", "/de"),
    ("A501", "/slow", None, "warning", None),
    ("A502", "/heavy", None, "warning", None),
    ("A601", "/orphan", None, "warning", None),
]


def place_of(route: Route, needle: str) -> tuple[int, int]:
    """Line and column of a text in the body of an answer."""
    assert isinstance(route, bytes)
    text = route.partition(b"\r\n\r\n")[2].decode()
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


def planted(server: WebServer, site: str) -> list[tuple[object, ...]]:
    """The findings that the faulty site must have."""
    expected = []
    for code, path, needle, severity, target in FAULTS:
        place = (None, None) if needle is None else place_of(server.routes[path], needle.format(site=site))
        expected.append((code, path, *place, severity, target))
    return expected


LIMITS = ("--slow", "0.3", "--heavy", "2k")


class ThreadedServer:
    """A server in a thread of its own, for fixtures of a whole module."""

    def __enter__(self) -> WebServer:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self._server = WebServer()
        asyncio.run_coroutine_threadsafe(self._server.__aenter__(), self._loop).result()
        return self._server

    def __exit__(self, *error: object) -> None:
        asyncio.run_coroutine_threadsafe(self._server.__aexit__(None, None, None), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with ThreadedServer() as server:
        server.routes.update(faulty(server.url("").rstrip("/")))
        yield server


@pytest.fixture(scope="module")
def crawl(server: WebServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(crawled(server, tmp_path_factory.mktemp("audit")))


def rows(found: list[dict[str, Any]], site: str) -> list[tuple[object, ...]]:
    def path(url: str | None) -> str | None:
        return None if url is None else url.removeprefix(site)

    return [
        (
            *(each["code"], path(each["url"]), each["line"], each["column"], each["severity"]),
            path(each["related"].get("target")),
        )
        for each in found
    ]


async def test_each_fault_is_found_where_it_was_planted(server: WebServer, crawl: Path) -> None:
    site = server.url("").rstrip("/")
    found = await audited(crawl, *LIMITS)
    assert rows(found, site) == planted(server, site)
    by_code = {(each["code"], each["related"].get("text")): each for each in found}
    broken = by_code["A101", "Prices 2026"]
    assert broken["related"] == {"target": f"{site}/gone", "status": 404, "text": "Prices 2026", "pages": 2}
    assert broken["message"] == f"this link leads to {site}/gone, which does not exist (status 404)"
    assert by_code["A104", "Chain"]["related"]["hops"] == [f"{site}/chain", f"{site}/moved", f"{site}/one"]
    assert by_code["A105", "Loop"]["related"]["hops"] == [f"{site}/loop", f"{site}/loop-2", f"{site}/loop"]
    assert by_code["A402", None]["related"] == {
        "title": "Same title",
        "pages": [f"{site}/one", f"{site}/two"],
        "count": 2,
    }
    assert all(set(each) >= {"url", "line", "column", "code", "severity", "message", "fix"} for each in found)


async def test_nothing_is_fetched(server: WebServer, crawl: Path) -> None:
    before = len(server.exchanges)
    await audited(crawl)
    assert len(server.exchanges) == before


SOUND: dict[str, Route] = {
    "/": html("Home", '<a href="/a">A</a> <a href="/b?utm_source=x">B</a> <a href="https://other.example/">o</a>'),
    "/a": html("A", '<a href="/">Home</a> <a href="#x">x</a>', head='<link rel="canonical" href="/a">'),
    "/b": html("B", '<a href="/">Home</a> <a href="mailto:a@example.org">m</a>', lang=' lang="pt-BR"'),
}


async def test_a_sound_site_has_no_findings(tmp_path: Path) -> None:
    async with WebServer(SOUND) as server:
        entries = "".join(f"<url><loc>{server.url(path)}</loc></url>" for path in SOUND)
        server.routes["/robots.txt"] = answer(f"Sitemap: {server.url('/s.xml')}".encode(), headers=TEXT)
        server.routes["/s.xml"] = answer(f"<urlset>{entries}</urlset>".encode(), headers=XML)
        crawl = await crawled(server, tmp_path)
    assert await audited(crawl) == []
    ended = await goodbot("audit", "--in", crawl, "--fail-on", "info")
    assert (ended.status, ended.out, ended.err) == (0, "0 errors, 0 warnings, 0 info; 3 pages audited\n", "")
    page = (await goodbot("audit", "--in", crawl, "--format", "html")).out
    assert "No problems found." in page


@pytest.mark.parametrize(
    ("options", "status"),
    [
        ((), 1),
        (("--ignore", "A1", "--ignore", "A2", "--ignore", "A307"), 0),
        (("--ignore", "A1", "--ignore", "A2", "--ignore", "A307", "--fail-on", "warning"), 1),
        (("--ignore", "a", "--fail-on", "info"), 0),
    ],
)
async def test_the_exit_status(options: tuple[str, ...], status: int, crawl: Path) -> None:
    for form in ("text", "json", "sarif", "html"):
        assert (await goodbot("audit", "--in", crawl, "--format", form, *options)).status == status


async def test_text_for_people(crawl: Path) -> None:
    ended = await goodbot("audit", "--in", crawl, *LIMITS)
    assert "error A101 broken link: 2\n" in ended.out
    assert "[Prices 2026] (2 pages link there)" in " ".join(ended.out.split())
    assert ended.out.index("error A307") < ended.out.index("warning A102") < ended.out.index("info A103")
    assert ended.out.endswith("9 errors, 19 warnings, 6 info; 16 pages audited\n")
    assert ended.err == ""


async def test_sarif_is_valid(crawl: Path, tmp_path: Path) -> None:
    file = tmp_path / "audit.sarif"
    assert (await goodbot("audit", "--in", crawl, "--format", "sarif", "-o", file)).status == 1
    value = json.loads(file.read_text())
    assert list(jsonschema.Draft7Validator(sarif_schema()).iter_errors(value)) == []
    (run,) = value["runs"]
    assert run["results"][0]["ruleId"] == "A101"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 12}
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


async def test_html_needs_no_other_file(crawl: Path) -> None:
    page = (await goodbot("audit", "--in", crawl, "--format", "html", *LIMITS)).out
    assert "<script" not in page
    assert 'http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;;' in page
    assert "Error A101: broken link (2)" in page
    assert not re.search(r'(src|href)="(?!#|http|data:,)', page.partition("</style>")[2])


# ---- bounds ---------------------------------------------------------------------------------------------------------


async def test_a_broken_link_in_every_menu(tmp_path: Path) -> None:
    async with WebServer() as server:
        links = "".join(f'<a href="/{number}">{number}</a> ' for number in range(30))
        server.routes["/"] = html("Home", f'<a href="/gone">menu</a> {links}')
        for number in range(30):
            server.routes[f"/{number}"] = html(str(number), '<a href="/gone">menu</a>')
        crawl = await crawled(server, tmp_path)
    found = await audited(crawl, "--places", "7")
    assert [each["code"] for each in found] == ["A101"] * 7
    assert {each["related"]["pages"] for each in found} == {31}
    assert len(await audited(crawl)) == 20
    ended = await goodbot("audit", "--in", crawl)
    assert "… and 10 more" in ended.out
    assert "To list everything: goodbot audit --in" in ended.out


# ---- what the crawl does not know -----------------------------------------------------------------------------------


async def test_a_crawl_without_an_archive(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path, "--no-archive")
    ended = await goodbot("audit", "--in", crawl, "--json", *LIMITS)
    assert "keeps no archive" in ended.complaint
    site = server.url("").rstrip("/")
    found = rows(ended.json, site)
    assert {row[0] for row in found} == {"A101", "A102", "A103", "A104", "A105", "A106", "A208", "A402", "A501", "A502"}
    assert ("A104", "/", None, None, "warning", "/chain") in found
    assert ("A501", "/slow", None, None, "warning", None) in found
    assert "Note: the crawl keeps no archive" in (await goodbot("audit", "--in", crawl)).out


async def test_an_unfinished_crawl(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path, "--max-pages", "4")
    ended = await goodbot("audit", "--in", crawl, "--json")
    assert "the crawl is not finished" in ended.complaint
    assert "A601" not in {each["code"] for each in ended.json}


async def test_a_damaged_archive(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path)
    (file,) = (crawl / "warc").glob("*.warc.gz")
    body = bytearray(file.read_bytes())
    (page,) = [
        json.loads(line) for line in (await goodbot("export", "--in", crawl, "--what", "urls")).out.splitlines()
    ][:1]
    assert page["url"] == server.url("/")
    middle = len(body) // 2
    body[middle : middle + 400] = bytes(400)
    file.write_bytes(body)
    out = tmp_path / "audit.json"
    ended = await goodbot("audit", "--in", crawl, "--json", "-o", out)
    assert ended.status == 3
    assert "the archive is damaged" in ended.complaint
    assert len(json.loads(out.read_text())) > 5


async def test_one_host(server: WebServer, crawl: Path) -> None:
    host = server.url("").split("/")[2]
    assert len(await audited(crawl, "--host", host, *LIMITS)) == len(FAULTS)
    ended = await goodbot("audit", "--in", crawl, "--host", "127.0.0.1")
    assert ended.status == 2
    assert f"does not know the host 127.0.0.1:80; did you mean {host}?" in ended.complaint


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--ignore", "R2"), "--ignore: the audit has no code R2"),
        (("--host", "a b"), "not a host such as"),
        (("--slow", "0"), "--slow"),
        (("--heavy", "much"), "is not a size such as"),
        (("--places", "0"), "--places"),
        (("--format", "xml"), "--format"),
        (("--fail-on", "fatal"), "--fail-on"),
    ],
)
async def test_bad_input(options: tuple[str, ...], message: str, crawl: Path) -> None:
    ended = await goodbot("audit", "--in", crawl, *options)
    assert (ended.status, ended.out) == (2, "")
    assert message in ended.complaint


async def test_imported_documents_are_no_crawl(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"id": "1", "title": "t", "text": "word"}\n')
    assert (await goodbot("index", "import", tmp_path / "documents.jsonl", "--into", tmp_path / "docs")).status == 0
    for command in (("audit",), ("sitemap", "-o", tmp_path / "s.xml")):
        ended = await goodbot(*command, "--in", tmp_path / "docs")
        assert ended.status == 2
        assert "has imported documents, not a crawl" in ended.complaint


# ---- sitemaps -------------------------------------------------------------------------------------------------------


async def test_the_sitemap_lists_what_search_may_index(server: WebServer, crawl: Path, tmp_path: Path) -> None:
    site = server.url("").rstrip("/")
    for name in ("sitemap.xml", "sitemap.xml.gz"):
        ended = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / name, "--json")
        assert ended.status == 0, ended.err
        assert ended.json == {
            "done": True,
            "files": [str(tmp_path / name)],
            "urls": 11,
            "left_out": {"noindex": 2, "canonical": 3, "closed": 0, "copy": 0, "type": 0, "long": 0},
        }
    tree = ElementTree.fromstring((tmp_path / "sitemap.xml").read_bytes())
    namespace = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    listed = [url.findtext(f"{namespace}loc") for url in tree]
    paths = ("/", "/de", "/en", "/heavy", "/odd", "/one", "/orphan", "/plain", "/slow", "/two", "/untitled")
    assert listed == [f"{site}{path}" for path in paths]
    assert all(url.findtext(f"{namespace}lastmod") for url in tree)


async def test_the_written_sitemap_satisfies_the_audit(tmp_path: Path) -> None:
    """It is served at the site it was made for, and crawled again: nothing is missing in it and nothing too much."""
    async with WebServer(SOUND) as server:
        crawl = await crawled(server, tmp_path / "before")
        file = tmp_path / "sitemap.xml"
        assert (await goodbot("sitemap", "--in", crawl, "-o", file)).status == 0
        server.routes["/robots.txt"] = answer(f"Sitemap: {server.url('/sitemap.xml')}".encode(), headers=TEXT)
        server.routes["/sitemap.xml"] = answer(file.read_bytes(), headers=XML)
        assert await audited(await crawled(server, tmp_path / "after")) == []
