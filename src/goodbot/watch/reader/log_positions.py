"""How far each log was counted, so that no line is counted twice (`--state FILE`).

A log is known by its content, decompressed, not by its name, which rotation changes: by its beginning, by what comes
before the place up to which it was counted, and by checkpoints between the two.
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count, takewhile
from typing import Final

KNOWN_BYTES: Final = 4096
"""Bytes at the beginning, and before each other place, by which a log is known; a shorter log is known by all it
has."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """How far a log was counted."""

    head_bytes: int
    head_digest: str
    counted: int
    """Bytes, decompressed."""
    tail_digest: str
    """Of the last `KNOWN_BYTES` bytes before that place."""
    checkpoints: tuple[str, ...] = ()
    """Of the last `KNOWN_BYTES` bytes before the places 8 KiB, 16 KiB, 32 KiB, and so on."""
    header: str | None = None
    """The last `#Fields:` line before that place."""

    def begins(self, head: bytes) -> bool:
        """Whether a log begins like this one; `head` has its first `KNOWN_BYTES` bytes."""
        return 0 < self.head_bytes <= len(head) and _digest(head[: self.head_bytes]) == self.head_digest

    def is_passed_by(self, trail: "Trail") -> bool:
        """Whether a log that was read up to the place has the same bytes before it. If it ended earlier, its
        checkpoints must match: then it may be an unfinished copy."""
        if trail.place < self.counted:
            return self.checkpoints[: len(trail.checkpoints)] == (*trail.checkpoints,)
        return _digest(trail.tail) == self.tail_digest


def checkpoint_places(size: int) -> Iterator[int]:
    """Yields the places of the checkpoints of a log with so many bytes."""
    return takewhile(lambda place: place <= size, map(_checkpoint, count()))


def _checkpoint(number: int) -> int:
    return KNOWN_BYTES << (number + 1)


class Trail:
    """What a log is known by, gathered while it is read: `place`, the bytes read; `tail`, the last `KNOWN_BYTES` of
    them; `checkpoints`."""

    def __init__(self, place: int = 0, tail: bytes = b"", checkpoints: Iterable[str] = ()) -> None:
        self.place = place
        self.tail = tail
        self.checkpoints = [*checkpoints]

    def add(self, piece: bytes) -> None:
        """Adds the next bytes."""
        end = self.place + len(piece)
        while (place := _checkpoint(len(self.checkpoints))) <= end:
            self.checkpoints.append(_digest(self.tail_at(piece, place - self.place)))
        self.tail = self.tail_at(piece, len(piece))
        self.place = end

    def tail_at(self, piece: bytes, end: int) -> bytes:
        """Returns what `tail` would be after the first `end` bytes of the next piece."""
        return piece[end - KNOWN_BYTES : end] if end >= KNOWN_BYTES else (self.tail + piece[:end])[-KNOWN_BYTES:]

    def position(self, head: bytes, counted: int, tail: bytes, header: str | None) -> LogPosition:
        """Returns the position of a log that begins with `head` and was counted up to a byte, before which is
        `tail`."""
        known = head[: min(KNOWN_BYTES, counted)]
        return LogPosition(len(known), _digest(known), counted, _digest(tail), (*self.checkpoints,), header)


def find_positions(positions: Iterable[LogPosition], head: bytes) -> list[LogPosition]:
    """Returns the positions of logs that begin like this one, the one with the longest beginning first, and of several
    the one that was counted furthest."""
    found = [position for position in positions if position.begins(head)]
    return sorted(found, key=lambda position: (-position.head_bytes, -position.counted))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()
