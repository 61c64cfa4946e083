"""Starts Debian's Chromium for tests. It sends requests only to the pages under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple
from weakref import WeakKeyDictionary

import pytest
from axe_core_python.base import AXE_SCRIPT  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Dialog, Page, ViewportSize, expect, sync_playwright

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
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 720}


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


_tabs: WeakKeyDictionary[Browser, dict[str, Page]] = WeakKeyDictionary()


@contextmanager
def shared_tab(
    browser: Browser,
    viewport: ViewportSize = DESKTOP,
    color_scheme: Literal["light", "dark"] = "light",
    **options: str | bool,
) -> Iterator[Page]:
    """Lends a tab without cookies and stored data, in which no script may open a dialog. Tests with the same options of
    a context use it one after another, since the processes of a new context or tab take more time than most tests.
    Tests with listeners that they do not remove, or with routes, need a context of their own."""
    tabs = _tabs.setdefault(browser, {})
    name = repr(sorted(options.items()))
    tab = tabs.pop(name, None) or browser.new_context(**options).new_page()  # type: ignore[arg-type]
    tab.set_viewport_size(viewport)
    tab.emulate_media(color_scheme=color_scheme)
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    tab.on("dialog", note)
    yield tab
    tab.remove_listener("dialog", note)
    assert dialogs == [], "a script ran"
    _clear(tab)
    tabs[name] = tab  # not after a failure


def _clear(tab: Page) -> None:
    tab.context.new_cdp_session(tab).send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    tab.mouse.move(0, 0)
    tab.goto("about:blank")
    for other in tab.context.pages:
        if other is not tab:
            other.close()


class Audit(NamedTuple):
    """What axe-core found on a page."""

    violations: list[tuple[str, list[object]]]
    """Each rule that the page breaks, with the nodes that break it."""

    passed: list[str]
    """The rules that the page keeps."""


_AUDIT = """() => axe.run({ resultTypes: ["violations"] }).then(({ violations, passes }) => [
  violations.map(({ id, nodes }) => [id, nodes]),
  passes.map(({ id }) => id),
])"""
"""Of the rules that are kept, axe-core describes no nodes: this would take two thirds of its time."""


def audit(tab: Page) -> Audit:
    """Checks the page in `tab` with every rule of axe-core."""
    tab.evaluate(AXE_SCRIPT)
    return Audit(*tab.evaluate(_AUDIT))


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
