"""The pages in a real browser: search and paging, by keyboard, on narrow screens, light and dark, checked by
axe-core."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, expect

from goodbot.search_values import OtherPage, SectionLink
from goodbot.web import Site, create_app, running
from web.browser import audit, chromium, shared_tab, small_targets
from web.crawls import Crawls
from web.library import SPECIMENS, Library, Visitor, served
from web.visitor_desks import Desk

ColorScheme = Literal["light", "dark"]
SCHEMES: tuple[ColorScheme, ...] = ("light", "dark")
CHAPTER = "https://handbook.example/chapter/77"
PATHS = {
    "front": "/",
    "hint": "/search?q=",
    "results": "/search?q=robot",
    "middle": "/search?q=robot&page=7",
    "one": "/search?q=chapter+77",
    "filtered": "/search?q=robot&lang=en&type=text/html&after=2024-05-01",
    "nothing": "/search?q=zeppelin",
    "nothing filtered": "/search?q=robot&lang=de&site=" + "long" * 30 + ".example",
    "refused": "/search?q=robot&page=x",
    "refused filter": "/search?q=robot&after=tomorrow",
    "explanation": f"/explain?q=robot+{'long' * 30}&url={CHAPTER}",
    "no explanation": f"/explain?q=zeppelin&url={CHAPTER}",
    "not in the index": "/explain?q=zeppelin&url=https://nowhere.example/",
    "help": "/help",
    "about": "/about",
    "robots": "/robots",
    "robots found": "/robots?q=google&verify=dns",
    "no robots": "/robots?q=gogolebot",
    "robot": "/robots/Googlebot",
    "robots.txt only": "/robots/Google-Extended",
    "draft": "/robots/draft",
    "draft refused": "/robots/draft?name=ExampleBot&contact=x",
    "drafted": "/robots/draft?name=GPTBot&operator=A&purpose=tool&source=https://example.org/&list_url=https://a.example/",
    "unknown": "/nowhere",
}
RICH = [
    replace(
        hit,
        language="en",
        fetched_at=1.75e9,
        modified_at=1.72e9 if number % 2 else None,
        size_bytes=1_234 * number,
        media_type="text/html" if number % 3 else "application/pdf",
        has_copy=True,
        sections=(
            SectionLink(f"{hit.url}#a", "A section of this page"),
            SectionLink(f"{hit.url}#b", "Another section"),
        ),
        others=(OtherPage(f"{hit.url}?ru", "ru"), OtherPage(f"{hit.url}?copy", "en")),
    )
    for number, hit in enumerate(SPECIMENS)
]
LOOKS = [
    (320, "dark", "ru"),
    pytest.param(320, "light", "en", marks=pytest.mark.long),
    pytest.param(320, "light", "ru", marks=pytest.mark.long),
    pytest.param(320, "dark", "en", marks=pytest.mark.long),
    pytest.param(1280, "light", "en", marks=pytest.mark.long),
    pytest.param(1280, "dark", "ru", marks=pytest.mark.long),
]
WIDTHS = [320, *(pytest.param(width, marks=pytest.mark.long) for width in (375, 390, 768, 1280, 1920))]


@pytest.fixture(scope="module")
def rich() -> Iterator[Visitor]:
    """A server with all pages, whose hits have all that hits can have."""
    site = Site(
        "Sample", user_agent="SampleBot/1.0 (+https://sample.example/bot)", contact="https://sample.example/bot"
    )
    with running(create_app(Library(RICH), site, Crawls(), visitors=Desk())) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def tab(browser: Browser, visitor: Visitor) -> Iterator[Page]:
    with shared_tab(browser, base_url=visitor.base, java_script_enabled=False) as tab:
        yield tab


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
    expect(tab.locator(".advice li")).to_have_count(5)
    tab.get_by_role("link", name="how to write a query").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Search help")


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
    expect(tab.locator("summary")).to_be_focused()
    tab.keyboard.press("Tab")
    expect(tab.get_by_role("link", name="The robots exclusion protocol")).to_be_focused()
    next_page = tab.get_by_role("link", name="Next page")
    for _ in range(33):  # nine more hits, one of them without a link, two links about each, and those of the pager
        tab.keyboard.press("Tab")
        if next_page.evaluate("link => link === document.activeElement"):
            break
    expect(next_page).to_be_focused()
    tab.keyboard.press("Enter")
    expect(tab).to_have_title("robot (page 2) – Sample library")


@pytest.mark.parametrize("path", ["/", "/search?q=robot&lang=en", "/search?q=robot&after=x"])
def test_focus_is_visible(browser: Browser, rich: Visitor, path: str) -> None:
    with shared_tab(browser, base_url=rich.base) as tab:
        tab.goto(path)
        controls = tab.locator("a, summary, input:visible, select:visible, button:visible").count()
        seen = []
        for _ in range(controls + 1):
            tab.keyboard.press("Tab")
            seen.append(
                tab.evaluate("[document.activeElement.tagName, getComputedStyle(document.activeElement).outline]")
            )
        outlines = [outline for tag, outline in seen if tag != "BODY"]  # after the last control, the page itself
        assert len(outlines) >= controls
        assert [pair for pair in seen if pair[0] != "BODY" and "solid 3px" not in pair[1]] == []


def test_a_script_in_a_title_does_not_run(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base) as tab:
        tab.goto("/search?q=friends")
        expect(tab.get_by_role("heading", level=2)).to_have_text("<script>alert('robot')</script> & friends")
        expect(tab.get_by_role("heading", level=2).get_by_role("link")).to_have_count(0)


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_no_sideways_scroll(browser: Browser, rich: Visitor, width: int) -> None:
    language = "ru" if width in (320, 768) else "en"
    with shared_tab(
        browser,
        base_url=rich.base,
        viewport={"width": width, "height": 800},
        locale=language,
        java_script_enabled=False,
    ) as tab:
        for name, path in PATHS.items():
            tab.goto(path)
            tab.locator("main details").evaluate_all("all => all.forEach((each) => { each.open = true; })")
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name


@pytest.mark.long
@pytest.mark.parametrize("width", WIDTHS)
def test_the_search_box_is_the_widest_thing_of_the_header(browser: Browser, visitor: Visitor, width: int) -> None:
    with shared_tab(browser, base_url=visitor.base, viewport={"width": width, "height": 800}) as tab:
        for path in (*PATHS.values(), "/check"):
            tab.goto(path)
            if not tab.locator("header").count():  # the home page has the box in its middle
                continue
            box = tab.locator("header input[name=q]").bounding_box()
            others = [each.bounding_box() for each in tab.locator("header .brand").all()]
            assert box is not None
            assert all(other is not None and other["width"] < box["width"] for other in others), path


def test_a_long_query_and_name_wrap(browser: Browser) -> None:
    with (
        served(Library(SPECIMENS), "A" + "a" * 80) as visitor,
        shared_tab(browser, base_url=visitor.base, viewport={"width": 320, "height": 640}) as tab,
    ):
        for path in ("/", "/search?q=" + "z" * 900):
            tab.goto(path)
            assert tab.evaluate("document.documentElement.scrollWidth") <= 320


def test_light_and_dark_differ(browser: Browser, visitor: Visitor) -> None:
    grounds = set()
    for scheme in SCHEMES:
        with shared_tab(browser, base_url=visitor.base, color_scheme=scheme) as tab:
            tab.goto("/")
            grounds.add(tab.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert len(grounds) == 2


@pytest.mark.parametrize(("width", "scheme", "language"), LOOKS)
def test_axe_finds_nothing(browser: Browser, rich: Visitor, width: int, scheme: ColorScheme, language: str) -> None:
    with shared_tab(
        browser, base_url=rich.base, viewport={"width": width, "height": 800}, color_scheme=scheme, locale=language
    ) as tab:
        for name, path in PATHS.items():
            tab.goto(path)
            if tab.locator(".filters summary").count():
                tab.locator(".filters details").evaluate("details => details.open = true")
            report = audit(tab)
            assert report.violations == [], name
            assert "color-contrast" in report.passed, name
            assert [(name, target) for target in small_targets(tab)] == []
            assert tab.evaluate("document.documentElement.lang") == language


@pytest.mark.parametrize(("width", "scheme"), [(320, "dark"), pytest.param(1280, "light", marks=pytest.mark.long)])
def test_axe_finds_nothing_without_a_crawl(browser: Browser, width: int, scheme: ColorScheme) -> None:
    with (
        running(create_app(None, Site("Sample"))) as url,
        shared_tab(browser, base_url=url, viewport={"width": width, "height": 800}, color_scheme=scheme) as tab,
    ):
        for path in ("/", "/check", "/robots", "/search?q=robot"):
            tab.goto(path)
            assert audit(tab).violations == [], path
            assert tab.evaluate("document.documentElement.scrollWidth") <= width


def test_the_policy_blocks_nothing_of_ours(browser: Browser, rich: Visitor) -> None:
    complaints: list[str] = []
    with browser.new_context(base_url=rich.base) as context:
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        for name in ("front", "results", "filtered", "nothing", "explanation", "help", "about"):
            tab.goto(PATHS[name])
        assert tab.evaluate("document.images[0].naturalWidth") > 0
    assert complaints == []


def test_the_first_page_is_small(browser: Browser, rich: Visitor) -> None:
    with browser.new_context(base_url=rich.base, locale="ru") as context:
        tab = context.new_page()
        sizes: dict[str, int] = {}
        tab.on("response", lambda response: sizes.__setitem__(response.url, len(response.body())))
        tab.goto("/", wait_until="networkidle")
    assert {url.rpartition("/")[2].partition("?")[0] for url in sizes} >= {"", "style.css", "search.js", "icon.svg"}
    assert sum(sizes.values()) < 50_000


# ---- filters ----


def test_filters_without_scripts(browser: Browser, rich: Visitor) -> None:
    with shared_tab(browser, base_url=rich.base, java_script_enabled=False) as tab:
        tab.goto("/search?q=robot&hl=en")
        tab.locator("summary").click()
        tab.get_by_label("Language", exact=True).select_option(label="English (135)")
        tab.get_by_label("Type", exact=True).select_option("application/pdf")
        tab.get_by_label("Date from").fill("2024-07-01")
        tab.get_by_role("button", name="Apply").click()
        tab.wait_for_url("**/search?q=robot&lang=en&type=application%2Fpdf&after=2024-07-01&hl=en")
        chips = tab.get_by_role("list", name="Filters in force").get_by_role("link")
        expect(chips).to_contain_text(
            ["Language: English", "Type: PDF", "Date from: 1 July 2024", "Remove all filters"]
        )
        tab.get_by_role("link", name="Next page").click()
        expect(chips).to_have_count(4)
        tab.get_by_role("link", name="Remove the filter Type: PDF").click()
        tab.wait_for_url("**/search?q=robot&lang=en&after=2024-07-01&hl=en")
        tab.get_by_label("Search for").fill("chapter 7")
        tab.get_by_role("button", name="Search").click()
        tab.wait_for_url("**/search?q=chapter+7&lang=en&after=2024-07-01&hl=en")
        tab.get_by_role("link", name="Remove all filters").click()
        tab.wait_for_url("**/search?q=chapter+7&hl=en")


def test_a_period_becomes_a_date(browser: Browser, rich: Visitor) -> None:
    with shared_tab(browser, base_url=rich.base) as tab:
        tab.goto("/search?q=robot&before=2025-01-01")
        tab.locator("summary").click()
        tab.get_by_label("Date", exact=True).select_option("past year")
        tab.get_by_role("button", name="Apply").click()
        tab.wait_for_url(re.compile(r"/search\?q=robot&after=\d{4}-\d\d-\d\d$"))


def test_with_scripts_empty_filters_stay_out_of_the_url_at_once(browser: Browser, rich: Visitor) -> None:
    with browser.new_context(base_url=rich.base) as context:
        tab = context.new_page()
        tab.goto("/search?q=robot")
        asked: list[str] = []
        tab.on("request", lambda request: asked.append(request.url) if request.is_navigation_request() else None)
        tab.locator("summary").click()
        tab.get_by_label("Site").fill("handbook.example")
        tab.keyboard.press("Enter")
        tab.wait_for_url("**/search?q=robot&site=handbook.example")
        expect(tab.get_by_role("link", name="Remove the filter Site: handbook.example")).to_be_visible()
    assert [url.partition("/search?")[2] for url in asked] == ["q=robot&site=handbook.example"]


def test_from_a_hit_to_its_explanation_and_its_site(tab: Page) -> None:
    tab.goto("/search?q=robot")
    hit = tab.get_by_role("listitem").filter(has_text="Chapter 2:")
    hit.get_by_role("link", name="Why this result?").click()
    expect(tab.get_by_role("heading", level=1)).to_have_text("Why this result?")
    expect(tab.get_by_role("main")).to_contain_text("this page is result number 7")
    tab.get_by_role("link", name="Back to the results").click()
    hit.get_by_role("link", name="More from this site").click()
    expect(tab.get_by_role("heading", level=1)).to_contain_text("129 pages found")
    expect(tab.get_by_role("link", name="More from this site")).to_have_count(0)


# ---- languages ----


def test_the_language_follows_the_browser_and_the_switch(browser: Browser, rich: Visitor) -> None:
    with shared_tab(browser, base_url=rich.base, locale="ru-RU", java_script_enabled=False) as tab:
        tab.goto("/")
        expect(tab.get_by_role("button", name="Найти")).to_be_visible()
        tab.get_by_role("contentinfo").get_by_role("link", name="English").click()
        expect(tab.get_by_role("button", name="Search")).to_be_visible()
        tab.get_by_label("Search for").fill("robot")
        tab.get_by_role("button", name="Search").click()
        tab.get_by_role("link", name="Next page").click()
        tab.get_by_role("link", name="Search help").click()
        expect(tab.get_by_role("heading", level=1)).to_have_text("Search help")
        tab.get_by_role("contentinfo").get_by_role("link", name="Русский").click()
        tab.get_by_role("link", name="robot exclusion", exact=True).click()
        expect(tab.get_by_role("button", name="Найти")).to_be_visible()
        expect(tab.get_by_role("heading", level=1)).to_contain_text("Найден")
