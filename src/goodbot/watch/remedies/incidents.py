"""Keeps notes about incidents beside the state file of `goodbot watch`: what a robot did, or what you did."""

import os
from pathlib import Path
from typing import Final

import msgspec

from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import strict_json
from goodbot.registry import TIERS

MAX_TEXT: Final = 2_000
MAX_BYTES: Final = 16 * 1024 * 1024
"""The most of a file that is read: its end. Older notes before are not read."""


EARLIEST: Final = 631_152_000.0
"""1990-01-01: no robot is older."""
LATEST: Final = 253_402_300_799.0
"""The last second that calendars with years of four digits have."""


class IncidentNote(msgspec.Struct, frozen=True):
    """One note: what a robot did, or what you did about it. Times are Unix seconds."""

    at: float
    """When the note was written."""
    robot: str
    tier: str | None
    noticed_at: float
    text: str


def incidents_file(state: Path) -> Path:
    """Returns the file of notes that belongs to a state file."""
    return state.with_name(f"{state.name}.incidents")


def add_note(file: Path, note: IncidentNote) -> None:
    """Appends a note. Notes that others append at the same time are not lost, and a line that a crash has cut off is
    ended first. Raises InputError for an empty or long text, or a folder that does not exist; RunError if the file
    cannot be written."""
    if not note.text.strip() or len(note.text) > MAX_TEXT:
        raise InputError(f"a note must have 1 to {MAX_TEXT:,} characters")
    line = f"{strict_json(msgspec.to_builtins(note))}\n".encode()
    try:
        descriptor = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
        with os.fdopen(descriptor, "r+b", buffering=0) as opened:
            opened.write(line if _ends_well(opened.fileno()) else b"\n" + line)
            os.fsync(opened.fileno())
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError) as error:
        raise InputError(f"cannot write {file}: {error.strerror}") from error
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}") from error


def _ends_well(descriptor: int) -> bool:
    size = os.fstat(descriptor).st_size
    return size == 0 or os.pread(descriptor, 1, size - 1) == b"\n"


def read_notes(file: Path) -> tuple[list[IncidentNote], int]:
    """Returns the notes, oldest first by the time of noticing, and how many lines are damaged. A missing file has
    none. Raises RunError if it cannot be read."""
    try:
        if file.exists() and not file.is_file():
            raise InputError(f"{file} is not a file")
        with file.open("rb") as opened:
            opened.seek(max(0, file.stat().st_size - MAX_BYTES))
            lines = opened.read(MAX_BYTES).split(b"\n")
    except (FileNotFoundError, NotADirectoryError):
        return [], 0
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error
    notes = [note for line in lines if line and (note := _parse(line)) is not None]
    return sorted(notes, key=lambda note: note.noticed_at), sum(1 for line in lines if line) - len(notes)


_decode: Final = msgspec.json.Decoder(IncidentNote).decode


def _parse(line: bytes) -> IncidentNote | None:
    try:
        note = _decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return None
    is_dated = all(EARLIEST <= at <= LATEST for at in (note.at, note.noticed_at))
    return note if is_dated and (note.tier is None or note.tier in TIERS) else None
