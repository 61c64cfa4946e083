"""The Dockerfile: without a fault, of files that exist, with commands that exist. No image is built here."""

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from distribution.command_lines import parse
from goodbot.serve_settings import ServeSettings
from goodbot.web.machines.monitoring import Monitoring
from goodbot.web.server.request_metrics import RequestMetrics
from programs import ROOT

FILE = ROOT / "packaging" / "Dockerfile"
TEXT = FILE.read_text(encoding="utf-8")
INSTRUCTIONS = [
    (line.partition(" ")[0], line.partition(" ")[2])
    for line in re.sub(r"\s*\\\n\s*", " ", re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)).splitlines()
    if line
]
"""Instruction and the rest of its line, in order."""


def values(instruction: str) -> list[str]:
    return [value for name, value in INSTRUCTIONS if name == instruction]


def test_hadolint_finds_no_fault() -> None:
    command = [str(Path(sys.executable).parent / "hadolint"), "--no-color", str(FILE)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_the_base_is_a_python_that_goodbot_supports() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    versions = {re.sub(r"python:([\d.]+)-slim-\w+.*", r"\1", image) for image in values("FROM")}
    assert len(versions) == 1
    assert f"Programming Language :: Python :: {versions.pop()}" in project["classifiers"]


def test_what_it_copies_is_there_and_not_ignored() -> None:
    kept = (ROOT / "packaging" / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [name for value in values("COPY") if "--from" not in value for name in value.split()[:-1]]
    assert copied
    assert [name for name in copied if not (ROOT / name).exists() or f"!{name}" not in kept] == []


def test_it_serves_the_volume_as_an_ordinary_user() -> None:
    (entry,), (default,), (volume,), (user,) = (values(name) for name in ("ENTRYPOINT", "CMD", "VOLUME", "USER"))
    assert json.loads(entry) == ["goodbot"]
    words = json.loads(default)
    parse(words)
    assert words[words.index("--in") + 1] == volume
    assert int(user) > 0
    assert values("EXPOSE") == [str(ServeSettings().port)]


def test_the_health_check_asks_for_a_path_that_the_server_has() -> None:
    (check,) = values("HEALTHCHECK")
    program, option, code = json.loads(check[check.index("[") :])
    assert (program, option) == ("python", "-c")
    ast.parse(code)
    (url,) = re.findall(r"http://[^']+", code)
    assert url == f"http://127.0.0.1:{ServeSettings().port}/healthz"
    assert "/healthz" in {route.path for route in Monitoring(None, None, RequestMetrics()).routes()}


COMMANDS = re.findall(r"docker run .* goodbot(?: (.*))?$", re.sub(r"\\\n#\s+", "", TEXT), re.MULTILINE)


@pytest.mark.parametrize("words", COMMANDS)
def test_the_commands_that_it_explains_exist(words: str) -> None:
    if words:
        parse(shlex.split(words))
