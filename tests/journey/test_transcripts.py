"""The transcripts in README.md show what the commands print."""

import shlex
from pathlib import Path

import pytest

from journey.goodbot_process import ended, start
from programs import ROOT, blocks_of

COLUMNS = "100"


def steps(transcript: str) -> list[tuple[str, str]]:
    """Each command of a transcript, with the output shown below it."""
    parts = [part.partition("\n") for part in ("\n" + transcript).split("\n$ ")[1:]]
    return [(command, output.strip("\n")) for command, _, output in parts]


TRANSCRIPTS = blocks_of((ROOT / "README.md").read_text(encoding="utf-8"), "console")


@pytest.mark.parametrize("transcript", TRANSCRIPTS)
async def test_a_transcript(transcript: str, tmp_path: Path) -> None:
    (tmp_path / "robots.txt").write_text(dict(steps(TRANSCRIPTS[0]))["cat robots.txt"] + "\n", encoding="utf-8")
    for command, output in steps(transcript):
        if command.startswith("goodbot "):
            words = shlex.split(command)[1:]
            end = await ended(await start(*words, folder=tmp_path, settings={"COLUMNS": COLUMNS}))
            assert end.out.strip("\n") == output


def test_both_commands_are_shown() -> None:
    shown = [command.split()[1] for transcript in TRANSCRIPTS for command, _ in steps(transcript)[-1:]]
    assert shown == ["allowed", "check"]
