"""`--diff` prints what `patch` and `git apply` take."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.cli import main
from goodbot.cli.file_diff import unified_diff

BEFORE = [
    b"User-agent : *\nDisallow : /a\n",
    b"User-agent : *\nDisallow : /a",
    b"\xef\xbb\xbfUser-agent : *\r\nDisallow : /a\r\n",
    b"user-agent:*\r\nDisallow:/a\rDisallow:/b\n\n\n",
    "User-agent : *\nDisallow : /\u202eé\n".encode() + b"# \x0c form feed\n\n\nDisallow: /b",
    b"# only a comment",
]
"""Contents of a robots.txt."""

COMMANDS = [
    "format robots.txt --diff",
    "format robots.txt --compact --diff",
    "check robots.txt --diff",
    "write --closed -o robots.txt --diff",
]
APPLIERS = [["patch", "-p1", "--binary"], ["git", "apply"]]


def goodbot(*arguments: str, folder: Path) -> tuple[int, bytes]:
    command = [sys.executable, "-m", "goodbot", *arguments]
    ended = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    return ended.returncode, ended.stdout


def applied(difference: bytes, folder: Path, applier: list[str]) -> None:
    ended = subprocess.run(applier, cwd=folder, input=difference, capture_output=True, check=False)
    assert ended.returncode == 0, (difference, ended.stdout, ended.stderr)


@pytest.mark.parametrize("applier", APPLIERS, ids=[each[0] for each in APPLIERS])
@pytest.mark.parametrize("after", BEFORE, ids=range(len(BEFORE)))
@pytest.mark.parametrize("before", [None, b"", *BEFORE], ids=lambda body: str(body)[:12])
def test_the_difference_can_be_applied(before: bytes | None, after: bytes, applier: list[str], tmp_path: Path) -> None:
    if before == after:
        assert unified_diff(before, after, "robots.txt", "new") == b""
        return
    file = tmp_path / "robots.txt"
    if before is not None:
        file.write_bytes(before)
    applied(unified_diff(before, after, "robots.txt", "new"), tmp_path, applier)
    assert file.read_bytes() == after


@pytest.mark.parametrize("typed", COMMANDS)
def test_what_a_command_prints_can_be_applied(typed: str, tmp_path: Path) -> None:
    file = tmp_path / "robots.txt"
    file.write_bytes(BEFORE[2])
    status, difference = goodbot(*typed.split(), folder=tmp_path)
    assert (status, file.read_bytes()) == (1, BEFORE[2])
    applied(difference, tmp_path, APPLIERS[0])
    assert file.read_bytes() != BEFORE[2]
    assert goodbot(*typed.split(), folder=tmp_path) == (0, b"")


def test_a_file_that_does_not_exist_yet(tmp_path: Path) -> None:
    status, difference = goodbot("write", "--closed", "-o", "new.txt", "--diff", folder=tmp_path)
    assert status == 1
    assert difference.splitlines()[:3] == [b"--- /dev/null", b"+++ b/new.txt\t(new)", b"@@ -0,0 +1,2 @@"]


def test_check_prints_the_findings_as_json_and_the_difference_on_standard_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_bytes(BEFORE[0])
    assert main(["check", "--diff", "--json", "robots.txt"]) == 1
    out, err = capsys.readouterr()
    assert {finding["file"] for finding in json.loads(out)} == {"robots.txt"}
    assert "+User-agent: *" in err.splitlines()
    assert Path("robots.txt").read_bytes() == BEFORE[0]


def test_the_difference_is_safe_for_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_bytes(b"\xef\xbb\xbfUser-agent : \x1b[2J*\r\n")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert main(["write", "--closed", "-o", "robots.txt", "--diff"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        *("--- a/robots.txt", "+++ b/robots.txt  (new)", "@@ -1 +1,2 @@"),
        *(r"-\ufeffUser-agent : \x1b[2J*␍", "+User-agent: *", "+Disallow: /"),
    ]
