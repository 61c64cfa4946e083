"""The operator's page about robots in access logs: who sees it, what it says, and that it refreshes itself."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, expect

from goodbot.watch.report import WatchReport
from goodbot.web import Site, create_app, running
from goodbot.web.operator.live_watch_page import WatchView
from watch.report.made_reports import report_of
from web.browser import audit, chromium, small_targets
from web.crawls import TOKEN, Crawls, cookie_of
from web.library import SPECIMENS, Library, Visitor
from web.visitor_desks import Desk
from web.watch_study import Followed, study

AT = 1_795_000_000.0
TROUBLE = "cannot read access.log: Permission denied\x1b[2J<b>"


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> WatchReport:
    return study(tmp_path_factory.mktemp("study") / "copies")


@pytest.fixture
def logs() -> Followed:
    return Followed()


@pytest.fixture
def visitor(logs: Followed) -> Iterator[Visitor]:
    with running(create_app(Library(SPECIMENS), Site("Sample"), Crawls(), visitors=Desk(), logs=logs)) as url:
        yield Visitor(url)


def page(visitor: Visitor, path: str = "/crawl/watch") -> str:
    answer = visitor.ask(path, Cookie=cookie_of(visitor))
    assert answer.status == 200
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.text


def test_only_the_operator_sees_it(visitor: Visitor, logs: Followed, studied: WatchReport) -> None:
    logs.view = WatchView(studied, AT)
    answer = visitor.ask("/crawl/watch")
    assert answer.status == 403
    assert "YandexBot" not in answer.text
    assert 'name="to" value="/crawl/watch"' in answer.text
    assert visitor.ask(f"/crawl/watch?token={TOKEN}").headers["Location"] == "/crawl/watch"


def test_what_it_says(visitor: Visitor, logs: Followed, studied: WatchReport) -> None:
    logs.view = WatchView(done_bytes=1_500_000, size_bytes=6_000_000)
    assert "goodbot is reading the logs: 1.5 MB of 6.0 MB so far." in page(visitor)
    assert "пока 1,5\xa0МБ из 6,0\xa0МБ" in page(visitor, "/crawl/watch?hl=ru")
    logs.view = WatchView(studied, AT)
    first = page(visitor)
    assert "Written by goodbot at 2026-11-18 11:06:40 UTC." in first
    assert "Disallow: /shop/" in first
    assert '<div id="report" class="part" lang="en" data-live>' in page(visitor, "/crawl/watch?hl=ru")
    logs.view = WatchView(replace(studied, logs=("other.log",)), AT)
    assert "other.log" in page(visitor)
    logs.view = replace(logs.view, trouble=TROUBLE)
    text = page(visitor)
    assert r"Permission denied\x1b[2J&lt;b&gt;" in text
    assert "other.log" in text


def test_logs_that_are_missing(visitor: Visitor, logs: Followed, studied: WatchReport) -> None:
    empty = report_of([])
    missing = ("<b>.log does not exist yet; waiting for it",)
    logs.view = WatchView(replace(empty, logs=()), AT, missing=missing)
    text = page(visitor)
    assert "&lt;b&gt;.log does not exist yet; waiting for it</p>" in text
    assert "the logs are empty" not in text
    assert "is reading the logs" not in text
    logs.view = replace(logs.view, report=studied)
    assert "does not exist yet" in page(visitor)
    assert "Disallow: /shop/" in page(visitor)
    logs.view = WatchView(empty, AT)
    assert "No requests: the logs are empty." in page(visitor)


def test_without_logs_there_is_no_page() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample"), Crawls())) as url:
        visitor = Visitor(url)
        assert visitor.ask("/crawl/watch", Cookie=cookie_of(visitor)).status == 404
        assert "/crawl/watch" not in page(visitor, "/crawl")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def test_in_a_browser(browser: Browser, visitor: Visitor, logs: Followed, studied: WatchReport) -> None:
    """The policy of the site permits all of it, axe finds nothing, and a refresh keeps open what is open."""
    logs.view = WatchView(studied, AT, trouble="cannot read access.log: Permission denied")
    with browser.new_context(viewport={"width": 320, "height": 800}, color_scheme="dark") as context:
        tab = context.new_page()
        complaints: list[str] = []
        tab.on("console", lambda message: complaints.append(message.text))
        tab.clock.install()
        tab.goto(f"{visitor.base}crawl/watch?token={TOKEN}")
        expect(tab.get_by_role("heading", name="Did known robots obey robots.txt?")).to_be_visible()
        assert audit(tab).violations == []
        assert small_targets(tab) == []
        assert tab.evaluate("document.documentElement.scrollWidth") <= 320
        evidence = tab.get_by_text("[30/Sep/2026:08:00:10 +0000]").first
        tab.get_by_role("link", name="YandexBot").click()
        expect(evidence).to_be_visible()
        logs.view = WatchView(replace(studied, logs=("other.log",)), AT + 60)
        tab.clock.run_for(6000)
        expect(tab.get_by_text("other.log")).to_be_visible()
        expect(tab.get_by_text("Permission denied")).to_be_hidden()
        expect(evidence).to_be_visible()
        assert complaints == []
