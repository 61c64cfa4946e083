"""Shows the progress of a crawl: as JSON lines, as a line every ten seconds, or in `crawl_display`."""

import sys
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Literal

from goodbot.cli.command_class import logs_to_terminal
from goodbot.cli.printing import can_rewrite, is_quiet, say, write_json
from goodbot.human import counted, human_bytes, human_duration
from goodbot.live import LiveStatus
from goodbot.robot.processes.worker_deaths import KILLS_THE_READER
from goodbot.url import Url
from goodbot.values import Outcome

Form = Literal["text", "json", "none"]
"""What a crawl prints: progress and a summary, JSON lines, or nothing."""

LINE_EVERY_S = 10.0
KINDS_SHOWN = 5
"""How many kinds of error one line shows."""


class Progress:
    """Counts bytes and prints only messages. `seeds` are those of the command line."""

    def __init__(self, seeds: Collection[Url] = ()) -> None:
        self._began = time.monotonic()
        self._seeds = frozenset(seeds)
        self._waited_for: set[str] = set()
        self.bytes = 0
        self.last = ""
        self.held = ""
        self.stopping = False

    @property
    def seconds(self) -> float:
        """Seconds since the crawl began."""
        return time.monotonic() - self._began

    def observe(self, outcome: Outcome) -> None:
        """Called by the crawl with each committed outcome."""
        self.bytes += outcome.size_bytes
        if outcome.state == "ready":
            self.held = f"{outcome.url.host_key}: {outcome.why}"
        else:
            self.last = outcome.url.text
            if self.held.startswith(outcome.url.host_key + ":"):
                self.held = ""

    def warn(self, outcome: Outcome) -> None:
        """Prints a line for each page that killed robot processes, for each seed that fails if there are other seeds,
        and once per host for a seed that has to wait."""
        host = outcome.url.host_key
        if outcome.why.startswith(KILLS_THE_READER):
            self.say(f"{outcome.url}: {outcome.why}")
        elif outcome.url not in self._seeds:
            return
        elif outcome.state == "failed" and len(self._seeds) > 1:
            self.say(f"{outcome.url} failed: {outcome.why}")
        elif outcome.state == "ready" and host not in self._waited_for:
            self._waited_for.add(host)
            self.say(f"waiting for {host}: {outcome.why}")

    def tick(self, live: LiveStatus) -> None:
        """Called by the crawl twice a second."""

    def say(self, text: str) -> None:
        """Prints a message beside the progress."""
        say(text, err=True)

    def stop(self) -> None:
        """Takes note of the first Ctrl-C, and says what happens now."""
        self.stopping = True
        self.say("stopping: the pages in flight finish first (Ctrl-C again stops at once)")

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Shows the progress of the crawl until the block ends."""
        self._began = time.monotonic()
        with self._shown():
            yield

    @contextmanager
    def _shown(self) -> Iterator[None]:
        yield


class JsonProgress(Progress):
    """Prints one JSON line for each outcome on standard output."""

    def __init__(self, event: Callable[[Outcome], dict[str, object]]) -> None:
        super().__init__()
        self._event = event

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        write_json(self._event(outcome))
        sys.stdout.flush()


class LineProgress(Progress):
    """Prints a line on standard error every ten seconds: for logs and pipes."""

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        self.warn(outcome)

    @contextmanager
    def _shown(self) -> Iterator[None]:
        self._next = LINE_EVERY_S
        yield

    def tick(self, live: LiveStatus) -> None:
        if self.seconds >= self._next:
            self._next = self.seconds + LINE_EVERY_S
            waiting = f"waiting for {self.held}" if self.held else ""
            self.say("; ".join(filter(None, (summary(live), error_line(live), waiting, away_line(live)))))


def summary(live: LiveStatus) -> str:
    """`120 pages, 24.1/s now, 22.0/s on average, 3.2 MB, 12 hosts, 380 to fetch, 64 in flight, about 16 s left`."""
    parts = [counted(live.pages, "page"), f"{live.rate:.1f}/s now", f"{live.mean_rate:.1f}/s on average"]
    parts += [human_bytes(live.bytes), counted(live.hosts, "host"), f"{live.to_fetch:,} to fetch"]
    parts.append(f"{live.in_flight} in flight")
    if live.next_at is not None:
        until = human_duration(max(live.next_at - live.at, 0.0))
        parts.append(f"{counted(live.waiting, 'page')} to be re-crawled, the next in {until}")
    if live.pace != "running":
        parts.insert(0, live.pace)
    elif live.left_s:
        parts.append(f"about {human_duration(live.left_s)} left")
    return ", ".join(parts)


def away_line(live: LiveStatus) -> str:
    """`waiting: the database server does not answer (…), for 12 s`; empty if it answers."""
    return f"waiting: {live.store_away}" if live.store_away else ""


def error_line(live: LiveStatus) -> str:
    """`errors: 12 × 404, 3 × timeout`; empty if there were none."""
    shown = [f"{count:,} × {kind}" for kind, count in live.errors[:KINDS_SHOWN]]
    more = sum(count for _, count in live.errors[KINDS_SHOWN:])
    return f"errors: {', '.join([*shown, f'{more:,} others'] if more else shown)}" if shown else ""


def progress_for(form: Form, event: Callable[[Outcome], dict[str, object]], seeds: Collection[Url] = ()) -> Progress:
    """Returns JSON lines of `event` for "json"; nothing for "none" or with `--quiet`; else a display in a terminal, or
    lines where standard error is something else or log messages go there. `seeds`: those of the command line."""
    if form == "json":
        return JsonProgress(event)
    if form == "none" or is_quiet():
        return Progress(seeds)
    if logs_to_terminal() or not can_rewrite():
        return LineProgress(seeds)
    from goodbot.cli.crawl_display import LiveProgress  # noqa: PLC0415  (`rich` takes 26 ms and 2 MB)

    return LiveProgress(seeds)
