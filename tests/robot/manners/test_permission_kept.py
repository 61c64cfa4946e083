"""Tests which robots.txt files stay in memory, and how long one is used, over a fake web."""

import pytest

from goodbot.config import Settings
from goodbot.robot.manners.permission import Permission
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Response
from robot.manners.test_permission import Answers


@pytest.mark.long
@pytest.mark.parametrize("kept_bytes", [200_000, 6_000_000])
async def test_robots_txt_files_at_hand_are_weighed_as_they_are_in_memory(kept_bytes: int) -> None:
    """486 kB of wildcards take 24 MB once they are compiled."""
    rules = "User-agent: *\n" + "".join(f"Disallow: /*a{number}\n" for number in range(1500))
    robots = Response(200, (("Content-Type", "text/plain"),), rules.encode())
    clock, store = FakeClock(), MemoryFrontier()
    web = FakeWeb({f"http://h{host}.example/robots.txt": robots for host in range(30)}, clock)
    permission = Permission(Settings(), "goodbot", web, store, clock, memory_bytes=kept_bytes)
    for host in range(30):
        for number in range(6):
            await permission.check(Url(f"http://h{host}.example/{number}"))
    assert permission.held_bytes <= max(kept_bytes, 2_000_000)
    assert len(web.requests) == 30  # the store has the others
    assert not (await permission.check(Url("http://h0.example/xa7"))).verdict.allowed
    assert len(web.requests) == 30


async def test_what_was_fetched_for_a_page_rules_it_though_its_minute_is_over() -> None:
    """On a broad crawl a host's turn comes again after minutes: see `Permission`."""
    answers: Answers = {
        "http://h.example/robots.txt": Response(
            200, (("Cache-Control", "no-cache"),), b"User-agent: *\nDisallow: /no\n"
        )
    }
    clock = FakeClock()
    web = FakeWeb(answers, clock)
    permission = Permission(Settings(), "goodbot", web, MemoryFrontier(), clock)
    url = Url("http://h.example/")
    assert (await permission.check(url)).delay is not None
    clock.advance(3600.0)
    assert (await permission.check(url)).delay is None  # the first page
    assert (await permission.check(url)).delay is not None  # the second one
    clock.advance(25 * 3600.0)
    assert (await permission.check(url)).delay is not None  # no copy rules longer than a day
    answers["http://h.example/robots.txt"] = Response(503, (), b"")
    clock.advance(25 * 3600.0)
    assert (await permission.check(url)).delay is not None
    clock.advance(3600.0)
    assert (await permission.check(url)).delay is not None  # who was in trouble is asked again when that is due
