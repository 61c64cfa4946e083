"""From a crawl to a search page in a real browser."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from goodbot.crawl_folder import open_search
from goodbot.demo import DemoWeb
from goodbot.web import Site, create_app, running
from web.browser import chromium


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """A tab on the search page over a crawl of the sample web."""
    folder = tmp_path_factory.mktemp("crawl")
    with DemoWeb() as web:
        seeds = [site.url for site in web.sites]
        command = [sys.executable, "-m", "goodbot", "crawl", *seeds, "--into", str(folder), "--allow-private"]
        subprocess.run(command, check=True, capture_output=True)
    with running(create_app(open_search(folder), Site("goodbot"))) as url, chromium() as browser:
        yield browser.new_page(base_url=url, java_script_enabled=False, viewport={"width": 320, "height": 640})


def test_by_keyboard_alone(page: Page, tmp_path: Path) -> None:
    page.goto("/")
    expect(page.locator("main input[name=q]")).to_be_focused()
    page.keyboard.type("torch")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("pages found")
    expect(page.locator("mark").nth(5)).to_be_attached()
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    page.screenshot(path=tmp_path / "results.png")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('a[rel=next]')"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**page=2**")
    assert page.locator("mark").count() > 0


def test_russian_in_any_form(page: Page) -> None:
    page.goto("/search?q=вежливыми+роботами")
    expect(page.get_by_role("heading", level=2).first).to_contain_text("Вежливость")


def test_no_result(page: Page) -> None:
    page.goto("/search?q=zeppelin")
    expect(page.get_by_role("main")).to_contain_text("zeppelin")
    assert page.locator("mark").count() == 0
