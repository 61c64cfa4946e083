"""The pages as readers with needs of their own see them: in narrow windows, with large text, in the colours of their
system, and on paper."""

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from goodbot.search_values import NO_FILTERS, ExplainedWord, Explanation, Filters
from goodbot.web import Site, create_app, running
from web.browser import chromium, shared_tab, small_targets
from web.crawls import TOKEN, Crawls
from web.library import SPECIMENS, Library, Visitor
from web.sample_frontier import make_frontier
from web.visitor_desks import HOST, Desk

CHAPTER = "https://handbook.example/chapter/77"
PUBLIC = {
    "home": "/",
    "specimens": "/search?q=Robot",
    "results": "/search?q=robot&page=7",
    "filtered": "/search?q=robot&site=handbook.example",
    "explanation": f"/explain?q=robot&url={CHAPTER}",
    "help": "/help",
    "about": "/about",
    "submit": "/submit",
    "why": f"/why?url={HOST}",
    "removal": f"/removal?url={HOST}",
    "copy": f"/cached?url={HOST}",
    "checker": "/check",
    "robots": "/robots",
    "robot": "/robots/Googlebot",
    "draft": "/robots/draft?name=ExampleBot&contact=x",
    "login": "/crawl/hosts",
    "unknown": "/nowhere",
}
OPERATOR = {
    "dashboard": "/crawl",
    "hosts": "/crawl/hosts",
    "host": "/crawl/host?name=here.example",
    "not fetched": "/crawl/refused?host=here.example",
    "courtesy": "/crawl/courtesy?host=here.example",
    "removals": "/crawl/removals",
}
BROKEN_WORDS = """() => {
  const broken = [];
  const range = document.createRange();
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const node = texts.currentNode;
    if (!node.parentElement.closest("table, dl.numbers, .filters") || !node.parentElement.checkVisibility()) continue;
    for (const word of node.data.matchAll(/(?<![\\p{L}.\\/])\\p{L}{2,18}(?![\\p{L}.\\/])/gu)) {
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1) broken.push(word[0]);
    }
  }
  return broken;
}"""
"""Finds words of tables, figures and filters that are on two lines."""
UNMARKED = """() => [...document.querySelectorAll("main :is(button, .action, summary, .chips a, [aria-current], mark)")]
  .filter((each) => each.checkVisibility() && each.closest(".unseen") === null)
  .filter((each) => {
    const { borderTopStyle, borderTopWidth, outlineStyle, backgroundColor } = getComputedStyle(each);
    const hasEdge = (borderTopStyle !== "none" && parseFloat(borderTopWidth) > 0) || outlineStyle !== "none";
    const hasGround = backgroundColor !== getComputedStyle(document.body).backgroundColor;
    return !hasEdge && !(each.matches("mark") && hasGround) && !each.matches("details:not([class]) > summary");
  })
  .map((each) => each.outerHTML.slice(0, 100))"""
"""Finds controls and marks that only a background of ours would set off from the text around."""


UNBREAKABLE = "\N{WOMAN}\N{ZERO WIDTH JOINER}" * 200
"""A row of emoji that no browser breaks."""


class _Explained(Library):
    """Explains every page by two parts with long names."""

    def explain(
        self, query: str, url: str, languages: object = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        words = (ExplainedWord("internationalization", (("title", 4.5), ("links", 2.0))), ExplainedWord("robot"))
        return Explanation(url, "A chapter", is_found=True, score=6.5, position=1, words=words)


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    reports = make_frontier(Path(tmp_path_factory.mktemp("looks")) / "frontier.sqlite")
    hits = [replace(hit, language="he") if hit.id == "d" else hit for hit in SPECIMENS]
    hits = [replace(hit, title=f"robot {UNBREAKABLE}") if hit.id == "f" else hit for hit in hits]
    app = create_app(_Explained(hits), Site("Sample library"), Crawls(reports=reports), visitors=Desk())
    with running(app) as url:
        yield Visitor(url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


def pages(tab: Page) -> Iterator[str]:
    """Opens the public pages and then, logged in, those of the operator; gives the name of each."""
    for name, path in PUBLIC.items():
        tab.goto(path)
        yield name
    tab.goto(f"/crawl?token={TOKEN}")
    for name, path in OPERATOR.items():
        tab.goto(path)
        yield name


@pytest.mark.parametrize("language", ["ru", pytest.param("en", marks=pytest.mark.long)])
def test_a_narrow_window(browser: Browser, visitor: Visitor, language: str) -> None:
    with shared_tab(browser, base_url=visitor.base, viewport={"width": 320, "height": 640}, locale=language) as tab:
        for name in pages(tab):
            assert (name, tab.evaluate(BROKEN_WORDS)) == (name, [])
            assert (name, small_targets(tab)) == (name, [])
            assert (name, tab.evaluate("document.documentElement.scrollWidth")) == (name, 320)


@pytest.mark.parametrize("width", [640, pytest.param(1280, marks=pytest.mark.long)])
def test_text_may_be_twice_as_large(browser: Browser, visitor: Visitor, width: int) -> None:
    """WCAG 2.2 SC 1.4.4. The browser is set to large text, as readers set it."""
    with browser.new_context(base_url=visitor.base, viewport={"width": width, "height": 800}, locale="ru") as context:
        tab = context.new_page()
        sizes = {"fontSizes": {"standard": 32, "fixed": 26}}
        context.new_cdp_session(tab).send("Page.setFontSizes", sizes)
        for name in pages(tab):
            assert tab.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") == 32
            assert tab.evaluate("document.documentElement.scrollWidth") <= width, name
            assert (name, tab.evaluate(BROKEN_WORDS)) == (name, [])


@pytest.mark.long
def test_controls_have_edges_in_forced_colours(browser: Browser, visitor: Visitor) -> None:
    with browser.new_context(base_url=visitor.base, forced_colors="active") as context:
        tab = context.new_page()
        for name in pages(tab):
            assert (name, tab.evaluate(UNMARKED)) == (name, [])


@pytest.mark.long
def test_paper(browser: Browser, visitor: Visitor) -> None:
    """What only works on a screen is not printed, and dark colours are not either."""
    with browser.new_context(base_url=visitor.base, color_scheme="dark") as context:
        tab = context.new_page()
        for name in pages(tab):
            dark = tab.evaluate("getComputedStyle(document.body).color")
            tab.emulate_media(media="print")
            assert tab.evaluate("getComputedStyle(document.body).color") != dark
            controls = tab.locator("button, summary, .foot a, .pager a, .skip, .tabs a").all()
            shown = [each.inner_text() for each in controls if each.is_visible()]
            assert (name, [text for text in shown if "1990" not in text and "lines" not in text]) == (name, [])
            assert tab.get_by_role("heading", level=1).is_visible()
            tab.emulate_media(media="screen")


@pytest.mark.long
def test_only_the_home_page_takes_the_focus(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base) as tab:
        focused = [name for name in pages(tab) if tab.evaluate("document.activeElement !== document.body")]
    assert focused == ["home"]


def test_titles_say_where_one_is(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base) as tab:
        titles = {name: tab.title() for name in pages(tab)}
    assert titles.pop("home") == "Sample library"
    assert len(set(titles.values())) == len(titles), titles
    assert [title for title in titles.values() if not title.endswith(" – Sample library")] == []
    assert titles["not fetched"] == "URLs not fetched: here.example – Sample library"


def test_a_hit_in_another_language_says_so(browser: Browser, visitor: Visitor) -> None:
    with shared_tab(browser, base_url=visitor.base) as tab:
        tab.goto("/search?q=robot")
        expect(tab.locator(".hits [lang=he]")).to_have_text(
            ["רובוטים באינטרנט", "עמוד על robot אחד ועל הכללים שלו.", "עברית"]
        )


def test_every_class_of_the_style_sheet_is_in_a_template() -> None:
    web = files("goodbot.web")
    style = re.sub(r'"[^"]*"|/\*.*?\*/', "", web.joinpath("static/style.css").read_text(), flags=re.DOTALL)
    sources = [*web.joinpath("templates").iterdir(), *web.joinpath("static").iterdir()]
    used = " ".join(each.read_text() for each in sources if each.name.endswith((".html", ".js")))
    names = set(re.findall(r"[.#]([a-z][a-z0-9-]*)(?=[^;{}]*\{)", style))
    assert len(names) > 80
    assert sorted(names - set(re.findall(r"[a-z][a-z0-9-]*", used))) == []
