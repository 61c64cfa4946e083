"""100,000 requests through nginx, of clients of all kinds: each is decided as the rules say, logged and counted."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from gate.gate_servers import (
    CURL,
    FEED_READER,
    FIREFOX,
    GOOGLEBOT,
    GPTBOT,
    RunningGate,
    address_in,
    gated,
    running_gate,
    until,
)

CONNECTIONS: Final = 32
REQUESTS_OF_A_CONNECTION: Final = 400

POLICY: Final = "reverse_dns = false\n"
"""The limits are the defaults."""

RULES: Final = """\
User-agent: *
Disallow: /private/

User-agent: GPTBot
Disallow: /shop/
"""


class Asked(NamedTuple):
    """A request: the kind of its client, and what is sent."""

    kind: str
    agent: str
    client: str
    path: str


@dataclass(frozen=True)
class Limit:
    """What the policy permits at least and at most: `burst` requests, and then so many in a second."""

    burst: int
    per_second: float

    def at_most(self, seconds: float) -> float:
        """The requests that pass in a time."""
        return self.burst + seconds * self.per_second + 1


EXACT: Final = {
    "verified robot": (200, "allowed", "verified"),
    "verified violator": (403, "disallowed", "verified"),
    "impostor": (403, "impostor", "impostor"),
    "unverified violator": (403, "disallowed", "unverified"),
    "browser": (200, "allowed", "browser"),
    "feed reader": (200, "allowed", "unverified"),
    "programs of many networks": (200, "allowed", "undeclared"),
}
"""Kinds of clients whose requests are all decided in the same way."""

LIMITED: Final = {
    "unverified robot": Limit(100, 1),
    "one program": Limit(240, 2),
    "programs of one network": Limit(2400, 20),
}
"""Kinds that the policy limits: each one's requests come from one network."""


def _requests() -> Iterator[Asked]:
    yield from _decided_by_rules()
    for _ in range(5_000):
        yield Asked("unverified robot", "TwoBot/1.0", "198.19.1.1", "/page")
    for _ in range(5_000):
        yield Asked("one program", CURL, "198.19.2.1", "/page")
    for number in range(10_000):
        yield Asked("programs of one network", CURL, f"198.19.3.{number % 200}", "/page")


def _decided_by_rules() -> Iterator[Asked]:
    google = [address_in("google-common", place) for place in range(20)]
    openai = address_in("openai-gptbot")
    for number in range(30_000):
        yield Asked("verified robot", GOOGLEBOT, google[number % 20], f"/page?{number}")
    for number in range(14_000):
        yield Asked("verified violator", GPTBOT, openai, f"/shop/{number}")
    for number in range(10_000):
        yield Asked("impostor", GOOGLEBOT, f"203.0.{number % 250}.{number % 113}", "/page")
    for number in range(1_000):
        yield Asked("unverified violator", "OneBot/1.0", f"198.51.{number % 100}.1", "/private/a")
    for number in range(15_000):
        yield Asked("browser", FIREFOX, f"192.0.2.{number % 3}", ("/page", "/private/a", "/shop/a")[number % 3])
    for number in range(5_000):
        yield Asked("feed reader", FEED_READER, f"198.18.{number % 100}.1", "/private/a")
    for number in range(5_000):
        yield Asked("programs of many networks", CURL, f"100.{number % 50}.{number // 50}.1", "/page")


async def _visit(port: int, mine: list[Asked]) -> Counter[tuple[str, int]]:
    """Sends requests one after another, several hundred over each connection."""
    found: Counter[tuple[str, int]] = Counter()
    for begin in range(0, len(mine), REQUESTS_OF_A_CONNECTION):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for asked in mine[begin : begin + REQUESTS_OF_A_CONNECTION]:
            head = f"GET {asked.path} HTTP/1.1\r\nHost: www.example.org\r\nUser-Agent: {asked.agent}\r\n"
            writer.write(f"{head}X-Test-Client: {asked.client}\r\n\r\n".encode())
            answer = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", answer)
            assert length is not None, answer
            await reader.readexactly(int(length[1]))
            status = int(answer[9:12])
            assert (b"\r\nRetry-After: " in answer) == (status == 429)
            found[asked.kind, status] += 1
        writer.close()
        await writer.wait_closed()
    return found


async def _visit_at_once(port: int, asked: list[Asked]) -> Counter[tuple[str, int]]:
    visits = [_visit(port, asked[place::CONNECTIONS]) for place in range(CONNECTIONS)]
    return sum(await asyncio.gather(*visits), Counter())


def _counted(metrics: str, name: str) -> Counter[tuple[str, ...]]:
    """The values of a counter by its labels."""
    lines = re.findall(rf"^{name}_total\{{(.*)\}} (\S+)$", metrics, re.MULTILINE)
    return Counter({tuple(re.findall(r'"([^"]*)"', labels)): int(float(value)) for labels, value in lines})


def _value(metrics: str, name: str) -> float:
    (value,) = re.findall(rf"^{name} (\S+)$", metrics, re.MULTILINE)
    return float(value)


@pytest.mark.long
async def test_100_000_requests(tmp_path: Path) -> None:
    asked = [*_requests()]
    random.Random(1).shuffle(asked)
    kinds = Counter(each.kind for each in asked)
    assert (len(asked), set(kinds)) == (100_000, {*EXACT, *LIMITED})
    with running_gate(tmp_path / "gate", POLICY, RULES) as gate, gated("nginx", tmp_path, gate) as site:
        began_s = time.monotonic()
        found = await _visit_at_once(site.port, asked)
        seconds = time.monotonic() - began_s
        for kind, (status, _, _) in EXACT.items():
            assert {each: count for each, count in found.items() if each[0] == kind} == {(kind, status): kinds[kind]}
        for kind, limit in LIMITED.items():
            allowed, refused = found.pop((kind, 200)), found.pop((kind, 429))
            assert allowed + refused == kinds[kind]
            assert limit.burst <= allowed <= limit.at_most(seconds)
            found[kind, 0] = allowed
        until(lambda: len(gate.lines()) >= len(asked))
        _check_log_and_metrics(gate, kinds, found)
        assert "error" not in (tmp_path / "error.log").read_text()


def _check_log_and_metrics(gate: RunningGate, kinds: Counter[str], found: Counter[tuple[str, int]]) -> None:
    lines = gate.lines()
    assert len(lines) == kinds.total()
    assert {line["client_ip"] for line in lines if line["identity"] == "browser"} == {
        f"192.0.2.{number}" for number in range(3)
    }
    expected: Counter[tuple[str, ...]] = Counter()
    for kind, (_, decision, identity) in EXACT.items():
        expected[decision, identity] += kinds[kind]
    for kind in LIMITED:
        identity = "unverified" if kind == "unverified robot" else "undeclared"
        expected["allowed", identity] += found[kind, 0]
        expected["too-fast", identity] += kinds[kind] - found[kind, 0]
    assert Counter((line["decision"], line["identity"]) for line in lines) == expected
    metrics = gate.metrics()
    assert _counted(metrics, "goodbot_gate_decisions") == expected
    of_robots = _counted(metrics, "goodbot_gate_robot_requests")
    assert of_robots["allowed", "Googlebot"] == kinds["verified robot"]
    assert of_robots["impostor", "Googlebot"] == kinds["impostor"]
    assert of_robots["disallowed", "GPTBot"] == kinds["verified violator"]
    problems = ("failures", "log_lines_lost", "connections_refused")
    assert [_value(metrics, f"goodbot_gate_{name}_total") for name in problems] == [0, 0, 0]
    assert _value(metrics, "goodbot_gate_enforcing") == 1
    assert re.findall(r"robots_txt_readable\{.*\} (\S+)", metrics) == ["1.0"]
