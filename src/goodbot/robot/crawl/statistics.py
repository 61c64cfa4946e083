"""Pure: what a run has come to, counted as its outcomes are committed."""

from collections import Counter, OrderedDict, deque
from typing import Final

from goodbot.live import FetchError
from goodbot.values import WALLED, Outcome

RATE_S: Final = 10.0
"""The rate now is that of so many seconds."""
HOSTS_S: Final = 60.0
"""A host is in play for so long after its last answer."""
HOSTS_MOST: Final = 100_000
TROUBLES: Final = 10
WHY_MOST: Final = 200


class CrawlStatistics:
    """Counts outcomes. Times in seconds, of any one clock that does not go backwards."""

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at
        self._samples: deque[tuple[float, int]] = deque([(began_at, 0)])
        self._hosts: OrderedDict[str, float] = OrderedDict()
        self._errors: Counter[str] = Counter()
        self._troubles: deque[FetchError] = deque(maxlen=TROUBLES)
        self.states: Counter[str] = Counter()
        self.bytes = 0

    @property
    def pages(self) -> int:
        """Visited."""
        return self.states["visited"]

    def observe(self, outcome: Outcome, now: float) -> None:
        """One more outcome."""
        self.states[outcome.state] += 1
        self.bytes += outcome.size_bytes
        host = outcome.url.host_key
        self._hosts.pop(host, None)
        self._hosts[host] = now
        if len(self._hosts) > HOSTS_MOST:
            self._hosts.popitem(last=False)
        kind = trouble_of(outcome)
        if kind is not None:
            self._errors[kind] += 1
            self._troubles.append(FetchError(outcome.at, outcome.url.text, kind, outcome.why[:WHY_MOST]))

    def rates(self, now: float) -> tuple[float, float]:
        """Pages per second over the last `RATE_S`, and since the beginning; to be asked now and then."""
        self._samples.append((now, self.pages))
        while len(self._samples) > 2 and self._samples[1][0] <= now - RATE_S:
            self._samples.popleft()
        since, before = self._samples[0]
        return (self.pages - before) / max(now - since, 0.001), self.pages / max(now - self._began_at, 0.001)

    def hosts(self, now: float) -> int:
        """Hosts in play."""
        while self._hosts and next(iter(self._hosts.values())) < now - HOSTS_S:
            self._hosts.popitem(last=False)
        return len(self._hosts)

    def errors(self, most: int) -> tuple[tuple[str, int], ...]:
        """The most frequent kinds, with how often."""
        return tuple(self._errors.most_common(most))

    def troubles(self) -> tuple[FetchError, ...]:
        """The last ones, the latest first."""
        return tuple(reversed(self._troubles))


def trouble_of(outcome: Outcome) -> str | None:
    """A failure kind (`dns`, `timeout`…), a status from 400 on, `wall` for a challenge page of a bot wall, `robots.txt`
    if a robots.txt is unavailable; None for what went well, and for what robots.txt forbids."""
    if outcome.why.startswith(WALLED):
        return "wall"
    if outcome.status is not None:
        return str(outcome.status) if outcome.status >= 400 else None
    if outcome.state not in ("failed", "ready"):
        return None
    fetch = next((event for event in outcome.events if event.step == "fetch"), None)
    return "robots.txt" if fetch is None else fetch.decision
