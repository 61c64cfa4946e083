"""Remembers the hosts that one process does not request for a while, and why. Bounded memory."""

import logging
from typing import Final

from goodbot.lru import LruCache
from goodbot.ports import Clock
from goodbot.robot.manners.politeness import Delay

_LOG: Final = logging.getLogger(__name__)

MAX_HOSTS: Final = 50_000
"""Hosts remembered. Forgetting a host costs one request too many, which is cheaper than an unbounded list."""
MAX_WALLS: Final = 40
"""Challenge pages of a bot wall in a row before a host is given up. A wall may protect only a part of a site, and open
pages may follow many walled ones. At the pace of `Politeness`, 40 challenge pages take 37 minutes on a public host,
unless they have status 429 or 503."""
IN_TROUBLE: Final = "its host answered 429 or 503, or did not answer, too many times in a row"
ONLY_WALLS: Final = f"a bot wall answered in place of the host {MAX_WALLS} times in a row"


class HostsGivenUp:
    """Hosts that failed too often, and hosts `left_alone`, which ask for a longer wait than a crawl accepts, so that
    their URLs fail at once. A host stays here for at least `at_least_s` seconds."""

    def __init__(self, clock: Clock, at_least_s: float) -> None:
        self._clock = clock
        self._at_least_s = at_least_s
        self._hosts: dict[str, tuple[float, str]] = {}
        self._left_alone: set[str] = set()
        self._walls: LruCache[str, int] = LruCache(MAX_HOSTS)

    def give_up(self, host: str, why: str, ready_at: float) -> None:
        """Gives up a host that was in trouble too often, until `at_least_s` after `ready_at`."""
        if len(self._hosts) >= MAX_HOSTS:
            self._hosts.clear()
            self._left_alone.clear()
        until = ready_at + self._at_least_s
        if self.why(host) is None:
            fields = {"host": host, "until": until}
            _LOG.warning("no requests to %s for %.0f s: %s", host, until - self._clock.now(), why, extra=fields)
        self._hosts[host] = until, why

    def after(self, host: str, delay: Delay, *, walled: bool) -> None:
        """Records the delay after a page request; gives the host up after too much trouble, or after too many challenge
        pages of a bot wall."""
        walls = (self._walls.pop(host) or 0) + 1
        if delay.given_up:
            self.give_up(host, IN_TROUBLE, delay.ready_at)
        elif walled and walls >= MAX_WALLS:
            self.give_up(host, ONLY_WALLS, delay.ready_at)
        elif walled:
            self._walls.put(host, walls)

    def leave_alone(self, host: str, why: str, until: float = 0.0) -> None:
        """Gives up a host that asks for a longer wait than a crawl accepts: until `until`."""
        self.give_up(host, why, max(until - self._at_least_s, self._clock.now()))
        self._left_alone.add(host)

    def is_left_alone(self, host: str) -> bool:
        """Returns whether the URLs of this host fail at once."""
        return host in self._left_alone

    def why(self, host: str) -> str | None:
        """Returns why the host gets no requests now; None if it may get some."""
        until, why = self._hosts.get(host, (0.0, ""))
        if until > self._clock.now():
            return why
        self._left_alone.discard(host)
        return None
