"""schemathesis reads /openapi.json of a server with a real crawl and sends what its schemas allow and forbid: with all
checks, in all phases, as it is without a configuration."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.crawl_admin import CrawlConsole
from goodbot.crawl_folder import open_search_or_nothing
from goodbot.demo import DemoWeb
from goodbot.one_shot import robots_fetcher
from goodbot.visitors.services import open_visitor_services
from goodbot.web import Rate, Site, create_app, running
from goodbot.web.machines.api_operations import OPERATIONS
from journey.goodbot_process import goodbot

SCHEMATHESIS = Path(sys.executable).parent / "schemathesis"
UNLIMITED = Rate(0, 1)


def crawl_samples(folder: Path, *options: str) -> None:
    """Crawls the sample sites."""
    with DemoWeb() as web:
        sites = [site.url for site in web.sites]
        ended = asyncio.run(goodbot("crawl", *sites, "--into", folder, "--allow-private", *options))
    assert ended.status == 0, ended.err


@contextmanager
def served(crawl: Path) -> Iterator[str]:
    """A server with that crawl, and without rate limits: schemathesis sends more than any visitor."""
    visitors = open_visitor_services(crawl, Settings())
    search = open_search_or_nothing(crawl, visitors.removals.hidden)
    site = Site("Sample", page_rate=UNLIMITED, post_rate=UNLIMITED)
    console, source = CrawlConsole(crawl, 2.0), robots_fetcher(Settings())
    with running(create_app(search, site, console, robots_source=source, visitors=visitors)) as url:
        yield url


def findings(url: str, folder: Path, examples: int, seed: int) -> str:
    """Runs schemathesis in an empty folder; returns what it found, empty if nothing."""
    (folder / "empty").mkdir(exist_ok=True)
    settings = f"--max-examples {examples} --seed {seed} --generation-database none --no-color"
    ended = subprocess.run(
        [SCHEMATHESIS, "run", f"{url}openapi.json", *settings.split()],
        cwd=folder / "empty",
        capture_output=True,
        text=True,
        check=False,
    )
    report = ended.stdout + ended.stderr
    tested = re.search(r"Tested: (\d+)", report)
    others = len(OPERATIONS) - 1  # all but the one for the document itself
    is_complete = tested is not None and int(tested[1]) == others and "Failures:" not in report
    return "" if ended.returncode == 0 and is_complete else report


@pytest.mark.long
def test_the_api_keeps_its_word(tmp_path: Path) -> None:
    crawl_samples(tmp_path / "crawl", "--max-pages", "20")
    with served(tmp_path / "crawl") as url:
        assert findings(url, tmp_path, examples=5, seed=1) == ""


@pytest.mark.long
def test_the_api_keeps_its_word_for_thousands_of_requests(tmp_path: Path) -> None:
    crawl_samples(tmp_path / "crawl")
    with served(tmp_path / "crawl") as url:
        assert findings(url, tmp_path, examples=400, seed=2) == ""
