"""Real servers decide as the gate does under other policies."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import pytest

from gate.export.export_servers import SERVERS, Visits
from gate.export.export_sites import SiteGate, site_of
from gate.export.test_export_decides import AGENTS, ROBOTS_TXT, Case, cases, differences
from goodbot.gate.export import Format, exported

POLICIES: Final = {
    "refuses what cannot be verified": '[unverified]\naction = "refuse"\n',
    "refuses programs": '[undeclared]\naction = "refuse"\n',
    "all rules for programs": '[undeclared]\nrules = "all"\n',
    "lets impostors in": '[impostors]\naction = "allow"\n',
    "exceptions": (
        '[robots]\nGooglebot = "allow"\nGPTBot = "allow"\nCCBot = "refuse"\ncurl = "refuse"\nHTTPing = "refuse"\n'
    ),
}
SOME: Final = ("/", "/private", "/robots.txt")


def some_cases() -> Iterator[Case]:
    return cases([*AGENTS], SOME)


@pytest.mark.parametrize("policy", POLICIES)
def test_nginx_decides_as_the_gate_does(policy: str, tmp_path: Path) -> None:
    compare("nginx", policy, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("server", SERVERS)
def test_every_server_decides_as_the_gate_does(server: Format, policy: str, tmp_path: Path) -> None:
    compare(server, policy, tmp_path)


def compare(server: Format, policy: str, folder: Path) -> None:
    site = site_of(ROBOTS_TXT, POLICIES[policy])
    with SERVERS[server](folder, exported(site, server)) as port, closing(Visits(port)) as visits:
        assert differences(SiteGate(site), visits, some_cases()) == []


def test_haproxy_leaves_other_sites_alone(tmp_path: Path) -> None:
    """All requests of the tests are for example.org."""
    robots_txt = "User-agent: *\nDisallow: /\n"
    for host, status in (("example.org", 403), ("www.example.org", 200)):
        folder = tmp_path / host
        folder.mkdir()
        export = exported(site_of(robots_txt, "", host), "haproxy")
        with SERVERS["haproxy"](folder, export) as port, closing(Visits(port)) as visits:
            assert visits.status("FooBot/1.0", "11.0.0.1", "/") == status
