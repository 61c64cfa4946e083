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
