"""Prepares the figures of a crawl for its page. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from goodbot.live import FetchError, LiveStatus
from goodbot.robot.crawl.remote_control import CrawlView
from goodbot.values import State, Status

MEANINGS: Final[Mapping[State, str]] = {
    "ready": "known, and waiting to be fetched",
    "leased": "being fetched now, or next on its host",
    "visited": "fetched",
    "disallowed": "not fetched, because robots.txt forbids it",
    "out-of-scope": "not fetched, because it is outside the scope, filters or limits of this crawl",
    "failed": "given up after errors",
    "gone": "the server reported that there is no such page",
}
"""Explains each state of a URL to people who look at the crawl."""


_KINDS: Final = {
    "connect": "connection failed",
    "dns": "host name not found",
    "forgotten": "forgotten host",
    "private-address": "private address",
    "protocol": "response is not HTTP",
    "reset": "connection reset",
    "robots.txt": "robots.txt unreachable",
    "tls": "TLS failed",
    "too-many-redirects": "too many redirects",
    "wall": "bot wall",
}
"""Names the kinds of errors that need more words."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts the URLs in scope, and those of them that need no further request."""

    done: int
    total: int

    @property
    def percent(self) -> int:
        """The percentage that is done, rounded down, so that 100 means all."""
        return 100 * self.done // self.total if self.total else 0


@dataclass(frozen=True, slots=True)
class ErrorGroup:
    """The errors of one kind in a run: a name for people, their number, and the latest one if it is known."""

    name: str
    count: int
    latest: FetchError | None


def notice(done: str, view: CrawlView) -> str:
    """Says what the order in `done`, the parameter of the URL, is doing now; empty if the crawl has done it, or does
    something else meanwhile."""
    live = view.live
    if done == "pause" and live and live.pace == "paused" and live.in_flight:
        return "The crawl is pausing. Pages in flight finish first."
    if done == "resume" and live and live.pace == "running":
        return "The crawl is running again."
    if done == "stop" and live and live.pace == "stopping":
        return "The crawl is stopping. Pages in flight finish first."
    if done == "not-running" and not view.running:
        return "Nothing has changed, because the crawl is not running."
    return ""


def progress(status: Status) -> Progress:
    """Counts URLs in scope. The total grows while the crawl finds new links."""
    total = sum(status.states[state] for state in MEANINGS if state != "out-of-scope")
    return Progress(total - status.states["ready"] - status.states["leased"], total)


def error_groups(live: LiveStatus) -> list[ErrorGroup]:
    """Groups the errors of a run by kind, the most frequent first."""
    latest = {error.kind: error for error in sorted(live.troubles, key=lambda error: error.at)}
    return [ErrorGroup(_name(kind), count, latest.get(kind)) for kind, count in live.errors]


def _name(kind: str) -> str:
    """Returns the name of a kind for people; a status gets its phrase: `404 Not Found`."""
    try:
        return f"{kind} {HTTPStatus(int(kind)).phrase}"
    except ValueError:
        return _KINDS.get(kind, kind)
