"""Compares `goodbot impact` with a count one by one, which parses, identifies and judges each line anew.

    make bench-impact DATA=folder

Both count what 20 changes of a robots.txt mean for the real log `DATA/logs/apache_combined_2015.log`: requests, opened
and closed requests and bytes by robot, and requests by path and deciding rule. All numbers must be equal. Then goodbot
counts one of the changes for a long log, made from the real one, and for one with a million addresses and paths.
"""

import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench_watch import DATA, LOG, measured
from goodbot.exclusion import Access
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.impact import Impact, RequestImpact, RuleChanges
from impact_one_by_one import Counts, Robot, count, requests_of
from impact_one_by_one import Path as ChangedPath
from settings import UsageError, save, start, whole
from watch_logs import make_log, read_lines

LINES = whole("LINES", 1_000_000, "lines of the long logs; 0: none", 0, 100_000_000)

_ALL = "User-agent: *\n"
_BASE = f"{_ALL}Disallow: /admin/\nDisallow: /blog/tags/\n"

CHANGES = {
    "a rule added": (_BASE, f"{_BASE}Disallow: /presentations/\n"),
    "a rule removed": (_BASE, f"{_ALL}Disallow: /admin/\n"),
    "everything closed": (_BASE, f"{_ALL}Disallow: /\n"),
    "everything opened": (f"{_ALL}Disallow: /\n", ""),
    "Allow within Disallow": (f"{_ALL}Disallow: /blog/\n", f"{_ALL}Disallow: /blog/\nAllow: /blog/geekery/\n"),
    "Allow removed": (f"{_ALL}Disallow: /blog/\nAllow: /blog/tags/\n", f"{_ALL}Disallow: /blog/\n"),
    "wildcard": (_BASE, f"{_BASE}Disallow: /*/geekery/\n"),
    "wildcard in the query": (_BASE, f"{_BASE}Disallow: /*?flav=\n"),
    "end": (_BASE, f"{_BASE}Disallow: /$\nDisallow: /favicon.ico$\n"),
    "wildcard and end": (_BASE, f"{_BASE}Disallow: /*.png$\nAllow: /images/*.png$\n"),
    "group for a robot": (_BASE, f"{_BASE}\nUser-agent: Googlebot\nDisallow: /\n"),
    "group that opens": (f"{_ALL}Disallow: /\n", f"{_ALL}Disallow: /\n\nUser-agent: bingbot\nDisallow:\n"),
    "empty group": (_BASE, f"{_BASE}\nUser-agent: YandexBot\n"),
    "Crawl-delay only": (_BASE, f"{_BASE}\nUser-agent: Baiduspider\nCrawl-delay: 10\n"),
    "two robots of one group": (_BASE, f"{_BASE}\nUser-agent: msnbot\nUser-agent: Slurp\nDisallow: /files/\n"),
    "group removed": (f"{_BASE}\nUser-agent: Exabot\nDisallow: /\n", _BASE),
    "only named robots": (f"{_ALL}Disallow: /\n", "User-agent: AhrefsBot\nUser-agent: MJ12bot\nDisallow: /\n"),
    "two groups for all": (_BASE, f"{_BASE}\nUser-agent: Sogou\nDisallow: /\n\n{_ALL}Disallow: /projects/\n"),
    "percent-encoded": (f"{_ALL}Disallow: /pro%6Aects/\n", f"{_ALL}Disallow: /blog/tags/jquery mobile\n"),
    "order of rules": (f"{_ALL}Disallow: /files\nAllow: /files\n", f"{_ALL}Allow: /files\nDisallow: /files\n"),
}


@dataclass(frozen=True)
class Compared:
    """One change: what both found, and the CPU seconds that they took."""

    change: str
    changed: int
    is_equal: bool
    goodbot_s: float
    one_by_one_s: float


def goodbot_counts(log: bytes, old: bytes, new: bytes) -> Impact:
    """Counts as the command does."""
    changes = RuleChanges(*(Access.from_response(200, (), body, time.time()) for body in (old, new)))
    judge = RequestImpact(changes, Identities(), CountingOptions())
    judge.count(Block(log, "log"))
    return judge.impact()


def same(impact: Impact, counts: Counts) -> bool:
    """Whether all numbers are equal, none of them left out."""
    robots = {Robot(*one.label): (one.requests, one.opened, one.closed, one.bytes) for one in impact.robots}
    expected = {
        robot: (requests, counts.opened[robot], counts.closed[robot], counts.bytes[robot])
        for robot, requests in counts.requests.items()
    }
    paths = {ChangedPath(one.path, one.closes, one.rule, one.line): one.requests for one in impact.paths}
    listed = dict(counts.paths) if not impact.paths_left_out else {path: counts.paths[path] for path in paths}
    return (
        robots == expected
        and paths == listed
        and len(paths) + impact.paths_left_out == len(counts.paths)
        and impact.requests == counts.requests.total()
        and impact.changed == counts.opened.total() + counts.closed.total()
        and impact.bytes == counts.bytes.total()
    )


def compare(log: bytes) -> list[Compared]:
    """Counts each change by both."""
    found = []
    for name, files in CHANGES.items():
        old, new = (text.encode() for text in files)
        began = time.process_time()
        impact = goodbot_counts(log, old, new)
        between = time.process_time()
        counts = count(requests_of(log), old, new)
        ended = time.process_time()
        times = round(between - began, 3), round(ended - between, 3)
        found.append(Compared(name, impact.changed, same(impact, counts), *times))
    return found


def show(compared: Sequence[Compared]) -> None:
    """Prints a table."""
    print(f"{'':<26}{'changed':>9}{'equal':>7}{'goodbot CPU s':>15}{'one by one':>12}{'ratio':>8}")
    for one in compared:
        ratio = one.one_by_one_s / max(one.goodbot_s, 0.001)
        is_equal = "yes" if one.is_equal else "NO"
        print(
            f"{one.change:<26}{one.changed:>9,}{is_equal:>7}{one.goodbot_s:>15.3f}{one.one_by_one_s:>12.3f}{ratio:>8.1f}"
        )
    ours, theirs = sum(one.goodbot_s for one in compared), sum(one.one_by_one_s for one in compared)
    differing = sum(not one.is_equal for one in compared)
    print(f"{len(compared)} changes: {differing} differ; {ours:.2f} and {theirs:.2f} CPU s, {theirs / ours:.1f} times")


def long_logs(log: Path, count_: int) -> list[dict[str, Any]]:
    """Runs the command on long logs."""
    lines, runs = read_lines(log), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in zip(("old.txt", "new.txt"), CHANGES["wildcard in the query"], strict=True):
            (folder / file).write_text(text)
        target, out = folder / "access.log", folder / "out.json"
        for kind, many in (("real", False), ("high-cardinality", True)):
            make_log(lines, count_, target, many=many)
            files = [str(folder / "old.txt"), str(folder / "new.txt")]
            command = [sys.executable, "-m", "goodbot", "impact", *files, "--log", str(target), "--json"]
            run = measured("goodbot impact", kind, count_, command, out)
            changed = json.loads(out.read_bytes())["changed"]
            print(f"{kind} log, {count_:,} lines: {run.cpu_s:.1f} CPU s, {run.memory_mb:.0f} MB, {changed:,} changed")
            runs.append({**asdict(run), "changed": changed})
    return runs


def main() -> int:
    """Compares the counts, prints them and writes them as JSON."""
    log = DATA.value() / LOG
    compared = compare(log.read_bytes())
    show(compared)
    runs = long_logs(log, LINES.value()) if LINES.value() else []
    save("impact", {"changes": [asdict(one) for one in compared], "runs": runs})
    if not all(one.is_equal for one in compared):
        raise UsageError("some numbers differ from the count one by one")
    return 0


if __name__ == "__main__":
    sys.exit(start(__file__, __doc__, [DATA, LINES], main))
