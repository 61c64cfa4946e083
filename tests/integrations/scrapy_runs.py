"""Runs scrapy_crawl.py against a site of the test, to the end or until it is killed."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import goodbot.integrations

PROGRAM = Path(__file__).with_name("scrapy_crawl.py")
SOURCE = Path(goodbot.integrations.__file__).parents[2]
SCHEDULER = {"SCHEDULER": "goodbot.integrations.scrapy.Scheduler"}
ADDON = {"ADDONS": {"goodbot.integrations.scrapy.Addon": 500}, "GOODBOT_ALLOW_PRIVATE": ["127.0.0.0/8"]}


@dataclass(frozen=True)
class Ran:
    """What a run has printed. `log`: its warnings and errors, and the information about the folder."""

    lines: list[str]
    log: str

    @property
    def read(self) -> list[str]:
        """The paths of the pages whose callback was called, in order."""
        return [line.split()[1].partition("//")[2].partition("/")[2] for line in self.lines if line.startswith("read")]

    @property
    def stats(self) -> dict[str, Any]:
        """Scrapy's statistics; empty if the run was killed."""
        last = self.lines[-1].split(" ", 1) if self.lines else [""]
        found: dict[str, Any] = json.loads(last[1]) if last[0] == "stats" else {}
        return found

    def logged(self, part: str) -> list[str]:
        """The lines of the log with this text."""
        return [line for line in self.log.splitlines() if part in line]


async def crawl(
    starts: list[str],
    settings: dict[str, Any],
    spider: str = "follower",
    kill_when: Callable[[], bool] | None = None,
    signal_number: int | None = None,
) -> Ran:
    """Runs a crawl for at most 300 s. It is killed when `kill_when` returns true, or gets `signal_number` then."""
    environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    told = json.dumps({"start": starts, "settings": settings, "spider": spider})
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(PROGRAM), told),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**environment, "PYTHONPATH": str(SOURCE)},
    )
    output = asyncio.ensure_future(process.communicate())
    try:
        async with asyncio.timeout(300):
            while kill_when is not None and not output.done() and not kill_when():
                await asyncio.wait([output], timeout=0.005)
            if kill_when is not None and not output.done():
                process.kill() if signal_number is None else process.send_signal(signal_number)
            out, log = await asyncio.shield(output)
    finally:
        if process.returncode is None:
            process.kill()
            await output
    return Ran(out.decode().splitlines(), log.decode())
