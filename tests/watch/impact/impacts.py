"""Runs the counting of `goodbot impact`, and brings it into the form of the count one by one."""

from goodbot.exclusion import Access
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.impact import Impact, RequestImpact, RuleChanges
from impact_one_by_one import Counts, Path, Robot

TIME = "15/Sep/2026:10:00:00 +0000"


def changes(old: bytes, new: bytes) -> RuleChanges:
    """Returns the change from one file to another."""
    return RuleChanges(*(Access.from_response(200, (), body, 0.0) for body in (old, new)))


def impact_of(log: bytes, old: bytes, new: bytes, options: CountingOptions | None = None, blocks: int = 1) -> Impact:
    """Returns what changes for a log, which is cut into so many blocks."""
    judge = RequestImpact(changes(old, new), Identities(), options or CountingOptions())
    lines = log.splitlines(keepends=True)
    size = -(-len(lines) // blocks) or 1
    for start in range(0, len(lines), size):
        judge.count(Block(b"".join(lines[start : start + size]), "log"))
    return judge.impact()


def as_counts(impact: Impact) -> Counts:
    """Returns its numbers. Robots without requests have none."""
    counts = Counts()
    for one in impact.robots:
        robot = Robot(*one.label)
        counts.requests[robot] = one.requests
        for mine, value in ((counts.opened, one.opened), (counts.closed, one.closed), (counts.bytes, one.bytes or 0)):
            if value or (mine is counts.bytes and one.changed):
                mine[robot] = value
    for path in impact.paths:
        counts.paths[Path(path.path, path.closes, path.rule, path.line)] = path.requests
    return counts


def line(target: str, agent: str = "-", address: str = "192.0.2.1", size: int = 100, method: str = "GET") -> str:
    """Returns a line of a log in the combined format."""
    return f'{address} - - [{TIME}] "{method} {target} HTTP/1.1" 200 {size} "-" "{agent}"\n'
