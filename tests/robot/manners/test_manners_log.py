"""Tests which events of politeness are logged, at which level, and that each is logged once."""

import logging

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.robot.manners.hosts_given_up import HostsGivenUp
from goodbot.robot.manners.pace import LONG_BACKOFF_S, Pace
from goodbot.robot.manners.permission import Permission
from goodbot.store.memory.memory_robots import MemoryRobots
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, Request, Response

PAGE = Url("https://example.org/")


def logged(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str]]:
    """Returns module and message of the warnings."""
    return [
        (record.name.removeprefix("goodbot.robot.manners."), record.getMessage())
        for record in caplog.records
        if record.levelno == logging.WARNING
    ]


async def test_a_host_that_backs_off_for_long_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    pace, web = Pace(Settings(), clock), FakeWeb({PAGE.text: Response(503, (), b"")}, clock)
    request = Request(PAGE, Verdict(True, None, None, "it is", "RFC 9309 2.2.2", url=PAGE.text))
    while pace.backoff_s(PAGE.host_key) < 4 * LONG_BACKOFF_S:
        async with pace.turn(PAGE) as turn:
            await turn.wait_until_ready()
            turn.answered(await web.send(request))
    ((module, message),) = logged(caplog)
    assert module == "pace"
    assert message.startswith("host example.org backs off: ")
    assert "503 adds 320 s" in message


async def test_a_robots_txt_that_stays_unreachable_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    web = FakeWeb({PAGE.robots_txt.text: Response(500, (), b"")}, clock)
    permission = Permission(Settings(), "goodbot", web, MemoryRobots(), clock)
    while not (permit := await permission.check(PAGE)).given_up:
        assert logged(caplog) == []
        assert permit.verdict.valid_until is not None
        clock.advance(permit.verdict.valid_until - clock.now())
    rest_s = Settings().given_up_rest
    message = (
        f"robots.txt of https://example.org is unreachable (500) after 4 tries: no requests there for {rest_s:.0f} s"
    )
    assert logged(caplog) == [("permission", message)]


async def test_a_name_that_does_not_exist_is_no_warning(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    web = FakeWeb({PAGE.robots_txt.text: Failure("dns", "no such name", lasting=True)}, clock)
    assert (await Permission(Settings(), "goodbot", web, MemoryRobots(), clock).check(PAGE)).given_up
    assert logged(caplog) == []


def test_a_host_that_is_given_up_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    hosts = HostsGivenUp(clock, 60.0)
    for _ in range(3):
        hosts.leave_alone("example.org", "its Retry-After is too long", clock.now() + 100.0)
    assert logged(caplog) == [("hosts_given_up", "host example.org given up for 100 s: its Retry-After is too long")]
    clock.advance(101.0)
    hosts.leave_alone("example.org", "again")
    assert len(logged(caplog)) == 2
