"""Real nginx and HAProxy limit how fast robots and programs come, and nobody else."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from gate.export.export_servers import SERVERS, Visits
from gate.export.export_sites import site_of
from goodbot.gate.export import Format, exported

ROBOTS_TXT: Final = "User-agent: slowbot\nCrawl-delay: 600\n\nUser-agent: GPTBot\nCrawl-delay: 600\n"
POLICY: Final = """
[unverified]
per_minute = 1
burst = 20
[undeclared]
per_minute = 1
burst = 4
network_per_minute = 1
network_burst = 6
"""
PACED: Final[dict[Format, int]] = {"nginx": 2, "haproxy": 12}
"""Requests at once that a pace of 600 s permits: nginx has one more for networks, HAProxy counts ten gaps."""

BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
GENUINE: Final = ("74.7.227.5", "74.7.228.6")
"""Addresses of GPTBot, in different networks."""


@pytest.fixture(params=PACED)
def server(request: pytest.FixtureRequest) -> Format:
    form: Format = request.param
    return form


@pytest.fixture
def visits(server: Format, tmp_path: Path) -> Iterator[Visits]:
    with (
        SERVERS[server](tmp_path, exported(site_of(ROBOTS_TXT, POLICY), server)) as port,
        closing(Visits(port)) as found,
    ):
        yield found


def allowed(visits: Visits, agent: str, *addresses: str, uri: str = "/", tries: int = 30) -> int:
    """Returns how many requests were allowed; all others were too fast, and came after them."""
    statuses = [visits.status(agent, addresses[number % len(addresses)], uri) for number in range(tries)]
    assert set(statuses) <= {200, 429}
    count = statuses.count(200)
    assert statuses[:count] == [200] * count
    return count


def test_a_robot_keeps_its_pace_in_each_network(visits: Visits, server: Format) -> None:
    assert allowed(visits, "slowbot/1.0", "11.0.0.1", "11.0.0.2") == PACED[server]
    assert allowed(visits, "slowbot/1.0", "11.0.1.1") == PACED[server]


def test_a_verified_robot_has_one_pace_for_all_its_addresses(visits: Visits, server: Format) -> None:
    assert allowed(visits, "GPTBot/1.3", *GENUINE) == PACED[server]


def test_robots_that_cannot_be_verified_have_a_limit_for_each_network(visits: Visits) -> None:
    assert allowed(visits, "FooBot/1.0", "11.0.0.1", "11.0.0.2") == 20
    assert allowed(visits, "FooBot/1.0", "11.0.1.1") == 20


def test_programs_have_a_limit_for_each_address_and_each_network(visits: Visits) -> None:
    assert allowed(visits, "curl/8.5.0", "11.0.0.1", tries=10) == 4
    assert allowed(visits, "curl/8.5.0", "11.0.1.1", "11.0.1.2", "11.0.1.3", tries=10) == 6


def test_browsers_and_robots_txt_have_no_limit(visits: Visits) -> None:
    assert allowed(visits, BROWSER, "11.0.0.1") == 30
    assert allowed(visits, "slowbot/1.0", "11.0.0.1", uri="/robots.txt") == 30
    assert allowed(visits, "curl/8.5.0", "11.0.0.1", uri="/robots.txt") == 30


def test_browsers_are_limited_if_the_policy_says_so(server: Format, tmp_path: Path) -> None:
    policy = '[browsers]\naction = "limit"\nper_minute = 1\nburst = 5\n'
    with SERVERS[server](tmp_path, exported(site_of("", policy), server)) as port, closing(Visits(port)) as found:
        assert allowed(found, BROWSER, "11.0.0.1", tries=10) == 5
        assert allowed(found, BROWSER, "11.0.0.2", tries=10) == 5
