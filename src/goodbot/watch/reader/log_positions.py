"""How far each log was counted, so that no line is counted twice (`--state FILE`).

A log is known by the beginning of its content, decompressed: not by its name, which rotation changes.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

HEAD_BYTES: Final = 4096
"""Bytes by which a log is known; a shorter one is known by all it has."""


@dataclass(frozen=True, slots=True)
class LogPosition:
    """How far a log was counted."""

    name: str
    """The name that it had last."""
    head_bytes: int
    head_digest: str
    counted: int
    """Bytes, decompressed."""
    header: str | None = None
    """The last `#Fields:` line before that place."""

    def is_of(self, head: bytes) -> bool:
        """Whether a log begins like this one; `head` has its first `HEAD_BYTES` bytes."""
        return 0 < self.head_bytes <= len(head) and _digest(head[: self.head_bytes]) == self.head_digest


def position_of(name: str, head: bytes, counted: int, header: str | None) -> LogPosition:
    """Returns the position of a log that begins with `head` and was counted up to a byte."""
    known = head[: min(HEAD_BYTES, counted)]
    return LogPosition(name, len(known), _digest(known), counted, header)


def find_position(positions: Iterable[LogPosition], head: bytes) -> LogPosition | None:
    """Finds the position of a log; of several, the one with the longest beginning."""
    found = [position for position in positions if position.is_of(head)]
    return max(found, key=lambda position: (position.head_bytes, position.counted), default=None)


def _digest(head: bytes) -> str:
    return hashlib.blake2b(head, digest_size=16).hexdigest()
