"""Shows the progress of a crawl in a few lines of a terminal."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from rich.live import Live as Display
from rich.table import Table

from goodbot.cli.crawl_progress import Progress, away_line, error_line, summary
from goodbot.cli.rich_tables import cell, console
from goodbot.live import LiveStatus
from goodbot.url import Url
from goodbot.values import Outcome


class LiveProgress(Progress):
    """Rewrites a few lines of the terminal, twice a second."""

    def __init__(self, seeds: Collection[Url] = ()) -> None:
        super().__init__(seeds)
        self._console = console(err=True)

    def observe(self, outcome: Outcome) -> None:
        super().observe(outcome)
        self.warn(outcome)

    def say(self, text: str) -> None:
        self._console.print(cell(text))

    @contextmanager
    def _shown(self) -> Iterator[None]:
        with Display(console=self._console, auto_refresh=False, transient=True) as display:
            self._display = display
            yield

    def tick(self, live: LiveStatus) -> None:
        self._display.update(self._table(live), refresh=True)

    def _table(self, live: LiveStatus) -> Table:
        table = Table.grid(padding=(0, 1))
        table.add_row(cell(summary(live), "bold"))
        table.add_row(cell(self.last, "dim", cut=True))
        if errors := error_line(live):
            table.add_row(cell(errors, "yellow", cut=True))
        if self.held:
            table.add_row(cell(f"waiting for {self.held}", "yellow", cut=True))
        if away := away_line(live):
            table.add_row(cell(away, "yellow"))
        return table
