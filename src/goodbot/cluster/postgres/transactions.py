"""Runs each transaction exactly once, even if the connection breaks during its commit."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from psycopg.pq import TransactionStatus

from goodbot.cluster.postgres.connection import PostgresConnection, translated
from goodbot.errors import LeasesLostError

_SESSION: Final = (
    # The statements here find few rows by keys in tables of any size, so one plan serves all; planning anew for tables
    # of 16 parts costs more than running.
    "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off;"
    " SET enable_mergejoin = off"
)
_LOOK: Final = "SELECT calls, answer, ended_at FROM machines WHERE id = %s FOR UPDATE"
_NOTE: Final = "UPDATE machines SET calls = %s, answer = %s WHERE id = %s"


class Call:
    """One call of a store, or several made together. Their answers are stored with it.

    If the call had been committed before, either `is_done` is true and `next_answer` returns the stored answers; or,
    for calls that are carried out `again`, `before` has those answers.
    """

    def __init__(self, connection: PostgresConnection) -> None:
        self.connection = connection
        self.is_done = False
        self.answers: list[Any] = []
        self.before: list[Any] = []

    def next_answer(self) -> Any:
        """Returns the next of the answers that were given then."""
        return self.answers.pop(0)


class Transactions:
    """The transactions of one machine. For one thread.

    A call that fails because the server is away may be repeated. The database counts the calls of each machine, so a
    repeated call that had been carried out is recognized.
    """

    def __init__(self, dsn: str, open_: Callable[[], PostgresConnection]) -> None:
        self._dsn = dsn
        self._open = open_
        self._connection: PostgresConnection | None = None
        self.machine = 0
        self._calls = 0
        self._unsure = ""

    @property
    def connection(self) -> PostgresConnection:
        """The connection; opened anew if it is broken."""
        if self._connection is None or self._connection.closed:
            opened = self._open()
            try:
                with translated(self._dsn):
                    opened.execute(_SESSION)
            except BaseException:
                opened.close()
                raise
            opened.prepare_threshold = 0
            self._connection = opened
        return self._connection

    @property
    def is_broken(self) -> bool:
        """Whether there is no connection at the moment."""
        return self._connection is None or self._connection.closed

    def close(self) -> None:
        """Closes the connection. May be called twice."""
        if self._connection is not None:
            self._connection.close()

    def begins_as(self, machine: int) -> None:
        """Starts to count the calls of a machine that has just joined."""
        self.machine, self._calls, self._unsure = machine, 0, ""

    @contextmanager
    def reading(self) -> Iterator[PostgresConnection]:
        """Lends the connection for queries; within a call, they are a part of its transaction."""
        with translated(self._dsn):
            yield self.connection

    @contextmanager
    def call(self, kind: str, *, needs_standing: bool = False, again: bool = False) -> Iterator[Call]:
        """Runs one call as a transaction. `kind` names it. `needs_standing`: raises LeasesLostError if others have
        taken over the hosts of this machine. `again`: see `Call`."""
        with translated(self._dsn):
            connection = self.connection
            call = Call(connection)
            try:
                with connection.transaction():
                    self._begin(call, kind, needs_standing=needs_standing, again=again)
                    yield call
                    if not call.is_done:
                        self._unsure = kind
                        connection.execute(_NOTE, (self._calls + 1, json.dumps(call.answers), self.machine))
                self._calls, self._unsure = self._calls + 1, ""
            except BaseException:
                if connection.closed or connection.info.transaction_status == TransactionStatus.UNKNOWN:
                    connection.close()
                raise

    def _begin(self, call: Call, kind: str, *, needs_standing: bool, again: bool) -> None:
        row = call.connection.execute(_LOOK, (self.machine,)).fetchone()
        calls, answer, ended_at = row or (0, None, 0.0)
        if calls == self._calls + 1:
            same = self._unsure == kind
            if same and not again:
                call.is_done, call.answers = True, json.loads(answer)
                return
            self._calls = calls
            call.before = json.loads(answer) if same else []  # else another call was given up
        if needs_standing and ended_at is not None:
            raise LeasesLostError("this machine did not answer for too long: other machines have taken its hosts over")
