"""`python -m goodbot`, which finds the modules of the working folder first unless goodbot prevents it."""

import subprocess
import sys
from pathlib import Path

import pytest

MODULES = ["url.py", "json.py", "click.py", "goodbot.py"]


@pytest.mark.parametrize("arguments", [[], ["-P"]], ids=["plain", "safe path"])
def test_modules_of_the_working_folder_take_no_part(arguments: list[str], tmp_path: Path) -> None:
    for name in MODULES[: len(MODULES) if arguments else -1]:  # a goodbot.py is what `-m goodbot` asks for
        (tmp_path / name).write_text("raise SystemExit('this module is not ours')")
    (tmp_path / "robots.txt").write_text("User-agent: *\nDisallow: /a\nSitemap: https://example.org/sitemap.xml\n")
    command = [sys.executable, *arguments, "-m", "goodbot", "check", "robots.txt"]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=tmp_path)
    assert (ended.returncode, ended.stderr) == (0, "")
