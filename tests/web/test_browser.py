"""The pages in a real browser: search and paging, by keyboard, on narrow screens, light and dark, checked by
axe-core."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_core_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Page, expect

from goodbot.web import create_app, running
from web.browser import chromium
from web.library import SPECIMENS, Library, Visitor, served

ColorScheme = Literal["light", "dark"]
SCHEMES: tuple[ColorScheme, ...] = ("light", "dark")
PATHS = {
    "front": "/",
    "hint": "/search?q=",
    "results": "/search?q=robot",
    "middle": "/search?q=robot&page=7",
    "one": "/search?q=chapter+77",
    "nothing": "/search?q=zeppelin",
    "refused": "/search?q=robot&page=x",
    "unknown": "/nowhere",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser, visitor: Visitor) -> Iterator[Page]:
    with browser.new_context(base_url=visitor.base, java_script_enabled=False) as context:
        yield context.new_page()


def test_search_and_open(tab: Page) -> None:
    tab.goto("/")
    tab.get_by_label("Search for").fill("naming rules")
    tab.get_by_role("button", name="Search").click()
    expect(tab).to_have_title("naming rules – Sample library")
    expect(tab.get_by_role("heading", level=1)).to_contain_text("1 page found")
    link = tab.get_by_role("link", name="The robots exclusion protocol")
    assert link.get_attribute("href") == "https://robots.example/guide/exclusion.html"
    expect(tab.locator("mark")).to_have_text(["rules", "naming"])
    expect(tab.get_by_label("Search for")).to_have_value("naming rules")


def test_paging(tab: Page) -> None:
    tab.goto("/search?q=robot")
    pager = tab.get_by_role("navigation", name="Pages of results")
    expect(pager.get_by_role("link", name="Previous page")).to_have_count(0)
    pager.get_by_role("link", name="Next page").click()
    expect(tab).to_have_title("robot (page 2) – Sample library")
    expect(pager.locator("[aria-current=page]")).to_have_text("Page 2")
    expect(tab.locator("ol.hits")).to_have_attribute("start", "11")
    pager.get_by_role("link", name="Page 14").click()
    expect(tab.locator("ol.hits > li")).to_have_count(4)
    expect(pager.get_by_role("link", name="Next page")).to_have_count(0)
    pager.get_by_role("link", name="Previous page").click()
    expect(pager.locator("[aria-current=page]")).to_have_text("Page 13")


def test_no_result(tab: Page) -> None:
    tab.goto("/search?q=zeppelin")
    expect(tab.get_by_role("heading", level=1)).to_contain_text("No results for")
    expect(tab.get_by_role("listitem")).to_have_count(4)


def test_keyboard_only(tab: Page) -> None:
    tab.goto("/")
    expect(tab.get_by_label("Search for")).to_be_focused()
    tab.keyboard.type("robot")
    tab.keyboard.press("Enter")
    expect(tab.locator("ol.hits")).to_be_visible()
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="Skip to the results")).to_be_focused()
    expect(tab.get_by_role("link", name="Skip to the results")).to_be_in_viewport()
    tab.keyboard.press("Enter")
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="The robots exclusion protocol")).to_be_focused()
    next_page = tab.get_by_role("link", name="Next page")
    for _ in range(14):  # nine more hits, one of them without a link, and four links of the pager
        tab.keyboard.press("Tab")
        if next_page.evaluate("link => link === document.activeElement"):
            break
    expect(next_page).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab).to_have_title("robot (page 2) – Sample library")


@pytest.mark.parametrize("path", ["/", "/search?q=robot"])
def test_focus_is_visible(browser: Browser, visitor: Visitor, path: str) -> None:
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.goto(path)
        controls = tab.locator("a, input, button").count()
        seen = []
        for _ in range(controls + 1):
            tab.keyboard.press("Tab")
            seen.append(
                tab.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outline]")
            )
        outlines = [outline for tag, outline in seen if tag != "BODY"]  # after the last control, the page itself
        assert len(outlines) >= controls
        assert all("solid 3px" in outline for outline in outlines)


def test_a_script_in_a_title_does_not_run(browser: Browser, visitor: Visitor) -> None:
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
        tab.goto("/search?q=friends")
        expect(tab.get_by_role("heading", level=2)).to_have_text("<script>alert('robot')</script> & friends")
        expect(tab.get_by_role("heading", level=2).get_by_role("link")).to_have_count(0)


@pytest.mark.parametrize(("width", "scheme"), [(320, "light"), (390, "dark"), (1280, "light"), (1280, "dark")])
def test_no_sideways_scroll(
    browser: Browser, visitor: Visitor, tmp_path: Path, width: int, scheme: ColorScheme
) -> None:
    with browser.new_context(
        base_url=visitor.base, viewport={"width": width, "height": 800}, color_scheme=scheme
    ) as context:
        tab = context.new_page()
        for name, path in PATHS.items():
            tab.goto(path)
            tab.screenshot(path=tmp_path / f"{name}.png", full_page=True)
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.parametrize("width", [320, 375, 1280])
def test_the_search_box_is_the_widest_thing_of_the_header(browser: Browser, visitor: Visitor, width: int) -> None:
    with browser.new_context(base_url=visitor.base, viewport={"width": width, "height": 800}) as context:
        tab = context.new_page()
        for path in (*PATHS.values(), "/check"):
            tab.goto(path)
            if not tab.locator("header").count():  # the front page has the box in its middle
                continue
            box = tab.locator("header input[name=q]").bounding_box()
            others = [each.bounding_box() for each in tab.locator("header .brand, header nav").all()]
            assert box is not None
            assert all(other is not None and other["width"] < box["width"] for other in others), path


def test_a_long_query_and_name_wrap(browser: Browser) -> None:
    with (
        served(Library(SPECIMENS), "A" + "a" * 80) as visitor,
        browser.new_context(base_url=visitor.base, viewport={"width": 320, "height": 640}) as context,
    ):
        tab = context.new_page()
        for path in ("/", "/search?q=" + "z" * 900):
            tab.goto(path)
            assert tab.evaluate("document.documentElement.scrollWidth") <= 320


def test_light_and_dark_differ(browser: Browser, visitor: Visitor) -> None:
    grounds = set()
    for scheme in SCHEMES:
        with browser.new_context(base_url=visitor.base, color_scheme=scheme) as context:
            tab = context.new_page()
            tab.goto("/")
            grounds.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_axe_finds_nothing(browser: Browser, visitor: Visitor, width: int, scheme: ColorScheme) -> None:
    with browser.new_context(
        base_url=visitor.base, viewport={"width": width, "height": 800}, color_scheme=scheme
    ) as context:
        tab = context.new_page()
        for name, path in PATHS.items():
            tab.goto(path)
            report = Axe().run(tab)
            assert [(name, found["id"], found["nodes"]) for found in report["violations"]] == []
            assert any(rule["id"] == "color-contrast" for rule in report["passes"]), name


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), (1280, "light")])
def test_axe_finds_nothing_without_a_crawl(browser: Browser, width: int, scheme: ColorScheme) -> None:
    with (
        running(create_app(None, "Sample")) as url,
        browser.new_context(base_url=url, viewport={"width": width, "height": 800}, color_scheme=scheme) as context,
    ):
        tab = context.new_page()
        for path in ("/", "/check", "/search?q=robot"):
            tab.goto(path)
            assert [(path, found["id"], found["nodes"]) for found in Axe().run(tab)["violations"]] == []
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_the_policy_blocks_nothing_of_ours(browser: Browser, visitor: Visitor) -> None:
    complaints: list[str] = []
    with browser.new_context(base_url=visitor.base) as context:
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        for path in ("/", "/search?q=robot", "/search?q=zeppelin"):
            tab.goto(path)
        assert tab.evaluate("document.images[0].naturalWidth") > 0
    assert complaints == []
