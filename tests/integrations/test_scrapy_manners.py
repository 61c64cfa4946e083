"""The downloader middleware for Scrapy in real crawls: what servers' logs say about delays and private addresses."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from scrapy import Request
from scrapy.settings import default_settings
from twisted.internet.error import ConnectionLost, DNSLookupError

from goodbot.clock import SystemClock
from goodbot.integrations.scrapy.failures import failure_of
from goodbot.integrations.scrapy.private_addresses import PrivateAddresses
from goodbot.integrations.scrapy.settings import open_networks
from goodbot.robot.fetch.guard import Network
from goodbot.url import parse_url
from integrations.scrapy_runs import ADDON, SCHEDULER, crawl
from webserver import Exchange, Handler, WebServer, answer

DELAY_S = 0.3
RESOLVER = "TWISTED_DNS_RESOLVER" if hasattr(default_settings, "TWISTED_DNS_RESOLVER") else "DNS_RESOLVER"


def page(*links: str) -> bytes:
    return answer("".join(f'<html><body><a href="{link}">page</a>' for link in links).encode())


@dataclass
class Log:
    """When requests came to any of the servers, and when they were answered."""

    came: list[tuple[str, float]] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)

    def route(self, *answers: bytes) -> Handler:
        """Gives these answers in turn, the last one again and again."""
        left = list(answers)

        async def handle(exchange: Exchange) -> None:
            self.came.append((exchange.target, time.monotonic()))
            self.answered.append(time.monotonic())
            await exchange.send(left.pop(0) if len(left) > 1 else left[0])

        return handle

    @property
    def targets(self) -> list[str]:
        return [target for target, _ in self.came]


def settings(tmp_path: Path, **more: object) -> dict[str, Any]:
    return {**ADDON, "GOODBOT_FOLDER": str(tmp_path / "crawl"), "ROBOTSTXT_OBEY": True, **more}


@pytest.mark.parametrize("own_scheduler", [True, False])
async def test_a_crawl_delay_is_kept(tmp_path: Path, own_scheduler: bool) -> None:
    log = Log()
    pages = [f"/{number}" for number in range(1, 5)]
    robots = answer(f"User-agent: *\nCrawl-delay: {DELAY_S}\nDisallow: /3".encode())
    routes = {"/robots.txt": log.route(robots), "/": log.route(page(*pages)), **dict.fromkeys(pages, log.route(page()))}
    more = {} if own_scheduler else {"SCHEDULER": "scrapy.core.scheduler.Scheduler"}
    async with WebServer(routes) as server:
        ran = await crawl([server.url("/")], settings(tmp_path, **more))
    assert log.targets[:2] == ["/robots.txt", "/"]
    assert sorted(log.targets[2:]) == ["/1", "/2", "/4"]
    assert all(came - answered >= DELAY_S for answered, (_, came) in zip(log.answered, log.came[1:], strict=False))
    assert ran.stats["finish_reason"] == "finished"
    assert ran.stats["goodbot/delayed"] == 4


@pytest.mark.long
async def test_the_middlewares_need_no_setting_for_the_parser(tmp_path: Path) -> None:
    here = "goodbot.integrations.scrapy"
    own = {
        "ROBOTSTXT_OBEY": True,
        "DOWNLOADER_MIDDLEWARES": {
            "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
            f"{here}.RobotsTxtMiddleware": 100,
            f"{here}.Manners": 950,
        },
        "GOODBOT_ALLOW_PRIVATE": ["127.0.0.1"],
    }
    robots = answer(f"User-agent: *\nCrawl-delay: {DELAY_S}".encode())
    async with WebServer({"/robots.txt": robots, "/": page("/1"), "/1": page()}) as server:
        ran = await crawl([server.url("/")], own)
    assert len(ran.read) == 2
    assert ran.stats["goodbot/delayed"] == 2


@pytest.mark.long
async def test_a_host_that_asks_to_wait_keeps_no_other_from_its_turn(tmp_path: Path) -> None:
    """With one request at a time for the whole crawl: whoever waited for the busy host would keep the others."""
    log, wait_s = Log(), 3
    busy = answer(b"", 503, [("Retry-After", str(wait_s))])
    others = [f"/other/{number}" for number in range(4)]
    async with (
        WebServer({"/busy": log.route(busy, page())}) as first,
        WebServer({other: log.route(page(*others[number + 1 :])) for number, other in enumerate(others)}) as second,
    ):
        once = settings(tmp_path, CONCURRENT_REQUESTS=1, RETRY_ENABLED=True, ROBOTSTXT_OBEY=False)
        ran = await crawl([first.url("/busy"), second.url("/other/0")], once)
    assert sorted(log.targets) == ["/busy", "/busy", *others]
    again = len(log.targets) - 1 - log.targets[::-1].index("/busy")
    asked_at = log.answered[log.targets.index("/busy")]
    assert log.came[again][1] >= asked_at + wait_s
    assert any(target.startswith("/other") for target in log.targets[log.targets.index("/busy") : again])
    assert ran.stats["finish_reason"] == "finished"


@pytest.mark.long
async def test_a_wait_that_is_too_long_is_left_to_a_later_run(tmp_path: Path) -> None:
    log = Log()
    busy = answer(b"", 429, [("Retry-After", "100000")])
    async with WebServer(
        {"/": log.route(page("/busy", "/x")), "/busy": log.route(busy), "/x": log.route(page())}
    ) as server:
        used = settings(tmp_path, RETRY_ENABLED=True, ROBOTSTXT_OBEY=False, GOODBOT_WAIT_MOST=60)
        first = await crawl([server.url("/")], used)
        seen = len(log.targets)
        second = await crawl([server.url("/")], used)
    assert first.stats["finish_reason"] == second.stats["finish_reason"] == "goodbot_waiting"
    assert log.targets.count("/busy") == 1
    assert first.logged("left: their hosts ask for a wait of")
    assert len(log.targets) == seen


@pytest.mark.long
async def test_a_robots_txt_that_asks_to_wait_is_waited_for(tmp_path: Path) -> None:
    """Scrapy fetches it outside of the scheduler, which cannot take it back."""
    log = Log()
    busy = answer(b"", 503, [("Retry-After", "2")])
    routes = {"/robots.txt": log.route(busy, answer(b"User-agent: *\nDisallow: /x")), "/": log.route(page("/x", "/y"))}
    async with WebServer({**routes, "/y": log.route(page())}) as server:
        ran = await crawl([server.url("/")], settings(tmp_path, RETRY_ENABLED=True))
    assert log.targets == ["/robots.txt", "/robots.txt", "/", "/y"]
    assert log.came[1][1] >= log.answered[0] + 2
    assert ran.stats["downloader/request_count"] < 20


@pytest.mark.long
async def test_a_robots_txt_that_asks_to_wait_too_long_is_left_out(tmp_path: Path) -> None:
    """As Scrapy does for one that cannot be fetched; the pages wait for their host in any case."""
    log = Log()
    busy = answer(b"", 429, [("Retry-After", "100000")])
    async with WebServer({"/robots.txt": log.route(busy), "/": log.route(page())}) as server:
        ran = await crawl([server.url("/")], settings(tmp_path, RETRY_ENABLED=True, GOODBOT_WAIT_MOST=60))
    assert log.targets == ["/robots.txt"]
    assert ran.stats["finish_reason"] == "goodbot_waiting"
    assert ran.stats["goodbot/wait_too_long"] == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_private_addresses_get_no_request(tmp_path: Path, host: str) -> None:
    async with WebServer({"/": page()}) as server:
        url = server.url("/").replace("127.0.0.1", host)
        ran = await crawl([url], settings(tmp_path, GOODBOT_ALLOW_PRIVATE=["10.0.0.0/8"], ROBOTSTXT_OBEY=False))
        assert server.targets == []
    assert "to allow it, add it to GOODBOT_ALLOW_PRIVATE" in ran.lines[0]
    assert ran.stats["goodbot/private_address"] == 1


@pytest.mark.long
async def test_the_resolver_alone_gives_no_private_address(tmp_path: Path) -> None:
    """It checks the address that is connected to, so a name that changes after the middleware's check does not help."""
    own = {**SCHEDULER, "GOODBOT_FOLDER": str(tmp_path), RESOLVER: "goodbot.integrations.scrapy.Resolver"}
    async with WebServer({"/": page(), "/?allowed": page()}) as server:
        url = server.url("/").replace("127.0.0.1", "localhost")
        refused = await crawl([url], own)
        assert (server.targets, refused.read) == ([], [])
        allowed = await crawl([url + "?allowed"], {**own, "GOODBOT_ALLOW_PRIVATE": ["127.0.0.1"]})
        assert len(allowed.read) == 1


@pytest.mark.long
async def test_the_add_on_sets_the_resolver_without_a_deprecation(tmp_path: Path) -> None:
    without = {"DOWNLOADER_MIDDLEWARES": {"goodbot.integrations.scrapy.Manners": None}}
    async with WebServer({"/": page()}) as server:
        url = server.url("/").replace("127.0.0.1", "localhost")
        refused = await crawl([url], settings(tmp_path, GOODBOT_ALLOW_PRIVATE=[], ROBOTSTXT_OBEY=False, **without))
        assert (server.targets, refused.read) == ([], [])
    assert not refused.logged("eprecat")


@pytest.mark.long
async def test_without_asyncio_nothing_is_sent(tmp_path: Path) -> None:
    """Rather than crawling without delays and without a check for private addresses."""
    reactor = "twisted.internet.selectreactor.SelectReactor"
    async with WebServer({"/": page()}) as server:
        ran = await crawl([server.url("/")], settings(tmp_path, TWISTED_REACTOR=reactor))
        assert server.targets == []
    assert len(ran.logged(" ERROR: ")) == 1
    assert ran.logged("Manners needs Scrapy's asyncio reactor")
    assert ran.stats["finish_reason"] == "goodbot_failed"


async def test_settings_that_cannot_be_used(tmp_path: Path) -> None:
    async with WebServer({"/": page()}) as server:
        ran = await crawl([server.url("/")], settings(tmp_path, GOODBOT_ALLOW_PRIVATE=["intranet"]))
        assert server.targets == []
    told = "GOODBOT_ALLOW_PRIVATE must list IP addresses and ranges such as 10.0.0.0/8, not 'intranet'"
    assert [line.partition("ERROR: ")[2] for line in ran.logged(" ERROR: ")] == [
        told,
        told,
    ]  # of resolver and middleware
    assert "Traceback" not in ran.log


# ---- parts ----------------------------------------------------------------------------------------------------------


def allowed(*texts: str) -> list[Network]:
    values: Any = SimpleNamespace(getlist=lambda name: list(texts))
    return open_networks(values)


@pytest.mark.parametrize(
    ("url", "meta", "is_refused"),
    [
        ("http://10.1.2.3/", {}, False),
        ("http://10.1.2.3/", {"redirect_urls": ["http://10.0.0.1/"]}, False),
        ("http://10.1.2.3/", {"redirect_urls": ["http://example.org/", "http://10.0.0.1/"]}, True),
        ("http://127.0.0.1/", {}, True),
        ("http://2130706433/", {}, True),
        ("http://[::ffff:127.0.0.1]/", {}, True),
        ("http://169.254.169.254/latest", {"proxy": "http://proxy.example"}, True),
        ("http://intranet.example/", {"proxy": "http://proxy.example"}, False),
        ("http://93.184.216.34/", {}, False),
    ],
)
async def test_which_addresses_are_refused(url: str, meta: dict[str, Any], is_refused: bool) -> None:
    guard, parsed = PrivateAddresses(allowed("10.0.0.0/8"), SystemClock()), parse_url(url)
    assert parsed is not None
    assert (await guard.refusal(Request(url, meta=meta), parsed) is not None) == is_refused


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (DNSLookupError("no"), "dns"),
        (ConnectionLost(), "reset"),
        (TimeoutError(), "timeout"),
        (ConnectionRefusedError(), "connect"),
        (ValueError("no HTTP"), "protocol"),
    ],
)
def test_kinds_of_failure(error: Exception, kind: str) -> None:
    assert failure_of(error).kind == kind
