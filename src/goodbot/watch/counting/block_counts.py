"""What one block of a log holds: the result of a counter, which can be sent to another process."""

from dataclasses import dataclass, field
from typing import Final, Protocol

from goodbot.watch.blocks import Block
from goodbot.watch.counting.client_rows import ClientRows
from goodbot.watch.counting.client_table import ClientBlock
from goodbot.watch.counting.disallowed_addresses import AddressBlock
from goodbot.watch.counting.robot_totals import Durations, RequestCounts, RobotBlock, RobotKey
from goodbot.watch.counting.signature_judge import SignatureBlock
from goodbot.watch.log_entries import SkipReason

MOST_HOSTS: Final = 100
"""How many other hosts are counted exactly or nearly so."""

PATHS: Final = 2000
"""How many request lines are counted exactly or nearly so."""


@dataclass(slots=True)
class BlockCounts:
    """The counts of a block."""

    lines: int = 0
    skipped: dict[SkipReason, int] = field(default_factory=dict)
    outside: int = 0
    """Requests before `--since` or after `--until`."""
    formats: dict[str, int] = field(default_factory=dict)
    """Lines by the name of their format."""
    counts: RequestCounts = field(default_factory=RequestCounts)
    durations: Durations = field(default_factory=Durations)
    robots_txt: dict[int, int] = field(default_factory=dict)
    """Answers to requests for robots.txt, by status."""
    requested: dict[str, int] = field(default_factory=dict)
    """Request lines, at most `PATHS`, with their counts; each too low by `requested_error` at most."""
    requested_error: int = 0
    robots: dict[RobotKey, RobotBlock] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)
    """Requests that are not judged because they were for another host, by that host; at most `MOST_HOSTS`."""
    hosts: dict[str, int] = field(default_factory=dict)
    """Requests by their host, if it is not known which one the robots.txt is for; at most `MOST_HOSTS`."""
    disallowed: AddressBlock | None = None
    """Disallowed requests of other addresses; None without a robots.txt."""
    signatures: SignatureBlock = field(default_factory=SignatureBlock)
    clients: ClientBlock = field(default_factory=lambda: ClientRows({}, []))


class BlockCounter(Protocol):
    """Counts blocks. Two implementations give equal counts: `LineCounter` and `ColumnCounter`."""

    def count(self, block: Block) -> BlockCounts: ...
