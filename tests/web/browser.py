"""Debian's Chromium for tests, asking nobody but the pages under test."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

PATIENCE_MS = 60_000
expect.set_options(timeout=PATIENCE_MS)

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
    """A headless browser. For one module at a time: Playwright keeps an event loop in the thread, and as long as it
    does, no asynchronous test can run there."""
    if not CHROMIUM.exists():
        pytest.fail(f"these tests need {CHROMIUM}: apt install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=PATIENCE_MS)
        yield browser
        browser.close()
