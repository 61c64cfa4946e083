"""DocSearch's own front end, in Chromium, on a documentation site that goodbot has crawled: the box of the how-to."""

import asyncio
import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import Request as Asked
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from goodbot.crawl_folder import open_search_or_nothing
from goodbot.web import Site, create_app, running
from journey.goodbot_process import goodbot
from programs import ROOT
from web.browser import chromium, shared_tab

HOW_TO = ROOT / "docs" / "how-to" / "docsearch.md"
SCRIPT = "<img src=x onerror=\"alert('title')\"> & <b>robots</b>"
SHOWN = "<img src=x onerror=\"alert('title')\"> & <b>robots</b>"
ESCAPED = "&lt;img src=x onerror=&quot;alert('title')&quot;&gt; &amp; &lt;b&gt;robots&lt;/b&gt;"
PAGES = {
    "": "<title>Handbook</title><h1>Handbook</h1><p><a href=guide/install>Install</a> <a href=guide/odd>Odd</a>",
    "guide/install": "<title>Installing the crawler</title><h1>Installing the crawler</h1><p>Two ways.</p>"
    f"{'<p>filler</p>' * 200}<h2 id=on-linux>Installing on Linux</h2><p>Use a package.</p>"
    "<h2 id=elsewhere>Elsewhere</h2><p>Build it from its source with a compiler.</p>",
    "guide/odd": f"<title>{ESCAPED}</title><h1>Odd</h1><h2 id=odd>{ESCAPED}</h2><p>{ESCAPED} zebra</p>",
}


class Docs(NamedTuple):
    """A documentation site, and the search service that it uses."""

    url: str
    service: str


def static_files() -> Path:
    """The folder with docsearch.js and docsearch.css, which come with a Sphinx extension."""
    spec = find_spec("sphinx_docsearch")
    assert spec is not None, "these tests need DocSearch: pip install sphinx-docsearch"
    assert spec.submodule_search_locations is not None
    return Path(spec.submodule_search_locations[0]) / "static"


def box(service: str) -> str:
    """The box of the how-to, for this service."""
    html: str
    (html,) = re.findall(r"```html\n(.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    assert "https://search.example.org" in html
    return html.replace("https://search.example.org", service).replace('="docsearch.', '="/static/docsearch.')


@contextmanager
def documentation(boxes: list[str]) -> Iterator[str]:
    """The site; its pages have the first of `boxes`, once there is one."""

    def show(request: Request) -> Response:
        body = PAGES.get(request.path_params["path"])
        if body is None:
            return PlainTextResponse("", 404)
        return HTMLResponse(f"<!doctype html><html lang=en>{body}{''.join(boxes)}")

    files = StaticFiles(directory=static_files())
    with running(Starlette(routes=[Mount("/static", files), Route("/{path:path}", show)])) as url:
        yield url


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Docs]:
    crawl = tmp_path_factory.mktemp("docs") / "crawl"
    boxes: list[str] = []
    with documentation(boxes) as url:
        ended = asyncio.run(goodbot("crawl", url, "--into", crawl, "--allow-private"))
        assert ended.status == 0, ended.err
        with running(create_app(open_search_or_nothing(crawl, None), Site("Docs"))) as service:
            boxes.append(box(service.rstrip("/")))
            yield Docs(url, service)


@pytest.fixture(scope="module")
def browser(docs: Docs) -> Iterator[Browser]:  # after the crawl, which needs an event loop of its own
    with chromium() as started:
        yield started


@contextmanager
def opened(browser: Browser, docs: Docs) -> Iterator[tuple[Page, list[str]]]:
    """The home page of the site, with an open search box, and all requests that its tab sends."""
    asked: list[str] = []

    def note(request: Asked) -> None:
        asked.append(request.url)

    with shared_tab(browser) as tab:
        tab.on("request", note)
        tab.goto(docs.url)
        tab.locator(".DocSearch-Button").click()
        yield tab, asked
        tab.remove_listener("request", note)


def hits(tab: Page) -> list[str]:
    return [" ".join(text.split()) for text in tab.locator(".DocSearch-Hit a").all_inner_texts()]


@pytest.mark.long
def test_a_section_is_found_and_followed(browser: Browser, docs: Docs) -> None:
    with opened(browser, docs) as (tab, asked):
        tab.locator(".DocSearch-Input").press_sequentially("linux instal", delay=30)
        section = tab.locator(".DocSearch-Hit a[href$='/guide/install#on-linux']")
        expect(section).to_be_visible()
        expect(section.locator(".DocSearch-Hit-title mark")).to_have_text(["Installing", "Linux"])
        expect(tab.locator(".DocSearch-Hit-source").first).to_have_text(f"{urlsplit(docs.url).netloc} › guide")
        assert hits(tab)[0].startswith("Installing the crawler")
        section.click()
        expect(tab).to_have_url(f"{docs.url}guide/install#on-linux")
        assert tab.evaluate("scrollY") > 0
    hosts = {urlsplit(url).netloc for url in asked}
    assert hosts == {urlsplit(docs.url).netloc, urlsplit(docs.service).netloc}, "no request leaves these servers"


@pytest.mark.long
def test_texts_of_pages_are_text_also_among_recent_searches(browser: Browser, docs: Docs) -> None:
    """`shared_tab` fails if a script opens a dialog."""
    with opened(browser, docs) as (tab, _):
        tab.locator(".DocSearch-Input").fill("robots zebra")
        found = tab.locator(".DocSearch-Hit a[href*='/guide/odd']")
        expect(found.first).to_contain_text(SHOWN)
        assert tab.locator(".DocSearch-Modal img[src=x], .DocSearch-Modal b").count() == 0
        found.first.click()
        expect(tab).to_have_url(re.compile("/guide/odd"))
        tab.locator(".DocSearch-Button").click()
        expect(tab.locator(".DocSearch-Hit a").first).to_contain_text(SHOWN)
        assert tab.locator(".DocSearch-Modal img[src=x], .DocSearch-Modal b").count() == 0


@pytest.mark.long
def test_nothing_is_found(browser: Browser, docs: Docs) -> None:
    with opened(browser, docs) as (tab, _):
        tab.locator(".DocSearch-Input").fill("xylophone")
        expect(tab.locator(".DocSearch-NoResults")).to_be_visible()


@pytest.mark.long
def test_a_service_that_cannot_be_reached(browser: Browser) -> None:
    nobody = "http://127.0.0.1:1"
    with documentation([box(nobody)]) as url, opened(browser, Docs(url, nobody)) as (tab, _):
        tab.locator(".DocSearch-Input").fill("linux")
        expect(tab.locator(".DocSearch-NoResults")).to_be_visible()
