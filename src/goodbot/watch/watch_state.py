"""The file of `goodbot watch --state FILE`: the counts, and how far each log was counted."""

import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec

from goodbot.errors import InputError, RunError
from goodbot.files import write_whole
from goodbot.watch.counting.tally import Tally
from goodbot.watch.counting.tally_state import SavedTally, restored, saved
from goodbot.watch.reader.log_positions import LogPosition

MAGIC: Final = b"goodbot watch state 1\n"
"""The beginning of the file. It is followed by the CRC-32 of the rest, and by the rest, which is MessagePack."""

_CRC_BYTES: Final = 4

MOST_LOGS: Final = 10_000
"""Positions of logs that are kept; the oldest go first."""


class _Saved(msgspec.Struct):
    choices: str
    tally: SavedTally
    positions: list[LogPosition]


@dataclass(slots=True)
class WatchState:
    """What was counted so far."""

    tally: Tally = field(default_factory=Tally)
    positions: list[LogPosition] = field(default_factory=list)

    def keep(self, old: LogPosition | None, new: LogPosition) -> None:
        """Replaces the position of a log, or adds a new one."""
        self.positions = [position for position in self.positions if position is not old][-MOST_LOGS + 1 :]
        self.positions.append(new)


def load_state(path: Path, choices: str) -> WatchState:
    """Reads the file; a missing one is an empty state.

    Raises InputError if it is not such a file, or was made with other choices (`--since` and the like), RunError if it
    cannot be read.
    """
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"{path} is not a file; choose another name for the state")
        content = _content(path)
    except FileNotFoundError:
        return WatchState()
    except OSError as error:
        raise RunError(f"cannot read {path}: {error.strerror}") from error
    if not content:
        return WatchState()
    if not content.startswith(MAGIC):
        raise InputError(f"{path} is not a state file of goodbot watch; choose another name")
    damaged = f"{path} is damaged; remove it and count the logs again"
    body = content[len(MAGIC) + _CRC_BYTES :]
    if content[len(MAGIC) : len(MAGIC) + _CRC_BYTES] != _crc(body):
        raise InputError(damaged)
    try:
        state = msgspec.msgpack.decode(body, type=_Saved)
        tally = restored(state.tally)
    except (msgspec.MsgspecError, ValueError) as error:
        raise InputError(damaged) from error
    if state.choices != choices:
        made = f"with {state.choices}" if state.choices else f"without {choices}"
        raise InputError(f"{path} was made {made}; use the same options, or another file")
    return WatchState(tally, state.positions)


def _content(path: Path) -> bytes:
    """Reads the file; only its beginning if that is another one's."""
    with path.open("rb") as file:
        beginning = file.read(len(MAGIC))
        return beginning + file.read() if beginning == MAGIC else beginning


def save_state(path: Path, state: WatchState, choices: str) -> None:
    """Replaces the file completely or not at all. Raises InputError or RunError if it cannot be written."""
    body = msgspec.msgpack.encode(_Saved(choices, saved(state.tally), state.positions))
    write_whole(path, MAGIC + _crc(body) + body)


def _crc(body: bytes) -> bytes:
    return zlib.crc32(body).to_bytes(_CRC_BYTES, "big")
