"""A server that nothing may connect to: it counts connections and keeps what it received."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_HEAD = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n"


class Trap:
    """`connections` counts all, also those without a request; `requests` are the first lines received, and `referers`
    the Referer fields. It answers every request with `body`."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        self.body = "trap"
        self.connections = 0
        self.requests: list[str] = []
        self.referers: list[str] = []

    def serve(self) -> None:
        """Answers until the listener is closed."""
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            head = connection.recv(65_536).decode("latin-1")
            if head:
                lines = head.split("\r\n")
                self.requests.append(lines[0])
                self.referers += [line for line in lines if line.lower().startswith("referer:")]
                connection.sendall((_HEAD.format(len(self.body)) + self.body).encode())


@contextmanager
def trap() -> Iterator[Trap]:
    """Runs a trap while the block runs."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Trap(listener)
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
