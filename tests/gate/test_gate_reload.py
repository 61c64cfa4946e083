"""A gate whose files change while it answers: no request is lost, and each is decided by the old or the new state."""

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest

from gate.gate_sockets import WITHIN_S, Wire, get, until
from gate.running_gate import BROWSER, CLOSED, ROBOT, policy_file, running_gate, write_list

OPEN = "User-agent: *\nDisallow: /other\n"
GPTBOT = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text(CLOSED)
    return file


async def test_no_request_is_lost_while_the_rules_change(tmp_path: Path, robots: Path) -> None:
    statuses: list[list[int]] = [[] for _ in range(8)]
    is_over = asyncio.Event()
    request = get("/", "X-Original-URI: /private/x", f"User-Agent: {ROBOT}")

    async def ask(mine: list[int], port: int) -> None:
        wire = await Wire.to(port)
        while not is_over.is_set():
            mine.append((await wire.ask(request)).status)
        await wire.close()

    async with running_gate(robots, policy_file(tmp_path, "")) as gate, asyncio.TaskGroup() as group:
        for mine in statuses:
            group.create_task(ask(mine, gate.port))
        for number in range(4):
            body, status = ((OPEN, 200), (CLOSED, 403))[number % 2]
            robots.write_text(body)
            await until(lambda: all(mine and mine[-1] == status for mine in statuses))  # noqa: B023  (waited for here)
        is_over.set()
        figures = (await gate.page("/metrics")).body.decode()
    for mine in statuses:
        changes = [now for before, now in pairwise(mine) if now != before]
        assert changes == [200, 403, 200, 403]
    assert "goodbot_gate_failures_total 0.0" in figures


async def test_health_and_figures_name_what_cannot_be_read(robots: Path) -> None:
    async with running_gate(robots) as gate:
        assert (await gate.page("/healthz")).body == b"ok\nmode: enforce\n"
        robots.write_text("<!doctype html><html><body>moved</body></html>")
        await gate.says(f"not readable: {robots}: {robots} is ".encode())
        await gate.says(f'robots_txt_readable{{place="{robots}"}} 0.0'.encode(), "/metrics")
        assert await gate.status("/private") == 403
        robots.write_text(OPEN)
        await gate.becomes(200, "/private")
        assert (await gate.page("/healthz")).body == b"ok\nmode: enforce\n"
        assert f'robots_txt_readable{{place="{robots}"}} 1.0'.encode() in (await gate.page("/metrics")).body


async def test_each_host_of_the_policy_has_its_robots_txt_beside_it(
    tmp_path: Path, robots: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sites").mkdir()
    (tmp_path / "sites" / "one.txt").write_text("User-agent: *\nDisallow: /one\n")
    policy = policy_file(tmp_path, "[sites]\n'one.test' = 'sites/one.txt'\n")
    monkeypatch.chdir("/")
    async with running_gate(robots, policy) as gate:
        assert await gate.status("/one", "ONE.test:8080") == 403
        assert await gate.status("/private", "one.test") == 200
        assert await gate.status("/private", "other.test") == 403
        (tmp_path / "sites" / "two.txt").write_text("User-agent: *\nDisallow: /two\n")
        policy_file(tmp_path, "[sites]\n'one.test' = 'sites/one.txt'\n'two.test' = 'sites/two.txt'\n")
        await gate.becomes(403, "/two", "two.test")
        assert await gate.status("/one", "one.test") == 403
        (tmp_path / "sites" / "two.txt").write_text(OPEN)
        await gate.becomes(200, "/two", "two.test")


async def test_a_changed_policy_is_in_force(tmp_path: Path, robots: Path) -> None:
    async with running_gate(robots, policy_file(tmp_path, "")) as gate:
        assert await gate.status("/private") == 403
        policy_file(tmp_path, "mode = 'observe'")
        await gate.becomes(200, "/private")
        policy_file(tmp_path, "[undeclared]\nper_minute = 1\nburst = 1\n")
        await gate.becomes(403, "/private")
        limited = [(await gate.asked("/", "curl/8.0", "X-Real-IP: 9.9.9.9")).status for _ in range(2)]
        assert limited == [200, 429]
        policy_file(tmp_path, "addresses = 100\n[undeclared]\nper_minute = 1\nburst = 1\n")
        await until(lambda: gate.setup.policy.addresses == 100)
        await until(lambda: not len(gate.setup.limits))
        assert (await gate.asked("/", "curl/8.0", "X-Real-IP: 9.9.9.9")).status == 200
        assert (await gate.asked("/private", BROWSER)).status == 200


@pytest.mark.parametrize(
    "wrong",
    ["mode = 'strict'", "mode =", "proxies = ['x']", "[sites]\n'a.test' = 'missing.txt'", "keys = ['none.json']"],
)
async def test_a_policy_with_an_error_is_not_taken_over_and_named_once(
    tmp_path: Path, robots: Path, caplog: pytest.LogCaptureFixture, wrong: str
) -> None:
    async with running_gate(robots, policy_file(tmp_path, "")) as gate:
        policy_file(tmp_path, wrong)
        await until(lambda: caplog.records)
        robots.write_text("User-agent: *\nDisallow: /else\n")
        await gate.becomes(403, "/else")  # so the gate has looked several times since
        (warning,) = [record.getMessage() for record in caplog.records]
        assert warning.endswith("; the gate keeps the policy that it has")
        policy_file(tmp_path, "mode = 'observe'")
        await gate.becomes(200, "/else")


async def test_a_policy_that_vanishes_stays_in_force(
    tmp_path: Path, robots: Path, caplog: pytest.LogCaptureFixture
) -> None:
    policy = policy_file(tmp_path, "mode = 'observe'")
    async with running_gate(robots, policy) as gate:
        policy.unlink()
        await until(lambda: caplog.records)
        assert await gate.status("/private") == 200
        policy_file(tmp_path, "mode = 'enforce'")
        await gate.becomes(403, "/private")


async def test_updated_address_lists_are_in_force(robots: Path, data_home: Path) -> None:
    write_list(data_home, "openai-gptbot", "8.8.8.0/24")
    async with running_gate(robots) as gate:
        async with asyncio.timeout(WITHIN_S):
            before = await gate.asked("/", GPTBOT, "X-Real-IP: 9.9.9.9")
            assert (before.status, before.fields["x-goodbot-decision"]) == (403, "impostor")
            write_list(data_home, "openai-gptbot", "9.9.9.0/24")
            while (await gate.asked("/", GPTBOT, "X-Real-IP: 9.9.9.9")).status != 200:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
            after = await gate.asked("/", GPTBOT, "X-Real-IP: 9.9.9.9")
            assert after.fields["x-goodbot-identity"] == "verified"


async def test_a_damaged_address_list_changes_nothing(
    robots: Path, data_home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_list(data_home, "openai-gptbot", "9.9.9.0/24")
    async with running_gate(robots) as gate:
        assert (await gate.asked("/", GPTBOT, "X-Real-IP: 9.9.9.9")).status == 200
        write_list(data_home, "openai-gptbot", "no range")
        await until(lambda: caplog.records)
        assert (await gate.asked("/", GPTBOT, "X-Real-IP: 9.9.9.9")).status == 200
    assert caplog.records[0].getMessage().endswith("; the gate keeps the address lists that it has")
