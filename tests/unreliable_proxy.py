"""A TCP proxy on loopback whose connections break, or go silent, when a test says so."""

import socket
import threading
from contextlib import suppress
from types import TracebackType


class UnreliableProxy:
    """Passes bytes between its own port and another one.

    `cut_after`: the next time these bytes are sent to the server, they still reach it, but every connection breaks
    before the answer. `silent`: nothing passes, and no connection is closed, like a cable that is unplugged.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut_after: bytes | None = None
        self.cuts = 0
        self._passes = threading.Event()
        self._passes.set()
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def silent(self) -> bool:
        return not self._passes.is_set()

    @silent.setter
    def silent(self, on: bool) -> None:
        (self._passes.clear if on else self._passes.set)()

    def cut(self) -> None:
        """Breaks every connection."""
        self.cuts += 1
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def __enter__(self) -> "UnreliableProxy":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._passes.set()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                ours, _ = self._listener.accept()
                theirs = socket.create_connection(("127.0.0.1", self._target_port))
            except OSError:
                return
            self._sockets += (ours, theirs)
            for source, target, to_server in ((ours, theirs, True), (theirs, ours, False)):
                threading.Thread(target=self._pass_on, args=(source, target, to_server), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, to_server: bool) -> None:
        with suppress(OSError), source, target:
            while data := source.recv(65536):
                self._passes.wait()
                mark = self.cut_after if to_server else None
                if mark is not None and mark in data:
                    self.cut_after = None
                    target.sendall(data)
                    target.shutdown(socket.SHUT_WR)  # the server carries out what it has received
                    while target.recv(65536):
                        pass
                    self.cut()
                    return
                target.sendall(data)
