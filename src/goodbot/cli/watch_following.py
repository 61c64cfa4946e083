"""`goodbot watch --follow`: counts on as logs grow, and refreshes the report."""

import stat
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from goodbot.cli.printing import flush, say_folded
from goodbot.cli.progress_line import ProgressLine
from goodbot.errors import InputError
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.reader.following import LOOK_S, FollowedLogs
from goodbot.watch.reader.log_files import find_logs
from goodbot.watch.reader.opening import STDIN
from goodbot.watch.watch_state import WatchState
from goodbot.watch.watching import LogCounting, LogsRead, count_changed


def follow_logs(
    names: Sequence[str],
    make_counter: Callable[[], BlockCounter],
    every_s: float,
    show: Callable[[Tally, LogsRead], None],
    *,
    processes: int = 1,
) -> None:
    """Counts what the logs have, then what is new, and shows the counts: at first when all is read, then after
    `every_s` seconds if there is something new. Ends with Ctrl-C.

    How far each log was counted is remembered in memory as `--state` does in a file. Raises InputError for what does
    not grow, RunError if reading fails.
    """
    _check(names)
    state, total = WatchState(), LogsRead()
    with closing(FollowedLogs(names)) as followed:
        with ProgressLine() as progress:
            counting = LogCounting(
                state, make_counter, processes=processes, complete_only=True, progress=progress.report
            )
            total.add(counting.count(followed.look().logs))
        due, is_new = 0.0, True
        while True:
            if is_new and time.monotonic() >= due:
                show(state.tally, total)
                flush()
                due, is_new = time.monotonic() + every_s, False
            time.sleep(LOOK_S)
            is_new |= count_changed(followed.look(), state, make_counter, total)


def _check(names: Sequence[str]) -> None:
    for name in names:
        if name == STDIN:
            raise InputError("--follow needs files or folders; it cannot follow standard input")
        path = Path(name)
        if not path.exists():
            say_folded(f"goodbot: {name} does not exist yet; waiting for it", err=True)
        elif path.is_dir():
            if not find_logs([name], may_be_none=True).logs:
                say_folded(f"goodbot: no access log in {name} yet; waiting for one", err=True)
        elif not stat.S_ISREG(path.stat().st_mode):
            raise InputError(f"--follow needs files or folders, and {name} is neither; pipe it into goodbot watch -")
