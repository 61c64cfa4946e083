"""Counts blocks in one process or in several; the counts are the same."""

import multiprocessing
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from goodbot.errors import RunError
from goodbot.watch.blocks import Block
from goodbot.watch.counting.block_counts import BlockCounter, BlockCounts

_counter: list[BlockCounter] = []
"""The counter of a worker process."""


def count_blocks(
    blocks: Iterable[Block], make_counter: Callable[[], BlockCounter], processes: int = 1
) -> Iterator[BlockCounts]:
    """Yields the counts of each block, in order. With several processes, at most two blocks for each are in memory.

    `make_counter` is called in each process. Raises RunError if a process ends before its work is done.
    """
    if processes == 1:
        yield from map(make_counter().count, blocks)
        return
    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(processes, context, initializer=_start, initargs=(make_counter,))
    waiting: deque[Future[BlockCounts]] = deque()
    try:
        for block in blocks:
            waiting.append(pool.submit(_count, block))
            if len(waiting) > 2 * processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise RunError("a counting process was killed; fewer --processes need less memory") from error
    finally:
        pool.shutdown(cancel_futures=True)


def _start(make_counter: Callable[[], BlockCounter]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process stops the others
    _counter.append(make_counter())


def _count(block: Block) -> BlockCounts:
    return _counter[0].count(block)
