"""Limits the number of connections, and how long each one waits for its client."""

import resource
from typing import Final, Protocol

HEAD_TIMEOUT_S: Final = 10.0
"""A client must send the head of a request within this time: from the start of the connection, or from the first byte
of a later request."""
HEAD_BYTES: Final = 16 * 1024
"""The limit for the head of a request."""
BODY_TIMEOUT_S: Final = 30.0
"""A client must send the body of a request within this time; the longest has 4 MiB."""
READ_TIMEOUT_S: Final = 30.0
"""A client must read the next part of a response within this time, or the whole rest once the connection closes."""
LAST_TIMEOUT_S: Final = 1.0
"""A client must send the rest of its request within this time if the connection is to end."""
MAX_CONNECTIONS: Final = 256
MAX_ENDING: Final = 768
"""The limit for connections that are about to end, in addition to the others."""


class Connection(Protocol):
    """A connection to a client."""

    @property
    def is_answering(self) -> bool:
        """Whether the whole request has arrived and its response is not complete yet."""
        ...

    def give_way(self) -> None:
        """Ends soon, so that another connection may take its place."""
        ...

    def abort(self) -> None:
        """Ends now."""
        ...


def connections_most() -> int:
    """Returns `MAX_CONNECTIONS`, or half the number of files that the process may open if that is less."""
    return max(8, min(MAX_CONNECTIONS, _files_most() // 2))


def ending_most() -> int:
    """Returns `MAX_ENDING`, or a quarter of the files that `connections_most` leaves if that is less."""
    return max(8, min(MAX_ENDING, (_files_most() - connections_most()) // 4))


def _files_most() -> int:
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return 8 * MAX_CONNECTIONS if limit == resource.RLIM_INFINITY else limit


class ConnectionLimit:
    """Holds the connections of one server, the oldest first, and the time limits for each.

    `most` connections are served. Up to `most_ending` more (default: `ending_most`) are about to end: they get an
    answer that says why, and time to read it.
    """

    def __init__(
        self,
        most: int,
        head_timeout_s: float = HEAD_TIMEOUT_S,
        body_timeout_s: float = BODY_TIMEOUT_S,
        read_timeout_s: float = READ_TIMEOUT_S,
        last_timeout_s: float = LAST_TIMEOUT_S,
        most_ending: int | None = None,
    ) -> None:
        self.head_timeout_s = head_timeout_s
        self.body_timeout_s = body_timeout_s
        self.read_timeout_s = read_timeout_s
        self.last_timeout_s = last_timeout_s
        self._most = most
        self._most_ending = most_ending or ending_most()
        self._open: dict[Connection, None] = {}
        self._ending: dict[Connection, None] = {}

    def enter(self, connection: Connection) -> bool:
        """Adds a connection. At the limit, the oldest one that waits for its client gives way; if every connection is
        being answered, returns False: the new one is about to end."""
        if len(self._open) >= self._most:
            oldest = next((each for each in self._open if not each.is_answering), None)
            if oldest is None:
                self.end(connection)
                return False
            self.end(oldest)
            oldest.give_way()
        self._open[connection] = None
        return True

    def end(self, connection: Connection) -> None:
        """Counts a connection among those that are about to end. At their limit, aborts the oldest of them."""
        self._open.pop(connection, None)
        if connection in self._ending:
            return
        if len(self._ending) >= self._most_ending:
            oldest = next(iter(self._ending))
            del self._ending[oldest]
            oldest.abort()
        self._ending[connection] = None

    def count(self) -> int:
        """Returns the number of connections that are served."""
        return len(self._open)

    def leave(self, connection: Connection) -> None:
        """Removes a connection that has ended."""
        self._open.pop(connection, None)
        self._ending.pop(connection, None)
