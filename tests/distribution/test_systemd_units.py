"""The units of systemd: those of the documentation, without a fault, with commands that exist."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from distribution.command_lines import parse
from programs import ROOT, blocks_of

PAGES = ("run-a-search-service", "gate")
UNITS = sorted((ROOT / "packaging" / "systemd").iterdir())


def command_of(unit: Path) -> list[str]:
    """The words of ExecStart."""
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)
    return shlex.split(line)


def test_the_units_are_those_of_the_documentation() -> None:
    text = "".join((ROOT / "docs/how-to" / f"{page}.md").read_text(encoding="utf-8") for page in PAGES)
    assert sorted(blocks_of(text, "ini")) == sorted(unit.read_text(encoding="utf-8") for unit in UNITS)
    assert [unit.name for unit in UNITS] == sorted(set(re.findall(r"goodbot-\w+\.service", text)))


@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_a_unit_starts_a_command(unit: Path) -> None:
    program, *words = command_of(unit)
    assert program == "/opt/goodbot/bin/goodbot"
    parse(words)


@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_systemd_finds_no_fault(unit: Path, tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    program = tmp_path / command_of(unit)[0].lstrip("/")
    program.parent.mkdir(parents=True)
    program.touch(0o755)
    units = tmp_path / "etc" / "systemd" / "system"
    units.mkdir(parents=True)
    shutil.copy(unit, units)
    command = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", f"--root={tmp_path}", unit.name]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")


@pytest.mark.parametrize("unit", UNITS, ids=[unit.name for unit in UNITS])
def test_systemd_rates_a_unit_as_safe(unit: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd is not installed")
    rated = ["systemd-analyze", "security", "--offline=yes", "--threshold=25", str(unit)]
    assert subprocess.run(rated, capture_output=True, check=False).returncode == 0  # 2.5 of 10 at most
