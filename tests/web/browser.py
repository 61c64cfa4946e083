"""Starts Debian's Chromium for tests. It sends requests only to the pages under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

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
