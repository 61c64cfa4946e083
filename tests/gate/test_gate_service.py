"""The gate as a service: its decisions, its pages about itself, and what it does when it fails."""

import json
import logging
from pathlib import Path
from typing import Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gate.gate_sockets import Wire, get
from gate.running_gate import BROWSER, CLOSED, ROBOT, Running, policy_file, running_gate, write_list
from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.gate.clients import Clients
from goodbot.gate.decision import Gate, Sites
from goodbot.gate.gate_log import DecisionLog
from goodbot.gate.gate_protocol import Connections
from goodbot.gate.gate_service import GateService, GateState
from goodbot.gate.policy import Policy
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_rules import SiteRules
from goodbot.registry import KnownRobot, Tier
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.counting.identities import Identities

APPLEBOT: Final = "Mozilla/5.0 (compatible; Applebot/0.1; +http://www.apple.com/go/applebot)"


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text(CLOSED)
    return file


async def samples(gate: Running) -> dict[str, float]:
    """Returns the figures at /metrics: name and labels → value."""
    reply = await gate.page("/metrics")
    assert reply.fields["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    return {
        sample.name + "".join(f" {value}" for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(reply.body.decode())
        for sample in family.samples
    }


async def test_a_robot_is_refused_what_robots_txt_closes_and_a_browser_is_not(robots: Path) -> None:
    async with running_gate(robots) as gate:
        refused, let_through = await gate.asked("/private/x"), await gate.asked("/open")
        browser = await gate.asked("/private/x", BROWSER)
    assert (refused.status, refused.fields["x-goodbot-rule"]) == (403, "line 2: Disallow: /private")
    assert b"<h1>403 Forbidden</h1>" in refused.body
    assert [let_through.status, browser.status] == [200, 200]


async def test_the_figures_count_decisions(robots: Path, data_home: Path) -> None:
    write_list(data_home, "applebot", "17.0.0.0/8")
    async with running_gate(robots) as gate:
        for target in ("/private/1", "/private/2", "/open"):
            await gate.asked(target)
        await gate.asked("/", BROWSER)
        await gate.asked("/", APPLEBOT, "X-Forwarded-For: 9.9.9.9")
        found = await samples(gate)
    assert found["goodbot_gate_decisions_total disallowed unverified"] == 2
    assert found["goodbot_gate_decisions_total allowed unverified"] == 1
    assert found["goodbot_gate_decisions_total allowed browser"] == 1
    (applebot,) = [name for name in found if name.startswith("goodbot_gate_robot_requests_total")]
    assert "Applebot" in applebot
    assert found["goodbot_gate_decision_seconds_total"] > 0
    assert found[f"goodbot_gate_robots_txt_readable {robots}"] == 1
    assert (found["goodbot_gate_enforcing"], found["goodbot_gate_connections"]) == (1, 1)
    zero = ("failures", "log_lines_lost", "connections_refused")
    assert [found[f"goodbot_gate_{name}_total"] for name in zero] == [0, 0, 0]


@pytest.mark.parametrize("page", ["/metrics", "/healthz", "/metrics?x=1"])
async def test_the_pages_about_the_gate_are_no_way_around_it(robots: Path, page: str) -> None:
    """A Web server that asks about /metrics of its site names it in a field."""
    robots.write_text("User-agent: *\nDisallow: /\n")
    async with running_gate(robots) as gate:
        own = await gate.page(page)
        for name in ("X-Original-URI", "X-Forwarded-Uri", "X-Original-URL"):
            wire = await Wire.to(gate.port)
            of_site = await wire.ask(get(page, f"{name}: {page}", f"User-Agent: {ROBOT}"))
            await wire.close()
            assert (of_site.status, of_site.fields["x-goodbot-decision"]) == (403, "disallowed")
        found = await samples(gate)
    assert (own.status, own.fields["cache-control"]) == (200, "no-store")
    assert found["goodbot_gate_decisions_total disallowed unverified"] == 3, "the pages themselves are not counted"


async def test_a_name_that_is_not_utf_8_breaks_no_page(tmp_path: Path) -> None:
    robots = tmp_path / "robots\udcff.txt"
    robots.write_text(CLOSED)
    async with running_gate(robots) as gate:
        assert (await samples(gate))[f"goodbot_gate_robots_txt_readable {tmp_path}/robots?.txt"] == 1


async def test_mode_observe_refuses_nothing_and_logs_what_it_would_have_done(tmp_path: Path, robots: Path) -> None:
    log = DecisionLog(tmp_path / "gate.log")
    async with running_gate(robots, policy_file(tmp_path, "mode = 'observe'"), log) as gate:
        reply = await gate.asked("/private/x")
        await gate.asked("/open")
        assert (await samples(gate))["goodbot_gate_enforcing"] == 0
        assert b"mode: observe\n" in (await gate.page("/healthz")).body
    log.close()
    refused, allowed = map(json.loads, (tmp_path / "gate.log").read_text().splitlines())
    assert (reply.status, reply.fields["x-goodbot-decision"], reply.body) == (200, "disallowed", b"")
    assert (refused["status"], refused["meant"], refused["decision"]) == (200, 403, "disallowed")
    assert (allowed["status"], "meant" in allowed) == (200, False)


class Broken:
    """Reverse DNS that fails as no reverse DNS should."""

    def tier(self, robot: KnownRobot, address: str, tier: Tier) -> Tier:
        raise RuntimeError("no file descriptor is left")


async def test_a_request_for_which_the_gate_itself_fails_is_let_through(caplog: pytest.LogCaptureFixture) -> None:
    rules = SiteRules(Access.from_response(200, (), b"User-agent: *\nDisallow: /\n", 0.0))
    limits = RateLimits(100)
    gate = Gate(Policy(), Clients(Identities(), (), Broken()), Sites(rules, {}), limits)
    state = GateState(gate, AddressRanges(Policy().networks()), dict)
    service = GateService(state, limits, None, Connections(1))
    asks = [(b"x-original-uri", b"/"), (b"user-agent", APPLEBOT.encode()), (b"x-forwarded-for", b"9.9.9.9")]
    answer = service.answer("GET", "/", asks, "127.0.0.1")
    assert (answer.status, answer.fields) == (200, (("X-Goodbot-Decision", "failed"),))
    assert service.failures == 1
    assert "no file descriptor is left" in caplog.text
    asks[1] = (b"user-agent", ROBOT.encode())
    assert service.answer("GET", "/", asks, "127.0.0.1").status == 403, "the gate goes on"
    assert "goodbot_gate_failures_total 1.0" in service.answer("GET", "/metrics", [], "127.0.0.1").body


async def test_a_strange_proxy_is_named_once(tmp_path: Path, robots: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running_gate(robots, policy_file(tmp_path, "proxies = ['192.0.2.7']")) as gate:
        await gate.asked("/open")
        assert "proxies" not in caplog.text
        for _ in range(3):
            await gate.asked("/open", ROBOT, "X-Forwarded-For: 198.51.100.1")
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno == logging.WARNING]
    assert warning.startswith("127.0.0.1 sends the addresses of clients, but is not among the proxies")


async def test_a_believed_proxy_is_not_named(robots: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with running_gate(robots) as gate:
        await gate.asked("/open", ROBOT, "X-Forwarded-For: 198.51.100.1")
        await gate.asked("/open", ROBOT, "X-Real-IP: 127.0.0.1")
    assert "proxies" not in caplog.text


async def test_a_gate_needs_some_robots_txt() -> None:
    with pytest.raises(InputError, match="the gate needs a"):
        async with running_gate():
            pass
