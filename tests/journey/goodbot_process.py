"""The command line as its users have it: a process of its own, its output and its exit status."""

import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from journey.forked import forked
from journey.preloaded import Command

MAX_OUTPUT = 64 * 1024 * 1024
"""Bytes of output taken while nobody asks for them: a pipe that is full would make a crawl wait for its test."""

HASTY = "robots_retry_first = 0.1\nbackoff_first = 0.1\n"
"""A goodbot.toml for crawls whose sites fail, and which are not about the waits between."""

_PROGRESS = re.compile(r"^(?!goodbot: ).* [0-9.]+( [kMG]?B)?/s\b")
_OF_OTHERS = ("GOODBOT_", "COLUMNS", "FORCE_COLOR", "TTY_", "LANG", "LC_")
"""What of the environment would have a command say something else, or say it otherwise."""


def _own_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(_OF_OTHERS)}


@dataclass(frozen=True)
class Ended:
    """What a command left behind."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON value."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def complaint(self) -> str:
        """The one line on standard error; asserts that it is one, and no traceback. On a busy machine, lines of
        progress may come before it."""
        assert "Traceback" not in self.err, self.err
        lines = [line for line in self.err.strip().splitlines() if not _PROGRESS.search(line)]
        assert len(lines) == 1, self.err
        assert lines[0].startswith("goodbot: ")
        return lines[0]


async def start(
    *arguments: str | Path,
    folder: Path | None = None,
    group: bool = False,
    preloaded: bool = True,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> asyncio.subprocess.Process:
    """A running `goodbot`, in a process group of its own if `group`; give it to `ended`. `settings` go into its
    environment.

    Unless `preloaded`, it is started as a user starts it: where its memory or its first moments count.
    """
    environment = {
        **_own_environment(),
        "HOME": str(folder or "/dev/null/home"),
        "XDG_CONFIG_HOME": "",
        "XDG_DATA_HOME": "",
    }
    environment |= settings
    if preloaded:
        command = Command(
            arguments=[*map(str, arguments)],
            folder=str(folder or Path.cwd()),
            environment=environment,
            group=group,
        )
        return await forked(command, MAX_OUTPUT)
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-m", "goodbot", *map(str, arguments)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environment,
        cwd=folder,
        start_new_session=group,
        limit=MAX_OUTPUT,
    )


async def ended(process: asyncio.subprocess.Process, stdin: bytes = b"") -> Ended:
    """Waits for the end of a process."""
    out, err = await process.communicate(stdin)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


async def goodbot(
    *arguments: str | Path,
    folder: Path | None = None,
    stdin: bytes = b"",
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Ended:
    """Runs `goodbot` to its end. `settings` go into its environment."""
    return await ended(await start(*arguments, folder=folder, settings=settings), stdin)
