"""The documentation as a site: complete, every link leads somewhere, and it loads nothing from other servers."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pyromark
import pytest
from playwright.sync_api import Browser, expect

from documentation_site import SitePage, build
from programs import ROOT, load
from web.browser import audit, chromium

HOOK = load("docs/site/pages.py")
COMPARED = ("h1", "h2", "h3", "h4", "li", "pre", "blockquote", "table", "tr", "td")
OTHER_SERVER = re.compile(r"(?:https?:)?//")
IN_STYLE = re.compile(r"""(?:url\(|@import|\bsrc=|xlink:href=)\s*["']?((?:https?:)?//[^"')\s]+)""")
IN_CODE = re.compile(r"https?://[\w./@-]+\.(?:js|css|woff2?|json)\b")
TITLE = re.compile(r"<title>(.*?)</title>")
FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
MERMAID = "https://unpkg.com/mermaid@11/dist/mermaid.min.js"
"""The theme's script loads this if a page has an element of class `mermaid`; no page has."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    build(folder)
    return folder


def sources() -> dict[str, Path]:
    """The Markdown of each page of the site."""
    pages = {path.relative_to(ROOT / "docs").as_posix(): path for path in (ROOT / "docs").rglob("*.md")}
    return pages | {page: ROOT / source for source, page in HOOK.brought().items()}


def built(page: str) -> str:
    return re.sub(r"README\.md$", "index.md", page).replace(".md", ".html")


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[str, SitePage]:
    return {path.relative_to(site).as_posix(): SitePage(path.read_text("utf-8")) for path in site.rglob("*.html")}


def test_the_site_is_whole(site: Path, pages: dict[str, SitePage]) -> None:
    """MkDocs has found no fault, and every page is there and in the navigation."""
    linked = {unquote(link.partition("#")[0]) for link in pages["index.html"].links}
    expected = set(map(built, sources()))
    assert set(pages) == expected | {"404.html"}
    assert expected - linked == set(), "mkdocs.yml lists the navigation"
    assert not [*site.rglob("*.py")]
    titles = Counter(TITLE.findall(path.read_text("utf-8"))[0] for path in site.rglob("*.html"))
    assert [title for title, times in titles.items() if times > 1] == []


def test_links_and_anchors_exist(site: Path, pages: dict[str, SitePage]) -> None:
    """External links are only read, not followed."""
    missing = []
    for name, page in pages.items():
        assert max(Counter(page.ids).values()) == 1, (name, Counter(page.ids).most_common(1))
        for link in set(page.links) if name != "404.html" else ():
            url = urlsplit(link)
            target = (
                posixpath.normpath(posixpath.join(posixpath.dirname(name), unquote(url.path))) if url.path else name
            )
            if url.scheme:
                assert url.scheme == "mailto" or re.fullmatch(r"https?://[\w.:-]+(/\S*)?", link), (name, link)
            elif not (site / target).is_file() or (url.fragment and unquote(url.fragment) not in pages[target].ids):
                missing.append((name, link))
    assert missing == []


def test_nothing_is_loaded_from_other_servers(site: Path, pages: dict[str, SitePage]) -> None:
    loaded = [(name, url) for name, page in pages.items() for url in page.loaded if OTHER_SERVER.match(url)]
    for path in [*site.rglob("*.css"), *site.rglob("*.svg"), *site.rglob("*.js")]:
        found = IN_CODE if path.suffix == ".js" else IN_STYLE
        if path.name != "search_index.js" and "lunr" not in path.parts:  # an index, and stemmers
            loaded += [(path.name, url) for url in found.findall(path.read_text(encoding="utf-8")) if url != MERMAID]
    assert loaded == []
    assert [name for name, page in pages.items() if "mermaid" in page.classes] == []


def test_a_page_reads_as_on_a_code_host(pages: dict[str, SitePage]) -> None:
    """MkDocs reads Markdown by older rules: what is indented by less than four spaces belongs to no list item."""
    differ = []
    for page, path in sources().items():
        text = FRONT_MATTER.sub("", path.read_text(encoding="utf-8"))
        there = SitePage(f"<article>{pyromark.html(text, options=pyromark.Options.ENABLE_TABLES)}")
        here = pages[built(page)]
        differ += [(page, tag) for tag in COMPARED if there.elements[tag] != here.elements[tag]]
        differ += [(page, "text")] if "".join(there.words) != "".join(here.words) else []
    assert differ == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


SHOWN = [
    "index.html",
    "start/robot-authors.html",
    "reference/commands.html",
    "reference/dialects.html",
    "findings.html",
]


@pytest.mark.long
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_axe_finds_nothing(browser: Browser, site: Path, width: int, scheme: str) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme="dark" if scheme == "dark" else "light"
    )
    tab = context.new_page()
    requests: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    for page in SHOWN:
        tab.goto((site / page).as_uri())
        assert audit(tab).violations == [], page
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, page
    assert [url for url in requests if not url.startswith("file:")] == []
    context.close()


QUERIES = {
    "User-agent:": "how-to/|findings",
    "--allow-private": "how-to/|reference/commands",
    "Disallow: /x": "findings|how-to/",
    "WARC": "how-to/|glossary",
    "R705": "findings",
}
"""What is typed → where the first page leads: never to a decision, since a user of goodbot searches."""


@pytest.mark.long
def test_the_search_works_from_disk(browser: Browser, site: Path) -> None:
    tab = browser.new_page()
    faults: list[str] = []
    tab.on("pageerror", lambda error: faults.append(str(error)))
    tab.goto((site / "start" / "robot-authors.html").as_uri())
    box = tab.get_by_role("textbox", name="Search")
    box.focus()
    answer, found = tab.locator(".md-search-result__meta"), tab.locator(".md-search-result__link").first
    expect(answer).to_have_text("Type to start searching")  # keys before are not heard
    for typed, expected in QUERIES.items():
        box.press_sequentially(typed)
        expect(found).to_have_attribute("href", re.compile(f"/(?:{expected})"))
        box.fill(" ")
        box.press("Backspace")
        expect(answer).to_have_text("Type to start searching")
    box.press_sequentially("Crawl-delay")
    found.click()
    tab.wait_for_url(re.compile(r"\?h="))  # words to be marked
    assert faults == []
    tab.close()
