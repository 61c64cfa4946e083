"""The participation of one machine in a crawl: its heartbeats, and its share of the hosts."""

from collections.abc import Callable

from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.heartbeat import Heartbeat
from goodbot.errors import InputError, LeasesLostError
from goodbot.live import Shared


class PostgresMembership:
    """Implements Membership for a machine that has opened its frontier. `settings` are those of the crawl, as stored in
    the database. `live` returns its live status as JSON, which other machines can read. `share` and `rejoin` may run in
    the thread of the frontier, the rest in another."""

    def __init__(self, frontier: PostgresFrontier, settings: str, live: Callable[[], str]) -> None:
        self._frontier = frontier
        self._settings = settings
        self._live = live
        self._heartbeat = self._begin()

    def _begin(self) -> Heartbeat:
        heartbeat = self._frontier.heartbeat(self._live)
        heartbeat.start()
        return heartbeat

    def close(self) -> None:
        """Sends no more heartbeats. May be called twice."""
        self._heartbeat.stop()

    @property
    def until(self) -> float:
        """See `Membership`."""
        return self._frontier.standing.until

    @property
    def clock_offset_s(self) -> float:
        """See `Membership`."""
        return self._frontier.clock.offset_s

    @property
    def is_lost(self) -> bool:
        """See `Membership`."""
        return self._heartbeat.is_lost

    def share(self) -> Shared | None:
        """See `Membership.share`."""
        try:
            balance = self._frontier.balance()
        except LeasesLostError:
            return None
        return Shared(balance.barred, balance.gone)

    def rejoin(self) -> None:
        """See `Membership.rejoin`. Raises InputError if the settings of the crawl have changed meanwhile."""
        self._heartbeat.stop()
        if self._frontier.settings() != self._settings:
            raise InputError(
                "the settings of the crawl were changed while this machine was cut off: start it again, without the"
                " options that it had"
            )
        self._frontier.join()
        self._frontier.take_part()
        self._heartbeat = self._begin()
