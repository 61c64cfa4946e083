"""The page of results with other services: off until the visitor switches it on, and kept by every link of the page."""

import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jsonschema
import pytest
from playwright.sync_api import Browser, expect

from goodbot.federate import Federation, read_named
from goodbot.one_shot import service_request
from goodbot.ports import Transport
from goodbot.search_values import Results
from goodbot.testing import FakeClock, FakeWeb
from goodbot.values import Request, Response
from goodbot.web import Site, create_app, running
from goodbot.web.machines.api_schemas import SCHEMAS
from web.browser import audit, chromium, shared_tab, small_targets
from web.library import SPECIMENS, Library, Visitor
from web.test_templates_env import text_of

GETS = "They get your query with its filters, and nothing else about you: no address, no cookie, no language."
TYPO = "robott"
HOSTILE = "<b>Beta</b> & \u202esons"


class Services(FakeWeb):
    """Three services: one answers any query, one fails, one is a stranger with a hostile name."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        super().__init__({}, self.clock)

    async def send(self, request: Request) -> object:  # type: ignore[override]
        self._answers = {request.url.text: self._answer(request)}
        return await super().send(request)

    @staticmethod
    def _answer(request: Request) -> Response:
        if request.url.host == "down.example":
            return Response(500, (), b"")
        if request.url.path == "/":
            name = HOSTILE.replace("&", "&amp;").replace("<", "&lt;")
            url = '<Url type="application/json" template="https://beta.example/j?q={searchTerms}&amp;p={startPage}"/>'
            body = f"<OpenSearchDescription><ShortName>{name}</ShortName>{url}</OpenSearchDescription>"
            return Response(200, (), body.encode())
        page = int(request.url.text.rpartition("=")[2])
        hits = [
            {"url": f"https://beta.example/{page}/{n}", "title": f"robot {page}/{n}", "snippet": "x"} for n in range(9)
        ]
        hits.append({"url": "https://handbook.example/chapter/1", "title": "the same", "snippet": "y"})
        return Response(200, (), json.dumps({"hits": hits, "total": 30}).encode())


@pytest.fixture(scope="module")
def services() -> Services:
    return Services()


@pytest.fixture(scope="module")
def here(services: Services) -> Iterator[Visitor]:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Transport]:
        yield services  # type: ignore[misc]

    named = map(read_named, ("https://beta.example/", "https://down.example/?q={searchTerms}"))
    federation = Federation(named, opened, service_request, services.clock)
    with running(create_app(Corrected(SPECIMENS), Site("Sample library"), federation=federation)) as url:
        yield Visitor(url)


class Corrected(Library):
    """A library that corrects one word."""

    def search(self, query: str, *more: Any, **options: Any) -> Results:
        if query != TYPO:
            return super().search(query, *more, **options)
        return replace(super().search("robot", *more, **options), query=query, corrected="robot")


def links_of(html: str) -> list[str]:
    return [unescape(url) for url in re.findall(r'\shref="(/[^"]*)"', html)]


def test_it_is_off_until_the_visitor_switches_it_on(here: Visitor, services: Services) -> None:
    before = len(services.requests)
    page = here.ask("/search?q=robot")
    assert "You can include other search services:" in page.text
    assert GETS in page.text
    assert "down.example" in page.text
    assert "/search?q=robot&others=1" in links_of(page.text)
    assert "Found by:" not in page.text
    assert here.ask("/api/search?q=robot").text.count('"sources"') == 0
    assert len(services.requests) == before


def test_hits_are_marked_and_failures_named(here: Visitor) -> None:
    page = here.ask("/search?q=robot&others=1")
    assert page.status == 200
    assert page.text.count("Found by:") == 10
    assert "<b>Beta" not in page.text
    assert "\u202e" not in page.text
    assert re.search(r"Left out: <bdi>down\.example</bdi>\.\s*<span>It answers with status 500\.", page.text)
    assert "/search?q=robot" in links_of(page.text), "the way back"


def test_every_link_to_a_search_keeps_it(here: Visitor) -> None:
    page = here.ask("/search?q=robot&others=1&site=handbook.example&page=2&hl=ru")
    assert "не все службы их понимают" in page.text
    searches = [url for url in links_of(page.text) if url.startswith("/search?") and "page=" in url]
    assert searches
    assert all("others=1" in url and "site=handbook.example" in url for url in searches)
    chips = re.search(r'class="chips".*?</ul>', page.text, re.DOTALL)
    assert chips is not None
    assert all("others=1" in url for url in links_of(chips[0]))
    assert '<input type="hidden" name="others" value="1">' in page.text
    assert all("others" not in url for url in links_of(page.text) if url.startswith("/search.atom"))
    assert here.ask("/search?q=robot&others=1&within=week").headers["Location"].count("others=1") == 1


def test_what_the_services_get(here: Visitor, services: Services) -> None:
    here.ask("/search?q=robot+x1&others=1&site=handbook.example&lang=en", Cookie="a=b", Accept_Language="ru")
    request = next(each for each in reversed(services.requests) if each.url.host == "beta.example")
    assert request.url.text == "https://beta.example/j?q=robot%20x1%20site%3Ahandbook.example%20lang%3Aen&p=1"
    assert request.headers == ()


def test_pages_fit_together(here: Visitor) -> None:
    seen: list[str] = []
    for page in range(1, 8):
        found = json.loads(here.ask(f"/api/search?q=robot&others=1&page={page}").text)
        jsonschema.validate(found, {**SCHEMAS["Results"], "components": {"schemas": SCHEMAS}})
        assert found["page"] == page
        seen += [hit["url"] for hit in found["hits"]]
    assert len(seen) == len(set(seen)) == 70
    assert {f"https://beta.example/{page}/{n}" for page in (1, 2, 3) for n in range(9)} <= set(seen)


def test_json_names_the_sources(here: Visitor) -> None:
    found = json.loads(here.ask("/api/search?q=robot&others=1").text)
    names = [(each["name"], each["state"]) for each in found["sources"]]
    assert names == [
        ("this index", "answered"),
        ("<b>Beta</b> & sons", "answered"),
        ("down.example", "failed"),
    ]
    assert [each["url"] for each in found["sources"]] == [
        here.base,
        "https://beta.example/",
        "https://down.example/?q={searchTerms}",
    ]
    assert all(hit["sources"] for hit in found["hits"])


def test_only_hits_of_our_own_are_explained(here: Visitor) -> None:
    page = here.ask("/search?q=robot&others=1").text
    explained = [url for url in links_of(page) if url.startswith("/explain")]
    assert explained
    assert not any("beta.example" in url for url in explained)
    own = {hit.id for hit in SPECIMENS}
    assert all(parse_qs(urlsplit(url).query)["url"][0] in own for url in explained), "their URL may be that of several"
    assert [here.ask(url).status for url in explained] == [200] * len(explained)


# language → how the page says what was corrected; with other services, and without
CORRECTED = [
    ("en", " is on no page of this index. Its results are for ", " is on no page. These are the results for "),
    ("ru", " встречаются на страницах этого индекса. Его результаты", " встречаются на страницах. Показаны результаты"),
]


@pytest.mark.parametrize(("language", "merged", "alone"), CORRECTED)
def test_a_correction_holds_for_our_index_alone(
    here: Visitor, services: Services, language: str, merged: str, alone: str
) -> None:
    pages = [here.ask(f"/search?q={TYPO}&hl={language}{others}").text for others in ("&others=1", "")]
    assert [(merged in text_of(page), alone in text_of(page)) for page in pages] == [(True, False), (False, True)]
    assert any(f"q={TYPO}" in each.url.text for each in services.requests)


LOADED = [
    *({"Sec_Purpose": value} for value in ("prefetch", "prefetch;prerender", " Prefetch; anonymous-client-ip")),
    *({name: "prefetch"} for name in ("Purpose", "X_Moz")),
]


@pytest.mark.parametrize("path", ["/search", "/api/search"])
@pytest.mark.parametrize("headers", LOADED, ids=[next(iter(each.values())) for each in LOADED])
def test_a_page_loaded_in_advance_sends_nothing(
    here: Visitor, services: Services, headers: dict[str, str], path: str
) -> None:
    before = len(services.requests)
    refused = here.ask(f"{path}?q=robot+ahead&others=1", **headers)
    assert (refused.status, refused.headers["Cache-Control"]) == (503, "no-store")
    assert "not when a browser loads it in advance" in refused.text
    assert here.ask(f"{path}?q=robot", **headers).status == 200
    assert len(services.requests) == before


@pytest.mark.parametrize("path", ["/search", "/api/search"])
def test_head_sends_nothing(here: Visitor, services: Services, path: str) -> None:
    before = len(services.requests)
    assert here.ask(f"{path}?q=robot+head&others=1", "HEAD").status == 200
    assert len(services.requests) == before
    here.ask(f"{path}?q=robot+{path.count('/')}&others=1", Sec_Purpose="other, prefetching")
    assert len(services.requests) > before


@pytest.mark.parametrize("path", ["/search?q=robot&others=2", "/api/search?q=robot&others=yes"])
def test_no_other_value_switches_it_on(here: Visitor, services: Services, path: str) -> None:
    before = len(services.requests)
    answer = here.ask(path)
    assert (answer.status, len(services.requests)) == (400, before)
    assert "thers must be 1, or left out" in answer.text


def test_a_query_that_cannot_be_used_is_not_sent(here: Visitor, services: Services) -> None:
    before = len(services.requests)
    assert here.ask("/search?q=robot&others=1&after=tomorrow").status == 400
    assert here.ask("/search?q=&others=1").status == 200
    assert len(services.requests) == before


def test_without_services_the_parameter_changes_nothing() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample library"))) as url:
        page = Visitor(url).ask("/search?q=robot&others=1")
    assert (page.status, "Found by:" in page.text, 'name="others"' in page.text) == (200, False, False)
    assert [url for url in links_of(page.text) if "others" in url and "hl=" not in url] == []


def test_about_says_it(here: Visitor) -> None:
    page = here.ask("/about").text
    assert f"{GETS} They get nothing unless you choose it." in page
    assert "down.example" in page


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def test_the_switch_works_without_scripts(browser: Browser, here: Visitor) -> None:
    with shared_tab(browser, base_url=here.base, java_script_enabled=False) as tab:
        tab.goto("/search?q=robot")
        tab.get_by_role("link", name="Send the query and search there too").click()
        expect(tab.get_by_text("Left out: down.example")).to_be_visible()
        tab.get_by_label("Search for").fill("robot servers")
        tab.get_by_role("button", name="Search").click()
        expect(tab).to_have_url(re.compile("others=1"))
        tab.get_by_role("link", name="Search this index only").click()
        expect(tab.get_by_text("You can include other search services:")).to_be_visible()
        expect(tab).to_have_title("robot servers – Sample library")


def test_the_page_is_accessible_in_a_narrow_window(browser: Browser, here: Visitor) -> None:
    with shared_tab(browser, base_url=here.base, viewport={"width": 320, "height": 640}) as tab:
        for path in ("/search?q=robot", "/search?q=robot&others=1&hl=ru", "/about"):
            tab.goto(path)
            assert audit(tab).violations == []
            assert small_targets(tab) == []
            assert tab.evaluate("document.documentElement.scrollWidth") == 320
