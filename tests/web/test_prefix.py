"""The pages under a path prefix, behind a proxy that removes the prefix or keeps it."""

import json
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from goodbot.web import Site, running
from web.library import Visitor
from web.whole import whole_app

PUBLIC = "https://search.example/find/"
PAGES = ["/", "/search?q=robot", "/search?q=robot&page=2", "/search?q=zeppelin", "/check", "/crawl", "/nowhere"]
PAGES += ["/robots?q=google", "/robots/Googlebot", "/robots/draft"]


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    with running(whole_app(Path(tmp_path_factory.mktemp("whole")), Site("Sample", public_url=PUBLIC))) as url:
        yield Visitor(url)


@pytest.mark.parametrize("prefix", ["", "/find"], ids=["removed", "kept"])
@pytest.mark.parametrize("path", PAGES)
def test_every_link_stays_under_the_prefix(visitor: Visitor, path: str, prefix: str) -> None:
    html = visitor.ask(prefix + path).text
    links = [unescape(link) for link in re.findall(r'(?:href|src|action)="([^"]*)"', html)]
    here = [link for link in links if link.startswith("/")]
    assert len(here) >= 4
    assert [link for link in here if not link.startswith("/find/") or "/find/find" in link] == []
    statuses = {link: visitor.ask(link).status for link in here}
    operators = {link for link in here if link.startswith("/find/crawl")}
    others = {link for link in here if link not in operators and not link.startswith("/find/nowhere")}
    assert {statuses[link] for link in others} == {200}
    assert {statuses[link] for link in operators} <= {200, 403}


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/find", 200),
        ("/find/", 200),
        ("/find/search?q=robot", 200),
        ("/finder", 404),
        ("/find/find/search?q=robot", 404),
        ("/search/", 404),
        ("/find/search/", 404),
        ("//search", 404),
    ],
)
def test_paths(visitor: Visitor, path: str, status: int) -> None:
    assert visitor.ask(path).status == status


@pytest.mark.parametrize("prefix", ["", "/find"], ids=["removed", "kept"])
def test_what_machines_read_has_absolute_urls(visitor: Visitor, prefix: str) -> None:
    robots = visitor.ask(prefix + "/robots.txt").text
    assert f"Sitemap: {PUBLIC}sitemap.xml" in robots
    assert "Disallow: /find/search\n" in robots
    locations = [
        loc.text or "" for loc in ET.fromstring(visitor.ask(prefix + "/sitemap.xml").text).findall(".//{*}loc")
    ]
    templates = [
        url.get("template", "")
        for url in ET.fromstring(visitor.ask(prefix + "/opensearch.xml").text).findall(".//{*}Url")
    ]
    feed = ET.fromstring(visitor.ask(prefix + "/search.atom?q=robot").text)
    links = [link.get("href", "") for link in feed.findall("{*}link")]
    assert [url for url in [*locations, *templates, *links] if not url.startswith(PUBLIC)] == []
    assert min(len(locations), len(templates), len(links)) >= 4
    assert json.loads(visitor.ask(prefix + "/openapi.json").text)["servers"] == [{"url": PUBLIC.rstrip("/")}]


def test_redirects_keep_the_prefix(visitor: Visitor) -> None:
    answer = visitor.ask("/find/search?q=robot&page=99")
    assert (answer.status, urlsplit(answer.headers["Location"]).path) == (303, "/find/search")


def test_limits_and_errors_know_paths_without_the_prefix(visitor: Visitor) -> None:
    assert list(json.loads(visitor.ask("/find/api/search").text)) == ["error"]
    assert visitor.ask("/find/api/search?q=robot").headers["Access-Control-Allow-Origin"] == "*"
    assert 'route="/api/search"' in visitor.ask("/find/metrics").text


# ---- who removes the prefix -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stripped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    """A server whose proxy removes the prefix."""
    site = Site("Sample", public_url=PUBLIC, proxy_strips_prefix=True)
    with running(whole_app(Path(tmp_path_factory.mktemp("stripped")), site)) as url:
        yield Visitor(url)


@pytest.mark.parametrize(
    ("path", "kept", "removed"),
    [
        ("/metrics", 200, 200),
        ("/find/metrics", 200, 404),
        ("/find/find/metrics", 404, 404),
        ("/find/find/find/metrics", 404, 404),
        ("/%66ind/metrics", 200, 404),
        ("/find/%66ind/metrics", 404, 404),
        ("/find//metrics", 404, 404),
        ("/find/./metrics", 404, 404),
        ("/find", 200, 404),
        ("/find/", 200, 404),
        ("/", 200, 200),
    ],
)
def test_no_path_loses_the_prefix_twice(
    visitor: Visitor, stripped: Visitor, path: str, kept: int, removed: int
) -> None:
    """With a proxy that removes the prefix, a visitor's `/find/find/metrics` arrives as `/find/metrics`."""
    assert (visitor.ask(path).status, stripped.ask(path).status) == (kept, removed)


def test_links_have_the_prefix_if_the_proxy_removes_it(stripped: Visitor) -> None:
    html = stripped.ask("/search?q=robot").text
    links = [unescape(link) for link in re.findall(r'(?:href|src|action)="(/[^"]*)"', html)]
    assert len(links) >= 4
    assert [link for link in links if not link.startswith("/find/")] == []


@pytest.mark.parametrize(
    ("strips", "paths", "warnings"),
    [
        (False, ["/find/search?q=robot", "/robots.txt", "/.well-known/x", "/favicon.ico"], 0),
        (False, ["/search?q=robot", "/"], 1),
        (True, ["/search?q=robot", "/find/search?q=robot"], 0),
    ],
)
def test_a_proxy_that_removes_the_prefix_unasked_is_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, strips: bool, paths: list[str], warnings: int
) -> None:
    site = Site("Sample", public_url=PUBLIC, proxies=("127.0.0.1",), proxy_strips_prefix=strips)
    with running(whole_app(tmp_path, site)) as url:
        for path in paths:
            Visitor(url).ask(path)
        assert caplog.records == []
        for path in paths:
            Visitor(url).ask(path, X_Forwarded_For="192.0.2.1")
    assert len(caplog.records) == warnings
    assert all("proxy_strips_prefix" in record.getMessage() for record in caplog.records)
