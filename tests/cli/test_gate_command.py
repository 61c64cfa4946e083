"""`goodbot gate` as its users have it: how it starts, what it refuses, and how it ends."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from address_lists import write_current_lists
from gate.gate_sockets import Wire, get
from goodbot.config import Settings
from goodbot.robot.fetch.signing import signer_of
from goodbot.url import parse_url
from journey.goodbot_process import Ended, ended, goodbot, start
from webserver import WebServer, silence

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text("User-agent: *\nDisallow: /private\n")
    return file


class Started:
    """A command that is ready; `ended` is its end."""

    def __init__(self, process: asyncio.subprocess.Process, ready: dict[str, Any]) -> None:
        self.process = process
        self.ready = ready
        self.port = int(ready["url"].rstrip("/").rpartition(":")[2])
        self.ended: Ended | None = None

    async def wire(self) -> Wire:
        return await Wire.to(self.port)

    async def status(self, target: str) -> int:
        wire = await self.wire()
        reply = await wire.ask(asking(target))
        await wire.close()
        return reply.status

    async def end(self, number: signal.Signals = signal.SIGINT) -> Ended:
        self.process.send_signal(number)
        self.ended = await ended(self.process)
        return self.ended


def asking(target: str) -> bytes:
    return get("/", f"X-Original-URI: {target}", "User-Agent: FooBot/1.0", "X-Real-IP: 9.9.9.9")


@asynccontextmanager
async def started(*arguments: str | Path, folder: Path | None = None) -> AsyncIterator[Started]:
    """Starts a gate on a free port."""
    with TemporaryDirectory() as data:
        settings = {"XDG_DATA_HOME": str(write_current_lists(Path(data)))}
        process = await start("gate", *arguments, "--port", "0", "--json", folder=folder, settings=settings)
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            pytest.fail((await ended(process)).err)
        command = Started(process, json.loads(line))
        try:
            yield command
        finally:
            if command.ended is None:
                await command.end()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_it_with_every_line_in_the_log(
    tmp_path: Path, robots: Path, number: signal.Signals
) -> None:
    log = tmp_path / "gate.log"
    async with started("--robots", robots, "--log", log) as gate:
        wire = await gate.wire()
        await wire.send(b"".join(asking(f"/private/{number}") for number in range(200)))
        replies = [await wire.reply() for _ in range(200)]
        result = await gate.end(number)
        assert await wire.rest() == b""
    assert result.status == 0
    assert "Traceback" not in result.err
    assert {reply.status for reply in replies} == {403}
    assert [json.loads(line)["uri"] for line in log.read_text().splitlines()] == [f"/private/{n}" for n in range(200)]


async def test_decisions_are_on_standard_output(robots: Path) -> None:
    async with started("--robots", robots) as gate:
        assert [await gate.status("/private"), await gate.status("/open")] == [403, 200]
        result = await gate.end()
    assert gate.ready == {"url": f"http://127.0.0.1:{gate.port}/", "mode": "enforce", "problems": []}
    assert [(line["uri"], line["status"]) for line in result.lines] == [("/private", 403), ("/open", 200)]
    lines = result.err.splitlines()
    assert lines[0] == f"gate on http://127.0.0.1:{gate.port}/ (Ctrl-C ends it)"
    assert lines[1].startswith("goodbot: no contact is set")


async def test_mode_observe_comes_before_the_policy(tmp_path: Path, robots: Path) -> None:
    (tmp_path / "gate.toml").write_text("mode = 'enforce'\ncontact = 'me@example.org'\n")
    async with started("--robots", robots, "--policy", tmp_path / "gate.toml", "--mode", "observe") as gate:
        assert await gate.status("/private") == 200
        (tmp_path / "gate.toml").write_text("mode = 'enforce'\ncontact = 'you@example.org'\n")
        assert await gate.status("/private") == 200
        result = await gate.end()
    assert gate.ready["mode"] == "observe"
    assert result.err == f"gate on {gate.ready['url']} in mode observe: it refuses nothing (Ctrl-C ends it)\n"
    assert [line["meant"] for line in result.lines] == [403, 403]


async def test_a_changed_policy_is_taken_over_while_it_runs(tmp_path: Path, robots: Path) -> None:
    policy = tmp_path / "gate.toml"
    policy.write_text("[unverified]\naction = 'allow'\n")
    (tmp_path / "goodbot.toml").write_text("contact = 'ask@example.org'\n")
    async with started("--robots", robots, "--policy", policy, folder=tmp_path) as gate, asyncio.timeout(60):
        wire = await gate.wire()
        assert b"ask@example.org" in (await wire.ask(asking("/private"))).body
        policy.write_text("mode = 'observe'\n[unverified]\naction = 'allow'\n")
        while (await wire.ask(asking("/private"))).status != 200:  # noqa: ASYNC110  (a change announces nothing)
            await asyncio.sleep(0.05)
        policy.write_text("[unverified]\naction = 'allow'\n")
        while (reply := await wire.ask(asking("/private"))).status != 403:  # noqa: ASYNC110  (as above)
            await asyncio.sleep(0.05)
        assert b"ask@example.org" in reply.body
        await wire.close()
        result = await gate.end()
    assert result.err == f"gate on {gate.ready['url']} (Ctrl-C ends it)\n"


async def test_watch_verifies_the_signatures_in_the_log(tmp_path: Path, robots: Path) -> None:
    assert (await goodbot("key", "new", "-o", "bot.jwk", folder=tmp_path)).status == 0
    assert (await goodbot("key", "show", "bot.jwk", "--json", "-o", "goodbot.json", folder=tmp_path)).status == 0
    signer = signer_of(Settings(sign=str(tmp_path / "bot.jwk"), signature_agent="https://bot.example.org"))
    url = parse_url("http://site.test/page?q=1")
    assert signer is not None
    assert url is not None
    log, keys = tmp_path / "gate.log", f"goodbot={tmp_path / 'goodbot.json'}"
    async with started("--robots", robots, "--keys", keys, "--log", log) as gate:
        wire, agent = await gate.wire(), "User-Agent: goodbot/1.0"
        for method in ("GET", "GET", "POST"):
            lines = [agent, *(f"{name}: {value}" for name, value in signer.fields(url, "GET"))]
            asked = ("X-Original-URI: /page?q=1", "X-Forwarded-Host: site.test", "X-Real-IP: 9.9.9.9")
            reply = await wire.ask(get("/", *asked, f"X-Original-Method: {method}", *lines))
            assert reply.fields["x-goodbot-identity"] == ("verified" if method == "GET" else "undeclared")
        await wire.ask(get("/", "X-Original-URI: /", agent, "X-Real-IP: 9.9.9.9"))
        await wire.close()
        await gate.end()
    watched = await goodbot("watch", log, "--keys", keys, "--json")
    assert watched.status == 0, watched.err
    assert (watched.json["lines"], watched.json["skipped"]) == (4, 0)
    found = watched.json["signatures"]
    assert (found["signed"], found["verified"], [*found["failed"].values()]) == (3, 2, [1])


async def test_ipv6_is_listened_on(robots: Path) -> None:
    async with started("--robots", robots, "--listen", "::1") as gate:
        wire = await Wire.to(gate.port, "::1")
        assert (await wire.ask(asking("/private"))).status == 403
        await wire.close()
    assert gate.ready["url"] == f"http://[::1]:{gate.port}/"


@pytest.mark.long
async def test_a_server_that_does_not_answer_keeps_ctrl_c_waiting_for_nothing(tmp_path: Path, robots: Path) -> None:
    async with WebServer({"/robots.txt": silence}) as server:
        policy = tmp_path / "gate.toml"
        policy.write_text(f"[sites]\n'slow.test' = '{server.url()}'\n")
        async with started("--robots", robots, "--policy", policy) as gate:
            assert gate.ready["problems"] == [f"the robots.txt of {server.origin} has not been fetched yet"]
            assert await gate.status("/private") == 403
            result = await asyncio.wait_for(gate.end(), 15)  # the fetch itself would take longer
    assert result.status == 0
    assert "Traceback" not in result.err


async def test_the_gate_goes_on_when_nobody_reads_its_log(robots: Path) -> None:
    process = await start("gate", "--robots", robots, "--port", "0", "--json", preloaded=False)
    assert process.stdout is not None
    assert process.stderr is not None
    ready = json.loads(await process.stdout.readline())
    gate = Started(process, ready)
    process.stdout._transport.close()  # type: ignore[attr-defined]
    for _ in range(5):
        assert await gate.status("/private") == 403
        await asyncio.sleep(0.25)
    process.send_signal(signal.SIGINT)
    err = (await process.stderr.read()).decode()
    assert await process.wait() == 0
    assert err.count("decisions cannot be logged: Broken pipe; the gate continues without") == 1
    assert "Traceback" not in err


async def test_it_works_without_standard_output(robots: Path) -> None:
    command = f"exec '{sys.executable}' -m goodbot gate --robots '{robots}' --port 0 >&-"
    environment = {**os.environ, "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "", "HOME": "/dev/null/home"}
    process = await asyncio.create_subprocess_exec("sh", "-c", command, stderr=asyncio.subprocess.PIPE, env=environment)
    assert process.stderr is not None
    ready = (await process.stderr.readline()).decode()
    assert ready.startswith("gate on http://127.0.0.1:"), ready
    process.send_signal(signal.SIGTERM)
    await process.stderr.read()
    assert await process.wait() == 0


async def test_a_port_in_use_is_named(robots: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = await goodbot("gate", "--robots", robots, "--port", str(port))
    assert result.status == 3
    assert result.complaint == f"goodbot: port {port} is in use on 127.0.0.1: choose another with --port"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "the gate needs a robots.txt: --robots FILE or URL, or [sites] in --policy gate.toml"),
        (["--robots", ""], "the place of a robots.txt is empty"),
        (["--robots", "missing.txt"], "cannot read missing.txt: No such file or directory"),
        (["--robots", "page.html"], "page.html is an HTML page, not a robots.txt"),
        (["--robots", "."], "cannot read .: it is not a file"),
        (["--robots", "http://[/"], "not an http or https URL"),
        (["--policy", "empty.toml"], "the gate needs a robots.txt"),
        (["--robots", "robots.txt", "--policy", "missing.toml"], "cannot read missing.toml"),
        (["--robots", "robots.txt", "--policy", "mode.toml"], "mode.toml: mode must be"),
        (["--robots", "robots.txt", "--policy", "robots.txt"], "robots.txt is not valid TOML"),
        (["--robots", "robots.txt", "--policy", "site.toml"], "none.txt: No such file or directory"),
        (["--robots", "robots.txt", "--log", "none/gate.log"], "cannot write none/gate.log"),
        (["--robots", "robots.txt", "--nameserver", "x y"], "x y"),
        (["--robots", "robots.txt", "--keys", "none.json"], "none.json"),
        (["--robots", "robots.txt", "--mode", "strict"], "strict"),
        (["--robots", "robots.txt", "--port", "70000"], "port 70000 does not exist"),
    ],
)
async def test_bad_input_is_named_in_one_line(tmp_path: Path, robots: Path, arguments: list[str], said: str) -> None:
    (tmp_path / "page.html").write_text("<!doctype html><html><body>x</body></html>")
    (tmp_path / "empty.toml").touch()
    (tmp_path / "mode.toml").write_text("mode = 'strict'\n")
    (tmp_path / "site.toml").write_text("[sites]\n'a.test' = 'none.txt'\n")
    result = await goodbot("gate", *arguments, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert said in result.complaint


async def test_the_help_names_its_options() -> None:
    result = await goodbot("gate", "--help")
    assert (result.status, result.err) == (0, "")
    for word in ("--robots", "--policy", "--mode", "--log", "Exit status", "X-Original-URI"):
        assert word in result.out
