"""The transcripts in README.md and docs/start show what the commands print."""

import re
import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from journey import practice_site
from journey.goodbot_process import ended, start
from programs import ROOT, blocks_of

COLUMNS = "100"
PAGES = ["README.md", *(f"docs/start/{page.name}" for page in sorted((ROOT / "docs" / "start").glob("*.md")))]

VARYING = re.compile(
    r"in \S+ s \(\S+ pages/s|\(\S+ ms\)|\d{4}-\d\d-\d\d( \d\d:\d\d:\d\d)?|\S+ s after the start|Wget/\S+?'"
    r"|memory +\S+ MB|(CPU|elapsed) +\S+ s"
)
"""What differs from run to run, machine to machine, and list to list of a robot's addresses."""


def steps(transcript: str) -> list[tuple[str, str]]:
    """Each command of a transcript, with the output shown below it."""
    parts = [part.partition("\n") for part in ("\n" + transcript).split("\n$ ")[1:]]
    return [(command, output.strip("\n")) for command, _, output in parts]


def transcript_of(page: str) -> list[tuple[str, str]]:
    """All steps of a page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [step for block in blocks_of(text, "console") for step in steps(block)]


@pytest.mark.parametrize("page", PAGES)
async def test_a_transcript(page: str, tmp_path: Path) -> None:
    """Runs the commands of a page in order, in a folder with the files that it makes or prints."""
    text = (ROOT / page).read_text(encoding="utf-8")
    asked: list[str] = []
    with ExitStack() as stack:
        port = practice_site.PORT
        if page.startswith("docs/start/"):
            practice_site.make(text, tmp_path)
        if "http.server" in text:
            port = stack.enter_context(practice_site.served(text, tmp_path, asked))
        for command, output in transcript_of(page):
            words = shlex.split(command.replace(f":{practice_site.PORT}", f":{port}"))
            if words[0] == "cat":
                (tmp_path / words[1]).write_text(output + "\n", encoding="utf-8")
            elif "wget" not in words or shutil.which("wget"):
                assert words[0] == "goodbot"
                end = await ended(await start(*words[1:], folder=tmp_path, settings={"COLUMNS": COLUMNS}))
                shown = end.out.replace(f":{port}", f":{practice_site.PORT}").strip("\n")
                assert VARYING.sub("…", shown) == VARYING.sub("…", output), command
    assert asked == (["/robots.txt", "/", "/care.html"] if "http.server" in text else [])


def test_these_commands_are_shown() -> None:
    shown = {page: [command.split()[1] for command, _ in transcript_of(page)] for page in PAGES}
    assert shown == {
        "README.md": ["robots.txt", "allowed", "check"],
        "docs/start/robot-authors.md": ["allowed", "allowed", "exam"],
        "docs/start/search-services.md": ["crawl", "why", "search"],
        "docs/start/site-owners.md": ["check", "write", "watch", "who"],
    }
