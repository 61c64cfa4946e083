"""Starts Debian's Chromium for tests. It sends requests only to the pages under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

TIMEOUT_MS = 60_000
expect.set_options(timeout=TIMEOUT_MS)

CHROMIUM = Path("/usr/bin/chromium")
QUIET = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-gpu",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """Starts a headless browser for one module. While Playwright runs, its event loop occupies the thread, so no
    asynchronous test can run there."""
    if not CHROMIUM.exists():
        pytest.fail(f"these tests need {CHROMIUM}: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=TIMEOUT_MS)
        yield browser
        browser.close()


_shared: WeakKeyDictionary[Browser, dict[str, BrowserContext]] = WeakKeyDictionary()


@contextmanager
def shared_tab(browser: Browser, **options: Any) -> Iterator[Page]:
    """Opens a tab without cookies and stored data. Tabs with the same options share a browser context and its cache:
    to start a context and its processes takes more time than most tests."""
    contexts = _shared.setdefault(browser, {})
    name = repr(sorted(options.items()))
    if name not in contexts:
        contexts[name] = browser.new_context(**options)
    context = contexts[name]
    tab = context.new_page()
    yield tab
    context.new_cdp_session(tab).send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    context.clear_cookies()
    for page in context.pages:
        page.close()


_SMALL_TARGETS = """() => {
  const controls = "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=option]";
  const blocks = "p, li, dd, dt, td, th, h1, h2, h3, label, summary";
  const outOfSight = ".unseen, .skip:not(:focus), [hidden], [aria-hidden=true]";
  const isShown = (element) =>
    element.closest(outOfSight) === null && element.checkVisibility({ visibilityProperty: true });
  const isInText = (element) => {
    const block = element.closest(blocks);
    const isInline = getComputedStyle(element).display === "inline";
    return isInline && block !== null && block.textContent.trim() !== element.textContent.trim();
  };
  const sizeOf = (element) => {
    const label = element.matches("[type=checkbox], [type=radio]") ? element.closest("label") : null;
    return (label ?? element).getBoundingClientRect();
  };
  return [...document.querySelectorAll(controls)]
    .filter((element) => isShown(element) && !isInText(element))
    .map((element) => [element.outerHTML.slice(0, 120), sizeOf(element)])
    .filter(([, { width, height }]) => width < 23.99 || height < 23.99)
    .map(([html, { width, height }]) => `${html}: ${width} x ${height}`);
}"""


def small_targets(tab: Page) -> list[str]:
    """Returns the links and controls of a page that are less than 24 pixels wide or high (WCAG 2.2 SC 2.5.8). A link
    in a line of text may be smaller; a checkbox is as large as its label."""
    return list(tab.evaluate(_SMALL_TARGETS))
