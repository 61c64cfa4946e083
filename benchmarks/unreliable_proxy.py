"""A TCP proxy on loopback whose connections break, or go silent, when a test or a benchmark says so."""

import socket
import threading
from contextlib import suppress
from types import TracebackType


class UnreliableProxy:
    """Passes bytes between its own port and another one.

    `cut_after`: the next time these bytes are sent to the server, they still reach it, but the connection breaks before
    the answer; `cuts` counts that. `silent`: nothing passes, and no connection is closed, like a cable that is
    unplugged.
    """

    def __init__(self, target_port: int) -> None:
        self._target_port = target_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut_after: bytes | None = None
        self.cuts = 0
        self._passes = threading.Event()
        self._passes.set()
        self._connections: list[_Connection] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def silent(self) -> bool:
        return not self._passes.is_set()

    @silent.setter
    def silent(self, on: bool) -> None:
        (self._passes.clear if on else self._passes.set)()

    def cut(self) -> None:
        """Breaks every connection."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()

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
            connection = _Connection(ours, theirs)
            self._connections.append(connection)
            for pass_on in (self._requests, self._answers):
                threading.Thread(target=pass_on, args=(connection,), daemon=True).start()

    def _requests(self, connection: "_Connection") -> None:
        with suppress(OSError):
            while data := connection.ours.recv(65536):
                self._passes.wait()
                if self.cut_after is not None and self.cut_after in data:
                    connection.drops_answers, self.cut_after, self.cuts = True, None, self.cuts + 1
                    connection.theirs.sendall(data)
                    connection.theirs.shutdown(socket.SHUT_WR)  # the server does what it was told, then hangs up
                    return
                connection.theirs.sendall(data)
        connection.close()

    def _answers(self, connection: "_Connection") -> None:
        with suppress(OSError):
            while data := connection.theirs.recv(65536):
                self._passes.wait()
                if not connection.drops_answers:
                    connection.ours.sendall(data)
        connection.close()


class _Connection:
    """A connection to the proxy, and that of the proxy to the server."""

    def __init__(self, ours: socket.socket, theirs: socket.socket) -> None:
        self.ours = ours
        self.theirs = theirs
        self.drops_answers = False

    def close(self) -> None:
        for end in (self.ours, self.theirs):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
