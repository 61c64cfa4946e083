"""A recipe: how one known crawler is driven, and how its program is found on this machine."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goodbot.errors import InputError

PEERS: Final = Path(__file__).parent / "peers"
"""The folder of the small programs that some crawlers need."""
THROUGH_PROXY: Final = ("http_proxy={proxy}", "https_proxy={proxy}", "no_proxy=")
"""The environment of a crawler that reaches the sites by name."""
USER_AGENT: Final = "ExamBot/1.0 (+mailto:exam@example.org)"
"""For crawlers that can choose their name in robots.txt. example.org is reserved (RFC 2606)."""
ONE_GROUP: Final = "it does not combine the groups that apply to it"
"""Why several crawlers fail robots-groups-merged (RFC 9309 2.2.1)."""
FIRST_RULE: Final = "it obeys the first rule that matches, not the longest"
"""Why several crawlers fail robots-longest-match (RFC 9309 2.2.2)."""

_VERSION_TIMEOUT_S: Final = 60.0
_PYTHON: Final = "python"
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one crawler is driven.

    `program` is searched in PATH and next to this interpreter. `python` means this interpreter, or the one for which
    the command `beside` was installed, which may belong to another virtual environment. With the arguments
    `version_arguments` the program must print a version and exit with 0. `environment` holds variables, `arguments`
    follow the program; both may use the placeholders of `goodbot exam`, `{peers}` for the folder PEERS, and `{python}`
    for this interpreter. `settings` describe the configuration and the crawler's remaining defaults; `keeps` says what
    it writes into {dir}. `fails` maps the sites it is known to fail to the reason.
    """

    name: str
    program: str
    version_arguments: tuple[str, ...]
    environment: tuple[str, ...]
    arguments: tuple[str, ...]
    settings: tuple[str, ...]
    keeps: str
    install: str
    beside: str = ""
    fails: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> tuple[str, ...]:
        """The command for documents: the same on every machine."""
        return (*self._env, self.program, *self.arguments)

    def find(self) -> "InstalledRecipe":
        """Finds the program. Raises InputError, saying how to install it, if it is missing."""
        program = self._program()
        version = _version([program, *map(_filled, self.version_arguments)]) if program else None
        if program is None or version is None:
            raise InputError(f"{self.name} is not installed: {self.install}")
        return InstalledRecipe(self, version, tuple(map(_filled, (*self._env, program, *self.arguments))))

    def _program(self) -> str | None:
        if self.program != _PYTHON:
            return _search(self.program)
        if not self.beside:
            return sys.executable
        command = _search(self.beside)
        return str(Path(command).resolve().with_name("python3")) if command else None

    @property
    def _env(self) -> tuple[str, ...]:
        return ("env", *self.environment) if self.environment else ()


@dataclass(frozen=True, slots=True)
class InstalledRecipe:
    """An installed crawler, and the command that drives it on this machine."""

    recipe: Recipe
    version: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name and version of the crawler."""
        return f"{self.recipe.name} {self.version}"


def _filled(argument: str) -> str:
    return argument.replace("{peers}", str(PEERS)).replace("{python}", sys.executable)


def _search(program: str) -> str | None:
    beside_us = str(Path(sys.executable).parent)
    return shutil.which(program, path=os.pathsep.join([beside_us, os.environ.get("PATH", os.defpath)]))


def _version(command: list[str]) -> str | None:
    try:
        ended = subprocess.run(  # noqa: S603  (a program of the recipe)
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(ended.stdout.decode(errors="replace"))
    return found[0] if found and ended.returncode == 0 else None
