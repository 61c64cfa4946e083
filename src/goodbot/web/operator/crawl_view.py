"""Prepares the figures of a crawl for its page. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from goodbot.live import FetchError, LiveStatus
from goodbot.report_values import MachineState
from goodbot.robot.crawl.remote_control import CrawlView
from goodbot.values import State, Status
from goodbot.web.pages.translations import translatable

MEANINGS: Final[Mapping[State, str]] = {
    "ready": translatable("known, and waiting to be fetched"),
    "leased": translatable("being fetched now, or next on its host"),
    "visited": translatable("fetched"),
    "disallowed": translatable("not fetched, because robots.txt forbids it"),
    "out-of-scope": translatable("not fetched, because it is outside the scope, filters or limits of this crawl"),
    "failed": translatable("given up after errors"),
    "gone": translatable("the server reported that there is no such page"),
}
"""Explains each state of a URL to people who look at the crawl; translatable."""

MACHINE_STATES: Final[Mapping[MachineState, str]] = {
    "alive": translatable("alive"),
    "late": translatable("late"),
    "left": translatable("left"),
    "gone": translatable("taken over"),
}
"""Names the states of a machine for people who look at the crawl; translatable."""

_KINDS: Final = {
    "connect": translatable("connection failed"),
    "dns": translatable("host name not found"),
    "forgotten": translatable("forgotten host"),
    "private-address": translatable("private address"),
    "protocol": translatable("response is not HTTP"),
    "reset": translatable("connection reset"),
    "robots.txt": translatable("robots.txt unreachable"),
    "timeout": translatable("timeout"),
    "tls": translatable("TLS failed"),
    "too-many-redirects": translatable("too many redirects"),
    "wall": translatable("bot wall"),
}
"""Names the kinds of errors that need more words; translatable."""


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
    """The errors of one kind in a run: a name for people, their number, and the latest one if it is known.
    `has_words`: the name is translatable; else it is a status or a technical name."""

    name: str
    count: int
    latest: FetchError | None
    has_words: bool = False


def notice(done: str, view: CrawlView) -> str:
    """Says what the order in `done`, the parameter of the URL, is doing now; empty if the crawl has done it, or does
    something else meanwhile. Translatable."""
    live = view.live
    if done == "pause" and live and live.pace == "paused" and live.in_flight:
        return translatable("The crawl is pausing. Pages in flight finish first.")
    if done == "resume" and live and live.pace == "running":
        return translatable("The crawl is running again.")
    if done == "stop" and live and live.pace == "stopping":
        return translatable("The crawl is stopping. Pages in flight finish first.")
    if done == "not-running" and not view.running:
        return translatable("Nothing has changed, because the crawl is not running.")
    return ""


def progress(status: Status) -> Progress:
    """Counts URLs in scope. The total grows while the crawl finds new links."""
    total = sum(status.states[state] for state in MEANINGS if state != "out-of-scope")
    return Progress(total - status.states["ready"] - status.states["leased"], total)


def error_groups(live: LiveStatus) -> list[ErrorGroup]:
    """Groups the errors of a run by kind, the most frequent first."""
    latest = {error.kind: error for error in sorted(live.troubles, key=lambda error: error.at)}
    return [ErrorGroup(_name(kind), count, latest.get(kind), kind in _KINDS) for kind, count in live.errors]


def _name(kind: str) -> str:
    """Returns the name of a kind for people; a status gets its phrase: `404 Not Found`."""
    try:
        return f"{kind} {HTTPStatus(int(kind)).phrase}"
    except ValueError:
        return _KINDS.get(kind, kind)
