"""`goodbot watch --follow`: counts on as logs grow, and refreshes the report."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing

from goodbot.cli.printing import flush
from goodbot.errors import InputError
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.reader.following import LogFollower, follow
from goodbot.watch.reader.opening import STDIN, open_log


def follow_logs(
    sources: Sequence[str],
    make_counter: Callable[[], BlockCounter],
    every_s: float,
    show: Callable[[Tally], None],
) -> int:
    """Counts what the logs have, then what is appended, and shows the counts: at first when all is read, then after
    `every_s` seconds if there is something new. Ends with Ctrl-C.

    Raises InputError for standard input and compressed logs, which nobody appends to.
    """
    _check(sources)
    tally, counter = Tally(), make_counter()
    with ExitStack() as stack:
        followers = [stack.enter_context(closing(LogFollower(source))) for source in sources]
        for _ in _counted(follow(followers, time.sleep, lambda: False), counter, tally, every_s):
            show(tally)
            flush()
    return 0


def _counted(blocks: Iterator[Block | None], counter: BlockCounter, tally: Tally, every_s: float) -> Iterator[None]:
    """Counts blocks, and yields whenever the counts are to be shown."""
    due, is_new = 0.0, True
    for block in blocks:
        if block is not None:
            tally.add(counter.count(block))
            is_new = True
        elif is_new and time.monotonic() >= due:
            yield
            due, is_new = time.monotonic() + every_s, False


def _check(sources: Sequence[str]) -> None:
    for source in sources:
        if source == STDIN:
            raise InputError("--follow needs the name of a log; standard input ends by itself")
        try:
            stream = open_log(source)
        except InputError:
            continue  # it may come later
        with closing(stream):
            if stream.is_compressed:
                raise InputError(f"{source} is compressed, so nothing is appended to it; leave it out with --follow")
