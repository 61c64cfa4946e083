"""`goodbot incidents`: keeps notes about robots beside the state file of `goodbot watch`."""

import time
from pathlib import Path
from typing import Final, get_args

import click
import msgspec

from goodbot.cli.command_class import keep_from_output
from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.file_types import NamedPath
from goodbot.cli.own_robots import load_registry
from goodbot.cli.printing import complain, say_folded, write_json
from goodbot.cli.time_option import parse_time
from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import human_time
from goodbot.registry import Tier
from goodbot.watch.remedies import EARLIEST, IncidentNote, add_note, find_robot, incidents_file, read_notes

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)

_STATE = click.option(
    "--state",
    "state_file",
    required=True,
    type=NamedPath(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="The state file of goodbot watch; the notes are kept beside it, in FILE.incidents.",
)


@click.group(
    name="incidents",
    cls=CommandGroup,
    examples="""
    goodbot incidents add "Blocked with nginx" --robot GPTBot --state watch.state
    goodbot incidents list --state watch.state
    """,
)
def command() -> None:
    """Note what a robot did, or what you did about it, for `goodbot remedy letter`."""


@command.command(
    name="add",
    short_help="Add a note about a robot",
    output=False,
    examples="""
    goodbot incidents add "Limited to 30 requests a minute with nginx" --robot GPTBot --state watch.state
    goodbot incidents add "Requested /private/ again" --robot GPTBot --state watch.state --noticed 2026-11-01
    """,
)
@click.argument("text", metavar="NOTE")
@click.option("--robot", required=True, metavar="NAME", help="The robot, by name or product token.")
@_STATE
@click.option("--tier", type=click.Choice(TIERS), metavar="TIER", help=f"Its tier: {', '.join(TIERS)}.")
@click.option("--noticed", metavar="TIME", help="When you noticed it: a date, a time or an age (7d).  [default: now]")
def add(text: str, robot: str, state_file: Path, tier: str | None, noticed: str | None, as_json: bool) -> None:
    """Add NOTE: what a robot did, or what you did about it, in one sentence or more. Notes are never changed.

    Exit status: 0: done; 2: bad input; 3: the file cannot be written.
    """
    now = time.time()
    noticed_at = now if noticed is None else _time_of(noticed, now)
    note = IncidentNote(now, find_robot(robot, load_registry()).name, tier, noticed_at, text.strip())
    file = incidents_file(state_file)
    add_note(file, note)
    if as_json:
        write_json({"done": True, "file": str(file), "note": msgspec.to_builtins(note)})
    else:
        say_folded(f"goodbot: note about {note.robot} added to {file}", err=True)


def _time_of(noticed: str, now: float) -> float:
    """Returns Unix seconds. Raises InputError for what is no time of the past, or before robots existed."""
    at = float(parse_time("--noticed", noticed, now))
    if not EARLIEST <= at <= now:
        raise InputError(f"--noticed must be between 1990 and now, not {quoted(noticed)}")
    return at


@command.command(name="list", short_help="List notes", examples="goodbot incidents list --state watch.state")
@_STATE
@click.option("--robot", metavar="NAME", help="Only notes about this robot.")
def list_command(state_file: Path, robot: str | None, as_json: bool) -> None:
    """List notes, oldest first, by the time you noticed them.

    Exit status: 0: done; 2: bad input; 3: the file cannot be read.
    """
    file = incidents_file(state_file)
    keep_from_output([str(state_file), str(file)])
    notes, damaged = read_notes(file)
    if robot is not None:
        name = find_robot(robot, load_registry()).name
        notes = [note for note in notes if note.robot == name]
    if damaged:
        complain(f"{file}: {damaged} damaged lines are left out")
    if as_json:
        write_json({"notes": [msgspec.to_builtins(note) for note in notes], "damaged": damaged})
        return
    if not notes:
        say_folded("no notes yet" if robot is None else f"no notes about {shown(robot)}")
    for note in notes:
        tier = f" ({shown(note.tier, 20)})" if note.tier else ""
        say_folded(
            f"{shown(note.robot, 60)}{tier}: {shown(note.text, 2000)}", f"{human_time(note.noticed_at)}  ", " " * 4
        )
