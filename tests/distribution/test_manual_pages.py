"""The manual pages."""

import re
import shutil
import subprocess

import pytest

from goodbot.cli.commands import COMMANDS
from programs import ROOT, load

FOLDER = ROOT / "packaging" / "man"


def test_the_pages_are_those_of_the_commands() -> None:
    """If this fails, run `make docs`."""
    made = load("docs/make_man.py").pages()
    assert {file.name: file.read_text(encoding="utf-8") for file in FOLDER.iterdir()} == made
    assert set(made) == {"goodbot.1", *(f"goodbot-{name}.1" for name in COMMANDS)}


def test_mandoc_finds_no_fault() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    files = sorted(map(str, FOLDER.iterdir()))
    checked = subprocess.run(["mandoc", "-Tlint", "-Wwarning", *files], check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_a_page_reads_as_its_help_does() -> None:
    if shutil.which("mandoc") is None:
        pytest.skip("mandoc is not installed")
    command = ["mandoc", "-Tutf8", "-Owidth=100", str(FOLDER / "goodbot-exam.1")]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    text = re.sub(r".\x08", "", text)  # bold and italics
    headings = [line for line in text.splitlines()[1:-1] if line[:1].isupper()]
    assert headings == ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]
    assert "       goodbot exam --with scrapy\n" in text
    assert "       {seeds}" in text
    assert "     --visits N" in text.replace("       --", "     --")
