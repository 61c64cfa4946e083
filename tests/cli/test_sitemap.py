"""`goodbot sitemap`: what it lists, and how it divides and names its files."""

import asyncio
import gzip
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from audit.example_server import audited, crawled, crawled_at_ports
from audit.faulty_site import SOUND, TEXT, XML, ThreadedServer, faulty, html
from goodbot.site_sitemaps import write_sitemaps
from goodbot.url import Url
from journey.goodbot_process import goodbot
from webserver import WebServer, answer

NS = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture(scope="module")
def server() -> Iterator[WebServer]:
    with ThreadedServer() as server:
        server.routes.update(faulty(server.url("").rstrip("/")))
        yield server


@pytest.fixture(scope="module")
def crawl(server: WebServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return asyncio.run(crawled(server, tmp_path_factory.mktemp("sitemap")))


def listed(body: bytes) -> list[str | None]:
    return [element.findtext(f"{NS}loc") for element in ElementTree.fromstring(body)]


async def test_the_sitemap_lists_what_search_may_index(server: WebServer, crawl: Path, tmp_path: Path) -> None:
    site = server.url("").rstrip("/")
    for name in ("sitemap.xml", "sitemap.xml.gz"):
        end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / name, "--json")
        assert end.status == 0, end.err
        assert end.json == {
            "done": True,
            "files": [str(tmp_path / name)],
            "urls": 11,
            "left_out": {"noindex": 2, "canonical": 3, "disallowed": 0, "copy": 0, "type": 0, "long": 0},
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


async def test_what_is_written_in_it(tmp_path: Path) -> None:
    """Last-Modified, unless it is in the future; PDFs; translations; nothing that is closed, a copy or another type."""
    modified = [("Content-Type", "text/html"), ("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")]
    future = [("Content-Type", "text/html"), ("Last-Modified", "Tue, 14 Nov 2090 22:13:20 GMT")]
    links = "".join(
        f'<a href="{path}">{path}</a> ' for path in ("/m", "/f", "/d.pdf", "/t.txt", "/closed", "/noarchive")
    )
    async with WebServer() as server:
        server.routes |= {
            "/robots.txt": answer(b"User-agent: Bingbot\nDisallow: /closed\n", headers=TEXT),
            "/": html("Home", links, head='<link rel="alternate" hreflang="DE" href="/de?a=1&amp;b=2">'),
            "/de?a=1&b=2": html("Deutsch", "<p>deutsch"),
            "/m": answer(b"<title>M</title>m", headers=modified),
            "/f": answer(b"<title>F</title>f", headers=future),
            "/d.pdf": answer(b"%PDF-1.4 damaged", headers=[("Content-Type", "application/pdf")]),
            "/t.txt": answer(b"text", headers=TEXT),
            "/closed": html("Closed", "<p>closed"),
            "/noarchive": html("N", "<p>n", head='<meta name="robots" content="noarchive">'),
        }
        crawl = await crawled(server, tmp_path)
        site = server.url("").rstrip("/")
    file = tmp_path / "s.xml"
    end = await goodbot("sitemap", "--in", crawl, "-o", file, "--json")
    assert end.json["left_out"] == {"noindex": 0, "canonical": 0, "disallowed": 1, "copy": 0, "type": 1, "long": 0}
    body = file.read_bytes()
    assert listed(body) == [f"{site}{path}" for path in ("/", "/d.pdf", "/de?a=1&b=2", "/f", "/m", "/noarchive")]
    dates = {url.findtext(f"{NS}loc"): url.findtext(f"{NS}lastmod") for url in ElementTree.fromstring(body)}
    assert dates[f"{site}/m"] == "2023-11-14T22:13:20Z"
    assert str(dates[f"{site}/f"]) < "2090"
    own = f'<xhtml:link rel="alternate" hreflang="en" href="{site}/"/>'
    assert f'{own}\n<xhtml:link rel="alternate" hreflang="de" href="{site}/de?a=1&amp;b=2"/>'.encode() in body


def test_large_sites_get_an_index(server: WebServer, crawl: Path, tmp_path: Path) -> None:
    site = server.url("").rstrip("/")
    for name, packed in (("sitemap.xml", False), ("map.xml.GZ", True)):
        file = tmp_path / name
        written = write_sitemaps(crawl, file, None, None, lambda done, total: None, most_urls=4)
        stem, _, rest = name.partition(".")
        parts = [tmp_path / f"{stem}-{number}.{rest}" for number in (1, 2, 3)]
        assert (written.files, written.urls) == ([file, *parts], 11)
        bodies = [gzip.decompress(each.read_bytes()) if packed else each.read_bytes() for each in written.files]
        assert listed(bodies[0]) == [f"{site}/{part.name}" for part in parts]
        assert [len(listed(body)) for body in bodies[1:]] == [4, 4, 3]
        before = {each: each.read_bytes() for each in written.files}
        again = write_sitemaps(crawl, file, None, Url("https://x.example/maps/"), lambda done, total: None, most_urls=4)
        assert [each.read_bytes() == before[each] for each in again.files] == [False, True, True, True]
        index = gzip.decompress(file.read_bytes()) if packed else file.read_bytes()
        assert listed(index)[0] == f"https://x.example/maps/{parts[0].name}"


async def test_a_crawl_of_several_hosts(tmp_path: Path) -> None:
    async with WebServer({"/": html("Two", "<p>two")}) as two, WebServer() as one:
        one.routes["/"] = html("One", f'<a href="{two.url("/")}">two</a>')
        crawl = await crawled(one, tmp_path, "--scope", "all")
        hosts = [server.url("").split("/")[2] for server in (one, two)]
    end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml")
    assert end.status == 2
    assert "has pages of 2 hosts, and a sitemap lists one: choose it with --host (" in end.complaint
    assert not (tmp_path / "s.xml").exists()
    for host in hosts:
        end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--host", host)
        assert end.status == 0
        assert listed((tmp_path / "s.xml").read_bytes()) == [f"http://{host}/"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-o", "-"), "a sitemap may need several files"),
        (("-o", "missing/s.xml"), "cannot write missing/s.xml: No such file or directory"),
        (("-o", "s.xml", "--base", "maps/"), "--base must be the http or https URL of a folder"),
        (("-o", "s.xml", "--host", "none.example"), "does not know the host none.example"),
        ((), "-o"),
    ],
)
async def test_bad_input(options: tuple[str, ...], message: str, crawl: Path, tmp_path: Path) -> None:
    end = await goodbot("sitemap", "--in", crawl, *options, folder=tmp_path)
    assert (end.status, end.out) == (2, "")
    assert message in end.complaint
    assert list(tmp_path.iterdir()) == []


async def test_scheme_and_port_may_be_chosen(server: WebServer, crawl: Path, tmp_path: Path) -> None:
    options = ("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--json", "--host")
    end = await goodbot(*options, server.url("/"))
    assert (end.status, end.json["urls"]) == (0, 11)
    secure = server.url("").replace("http:", "https:").rstrip("/")
    end = await goodbot(*options, secure)
    assert (end.status, end.out) == (2, "")
    assert end.complaint.endswith(f"does not know {secure}; did you mean {server.url('').rstrip('/')}?")


async def test_a_port_of_a_public_host_may_be_chosen(tmp_path: Path) -> None:
    """Nothing is written of other schemes and ports, nor counted as left out."""
    crawl = await crawled_at_ports(tmp_path)
    noindex = {"noindex": 1, "canonical": 0, "disallowed": 0, "copy": 0, "type": 0, "long": 0}
    expected = [
        ("h.example", ["http://h.example/1", "http://h.example/2"], 1),
        ("h.example:80", ["http://h.example/1", "http://h.example/2"], 1),
        ("h.example:443", ["https://h.example/"], 0),
        ("H.EXAMPLE:8080", ["http://h.example:8080/"], 0),
        ("http://h.example:8443/", ["http://h.example:8443/"], 0),
    ]
    for host, urls, left_out in expected:
        end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--json", "--host", host)
        assert end.status == 0, end.err
        assert listed((tmp_path / "s.xml").read_bytes()) == urls
        assert end.json["left_out"] == {**noindex, "noindex": left_out}


@pytest.mark.parametrize("command", [("sitemap", "-o", "s.xml"), ("audit",)], ids=["sitemap", "audit"])
async def test_a_port_must_be_known_and_mean_one_site(command: tuple[str, ...], tmp_path: Path) -> None:
    crawl = await crawled_at_ports(tmp_path)
    end = await goodbot(*command, "--in", crawl, "--host", "h.example:9999", folder=tmp_path)
    assert (end.status, end.out) == (2, "")
    assert "does not know h.example:9999; did you mean http://h.example or http://h.example:8080 or" in end.complaint
    end = await goodbot(*command, "--in", crawl, "--host", "h.example:8443", folder=tmp_path)
    assert (end.status, end.out) == (2, "")
    assert "has http://h.example:8443 and https://h.example:8443: name the scheme" in end.complaint


async def test_a_base_without_effect(crawl: Path, tmp_path: Path) -> None:
    end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--base", "https://example.org/maps/")
    assert end.status == 0
    assert "--base has no effect: one file is enough" in end.complaint
    assert (await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml")).err == ""


async def test_nothing_to_list(tmp_path: Path) -> None:
    async with WebServer({"/": html("Home", "", head='<meta name="robots" content="noindex">')}) as server:
        crawl = await crawled(server, tmp_path)
    end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--json")
    assert (end.status, end.json["done"], end.json["files"], end.json["urls"]) == (1, False, [], 0)
    assert not (tmp_path / "s.xml").exists()


async def test_an_unfinished_crawl_says_so(server: WebServer, tmp_path: Path) -> None:
    crawl = await crawled(server, tmp_path, "--max-pages", "3")
    end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml")
    assert end.status == 0
    assert "the crawl is not finished" in end.complaint
    assert "still to be fetched, so pages may be missing from the sitemap" in " ".join(end.complaint.split())


async def test_pages_that_cannot_be_read_end_it(server: WebServer, tmp_path: Path) -> None:
    """A sitemap that lacks pages would make search engines drop them."""
    crawl = await crawled(server, tmp_path)
    for file in (crawl / "warc").glob("*.warc.gz"):
        file.write_bytes(file.read_bytes()[:2000])
    (tmp_path / "s.xml").write_text("before")
    end = await goodbot("sitemap", "--in", crawl, "-o", tmp_path / "s.xml", "--json")
    assert (end.status, end.out) == (3, "")
    assert "nothing is written" in end.complaint
    assert (tmp_path / "s.xml").read_text() == "before"
    without = await crawled(server, tmp_path / "without", "--no-archive")
    end = await goodbot("sitemap", "--in", without, "-o", tmp_path / "s.xml")
    assert end.status == 2
    assert "has no archive" in end.complaint
