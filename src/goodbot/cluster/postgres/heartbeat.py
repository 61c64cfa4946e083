"""Sends the heartbeats of a machine from a thread of its own, so that they do not wait for anything else."""

import logging
import threading
from collections.abc import Callable
from typing import Final

from goodbot.clock import SharedClock
from goodbot.cluster.postgres.connection import PostgresConnection, connect, translated
from goodbot.cluster.postgres.machines import BEAT_S, beat
from goodbot.errors import GoodbotError, StoreAwayError
from goodbot.robot.fetch.standing import Standing

_LOG: Final = logging.getLogger(__name__)


class Heartbeat:
    """The heartbeats of one machine, every `BEAT_S` seconds from `start` to `stop`.

    They extend `standing`, and compare `clock` with the clock of the database. `live` returns the live status as JSON,
    which other machines can read. If the server does not answer, the next heartbeat tries again. If the machine was
    counted as gone, heartbeats end, and `is_lost` is true.
    """

    def __init__(
        self, dsn: str, name: str, machine: int, clock: SharedClock, standing: Standing, live: Callable[[], str]
    ) -> None:
        self._dsn = dsn
        self._name = name
        self._machine = machine
        self._clock = clock
        self._standing = standing
        self._live = live
        self._stopping = threading.Event()
        self._connection: PostgresConnection | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)
        self.is_lost = False

    def start(self) -> None:
        """Begins to send them."""
        self._thread.start()

    def stop(self) -> None:
        """Sends no more. May be called twice."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(BEAT_S)

    def _run(self) -> None:
        away = False
        while not self._stopping.wait(BEAT_S):
            try:
                if not self._beat():
                    self.is_lost = True
                    break
            except StoreAwayError as error:
                if not away:
                    _LOG.warning("no heartbeat: %s", error)
                away = True
                self._close()
            except GoodbotError as error:
                _LOG.error("no more heartbeats: %s", error)
                break
            else:
                away = False
        self._close()

    def _beat(self) -> bool:
        if self._connection is None:
            self._connection = connect(self._dsn, f"goodbot {self._name}: heartbeat")
        with translated(self._dsn):
            return beat(self._connection, self._machine, self._clock, self._standing, self._live())

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
