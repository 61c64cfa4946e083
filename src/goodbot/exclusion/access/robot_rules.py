"""One robot, many sites: the rules of each and the visits to each (the interface of Perl's WWW::RobotRules)."""

import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from typing import Final, NamedTuple, Protocol

from goodbot.exclusion.access.access import Access
from goodbot.exclusion.robotstxt.dialects import find_dialect
from goodbot.exclusion.text.product_token import product_token
from goodbot.exclusion.verdict import Verdict

AT_HAND_BYTES: Final = 8 * 1024 * 1024
"""Of robots.txt files kept parsed, each counted with 1 kB for itself; the store has the others."""

_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_AFTER_AUTHORITY = re.compile(r"[/?#]")
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\x00-\x20\x7f\"<>\\^`{|}\[\]:\ud800-\udfff]+)(?::([0-9]*))?")


class Visits(NamedTuple):
    """How often a robot was at a host, and when last (Unix seconds; None: never)."""

    total: int
    last_at: float | None


class RulesStore(Protocol):
    """The memory of `RobotRules`. Times are finite; every text can be encoded in UTF-8."""

    def load_robots(self, origin: str) -> Access | None: ...

    def save_robots(self, origin: str, access: Access) -> None:
        """In place of what was known of `origin`."""

    def load_visits(self, token: str, host: str) -> Visits: ...

    def add_visit(self, token: str, host: str, at: float) -> None:
        """One more visit of the robot `token`; of two times the later one stays."""


class MemoryRulesStore:
    """In memory, and without bound: a robots.txt as long as it is, and about 1 kB for each origin and host."""

    def __init__(self) -> None:
        self._robots: dict[str, Access] = {}
        self._visits: dict[tuple[str, str], Visits] = {}

    def load_robots(self, origin: str) -> Access | None:
        """What was saved last."""
        return self._robots.get(origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """Keeps the columns, and nothing that was parsed."""
        self._robots[origin] = replace(access)

    def load_visits(self, token: str, host: str) -> Visits:
        """None yet: (0, None)."""
        return self._visits.get((token, host), Visits(0, None))

    def add_visit(self, token: str, host: str, at: float) -> None:
        """One more."""
        total, last_at = self.load_visits(token, host)
        self._visits[token, host] = Visits(total + 1, at if last_at is None else max(last_at, at))


class RobotRules:
    """What one robot knows of many sites: may it fetch a URL, until when is that known, when was it there last.

    It fetches nothing: hand it what you fetched. Rules belong to an origin (scheme, host, port: RFC 9309 §2.3), visits
    to host and port. URLs are absolute, `http` or `https`; a text that is no such URL belongs to no origin: nothing
    is known of it, and nothing is kept. Hosts are compared as written, but for case: give names in other alphabets
    in one form. No method raises, whatever the texts; a store on disk raises RunError where the disk fails.
    """

    def __init__(
        self,
        agent: str,
        now: Callable[[], float] = time.time,
        store: RulesStore | None = None,
        *,
        dialect: str = "rfc9309",
    ) -> None:
        """`agent` is a product token or a whole User-Agent value; `now` gives Unix seconds; without a `store`,
        what is known ends with the process. Raises InputError for an unknown dialect."""
        self._agent = agent
        self._token = product_token(agent).lower().encode("utf-8", "replace").decode()
        self._now = now
        self._store = MemoryRulesStore() if store is None else store
        self._dialect = find_dialect(dialect).name
        self._at_hand = _AtHand(self._dialect)

    @property
    def agent(self) -> str:
        """The robot's name as given."""
        return self._agent

    def parse(self, url: str, content: bytes | str, fresh_until: float | None = None) -> bool:
        """Takes `content` for the robots.txt of the origin of `url`, in place of what was known of it.

        It counts until `fresh_until` (Unix seconds; NaN: it is stale at once), without it for as long as the dialect
        says (RFC 9309 §2.4: 24 hours). What lies over 500 KiB is cut off. False, and nothing kept, if `url` has no
        origin.
        """
        body = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        now = self._now()
        access = Access.from_response(200, (), body, now, self._dialect)
        if fresh_until is not None:
            access = replace(access, valid_until=_seconds(fresh_until, unknown=now))
        return self.learn(url, access)

    def learn(self, url: str, access: Access) -> bool:
        """Takes any answer, or none, to the fetch of the robots.txt of the origin of `url`, in place of what was known
        of it. False, and nothing kept, if `url` has no origin."""
        place = _place(url)
        if place is None:
            return False
        self._store.save_robots(place.origin, access)
        return True

    def allowed(self, url: str) -> bool | None:
        """Whether the robot may fetch `url`. None: fetch its robots.txt first, because nothing is known of its origin,
        or what is known is stale, or was learnt later than it is now."""
        access = self._fresh(url)
        return None if access is None else access.rules.allows(url, self._agent)

    def verdict(self, url: str) -> Verdict | None:
        """The same, with the reason."""
        access = self._fresh(url)
        return None if access is None else access.verdict(url, self._agent)

    def access(self, url: str) -> Access | None:
        """What is known of the origin of `url`, stale or not: the `last_good` of the next fetch."""
        place = _place(url)
        stored = place and self._store.load_robots(place.origin)
        return self._at_hand.read(place.origin, stored) if place and stored else None

    def fresh_until(self, url: str) -> float | None:
        """Until when what is known of the origin of `url` counts (Unix seconds, maybe past); None: nothing is known."""
        access = self.access(url)
        return None if access is None else access.valid_until

    def visit(self, url: str, at: float | None = None) -> None:
        """Counts a visit to the host of `url`, now or at `at` (Unix seconds; what is not finite counts as now)."""
        place = _place(url)
        if place is None:
            return
        when = math.nan if at is None else _seconds(at, unknown=math.nan)
        self._store.add_visit(self._token, place.host, when if math.isfinite(when) else self._now())

    def visits(self, url: str) -> int:
        """How many visits to the host of `url` were counted."""
        return self._visits(url).total

    def last_visit(self, url: str) -> float | None:
        """The time of the latest one (Unix seconds): a clock that goes back never lowers it."""
        return self._visits(url).last_at

    def _visits(self, url: str) -> Visits:
        place = _place(url)
        return Visits(0, None) if place is None else self._store.load_visits(self._token, place.host)

    def _fresh(self, url: str) -> Access | None:
        access = self.access(url)
        return access if access is not None and access.is_fresh(self._now()) else None


class _AtHand:
    """What was parsed of the robots.txt files asked about last, as long as the store still says the same."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._entries: OrderedDict[str, tuple[Access, Access]] = OrderedDict()
        self._bytes = 0

    def read(self, origin: str, stored: Access) -> Access:
        """What `stored` means in this robot's dialect; `stored` itself stays as it is, nothing of it parsed."""
        entry = self._entries.get(origin)
        if entry is not None and (entry[0] is stored or entry[0] == stored):
            self._entries.move_to_end(origin)
            return entry[1]
        if entry is not None:
            self._forget(origin)
        read = replace(stored) if stored.dialect == self._dialect else stored.in_dialect(self._dialect)
        self._entries[origin] = stored, read
        self._bytes += _size(stored)
        while self._bytes > AT_HAND_BYTES and len(self._entries) > 1:
            self._forget(next(iter(self._entries)))
        return read

    def _forget(self, origin: str) -> None:
        self._bytes -= _size(self._entries.pop(origin)[0])


def _size(access: Access) -> int:
    return 1024 + len(access.body)


class _Place(NamedTuple):
    origin: str
    """As RFC 6454 §6.2 writes it: without the default port."""
    host: str
    """With the port, always: WWW::RobotRules' netloc."""


def _place(url: str) -> _Place | None:
    """Where `url` leads; None if it is no http or https URL, or one that readers of URLs disagree about. Linear."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    default = _DEFAULT_PORTS.get(scheme)
    authority = _AFTER_AUTHORITY.split(rest, maxsplit=1)[0]
    found = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    if default is None or found is None or "\\" in authority:  # `\` ends the host in browsers, but not in RFC 3986
        return None
    host = found[1].lower()
    port = (found[2].lstrip("0") or "0") if found[2] else default
    if len(port) > 5 or int(port) > 65535:
        return None
    return _Place(f"{scheme}://{host}" + ("" if port == default else f":{port}"), f"{host}:{port}")


def _seconds(value: float, unknown: float) -> float:
    """A time of any size, integers of 400 digits included; `unknown` for NaN."""
    try:
        seconds = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return unknown if math.isnan(seconds) else seconds
