"""Follows access logs for the operator's page of `goodbot serve --watch`, in a thread of its own."""

import stat
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Final

from goodbot.cli.own_robots import load_registry
from goodbot.cli.watch_options import counter_factory, growing_counter, identities_of
from goodbot.cli.watch_rules import GrowingRules
from goodbot.errors import GoodbotError, InputError
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.pending_requests import settle_tally
from goodbot.watch.reader.following import LOOK_S, FollowedLogs
from goodbot.watch.reader.log_files import logs_of_folder
from goodbot.watch.reader.opening import STDIN
from goodbot.watch.report import JudgedBy, WatchReport, make_report
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogCounting, LogsRead, count_changed
from goodbot.web.operator.live_watch_page import WatchView

REPORT_S: Final = 5.0
"""Least time between two reports."""

REPORT_SHARE: Final = 0.1
"""The share of the time that making reports may take, since it delays the pages."""

AGAIN_S: Final = 60.0
"""After an error the logs are read again from their beginning, after this time."""


def check_watched(names: Sequence[str]) -> list[str]:
    """Returns what to say about logs that are missing so far. Raises InputError for what does not grow."""
    for name in names:
        path = Path(name)
        if name == STDIN:
            raise InputError("--watch needs files or folders; it cannot follow standard input")
        if path.exists() and not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"--watch needs files or folders, and {name} is neither")
    return missing_logs(names)


def missing_logs(names: Sequence[str]) -> list[str]:
    """Returns a sentence about each file that does not exist, and each folder that has no log."""
    return [sentence for name in names if (sentence := _missing(Path(name)))]


def _missing(path: Path) -> str:
    try:
        if not path.exists():
            return f"{path} does not exist yet; waiting for it"
        if path.is_dir() and not logs_of_folder(path).logs:
            return f"{path} has no access log yet (*access* or *.log, without error in the name); waiting for one"
    except OSError as error:
        return f"cannot look at {path}: {error.strerror or error}"
    return ""


class LogWatch:
    """Follows logs until `stop`, and makes reports. What goes wrong is part of the view, and is tried again."""

    def __init__(self, names: Sequence[str], robots: str | None = None) -> None:
        """`robots` is a robots.txt, or a folder of `goodbot remember`, which may grow. Raises InputError if it is
        neither."""
        self._names = names
        self._rules = GrowingRules(robots) if robots is not None else None
        self._registry = load_registry()
        self._identities = identities_of(self._registry, reverse_dns=False, nameserver=None)
        self._view = WatchView()
        self._stopped = Event()
        self._thread = Thread(target=self._run, name="watch")

    def start(self) -> None:
        """Begins to follow."""
        self._thread.start()

    def stop(self) -> None:
        """Ends following soon, without waiting for it."""
        self._stopped.set()

    def look(self) -> WatchView:
        """Returns what is known now."""
        if self._thread.ident is not None and not self._thread.is_alive() and not self._stopped.is_set():
            return replace(self._view, trouble="the thread that read them has ended; the log of the server says why")
        return replace(self._view, missing=tuple(missing_logs(self._names)))

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self._follow()
            except (GoodbotError, OSError) as error:
                self._view = replace(self._view, trouble=str(error))
                self._stopped.wait(AGAIN_S)

    def _follow(self) -> None:
        state, total, make_counter = WatchState(), LogsRead(), self._counter_maker()
        with closing(FollowedLogs(self._names)) as followed:
            counting = LogCounting(state, make_counter, complete_only=True, progress=self._note)
            total.add(counting.count(followed.look().logs))
            judged_by, due, is_new = self._judged_by(), 0.0, True
            while not self._stopped.wait(LOOK_S):
                is_new |= count_changed(followed.look(), state, make_counter, total)
                newest = self._judged_by()
                if (is_new or newest is not judged_by) and time.monotonic() >= due:
                    judged_by, is_new, began = newest, False, time.monotonic()
                    self._view = WatchView(self._report(state, total, judged_by), time.time())
                    ended = time.monotonic()
                    due = ended + max(REPORT_S, (ended - began) / REPORT_SHARE)

    def _note(self, done: int, size: int) -> None:
        if self._view.report is None:
            self._view = WatchView(done_bytes=done, size_bytes=size)

    def _counter_maker(self) -> Callable[[], BlockCounter]:
        if self._rules is None:
            return counter_factory("auto", self._identities, CountingOptions())
        options = CountingOptions(host=self._rules.current().host, is_counted_on=True)
        return growing_counter("auto", self._identities, options, self._rules)

    def _judged_by(self) -> JudgedBy | None:
        return self._rules.current().judged_by if self._rules else None

    def _report(self, state: WatchState, total: LogsRead, judged_by: JudgedBy | None) -> WatchReport:
        if judged_by is not None:
            settle_tally(state.tally, judged_by.rules, self._identities)
        return make_report(state.tally, self._identities, self._registry, total.read, total.damage, judged_by=judged_by)
