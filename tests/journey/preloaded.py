"""A process that has loaded goodbot and forks for each command: loading takes longer than most commands run.

    python preloaded.py DESCRIPTOR

Commands come through the socket DESCRIPTOR: the length of a JSON object in four bytes, with four descriptors (standard
input, output and error, and one for the report), then the object (`Command`). The report has two lines: the process id,
and at the end the exit status, negative if a signal ended it. When the socket ends, this process ends.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import sys
import threading
from importlib import import_module
from pkgutil import walk_packages
from typing import TypedDict

_FOR_OTHERS = ("goodbot.__main__", "goodbot.integrations.", "goodbot.exam.pytest_fixture")
"""No command loads these."""


class Command(TypedDict):
    """What `goodbot` is to be started with; `group`: in a process group of its own."""

    arguments: list[str]
    folder: str
    environment: dict[str, str]
    group: bool


def load() -> None:
    import goodbot

    for module in walk_packages(goodbot.__path__, "goodbot."):
        if not module.name.startswith(_FOR_OTHERS):
            import_module(module.name)
    goodbot.url.public_suffixes()  # what is loaded at first use takes as long as a small crawl
    goodbot.registry.find("some robot")
    gc.freeze()  # what is loaded is not walked, and so not copied, in each command


class Server:
    """Forks for each command that comes by `channel`, and reports its end."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._news, self._wake = socket.socketpair()
        self._wake.setblocking(False)
        self._reports: dict[int, int] = {}

    def serve(self) -> Command | None:
        """Returns in the process of each command, and here when the channel has ended (None)."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._wake.fileno())
        while True:
            ready, _, _ = select.select([self._channel, self._news], [], [])
            if self._news in ready:
                self._news.recv(4096)
                self._reap()
            if self._channel in ready:
                head, descriptors, _, _ = socket.recv_fds(self._channel, 4, 4)
                if not head:
                    self._news.close()
                    self._wake.close()
                    return None
                if command := self._started(int.from_bytes(head, "big"), descriptors):
                    return command

    def _started(self, length: int, descriptors: list[int]) -> Command | None:
        """The command, in its own process; None here."""
        command: Command = json.loads(self._channel.recv(length, socket.MSG_WAITALL))
        if pid := os.fork():
            *streams, report = descriptors
            self._reports[pid] = report
            os.write(report, b"%d\n" % pid)
            for stream in streams:
                os.close(stream)
            return None
        self._become(command, descriptors)
        return command

    def _become(self, command: Command, descriptors: list[int]) -> None:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for stream, descriptor in enumerate(descriptors[:3]):
            os.dup2(descriptor, stream)
        for descriptor in (*descriptors, *self._reports.values()):
            os.close(descriptor)
        for end in (self._channel, self._news, self._wake):
            end.close()
        sys.stdin, sys.stdout = os.fdopen(0, closefd=False), os.fdopen(1, "w", closefd=False)
        sys.stderr = os.fdopen(2, "w", 1, errors="backslashreplace", closefd=False)
        os.chdir(command["folder"])
        os.environ.clear()
        os.environ.update(command["environment"])
        if command["group"]:
            os.setsid()

    def _reap(self) -> None:
        while self._reports:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            report = self._reports.pop(pid)
            try:
                os.write(report, b"%d\n" % os.waitstatus_to_exitcode(status))
            except BrokenPipeError:
                pass  # the test that started it has ended
            os.close(report)


def run(command: Command) -> None:
    """Runs it and ends as Python does, but does not take apart what was loaded: that would copy its memory first."""
    sys.argv[1:] = command["arguments"]
    sys.path[0] = command["folder"]
    try:
        runpy.run_module("goodbot", run_name="__main__", alter_sys=True)
    except SystemExit as end:
        if not isinstance(end.code, int):
            raise
        status = end.code
        end.__traceback__ = None
    else:
        status = 0
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    gc.collect()  # what was left open complains now
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    load()
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        command = Server(channel).serve()
    if command:
        run(command)
