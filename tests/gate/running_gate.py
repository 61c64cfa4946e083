"""A whole gate in this process, built as the command builds it, which looks for changes of its files often."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import click

from gate.gate_sockets import WITHIN_S, Reply, Wire, get
from goodbot.cli.gate_setup import GateOptions, GateSetup
from goodbot.gate.gate_log import DecisionLog
from goodbot.gate.gate_protocol import Connections
from goodbot.gate.gate_service import GateService, run
from goodbot.listening import listening

LOOK_EVERY_S: Final = 0.02

BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
ROBOT: Final = "FooBot/1.0"
CLOSED: Final = "User-agent: *\nDisallow: /private\n"


@dataclass(frozen=True, slots=True)
class Running:
    """A gate that answers."""

    port: int
    setup: GateSetup
    service: GateService

    async def asked(self, target: str, agent: str = ROBOT, *lines: str) -> Reply:
        """Asks whether a request may pass, over a connection of its own."""
        return await self._sent(get("/", f"X-Original-URI: {target}", f"User-Agent: {agent}", *lines))

    async def page(self, target: str) -> Reply:
        """Returns a page of the gate itself."""
        return await self._sent(get(target))

    async def status(self, target: str, host: str = "example.org") -> int:
        """Returns the status for a robot at a host."""
        return (await self.asked(target, ROBOT, f"X-Forwarded-Host: {host}")).status

    async def becomes(self, status: int, target: str, host: str = "example.org") -> None:
        """Waits until the gate answers with that status."""
        async with asyncio.timeout(WITHIN_S):
            while await self.status(target, host) != status:  # noqa: ASYNC110  (a change of files announces nothing)
                await asyncio.sleep(LOOK_EVERY_S)

    async def says(self, words: bytes, page: str = "/healthz") -> None:
        """Waits until a page of the gate has these words."""
        async with asyncio.timeout(WITHIN_S):
            while words not in (await self.page(page)).body:  # noqa: ASYNC110  (as above)
                await asyncio.sleep(LOOK_EVERY_S)

    async def _sent(self, request: bytes) -> Reply:
        wire = await Wire.to(self.port)
        reply = await wire.ask(request)
        await wire.close()
        return reply


@asynccontextmanager
async def running_gate(
    robots: str | Path | None = None, policy: Path | None = None, log: DecisionLog | None = None, nameserver: str = ""
) -> AsyncIterator[Running]:
    """Runs a gate on a free port of loopback."""
    options = GateOptions(str(robots) if robots is not None else None, policy, None, (), nameserver or "127.0.0.1:1")
    with click.Context(click.Command("goodbot")):
        setup = GateSetup(options, LOOK_EVERY_S)
    connections, stop, is_ready = Connections(100), asyncio.Event(), asyncio.Event()
    with listening("127.0.0.1", 0) as listener:
        service = GateService(setup.state(), setup.limits, log, connections)
        work = run(service, connections, listener, is_ready.set, lambda: setup.keep_current(service), stop)
        task = asyncio.create_task(work)
        try:
            await is_ready.wait()
            yield Running(listener.getsockname()[1], setup, service)
        finally:
            stop.set()
            await asyncio.wait_for(task, WITHIN_S)


def policy_file(folder: Path, text: str) -> Path:
    """Writes a gate.toml. The requests of tests are many."""
    file = folder / "gate.toml"
    file.write_text(f"{text}\n[unverified]\naction = 'allow'\n")
    return file


def write_list(data: Path, name: str, network: str) -> None:
    """Writes an address list as `goodbot who update` does, dated today: it shows impostors for 90 days only."""
    folder = data / "goodbot" / "addresses"
    folder.mkdir(parents=True, exist_ok=True)
    new = folder / "new"
    new.write_text(f"# https://openai.com/gptbot.json\n# {datetime.now(UTC).date()}\n{network}\n")
    new.replace(folder / f"{name}.txt")
