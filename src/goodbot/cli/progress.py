"""How a crawl is watched: JSON lines, a live display in a terminal, or now and then a line."""

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from goodbot.cli.options import write_json
from goodbot.cli.text import human_bytes, human_duration
from goodbot.values import Outcome
from goodbot.wiring import Crawl

LINE_EVERY_S = 10.0


class Progress:
    """Counts outcomes. This one says nothing on its own."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._crawl: Crawl | None = None
        self._max_pages: int | None = None
        self.counts: Counter[str] = Counter()
        self.bytes = 0
        self.last = ""
        self.held = ""

    @property
    def seconds(self) -> float:
        """Since the crawl began."""
        return time.monotonic() - self._began

    def observe(self, outcome: Outcome) -> None:
        """Called by the crawl with each committed outcome."""
        self.counts[outcome.state] += 1
        self.bytes += outcome.size_bytes
        if outcome.state == "ready":
            self.held = f"{outcome.url.host_key}: {outcome.why}"
        else:
            self.last = outcome.url.text
            if self.held.startswith(outcome.url.host_key + ":"):
                self.held = ""

    def say(self, text: str) -> None:
        """A message beside the progress."""
        click.echo(text, err=True)

    @contextmanager
    def watching(self, crawl: Crawl, max_pages: int | None) -> Iterator[None]:
        """Shows how `crawl` goes until the block ends."""
        self._began = time.monotonic()
        self._crawl, self._max_pages = crawl, max_pages
        with self._shown():
            yield

    @contextmanager
    def _shown(self) -> Iterator[None]:
        yield

    def summary(self) -> str:
        """`120 pages, 24.1/s, 3.2 MB, 380 ready, 64 in flight, about 16 s for what is known`."""
        assert self._crawl is not None  # noqa: S101  (set by `watching`)
        rate = self.counts["visited"] / max(self.seconds, 0.001)
        ready = self._crawl.status().states["ready"]
        left = ready if self._max_pages is None else min(ready, self._max_pages - self.counts["visited"])
        parts = [f"{self.counts['visited']:,} pages", f"{rate:.1f}/s", human_bytes(self.bytes), f"{ready:,} ready"]
        parts += [f"{self.counts[state]:,} {state}" for state in ("disallowed", "gone", "failed") if self.counts[state]]
        parts.append(f"{self._crawl.crawler.in_flight} in flight")
        if rate > 0 and left:
            parts.append(f"about {human_duration(left / rate)} for what is known")
        return ", ".join(parts)


class JsonProgress(Progress):
    """One JSON line for each outcome, on standard output."""

    def __init__(self, event: Callable[[Outcome], dict[str, object]]) -> None:
        super().__init__()
        self._event = event

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        write_json(self._event(outcome))
        sys.stdout.flush()


class LineProgress(Progress):
    """A line on standard error every ten seconds: for logs and pipes."""

    @contextmanager
    def _shown(self) -> Iterator[None]:
        self._next = LINE_EVERY_S
        yield

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        if self.seconds >= self._next:
            self._next = self.seconds + LINE_EVERY_S
            self.say(self.summary())


class LiveProgress(Progress):
    """Rewrites a few lines of the terminal, four times a second."""

    def __init__(self) -> None:
        super().__init__()
        self._console = Console(stderr=True)
        self._drawn_at = 0.0

    def say(self, text: str) -> None:
        self._console.print(Text(text))

    @contextmanager
    def _shown(self) -> Iterator[None]:
        with Live(console=self._console, auto_refresh=False, transient=True) as live:
            self._live = live
            yield

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        if self.seconds - self._drawn_at >= 0.25:
            self._drawn_at = self.seconds
            self._live.update(self._table(), refresh=True)

    def _table(self) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_row(Text(self.summary(), style="bold"))
        table.add_row(Text(self.last, style="dim", overflow="ellipsis", no_wrap=True))
        if self.held:
            table.add_row(Text(f"waiting for {self.held}", style="yellow", overflow="ellipsis", no_wrap=True))
        return table


def progress_for(event: Callable[[Outcome], dict[str, object]] | None) -> Progress:
    """JSON lines if `event` is given; else by what standard error is."""
    if event is not None:
        return JsonProgress(event)
    return LiveProgress() if sys.stderr.isatty() else LineProgress()
