"""`goodbot allowed` answers in one dialect, or in all side by side."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goodbot.cli.commands import group
from goodbot.exclusion import DIALECTS
from journey.goodbot_process import goodbot
from webserver import WebServer, answer

ROBOTS = b"User-agent: *\nDisallow: /private*z\nDisallow: /private\nAllow: /private/open\n"


def run(tmp_path: Path, *arguments: str) -> Result:
    """The command on ROBOTS; what it returns is the exit status."""
    file = tmp_path / "robots.txt"
    file.write_bytes(ROBOTS)
    return CliRunner().invoke(group, ["allowed", str(file), "--agent", "me", *arguments], standalone_mode=False)


def test_all_side_by_side(tmp_path: Path) -> None:
    result = run(tmp_path, "--dialect", "all", "/private/open", "/public")
    lines = result.stdout.splitlines()
    assert result.return_value == 1
    assert len(lines) == 2 * (1 + len(DIALECTS))
    assert lines[0] == "/private/open  (the dialects differ)"
    assert lines[1].startswith("  allowed    rfc9309  Allow: /private/open (line 4) is the longest rule")
    assert lines[3].startswith("  disallowed 1996     Disallow: /private (line 3) is the first rule")
    assert lines[3].endswith("(draft-koster-robots-00 3.2.2)")
    assert lines[8] == "/public  (all dialects agree)"


def test_all_as_json(tmp_path: Path) -> None:
    result = run(tmp_path, "--dialect", "all", "--json", "/private/open")
    verdicts = json.loads(result.stdout)
    assert [verdict["dialect"] for verdict in verdicts] == list(DIALECTS)
    assert {verdict["dialect"] for verdict in verdicts if verdict["allowed"]} == {"rfc9309", "google"}
    first = verdicts[0]
    assert (first["line"], first["rule"], first["pattern"]) == (4, "Allow: /private/open", "/private/open")
    assert first["group"] == {"line": 1, "agents": ["*"]}
    assert first["lost"] == [{"line": 3, "rule": "Disallow: /private"}]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_one_dialect(tmp_path: Path, dialect: str) -> None:
    result = run(tmp_path, "--dialect", dialect, "--json", "/private", "/public")
    assert [(verdict["dialect"], verdict["allowed"]) for verdict in json.loads(result.stdout)] == [
        (dialect, False),
        (dialect, True),
    ]
    assert result.return_value == 1


def test_allowed_in_every_dialect(tmp_path: Path) -> None:
    assert run(tmp_path, "--dialect", "all", "/public").return_value == 0


async def test_one_answer_of_a_site_in_all_dialects() -> None:
    """A refusal opens the site today and closed it in the 1990s; it is fetched once."""
    async with WebServer({"/robots.txt": answer(b"no", status=403)}) as server:
        result = await goodbot("allowed", server.origin, "--agent", "me", "/", "--dialect", "all", "--json")
        assert server.targets == ["/robots.txt"]
    assert result.status == 1
    assert {verdict["dialect"] for verdict in result.json if verdict["allowed"]} == {"rfc9309", "google"}
