"""What docs/how-to/gate.md says of settings, logs and metrics is what the gate has."""

import re
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, get_args
from urllib.request import Request, urlopen

import msgspec
import pytest

from gate.gate_servers import DOCS, FIREFOX, GOOGLEBOT, RunningGate, address_in, gated, running_gate
from goodbot.gate.clients import Identity
from goodbot.gate.decision import STATUS
from goodbot.gate.policy import Policy, parse_policy
from programs import blocks_of

PAGE: Final = (DOCS / "gate.md").read_text(encoding="utf-8")
(SETTINGS,) = blocks_of(PAGE, "toml")


def test_the_example_has_every_setting_with_its_default() -> None:
    assert parse_policy(SETTINGS.encode()) == Policy()
    defaults = msgspec.to_builtins(Policy())
    assert isinstance(defaults, dict)
    assert _names(tomllib.loads(SETTINGS)) == _names(defaults)


def _names(table: dict[str, Any]) -> set[str]:
    """The names of all settings: `unverified.burst`."""
    inner = {f"{name}.{one}" for name, value in table.items() if isinstance(value, dict) for one in _names(value)}
    return {*table, *inner}


def test_what_is_commented_out_is_a_policy_too() -> None:
    policy = parse_policy(re.sub(r'^# (".*" = ".*?")', r"\1", SETTINGS, flags=re.MULTILINE).encode())
    assert {*policy.robots.values()} == {"allow", "rules", "refuse"}
    assert len(policy.sites) == 2


def _rows(header: str) -> Iterator[list[str]]:
    """The cells of the rows of a table, by its first header."""
    for line in PAGE.partition(f"| `{header}` |")[2].splitlines()[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip().strip("`") for cell in line.split("|")[1:-1]]


def test_the_tables_of_the_log_are_complete() -> None:
    assert {row[0]: int(row[1]) for row in _rows("decision")} == STATUS
    assert {row[0] for row in _rows("identity")} == {*get_args(Identity)}


@pytest.fixture
def observing(tmp_path: Path) -> Iterator[RunningGate]:
    """A gate in mode `observe` that has decided about a robot that robots.txt disallows, and about a browser."""
    policy = 'mode = "observe"\nreverse_dns = false\n'
    with running_gate(tmp_path / "gate", policy) as gate, gated("nginx", tmp_path, gate) as site:
        assert site.ask("/private/a", GOOGLEBOT, address_in("google-common")).status == 200
        assert site.ask("/private/a", FIREFOX, "198.51.100.1").status == 200
        gate.decisions("/private/a", 2)
        yield gate


def test_the_names_of_metrics_exist(observing: RunningGate) -> None:
    named = set(re.findall(r"goodbot_gate_\w+", PAGE))
    assert named
    metrics = observing.metrics()
    assert {name for name in named if f"\n{name}" not in metrics} == set()


def test_the_log_has_the_fields_and_the_command_counts_refusals(observing: RunningGate) -> None:
    refused, allowed = observing.lines()
    fields = set(re.findall(r"`(\w+)`", PAGE.partition("## Log\n")[2].partition("\n\n|")[0]))
    assert {*refused, *allowed} <= fields
    assert (refused["meant"], "meant" in allowed) == (403, False)
    (command,) = re.findall(r"^    jq .*", PAGE, re.MULTILINE)
    log = observing.robots.parent / "gate.log"
    typed = command.replace("/var/log/goodbot/gate.log", str(log))
    counted = subprocess.run(["sh", "-c", typed], capture_output=True, text=True, check=False)
    if "not found" in counted.stderr:
        pytest.skip("jq is not installed")
    assert (counted.stdout.split(), counted.stderr) == (["1", "403", "disallowed", "Googlebot"], "")


def test_the_gate_begins_a_new_log_when_the_file_is_moved(observing: RunningGate) -> None:
    """As logrotate does without copytruncate."""
    block = PAGE.partition("/etc/logrotate.d/goodbot-gate")[2].partition("```")[2].partition("```")[0]
    assert "/var/log/goodbot/gate.log" in block
    assert "copytruncate" not in block
    log = observing.robots.parent / "gate.log"
    log.rename(log.with_name("gate.log.1"))
    urlopen(Request(f"http://127.0.0.1:{observing.port}/", headers={"X-Original-URI": "/later"})).close()
    assert len(observing.decisions("/later", 1)) == len(observing.lines()) == 1
