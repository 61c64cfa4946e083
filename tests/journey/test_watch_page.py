"""The report on access logs as a file of `goodbot watch`, and live in `goodbot serve --watch`."""

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from journey.goodbot_process import ended, goodbot, start
from web.library import Visitor
from web.watch_study import make_history
from webserver import WebServer, answer

ROBOT = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"
RULES = "User-agent: *\nDisallow: /private/\n"


def line(second: int, path: str, agent: str = ROBOT) -> str:
    """Returns a line of 15 September 2026."""
    at = f"15/Sep/2026:10:{second // 60 % 60:02}:{second % 60:02} +0000"
    return f'192.0.2.1 - - [{at}] "GET {path} HTTP/1.1" 200 100 "-" "{agent}"\n'


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access.log"
    path.write_text("".join(line(second, f"/private/{second}") for second in range(20)))
    return path


async def test_a_file(log: Path, tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text(RULES)
    report = tmp_path / "report.html"
    options: list[str | Path] = ["--robots", tmp_path / "robots.txt", "--format", "html"]
    result = await goodbot("watch", log, *options, "--output", report)
    assert (result.status, result.out) == (0, "")
    page = report.read_text()
    assert page.startswith("<!doctype html>")
    assert "20 of 20 requests disallowed" in page
    printed = await goodbot("watch", log, *options)
    assert printed.out.partition("Written by")[0] == page.partition("Written by")[0]
    followed = await goodbot("watch", log, "--follow", "--format", "html")
    assert (followed.status, followed.err) == (2, "goodbot: --follow writes text or JSON lines, not html\n")


# ---- live -----------------------------------------------------------------------------------------------------------

REFUSED = [
    ("--watch access.log", "--watch needs --in DIR with a crawl, whose token protects the page"),
    ("--watch-robots robots.txt", "--watch-robots needs --watch LOG"),
    ("--in crawl --watch -", "--watch needs files or folders; it cannot follow standard input"),
    ("--in crawl --watch /dev/null", "--watch needs files or folders, and /dev/null is neither"),
    ("--in crawl --watch access.log --watch-robots none.txt", "none.txt"),
]


@pytest.fixture
async def crawl(tmp_path: Path) -> Path:
    async with WebServer({"/": answer(b"<title>Clocks</title>")}) as site:
        done = await goodbot("crawl", site.url(), "--into", tmp_path / "crawl", "--allow-private")
    assert done.status == 0, done.err
    return tmp_path / "crawl"


async def test_options_that_do_not_fit(crawl: Path) -> None:
    for options, message in REFUSED:
        result = await goodbot("serve", *options.split(), "--port", "0", folder=crawl.parent)
        assert result.status == 2, options
        assert message in result.err


class Live:
    """The live page, as the operator opens it."""

    def __init__(self, crawl_url: str) -> None:
        parts = urlsplit(crawl_url)
        self._visitor = Visitor(f"{parts.scheme}://{parts.netloc}/")
        self._cookie = self._visitor.ask(f"/crawl?{parts.query}").headers["Set-Cookie"].partition(";")[0]

    def page(self) -> str:
        found = self._visitor.ask("/crawl/watch", Cookie=self._cookie)
        assert found.status == 200
        return found.text

    def status_of_others(self) -> int:
        return self._visitor.ask("/crawl/watch").status

    async def page_when(self, is_so: Callable[[str], bool]) -> str:
        """Waits until the page is so."""
        return await asyncio.to_thread(self._page_when, is_so)

    def _page_when(self, is_so: Callable[[str], bool]) -> str:
        while not is_so(page := self.page()):
            time.sleep(0.1)
        return page


@pytest.mark.long
async def test_the_page_follows_the_log_and_the_copies(crawl: Path, log: Path, tmp_path: Path) -> None:
    copies = make_history(tmp_path / "copies", days=3)
    watched: list[str | Path] = ["--watch", log, "--watch", tmp_path / "later.log", "--watch-robots", copies]
    process = await start("serve", "--in", crawl, *watched, "--port", "0", "--json")
    assert process.stdout is not None
    live = Live(json.loads(await process.stdout.readline())["crawl_url"])
    assert await asyncio.to_thread(live.status_of_others) == 403
    page = await live.page_when(lambda page: "20 of 20 requests disallowed" in page)
    assert '<a href="/crawl/watch" aria-current="page">Robots in logs</a>' in page
    assert "1 version since" in page
    with log.open("a") as file:
        file.write("".join(line(30 + second, f"/open/{second}") for second in range(10)))
    await live.page_when(lambda page: "20 of 30 requests disallowed" in page)
    (tmp_path / "later.log").write_text(line(50, "/private/x"))
    make_history(copies, days=10)
    await live.page_when(lambda page: "21 of 31 requests disallowed" in page and "2 versions since" in page)
    (copies / "copies.jsonl").write_text("")  # the copies are lost: the rules that were read stay
    with log.open("a") as file:
        file.write(line(55, "/open/x"))
    await live.page_when(lambda page: "21 of 32 requests disallowed" in page and "2 versions since" in page)
    process.terminate()
    end = await ended(process)
    assert (end.status, "does not exist yet; waiting for it" in end.err) == (0, True)
