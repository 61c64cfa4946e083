"""What robots may do on this server: checked with the library and the checker that goodbot gives to others."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from starlette.applications import Starlette

from goodbot.check import HttpAnswer, Subject, check
from goodbot.exclusion import RobotsTxt
from goodbot.page.sitemap import ListReader
from goodbot.url import parse_url
from goodbot.web import Site, create_app, running
from goodbot.web.machines.own_robots_txt import CLOSED, PUBLIC_PAGES, sitemap_xml
from goodbot.web.pages.translations import LANGUAGES
from web.library import SPECIMENS, Library, Visitor
from web.whole import routes_of, whole_app

OTHERS = {
    "/robots.txt",
    "/sitemap.xml",
    "/favicon.ico",
    "/openapi.json",
    "/opensearch.xml",
    "/searxng.yml",
    "/static/style.css",
}
"""Files that robots may fetch and that are no pages."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Starlette:
    return whole_app(Path(tmp_path_factory.mktemp("whole")))


@pytest.fixture(scope="module")
def here(app: Starlette) -> Iterator[Visitor]:
    with running(app) as url:
        yield Visitor(url)


def test_every_page_is_either_public_or_closed(app: Starlette, here: Visitor) -> None:
    rules = RobotsTxt.parse(here.ask("/robots.txt").text)
    open_paths = {path for method, path in routes_of(app) if method == "GET" and rules.verdict(path, "AnyBot").allowed}
    assert {path for path in open_paths if ".well-known" not in path} - OTHERS == {
        path for _, path in routes_of(app) if path in PUBLIC_PAGES
    }
    for path in OTHERS | {f"{page}?hl=ru" for page in PUBLIC_PAGES}:
        assert rules.verdict(path, "AnyBot").allowed
    for path in CLOSED:
        assert not rules.verdict(f"{path}?q=x", "AnyBot").allowed


def test_the_checker_finds_nothing(here: Visitor) -> None:
    answer = here.ask("/robots.txt")
    sent = HttpAnswer(answer.status, tuple((name, value) for name, value in answer.headers.items()))
    assert check(Subject(answer.text.encode(), f"{here.base}robots.txt", sent)) == []


def test_the_sitemap_has_each_public_page_in_each_language(app: Starlette, here: Visitor) -> None:
    answer = here.ask("/sitemap.xml")
    assert answer.headers["Content-Type"] == "application/xml"
    root = ET.fromstring(answer.text)
    urls = {element.findtext("{*}loc", ""): element for element in root.findall("{*}url")}
    pages = [page for page in PUBLIC_PAGES if ("GET", page) in routes_of(app)]
    assert len(urls) == len(pages) * (1 + len(LANGUAGES)) >= 6
    for url, element in urls.items():
        assert here.ask(url.removeprefix(here.base.rstrip("/"))).status == 200
        alternates = {link.get("hreflang"): link.get("href") for link in element.findall("{*}link")}
        assert set(alternates) == {"x-default", *LANGUAGES}
        assert url in alternates.values()
    home = here.base
    assert {home, f"{home}?hl=en", f"{home}?hl=ru", f"{home}check", f"{home}check?hl=ru"} <= urls.keys()
    read = ListReader(parse_url(f"{here.base}sitemap.xml")).read([answer.text])
    assert {entry.url.text for entry in read} == urls.keys()


def test_urls_with_characters_of_xml() -> None:
    assert b"<loc>https://example.org/a&amp;b</loc>" in sitemap_xml(["https://example.org/a&b"])


def test_only_public_pages_may_be_indexed(app: Starlette, here: Visitor) -> None:
    for _, path in routes_of(app, lambda route: "GET" in (route.methods or ())):
        is_marked = here.ask(path).headers["X-Robots-Tag"] == "noindex"
        assert is_marked == (path not in PUBLIC_PAGES), path


@pytest.mark.parametrize(
    ("public_url", "expected"),
    [
        (None, "http://{host}/sitemap.xml"),
        ("https://search.example/", "https://search.example/sitemap.xml"),
        ("https://example.org/find/", "https://example.org/find/sitemap.xml"),
    ],
)
def test_the_sitemaps_url_is_absolute(public_url: str | None, expected: str) -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample", public_url=public_url))) as url:
        text = Visitor(url).ask("/robots.txt").text
    host = url.removeprefix("http://").rstrip("/")
    assert f"\nSitemap: {expected.format(host=host)}\n" in text
