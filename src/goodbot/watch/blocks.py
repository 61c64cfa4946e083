"""A piece of a log: some megabytes of whole lines."""

from dataclasses import dataclass
from typing import Final

BLOCK_BYTES: Final = 6 * 1024 * 1024
"""About how many bytes of a log are read and counted at once."""


@dataclass(frozen=True, slots=True)
class Block:
    """Whole lines of one log. Only the last line of a log may be without its newline."""

    data: bytes
    source: str
    """The log's name, for messages."""
    header: str | None = None
    """The last `#Fields:` line before this block (W3C logs)."""
