"""Counts the outcomes of a run as they are committed. Pure."""

from collections import Counter, OrderedDict, deque
from typing import Final

from goodbot.live import FetchError
from goodbot.values import WALLED, Outcome

RATE_WINDOW_S: Final = 10.0
"""The current rate is the mean of this many seconds."""
ACTIVE_HOST_S: Final = 60.0
"""A host counts as active for this long after its last outcome."""
MAX_HOSTS: Final = 100_000
MAX_LATEST_ERRORS: Final = 10
MAX_KINDS: Final = 100
"""Kinds of errors with an example; servers invent statuses."""
MAX_WHY_CHARS: Final = 200


class CrawlStatistics:
    """Counts outcomes. Times are seconds of one monotonic clock."""

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at
        self._samples: deque[tuple[float, int]] = deque([(began_at, 0)])
        self._hosts: OrderedDict[str, float] = OrderedDict()
        self._errors: Counter[str] = Counter()
        self._latest_errors: deque[FetchError] = deque(maxlen=MAX_LATEST_ERRORS)
        self._examples: OrderedDict[str, FetchError] = OrderedDict()
        self.states: Counter[str] = Counter()
        self.bytes = 0

    @property
    def pages(self) -> int:
        """The number of pages visited."""
        return self.states["visited"]

    def observe(self, outcome: Outcome, now: float) -> None:
        """Counts an outcome."""
        self.states[outcome.state] += 1
        self.bytes += outcome.size_bytes
        host = outcome.url.host_key
        self._hosts.pop(host, None)
        self._hosts[host] = now
        if len(self._hosts) > MAX_HOSTS:
            self._hosts.popitem(last=False)
        kind = error_kind_of(outcome)
        if kind is not None:
            self._errors[kind] += 1
            error = FetchError(outcome.at, outcome.url.text, kind, outcome.why[:MAX_WHY_CHARS])
            self._latest_errors.append(error)
            self._examples[kind] = error
            self._examples.move_to_end(kind)
            if len(self._examples) > MAX_KINDS:
                self._examples.popitem(last=False)

    def rates(self, now: float) -> tuple[float, float]:
        """Returns the pages per second over the last `RATE_WINDOW_S`, and since the start. Each call adds a sample."""
        self._samples.append((now, self.pages))
        while len(self._samples) > 2 and self._samples[1][0] <= now - RATE_WINDOW_S:
            self._samples.popleft()
        since, before = self._samples[0]
        return (self.pages - before) / max(now - since, 0.001), self.pages / max(now - self._began_at, 0.001)

    def hosts(self, now: float) -> int:
        """The number of active hosts."""
        while self._hosts and next(iter(self._hosts.values())) < now - ACTIVE_HOST_S:
            self._hosts.popitem(last=False)
        return len(self._hosts)

    def errors(self, most: int) -> tuple[tuple[str, int], ...]:
        """The most frequent kinds of errors, each with its count."""
        return tuple(self._errors.most_common(most))

    def troubles(self, most_kinds: int) -> tuple[FetchError, ...]:
        """The latest errors, newest first, then the latest one of each of the most frequent kinds not among them."""
        latest = tuple(reversed(self._latest_errors))
        kinds = {error.kind for error in latest}
        others = (self._examples.get(kind) for kind, _ in self.errors(most_kinds) if kind not in kinds)
        return (*latest, *(error for error in others if error is not None))


def error_kind_of(outcome: Outcome) -> str | None:
    """Returns the kind of an error: a failure kind (`dns`, `timeout`…), a status from 400 on, `wall` for a challenge
    page of a bot wall, `robots.txt` for a robots.txt that is unreachable. None if there was no error, or robots.txt
    forbids the URL."""
    if outcome.why.startswith(WALLED):
        return "wall"
    if outcome.status is not None:
        return str(outcome.status) if outcome.status >= 400 else None
    if outcome.state not in ("failed", "ready"):
        return None
    fetch = next((event for event in outcome.events if event.step == "fetch"), None)
    return "robots.txt" if fetch is None else fetch.decision
