"""Counts what the change of a robots.txt means for a log, one line at a time: nothing is cached, nothing is shared.

It is the slow and simple count with which the numbers of `goodbot impact` are compared.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from goodbot.exclusion import RobotsTxt, Verdict, product_token
from goodbot.registry import KnownRobot, find
from goodbot.watch.counting.identities import Identities

PATH_CHARS = 500
"""Characters of a path in the report of goodbot."""

LINE = re.compile(
    r'(\S+) \S+ \S+ \[([^\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}) (\d+|-) "(?:[^"\\]|\\.)*" "((?:[^"\\]|\\.)*)(?:"|$)'
)


class Robot(NamedTuple):
    """A robot and its tier; None for all that are not known."""

    name: str
    tier: str | None


class Path(NamedTuple):
    """A path whose verdict changes, and the rule that decides."""

    path: str
    closes: bool
    rule: str | None
    line: int | None


@dataclass
class Counts:
    """The numbers to compare."""

    requests: Counter[Robot] = field(default_factory=Counter)
    opened: Counter[Robot] = field(default_factory=Counter)
    closed: Counter[Robot] = field(default_factory=Counter)
    bytes: Counter[Robot] = field(default_factory=Counter)
    paths: Counter[Path] = field(default_factory=Counter)


class Request(NamedTuple):
    """A request of the log."""

    address: str
    at: int
    target: str
    size: int
    agent: str


def requests_of(log: bytes) -> Iterator[Request]:
    """Yields the requests of a log in the combined format whose target is a URL of the site."""
    for line in log.decode("latin-1").split("\n"):
        found = LINE.match(line)
        if found is None:
            continue
        address, time, request, _, size, agent = found.groups()
        words = request.split(" ")
        target = " ".join(words[1:-1] if words[-1].startswith("HTTP/") else words[1:])
        if target.startswith("/") or re.match("https?://", target, re.IGNORECASE):
            at = int(datetime.strptime(time, "%d/%b/%Y:%H:%M:%S %z").timestamp())
            target = re.sub(r"\\x([0-9a-fA-F]{2})", r"%\1", target)
            target = re.sub(r"[^\x00-\x7f]", lambda byte: f"%{ord(byte[0]):02X}", target)
            yield Request(address, at, target, 0 if size == "-" else int(size), "" if agent == "-" else agent)


def count(requests: Iterable[Request], old: bytes, new: bytes) -> Counts:
    """Judges each request by both files."""
    counts, identities = Counts(), Identities()
    files = [{dialect: RobotsTxt.parse(body, dialect) for dialect in ("rfc9309", "google")} for body in (old, new)]
    for request in requests:
        known = find(request.agent.encode("latin-1").decode("utf-8", "replace")) if request.agent else None
        robot = Robot("others", None)
        if known is not None:
            robot = Robot(known.name, identities.identity_of(known, request.address, request.at).tier)
        before, after = (_verdict(file, known, request) for file in files)
        counts.requests[robot] += 1
        path = re.sub(r"(?i)^https?://[^/?#]*", "", request.target).split("#")[0].split("?")[0] or "/"
        if before.allowed == after.allowed or path == "/robots.txt":
            continue
        (counts.opened if after.allowed else counts.closed)[robot] += 1
        counts.bytes[robot] += request.size
        path = path if len(path) <= PATH_CHARS else f"{path[:PATH_CHARS]}…"
        decided = before if after.allowed else after
        counts.paths[Path(path, not after.allowed, decided.rule, decided.line)] += 1
    return counts


def _verdict(file: dict[str, RobotsTxt], known: KnownRobot | None, request: Request) -> Verdict:
    if known is None:
        return file["rfc9309"].verdict(request.target, request.agent)
    rules = file["google" if known.operator == "Google" else "rfc9309"]
    named = {product_token(agent).lower() for group in rules.groups for agent in group.agents}
    names = [known.token or known.name, *known.aliases]
    used = next((name for name in names if product_token(name).lower() in named), None)
    if used is None and known.obeys == "named":
        return RobotsTxt.parse(b"").verdict(request.target, names[0])
    return rules.verdict(request.target, used or names[0])
