"""The scheme of addresses that visitors type without one."""

from pathlib import Path

import pytest

from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError, UrlError
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery
from goodbot.visitors.typed_urls import TypedUrls
from visitors.visited_crawls import services

SEEDS = """seeds = ["http://127.0.0.1:8800/", "http://plain.example/", "https://safe.example/", "http://both.example/", "http://wiki/"]
allow_private = true
contact = "me@example.org"
"""
KNOWN = ("http://other.example/a", "https://both.example/a", "http://twice.example/", "https://twice.example/")
TYPED = [
    ("127.0.0.1:8800/desc", "http://127.0.0.1:8800/desc"),
    ("plain.example/new", "http://plain.example/new"),
    ("  plain.example  ", "http://plain.example/"),
    ("plain.example:443/new", "https://plain.example/new"),
    ("safe.example/new", "https://safe.example/new"),
    ("other.example/a", "http://other.example/a"),
    ("other.example/a?utm_source=x", "http://other.example/a?utm_source=x"),
    ("other.example/new", "https://other.example/new"),
    ("both.example/a", "https://both.example/a"),
    ("both.example/new", "http://both.example/new"),
    ("twice.example", "https://twice.example/"),
    ("127.0.0.1:8801/a", "https://127.0.0.1:8801/a"),
    ("wiki/new", "http://wiki/new"),
    ("new.example/?u=https://other.example/", "https://new.example/?u=https://other.example/"),
    ("новый.рф", "https://xn--b1aoke0e.xn--p1ai/"),
    ("https://plain.example/new", "https://plain.example/new"),
    ("http://new.example/", "http://new.example/"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True) as frontier:
        frontier.add(Discovery(Url(url), 0) for url in KNOWN)
    (tmp_path / "goodbot.toml").write_text(SEEDS)
    return tmp_path


def opened(folder: Path) -> TypedUrls:
    crawl = CrawlFolder(folder)
    return TypedUrls(crawl, CrawlBounds(crawl))


@pytest.mark.parametrize(("typed", "url"), TYPED)
def test_the_scheme(folder: Path, typed: str, url: str) -> None:
    assert opened(folder).read(typed).text == url


async def test_all_services_read_alike(folder: Path) -> None:
    desk = services(folder)
    submitted = desk.submissions.submit("plain.example/new")
    assert (submitted.url.text, submitted.result) == ("http://plain.example/new", "submitted")
    assert desk.removals.token_file("plain.example/new").subject == "http://plain.example/new"
    assert (await desk.removals.request("127.0.0.1:8800/desc")).subject == "http://127.0.0.1:8800/desc"


@pytest.mark.parametrize(
    "typed",
    [
        "",
        "ftp://plain.example/",
        "me@plain.example",
        "javascript:alert(1)",
        "/private/a",
        "words",
        "null",
        "0",
        "1.0/x",
        "é",
    ],
)
def test_what_is_no_url(folder: Path, typed: str) -> None:
    with pytest.raises(UrlError):
        opened(folder).read(typed)


def test_a_folder_that_was_moved_away(folder: Path) -> None:
    """That is not what the visitor typed wrong."""
    urls = opened(folder)
    (folder / "frontier.sqlite").unlink()
    with pytest.raises(InputError) as raised:
        urls.read("plain.example")
    assert not isinstance(raised.value, UrlError)
