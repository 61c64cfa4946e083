"""`goodbot audit`: every finding is where it was planted, and a sound site has none."""

import asyncio
import gzip
import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from audit.example_server import audited, crawled, crawled_at_ports
from audit.faulty_site import LIMITS, SOUND, TEXT, XML, ThreadedServer, faulty, html
from check.test_json_report import sarif_schema
from disks import MOUNTS, small_disk
from journey.goodbot_process import ended, goodbot, start
from store.foreign.foreign_samples import members, response
from webserver import Exchange, Route, WebServer, answer

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
        "urls": [f"{site}/one", f"{site}/two"],
        "count": 2,
    }
    assert all(set(each) >= {"url", "line", "column", "code", "severity", "message", "fix"} for each in found)


async def test_nothing_is_fetched(server: WebServer, crawl: Path) -> None:
    before = len(server.exchanges)
    await audited(crawl)
    assert len(server.exchanges) == before


async def test_a_sound_site_has_no_findings(tmp_path: Path) -> None:
    async with WebServer(SOUND) as server:
        entries = "".join(f"<url><loc>{server.url(path)}</loc></url>" for path in SOUND)
        server.routes["/robots.txt"] = answer(f"Sitemap: {server.url('/s.xml')}".encode(), headers=TEXT)
        server.routes["/s.xml"] = answer(f"<urlset>{entries}</urlset>".encode(), headers=XML)
        crawl = await crawled(server, tmp_path)
    assert await audited(crawl) == []
    end = await goodbot("audit", "--in", crawl, "--fail-on", "info")
    assert (end.status, end.out, end.err) == (0, "0 errors, 0 warnings, 0 info; 3 pages audited\n", "")
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
    end = await goodbot("audit", "--in", crawl, *LIMITS)
    assert "error A101 broken link: 2 findings\n" in end.out
    assert "[Prices 2026] (2 pages link there)" in " ".join(end.out.split())
    assert end.out.index("error A307") < end.out.index("warning A102") < end.out.index("info A103")
    assert end.out.endswith("9 errors, 19 warnings, 6 info; 16 pages audited\n")
    assert end.err == ""


async def test_sarif_is_valid(crawl: Path, tmp_path: Path) -> None:
    file = tmp_path / "audit.sarif"
    assert (await goodbot("audit", "--in", crawl, "--format", "sarif", "-o", file)).status == 1
    value = json.loads(file.read_text())
    assert list(jsonschema.Draft7Validator(sarif_schema()).iter_errors(value)) == []
    (run,) = value["runs"]
    assert run["results"][0]["ruleId"] == "A101"
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 12}
    uris = {result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]}
    assert all(uri.startswith("127.0.0.1%3A") for uri in uris)  # code hosts reject URIs with the scheme of a site
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
    end = await goodbot("audit", "--in", crawl)
    assert "… and 10 more" in end.out
    assert "To list everything: goodbot audit --in" in end.out


# ---- what the crawl does not know -----------------------------------------------------------------------------------


async def test_a_crawl_without_an_archive(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path, "--no-archive")
    end = await goodbot("audit", "--in", crawl, "--json", *LIMITS)
    assert "keeps no archive" in end.complaint
    site = server.url("").rstrip("/")
    found = rows(end.json, site)
    assert {row[0] for row in found} == {"A101", "A102", "A103", "A104", "A105", "A106", "A208", "A402", "A501", "A502"}
    assert ("A104", "/", None, None, "warning", "/chain") in found
    assert {row[1] for row in found if str(row[0]).startswith("A1")} <= {"/", "/one"}  # neither redirects nor sitemaps
    assert ("A501", "/slow", None, None, "warning", None) in found
    text = (await goodbot("audit", "--in", crawl)).out
    assert "Note: the crawl keeps no archive" in text
    assert text.endswith("; 16 pages audited\n")  # as with an archive: a sitemap is no page


async def test_an_unfinished_crawl(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path, "--max-pages", "4")
    end = await goodbot("audit", "--in", crawl, "--json")
    assert "the crawl is not finished" in end.complaint
    assert "A601" not in {each["code"] for each in end.json}


async def test_a_running_crawl(tmp_path: Path) -> None:
    gate = asyncio.Event()

    async def held(exchange: Exchange) -> None:
        await gate.wait()
        await exchange.send(html("Held", "<p>held"))

    async with WebServer({"/": html("Home", '<a href="/held">held</a>'), "/held": held}) as server:
        options = ("--into", tmp_path / "crawl", "--allow-private", "--no-index")
        process = await start("crawl", server.url("/"), *options)
        await server.received(3)
        end = await goodbot("audit", "--in", tmp_path / "crawl", "--json")
        assert (end.status, end.json) == (0, [])
        assert "the crawl is not finished" in end.complaint
        gate.set()
        assert (await ended(process)).status == 0
    assert (await goodbot("audit", "--in", tmp_path / "crawl", "--json")).err == ""


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
    end = await goodbot("audit", "--in", crawl, "--json", "-o", out)
    assert end.status == 3
    assert "the archive is damaged" in end.complaint
    assert len(json.loads(out.read_text())) > 5


async def test_one_host(server: WebServer, crawl: Path) -> None:
    host = server.url("").split("/")[2]
    assert len(await audited(crawl, "--host", host, *LIMITS)) == len(FAULTS)
    end = await goodbot("audit", "--in", crawl, "--host", "127.0.0.1")
    assert end.status == 2
    assert f"does not know the host 127.0.0.1:80; did you mean {host}?" in end.complaint


async def test_one_scheme_and_port(tmp_path: Path) -> None:
    crawl = await crawled_at_ports(tmp_path)
    all_urls = {each["url"] for each in await audited(crawl, "--host", "h.example")}
    assert len(all_urls) == 7
    for host, origin in (
        ("http://h.example", "http://h.example"),
        ("h.example:80", "http://h.example"),
        ("h.example:8080", "http://h.example:8080"),
        ("https://h.example:8443", "https://h.example:8443"),
    ):
        urls = {url for url in all_urls if url.startswith(f"{origin}/")}
        assert {each["url"] for each in await audited(crawl, "--host", host)} == urls
        end = await goodbot("audit", "--in", crawl, "--host", host)
        assert f"; {len(urls)} page{'' if len(urls) == 1 else 's'} audited" in end.out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--root", "public"), "--root needs --format sarif"),
        (("--format", "sarif", "--root", "/abs"), "within the repository, such as public, not '/abs'"),
        (("--format", "sarif", "--root", "../x"), "--root must be a relative path within the repository"),
        (("--ignore", "R2"), "--ignore: no code of the audit begins with R2"),
        (("--host", "a b"), "not a host such as"),
        (("--slow", "0"), "--slow"),
        (("--slow", "nan"), "--slow"),
        (("--heavy", "much"), "is not a size such as"),
        (("--places", "0"), "--places"),
        (("--format", "xml"), "--format"),
        (("--fail-on", "fatal"), "--fail-on"),
    ],
)
async def test_bad_input(options: tuple[str, ...], message: str, crawl: Path) -> None:
    end = await goodbot("audit", "--in", crawl, *options)
    assert (end.status, end.out) == (2, "")
    assert message in end.complaint


async def test_imported_documents_are_no_crawl(tmp_path: Path) -> None:
    (tmp_path / "documents.jsonl").write_text('{"id": "1", "title": "t", "text": "word"}\n')
    assert (await goodbot("index", "import", tmp_path / "documents.jsonl", "--into", tmp_path / "docs")).status == 0
    for command in (("audit",), ("sitemap", "-o", tmp_path / "s.xml")):
        end = await goodbot(*command, "--in", tmp_path / "docs")
        assert end.status == 2
        assert "has imported documents, not a crawl" in end.complaint


async def test_links_are_compared_as_they_are_requested(tmp_path: Path) -> None:
    """Without tracking parameters, and without those of Clean-param records."""
    async with WebServer() as server:
        server.routes["/robots.txt"] = answer(b"User-agent: *\nClean-param: ref\nSitemap: /s.xml", headers=TEXT)
        server.routes["/s.xml"] = answer(
            b"<urlset><url><loc>/a</loc></url><url><loc>/</loc></url></urlset>", headers=XML
        )
        server.routes["/"] = html("Home", '<a href="/a?ref=home">A</a> <a href="/gone?utm_source=x">Gone</a>')
        server.routes["/a"] = html("A", "<p>a")
        crawl = await crawled(server, tmp_path)
        (found,) = await audited(crawl)
        expected = ("A101", server.url("/"), *place_of(server.routes["/"], '<a href="/gone'))
        assert (found["code"], found["url"], found["line"], found["column"]) == expected


async def test_sitemaps_with_flaws_are_reported_and_used(tmp_path: Path) -> None:
    """The links of the sitemaps were followed, so nothing else is missing. A feed is no sitemap."""
    async with WebServer() as server:
        site = server.url("").rstrip("/")
        names = ("cut.xml", "bad.xml", "packed.xml.gz", "sound.xml")
        server.routes |= {
            "/": html("Home", '<a href="/one">1</a><a href="/two">2</a><a href="/three">3</a><a href="/feed">f</a>'),
            **{f"/{name}": html(name, f"<p>{name}") for name in ("one", "two", "three")},
            "/feed": answer(b"<rss><channel>", headers=[("Content-Type", "application/rss+xml")]),
            "/robots.txt": answer("".join(f"Sitemap: /{name}\n" for name in names).encode(), headers=TEXT),
            "/cut.xml": answer(f"<urlset>\n<url><loc>{site}/one</loc></url><url><loc>{site}/".encode(), headers=XML),
            "/bad.xml": answer(f"<urlset>\n<url><loc>{site}/two</loc></url>\n<url></urlset>".encode(), headers=XML),
            "/packed.xml.gz": answer(
                gzip.compress(f"<urlset><url><loc>{site}/three</loc></url></urlset>".encode())[:-12],
                headers=[("Content-Type", "application/gzip")],
            ),
            "/sound.xml": answer(f"<urlset><url><loc>{site}/</loc></url></urlset>".encode(), headers=XML),
        }
        found = await audited(await crawled(server, tmp_path))
    assert [(each["code"], each["url"], each["line"], each["column"]) for each in found] == [
        ("A208", f"{site}/bad.xml", 3, 8),
        ("A208", f"{site}/cut.xml", 2, len(f"<url><loc>{site}/one</loc></url><url><loc>{site}/") + 1),
        ("A208", f"{site}/packed.xml.gz", None, None),
    ]
    for each, why in zip(
        found, ("is not well-formed (mismatched tag)", "its XML breaks off", "the data ends early"), strict=True
    ):
        assert " has an error: " in each["message"]
        assert each["message"].endswith(why)


async def test_canonical_urls_and_translations_are_no_links(tmp_path: Path) -> None:
    """Nobody can follow them to a page. What a page both names and links to is a link."""
    head = '<link rel="canonical" href="/{}"><link rel="alternate" hreflang="de" href="/{}">'
    async with WebServer() as server:
        server.routes["/"] = html("Home", '<a href="/gone">g</a> <a href="/a">a</a> <a href="/b">b</a>')
        server.routes["/a"] = html("A", "<p>a", head=head.format("gone", "de"))
        links = '<a href="/x"><img src="/i.png"></a> <a href="/y">y</a>'
        server.routes["/b"] = html("B", links, head=head.format("x", "y"))
        for path in ("de", "x", "y"):
            server.routes[f"/{path}"] = html(path, f"<p>{path}")
        crawl = await crawled(server, tmp_path)
        found = await audited(crawl)
        site = server.url("").rstrip("/")
        assert [each["url"] for each in found if each["code"] == "A601"] == [f"{site}/de"]
        (broken,) = (each for each in found if each["code"] == "A101")
        assert (broken["url"], broken["related"]["pages"]) == (f"{site}/", 1)


async def test_noindex_is_that_of_search_engines(tmp_path: Path) -> None:
    """As for robots.txt: what is for Googlebot or Bingbot alone counts, what is for goodbot alone does not."""
    named = [("Content-Type", "text/html"), ("X-Robots-Tag", "googlebot: noindex")]
    async with WebServer() as server:
        server.routes["/robots.txt"] = answer(b"User-agent: *\nAllow: /\nSitemap: /s.xml", headers=TEXT)
        entries = b"".join(b"<url><loc>%s</loc></url>" % path for path in (b"/", b"/g", b"/own"))
        server.routes["/s.xml"] = answer(b"<urlset>" + entries + b"</urlset>", headers=XML)
        server.routes["/"] = html("Home", '<a href="/g">g</a> <a href="/own">own</a>')
        server.routes["/g"] = answer(b"<!doctype html><html lang=en><title>G</title><p>g", headers=named)
        server.routes["/own"] = html("Own", "<p>own", head='<meta name="goodbot" content="noindex">')
        crawl = await crawled(server, tmp_path)
        (found,) = await audited(crawl)
        assert (found["code"], found["related"]["target"]) == ("A202", server.url("/g"))
        assert "noindex in X-Robots-Tag" in found["message"]
        end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--json")
        assert (end.json["urls"], end.json["left_out"]["noindex"]) == (2, 1)


async def test_pages_closed_to_every_robot(tmp_path: Path) -> None:
    """They are never fetched, and known all the same: in the sitemap, as a canonical URL, as a link."""
    async with WebServer() as server:
        server.routes["/robots.txt"] = answer(b"User-agent: *\nDisallow: /no\nSitemap: /s.xml", headers=TEXT)
        entries = b"<url><loc>/</loc></url><url><loc>/no</loc></url><url><loc>/a</loc></url>"
        server.routes["/s.xml"] = answer(b"<urlset>" + entries + b"</urlset>", headers=XML)
        server.routes["/"] = html("Home", '<a href="/no">closed</a> <a href="/a">a</a>')
        server.routes["/a"] = html("A", "<p>a", head='<link rel="canonical" href="/no">')
        crawl = await crawled(server, tmp_path)
        found = {(each["code"], each["url"].removeprefix(server.url("").rstrip("/"))) for each in await audited(crawl)}
        assert found == {("A201", "/s.xml"), ("A207", "/s.xml"), ("A304", "/a")}
        assert "/no" not in server.targets


async def test_documents_that_are_not_html(tmp_path: Path) -> None:
    """A text has links without places; feeds, images and empty answers cause nothing."""
    async with WebServer() as server:
        server.routes["/"] = html("Home", '<a href="/a.md">text</a> <a href="/feed">f</a> <a href="/i.png">i</a>')
        server.routes["/a.md"] = answer(b"# A\n[gone](/gone)", headers=[("Content-Type", "text/markdown")])
        item = f"<item><link>{server.url('/lost')}</link></item>".encode()
        feed = b"<rss><channel>" + item + b"</channel></rss>"
        server.routes["/feed"] = answer(feed, headers=[("Content-Type", "application/rss+xml")])
        server.routes["/i.png"] = answer(b"\x89PNG", headers=[("Content-Type", "image/png")])
        server.routes["/empty"] = answer(b"", 204)
        crawl = await crawled(server, tmp_path)
        found = {(each["code"], each["url"], each["line"]) for each in await audited(crawl)}
        assert found == {("A101", server.url("/a.md"), None), ("A101", server.url("/feed"), None)}


@MOUNTS
async def test_a_full_temporary_folder_is_named(tmp_path: Path) -> None:
    """SQLite sorts the URLs of the crawl in files there."""
    urls = (f"http://h.example/{'long/' * 1500}{number}" for number in range(1000))
    (tmp_path / "urls.warc.gz").write_bytes(members(response(url, b"<title>T") for url in urls))
    assert (await goodbot("archive", "import", "urls.warc.gz", "--into", "crawl", folder=tmp_path)).status == 0
    with small_disk(tmp_path / "disk", 1) as disk:
        for command in (("audit",), ("sitemap", "-o", "s.xml"), ("export", "--what", "urls")):
            settings = {"TMPDIR": str(disk)}  # SQLite reads it when it is loaded
            process = await start(*command, "--in", "crawl", folder=tmp_path, settings=settings, preloaded=False)
            end = await ended(process)
            assert end.status == 3
            reason = "database or disk is full; is there room in TMPDIR?"
            assert end.complaint == f"goodbot: cannot sort what crawl/frontier.sqlite has: {reason}"


async def test_ctrl_c_leaves_nothing(crawl: Path, tmp_path: Path) -> None:
    """The temporary file is removed."""
    process = await start("audit", "--in", crawl, settings={"TMPDIR": str(tmp_path)})
    while not list(tmp_path.glob("*/*")):  # noqa: ASYNC110  (another process makes the file)
        await asyncio.sleep(0.001)
    process.send_signal(signal.SIGINT)
    end = await ended(process)
    assert end.status in (130, 1)  # 1: it had done all before the signal came
    assert "Traceback" not in end.err
    assert list(tmp_path.iterdir()) == []
