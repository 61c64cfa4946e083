"""The page of an audit: whole without other files and scripts, safe whatever the site contains, and accessible."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from goodbot.audit import index_kinds, link_kinds, page_kinds
from goodbot.audit.finding_store import FindingStore
from goodbot.audit.findings import finding
from goodbot.audit.kinds import KINDS
from goodbot.web.operator.audit_page import FIRST_ROWS, MOST_ROWS, audit_page
from web.browser import audit, chromium, small_targets

AT = 1_700_000_000.0
EVIL = "</style><script>alert(1)</script>\"'><img src=x onerror=alert(1)>\u202e\x07"
WORDS = """why problem end hops rule rule_line agent directive canonical title lang language taken_s limit_s size limit
origin count"""
SITE = "https://site.example"


def store_with(*, many: int = 0) -> FindingStore:
    """Findings of every kind, with hostile words; `many`: of broken links."""
    store = FindingStore(sqlite3.connect(":memory:"))
    words: dict[str, Any] = dict.fromkeys(WORDS.split(), EVIL)
    for number, kind in enumerate(KINDS.values()):
        related = {"text": EVIL, "pages": number, "hops": [SITE, EVIL]}
        store.add([finding(kind, f"{SITE}/{number}?a=1&b=2", "link", f"{SITE}/{EVIL}", related=related, **words)])
    store.add(
        finding(link_kinds.BROKEN_LINK, f"{SITE}/{number}", "link", f"{SITE}/gone", related={"pages": many}, why="404")
        for number in range(many)
    )
    return store


def page_of(store: FindingStore, notes: tuple[str, ...] = (), ignore: tuple[str, ...] = ()) -> str:
    return audit_page(store, notes, 1234, ignore, AT)


def test_nothing_of_the_site_becomes_markup() -> None:
    page = page_of(store_with(), (f"the crawl is not finished {EVIL}",))
    assert "<script" not in page
    assert "<img" not in page
    assert "\u202e" not in page
    assert "\x07" not in page
    assert page.count("</style>") == 1
    assert all(f" {code}: " in page for code in KINDS)
    assert "2023-11-14 22:13:20 UTC" in page


def test_lists_are_bounded() -> None:
    page = page_of(store_with(many=MOST_ROWS + 100))
    assert page.count(f'href="{SITE}/') < MOST_ROWS + 2 * len(KINDS)
    assert f"<summary>{MOST_ROWS - FIRST_ROWS} more</summary>" in page
    assert "101 more are left out here; goodbot audit --json lists them all." in page


def test_ignored_codes_are_left_out() -> None:
    page = page_of(store_with(), ignore=("A1", "A206"))
    assert "A101:" not in page
    assert "A206:" not in page
    assert "A201:" in page


def test_a_fix_that_is_the_same_for_all_is_given_once() -> None:
    store = FindingStore(sqlite3.connect(":memory:"))
    store.add(finding(page_kinds.UNTITLED, f"{SITE}/{number}") for number in range(3))
    store.add(
        finding(index_kinds.LISTED_GONE, f"{SITE}/s.xml", "entry", f"{SITE}/{number}", why="404") for number in range(2)
    )
    store.add(
        finding(link_kinds.BROKEN_LINK, SITE, "link", f"{SITE}/{number}", related={"text": "", "pages": 1}, why="404")
        for number in range(2)
    )
    page = page_of(store)
    assert page.count("add a &lt;title&gt;") == 1
    assert page.count("remove the page from the sitemap") == 1
    assert page.count("link to another page") == 2


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.mark.long
@pytest.mark.parametrize(("scheme", "width"), [("dark", 320), ("light", 1280)])
def test_axe_finds_nothing(browser: Browser, scheme: str, width: int, tmp_path: Path) -> None:
    """And the policy of the page permits its own style, and nothing else."""
    file = tmp_path / "audit.html"
    file.write_text(page_of(store_with(many=60), ("the crawl is not finished",)), "utf-8")
    tab = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light", viewport={"width": width, "height": 800}
    ).new_page()
    requests: list[str] = []
    complaints: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.on("console", lambda message: complaints.append(message.text))
    tab.goto(file.as_uri())
    assert complaints == []
    assert tab.evaluate("getComputedStyle(document.querySelector('.tiles')).display") in ("flex", "grid")
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert audit(tab).violations == []
    assert small_targets(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert requests == [file.as_uri()]
    tab.context.close()
