"""The courtesy report beside what the server saw of the same crawl."""

import asyncio
import json
import os
import shutil
import signal
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from goodbot.clock import SystemClock
from journey.goodbot_process import ended, goodbot, start
from webserver import Exchange, WebServer, answer

CLOCK = SystemClock()
"""Goes on evenly, as the robot's does: what the robot has as a request's time holds all that a server sees of it."""
DRIFT_S = 1.0
"""Clocks that were started at different times may differ by so much, if the system's is being set."""
ROUNDING_S = 1e-5
"""Of sums and differences of Unix times."""
LOG_S = 0.01
"""The log of nginx has milliseconds, by the system's clock."""
PAGES = 12


def robots(text: str) -> bytes:
    return answer(text.encode(), headers=[("Content-Type", "text/plain")])


@dataclass
class Seen:
    """What a server saw of one request, by its own clock."""

    target: str
    at: float
    until: float = 0.0
    agent: str | None = None


@dataclass
class Site:
    """Answers pages that link to each other, and writes down who came when. `busy` targets are answered so once."""

    robots: bytes
    took_s: float = 0.0
    busy: dict[str, bytes] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)

    async def __call__(self, exchange: Exchange) -> None:
        seen = Seen(exchange.target, CLOCK.now(), agent=exchange.header("User-Agent"))
        self.seen.append(seen)
        await asyncio.sleep(self.took_s)
        links = (
            "".join(f'<a href="/{number}">x</a>' for number in range(PAGES)).encode() + b'<a href="/private/x">p</a>'
        )
        data = self.robots if exchange.target == "/robots.txt" else self.busy.pop(exchange.target, answer(links))
        seen.until = CLOCK.now()
        await exchange.send(data)

    @property
    def gaps(self) -> list[float]:
        """From the end of an answer to the next request; 0 for two at a time."""
        ends = [max(seen.until for seen in self.seen[: number + 1]) for number in range(len(self.seen))]
        return [max(seen.at - end, 0.0) for seen, end in zip(self.seen[1:], ends, strict=False)]


@asynccontextmanager
async def serving(site: Site) -> AsyncIterator[WebServer]:
    async with WebServer(fallback=site) as server:
        yield server


async def came(server: WebServer, count: int) -> None:
    """Returns when that many requests have come; a crawl that has died does not make the test wait."""
    async with asyncio.timeout(60):
        await server.received(count)


async def report(folder: Path, *options: str) -> Any:
    result = await goodbot("courtesy", "--in", folder, "--format", "json", *options)
    assert (result.status, result.err) == (0, "")
    return result.json


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


@pytest.mark.long
async def test_the_report_agrees_with_the_server(folder: Path) -> None:
    site = Site(robots("User-agent: *\nCrawl-delay: 0.2\nDisallow: /private\n"), took_s=0.01)
    site.busy["/3"] = answer(b"", 429, [("Retry-After", "1")])
    site.busy["/5"] = answer(b"", 503)
    before = CLOCK.now()
    async with serving(site) as server:
        assert (await goodbot("crawl", server.url("/0"), "--into", folder, "--allow-private")).status == 0
        (host,) = await report(folder)
        key = server.origin.removeprefix("http://")
    assert host["host"] == key
    assert host["requests"] == len(site.seen)
    assert host["robots_txt_requests"] == 1
    assert (host["status_429"], host["status_503"], host["unanswered"]) == (1, 1, 0)
    assert host["asked_gap_s"] == 0.2
    assert 0.2 - ROUNDING_S <= host["least_gap_s"] <= min(site.gaps) + ROUNDING_S
    assert (host["sooner_than_asked"], host["retry_after"]) == (0, {"count": 1, "longest_s": 1.0, "inside": 0})
    asked_s = 1 + 0.2 * (len(site.seen) - 2)  # the back-off after 429 and 503 is goodbot's own
    assert asked_s - 0.2 <= host["waited_s"] <= asked_s + ROUNDING_S
    assert before - DRIFT_S <= host["first_request_at"] <= site.seen[0].at + DRIFT_S
    assert host["first_request_at"] < host["last_request_at"] <= site.seen[-1].at + DRIFT_S
    assert {seen.agent for seen in site.seen} == {host["user_agent"]}
    assert host["robots_txt"]["access"] == "successful"
    (version,) = host["origins"][0]["versions"]
    assert (version["status"], version["fetches"], len(version["digest"])) == (200, 1, 64)
    assert host["robots_txt"]["fetched_at"] == version["first_at"]
    assert host["disallowed"] == 1
    assert [(item["url"], item["line"]) for item in host["disallowed_urls"]] == [(f"{server.origin}/private/x", 3)]


async def test_counts_and_gaps_go_on_after_a_restart(folder: Path) -> None:
    site = Site(robots("User-agent: *\nCrawl-delay: 0.1\n"))
    async with serving(site) as server:
        options = ("--into", folder, "--allow-private", "--max-pages", "2")
        for _ in range(3):
            assert (await goodbot("crawl", server.url("/0"), *options)).status == 0
        (host,) = await report(folder)
    assert host["requests"] == len(site.seen) == 7
    assert 0.1 - ROUNDING_S <= host["least_gap_s"] <= min(site.gaps) + ROUNDING_S


@pytest.mark.parametrize("options", [["--workers", "2"], ["--per-host", "4"]], ids=["workers", "lanes"])
async def test_several_processes_and_several_lanes(folder: Path, options: list[str]) -> None:
    sites = [Site(robots(f"# {number}\nUser-agent: *\nDisallow:\n"), took_s=0.02) for number in range(3)]
    async with serving(sites[0]) as one, serving(sites[1]) as two, serving(sites[2]) as three:
        servers = (one, two, three)
        seeds = [server.url("/0") for server in servers]
        assert (await goodbot("crawl", *seeds, "--into", folder, "--allow-private", *options)).status == 0
        hosts = {host["host"]: host for host in await report(folder)}
    for server, site in zip(servers, sites, strict=True):
        host = hosts[server.origin.removeprefix("http://")]
        assert host["requests"] == len(site.seen) == PAGES + 2
        assert 0.0 <= host["least_gap_s"] <= min(site.gaps) + ROUNDING_S
        if server.most_busy > 1:
            assert host["least_gap_s"] == 0.0


async def test_text_and_page_for_the_owner(folder: Path) -> None:
    site = Site(robots("User-agent: *\nCrawl-delay: 0.1\nDisallow: /private\nDisallow: /*<script>\n"))
    async with serving(site) as server:
        seed = server.url("/0")
        await goodbot("crawl", seed, server.url("/<script>alert(1)</script>"), "--into", folder, "--allow-private")
        key = server.origin.removeprefix("http://")
        text = await goodbot("courtesy", "--in", folder, "--host", key)
        page = await goodbot("courtesy", "--in", folder, "--format", "html")
        both = await goodbot("courtesy", "--in", folder, "--json", "--host", key)
    assert (text.status, text.err) == (0, "")
    for part in (key, "delay asked   0.100 s", "0 requests sooner", "SHA-256", "/private/x (line 3)", "least delay"):
        assert part in text.out
    assert (page.status, page.err) == (0, "")
    assert page.out.startswith("<!doctype html>")
    for part in (
        key,
        "Crawl-delay: 0.100 s",
        "<code>http://127.0.0.1",
        "(line 3)",
        "Requests before a Retry-After had passed",
        "kept every delay",
    ):
        assert part in page.out
    assert "<script" not in page.out
    assert "http-equiv" not in page.out
    assert "src=" not in page.out
    assert [item["host"] for item in both.json] == [key]


async def test_a_retry_after_of_many_digits_is_the_same_everywhere(folder: Path) -> None:
    site = Site(robots("User-agent: *\nDisallow: /private\n"))
    site.busy["/0"] = answer(b"", 503, [("Retry-After", "9" * 20)])
    async with serving(site) as server:
        await goodbot("crawl", server.url("/0"), "--into", folder, "--allow-private")
        why = await goodbot("why", server.url("/0"), "--in", folder)
        text = await goodbot("courtesy", "--in", folder)
        page = await goodbot("courtesy", "--in", folder, "--format", "html")
        robots_txt = server.url("/").removesuffix("/")
    assert f"Retry-After asks for {'9' * 20} s, cut to 86400 s (retry_after_most)" in why.out
    assert f"its Retry-After asks for {'9' * 20} s, more than retry_after_most 86400" in why.out
    longest = "the longest asks for 10000000000 s or more, more than retry_after_most 86400 in goodbot.toml"
    assert f"  Retry-After   1, {longest}; 0 requests inside\n" in text.out
    assert longest in page.out
    assert f"  robots.txt    of {robots_txt}: read\n" in text.out


async def test_hosts_nobody_knows_and_input_nobody_means(folder: Path, tmp_path: Path) -> None:
    site = Site(robots(""))
    async with serving(site) as server:
        await goodbot("crawl", server.url("/0"), "--into", folder, "--allow-private", "--max-pages", "1")
    assert await report(folder, "--host", "example.org") == []
    text = await goodbot("courtesy", "--in", folder, "--host", "example.org")
    assert (text.status, text.out) == (0, "this crawl knows no host example.org\n")
    for bad in (
        "",
        "http://example.org/a",
        "ftp://example.org/",
        "http://",
        "2606:4700:::1",
        "fe80::1%eth0",
        "a/b",
        "a b",
        "user@a",
        "a:99999",
        "[::1",
        "x" * 400,
        "a?b",
        "a\nb",
        "\ud800",
    ):
        for command in (["courtesy", "--host", bad], ["forget", bad]):
            result = await goodbot(*command, "--in", folder) if bad != "\ud800" else None
            if result is not None:
                assert (result.status, result.out) == (2, ""), bad
                assert result.complaint
    for place, word in ((tmp_path, "no crawl in"), (tmp_path / "missing", "no such folder")):
        for command in (["courtesy"], ["forget", "example.org"]):
            result = await goodbot(*command, "--in", place)
            assert (result.status, result.out) == (2, "")
            assert word in result.complaint


async def test_beside_a_crawl_that_runs_and_after_a_kill(folder: Path) -> None:
    site = Site(robots("User-agent: *\nCrawl-delay: 0.3\n"))
    async with serving(site) as server:
        process = await start("crawl", server.url("/0"), "--into", folder, "--allow-private")
        await came(server, 4)
        (host,) = await report(folder)
        assert 1 <= (told := host["requests"]) <= len(site.seen)
        process.send_signal(signal.SIGKILL)
        await ended(process)
        (host,) = await report(folder)
        assert told <= host["requests"] <= len(site.seen)


# ---- a real nginx ---------------------------------------------------------------------------------------------------

NGINX = shutil.which("nginx") or next((path for path in ("/usr/sbin/nginx",) if Path(path).exists()), None)
CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 64; }}
http {{
  log_format seen '$msec $request_time $status "$request_uri" "$http_user_agent"';
  access_log {folder}/access.log seen;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  default_type text/html;
  server {{
    listen 127.0.0.1:{port}; root {folder}/www;
    location = /busy {{ add_header Retry-After 1 always; return 429; }}
  }}
}}
"""


@dataclass(frozen=True)
class Line:
    """One line of the log."""

    at: float
    until: float
    status: int
    target: str


def lines_of(log: Path) -> list[Line]:
    whole, _, _ = log.read_text().rpartition("\n")
    parts = [line.split(" ", 4) for line in whole.splitlines()]
    found = [
        Line(float(until) - float(took), float(until), int(status), target) for until, took, status, target, _ in parts
    ]
    return sorted(found, key=lambda line: line.at)


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A socket that listens already: nobody else can take the port, and who comes before nginx does waits for it."""
    with socket.create_server(("127.0.0.1", 0)) as made:
        made.setblocking(False)
        yield made


@pytest.fixture
async def nginx(tmp_path: Path, listener: socket.socket) -> AsyncIterator[Path]:
    """A folder with `www`, served by `listener`, and its `access.log`."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    place = tmp_path / "nginx"
    (place / "www").mkdir(parents=True)
    place.chmod(0o755)
    (place / "www" / "robots.txt").write_text("User-agent: *\nCrawl-delay: 0.25\nDisallow: /private\n")
    links = "".join(f'<a href="/{number}.html">x</a>' for number in range(6))
    for number in range(6):
        (place / "www" / f"{number}.html").write_text(links + '<a href="/busy">b</a><a href="/private/">p</a>')
    for path in (tmp_path, *tmp_path.parents[:-1]):
        if not path.stat().st_mode & 0o005 and path.owner() != "root":
            pytest.skip(f"nginx could not read below {path}")
    (place / "nginx.conf").write_text(CONFIG.format(folder=place, port=listener.getsockname()[1]))
    (place / "access.log").write_text("")
    process = await asyncio.create_subprocess_exec(
        *(NGINX, "-e", str(place / "error.log"), "-c", str(place / "nginx.conf"), "-g", "user root;"),
        pass_fds=(listener.fileno(),),
        env={**os.environ, "NGINX": f"{listener.fileno()};"},  # as it hands its sockets to a new version of itself
    )
    try:
        yield place
    finally:
        process.terminate()
        await process.wait()


async def test_the_report_agrees_with_the_log_of_nginx(folder: Path, nginx: Path, listener: socket.socket) -> None:
    seed = f"http://127.0.0.1:{listener.getsockname()[1]}/0.html"
    crawl = await start("crawl", seed, "--into", folder, "--allow-private")
    async with asyncio.timeout(60):
        while sum(line.status == 429 for line in lines_of(nginx / "access.log")) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
    await goodbot("stop", "--in", folder)
    await ended(crawl)
    (host,) = await report(folder)
    async with asyncio.timeout(60):
        while len(lines := lines_of(nginx / "access.log")) < host["requests"]:  # noqa: ASYNC110 - another process
            await asyncio.sleep(0.1)
    statuses: dict[int, int] = defaultdict(int)
    for line in lines:
        statuses[line.status] += 1
    assert host["requests"] == len(lines)
    assert host["robots_txt_requests"] == sum(line.target == '"/robots.txt"' for line in lines)
    assert host["status_429"] == statuses[429] >= 2
    gaps = [later.at - line.until for line, later in pairwise(lines)]
    assert host["asked_gap_s"] == 0.25
    assert 0.25 - ROUNDING_S <= host["least_gap_s"] <= min(gaps) + LOG_S
    assert (host["sooner_than_asked"], host["retry_after"]["inside"]) == (0, 0)
    rests = [later.at - line.until for line, later in pairwise(lines) if line.status == 429]
    assert min(rests) >= 1 - LOG_S
    assert host["first_request_at"] <= lines[0].at + DRIFT_S
    assert json.loads((await goodbot("courtesy", "--in", folder, "--json")).out) == [host]
