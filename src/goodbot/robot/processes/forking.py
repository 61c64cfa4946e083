"""Forks the workers of a crawl from the process that has imported everything, so that they share its memory and start
at once.

They are forked before the crawl opens its files and sockets and starts threads, and wait until the coordinator needs
them. A worker that replaces a dead one is started as a program, since by then the coordinator has threads and open
files. Outside Linux all workers are started as programs. Figures are in docs/decisions/0037.
"""

import asyncio
import gc
import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from socket import recv_fds, send_fds, socket, socketpair
from typing import NamedTuple, NoReturn

from goodbot.interrupts import ignore_for_good, kept_from_children
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.spawning import Process, Start, start_process
from goodbot.robot.processes.worker import run_worker
from goodbot.url import public_suffixes

_STANDARD_ERROR = 2


class _Waiting(NamedTuple):
    """A forked worker that waits for its descriptors, and the socket that takes them to it."""

    pid: int
    channel: socket

    def end(self) -> None:
        """Makes the process exit, and waits for that."""
        self.channel.close()
        os.waitpid(self.pid, 0)


@contextmanager
def forked_workers(count: int) -> Iterator[Start]:
    """Forks `count` workers, if this process can do so safely. Yields a function that starts a worker: one of these, or
    a program when none is left. The forked workers that were not started exit at the end of the block."""
    waiting = deque(_fork(count) if _can_fork() else ())

    async def start(connection: socket, mark: PageMark) -> Process:
        while waiting:
            worker = waiting.popleft()
            try:
                send_fds(worker.channel, [b"."], [connection.fileno(), mark.descriptor])
            except OSError:  # it was killed while it waited
                worker.end()
                continue
            worker.channel.close()
            return ForkedProcess(worker.pid)
        return await start_process(connection, mark)

    try:
        yield start
    finally:
        for worker in waiting:
            worker.end()


def _can_fork() -> bool:
    """Whether this process has only one thread (a lock that another thread holds at a fork is never released in the
    child), and the system reports the ends of processes through descriptors."""
    if sys.platform != "linux":
        return False
    try:
        os.close(os.pidfd_open(os.getpid()))
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:  # a kernel before 5.3, or no /proc
        return False


def _fork(count: int) -> Iterator[_Waiting]:
    """Forks workers. Objects that exist now are excluded from garbage collection: in a worker it would write to each
    object, and so make the worker's own copy of the memory page that holds it."""
    public_suffixes()  # so that the workers share it
    gc.freeze()
    for _ in range(count):
        ours, theirs = socketpair()
        with theirs, kept_from_children():
            try:
                pid = os.fork()
            except OSError:  # the system allows no more processes; `start_process` reports it if that lasts
                ours.close()
                return
            if not pid:
                _live(theirs)
        yield _Waiting(pid, ours)


def _live(channel: socket) -> NoReturn:
    """Runs a forked worker, then exits: it must not return to the code of its parent."""
    status = 1
    try:
        ignore_for_good()
        _let_go_of_all_but(channel.fileno())
        _, descriptors, _, _ = recv_fds(channel, 1, 2)
        channel.close()
        if descriptors:  # none: the crawl has ended
            run_worker(*descriptors)
        status = 0
    except BaseException:  # noqa: BLE001  (as at the end of a program)
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _let_go_of_all_but(kept: int) -> None:
    """Replaces all descriptors but `kept` and standard error by `/dev/null`. Copies of the parent's objects may
    close them later, so their numbers must not be reused."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in {0, 1, *map(int, os.listdir("/proc/self/fd"))} - {_STANDARD_ERROR, kept, nothing}:
        try:
            os.dup2(nothing, descriptor, inheritable=False)
        except OSError:  # above the limit for open files, so its number is not used again
            os.close(descriptor)


class ForkedProcess:
    """Implements `Process` for a child of this process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[int] = self._loop.create_future()
        self._descriptor = os.pidfd_open(pid)
        self._loop.add_reader(self._descriptor, self._reap)

    def _reap(self) -> None:
        self._loop.remove_reader(self._descriptor)
        os.close(self._descriptor)
        self.returncode = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        self._ended.set_result(self.returncode)

    async def wait(self) -> int:
        """Returns the exit status when the process has ended."""
        return await asyncio.shield(self._ended)

    def kill(self) -> None:
        """Kills the process if it still runs."""
        if self.returncode is None:
            os.kill(self.pid, signal.SIGKILL)
