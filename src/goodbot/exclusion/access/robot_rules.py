"""Keeps, for one robot and many sites, the rules of each site and the visits to it (like Perl's WWW::RobotRules)."""

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

MAX_PARSED_BYTES: Final = 8 * 1024 * 1024
"""The limit for the robots.txt files kept parsed: their bytes, plus 1 kB for each. The others are parsed again when
needed."""

_DEFAULT_PORTS: Final = {"http": "80", "https": "443"}
_AFTER_AUTHORITY = re.compile(r"[/?#]")
_HOST_AND_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\x00-\x20\x7f\"<>\\^`{|}\[\]:\ud800-\udfff]+)(?::([0-9]*))?")


class Visits(NamedTuple):
    """How often a robot visited a host, and when it last did (Unix seconds; None: never)."""

    total: int
    last_at: float | None


class RulesStore(Protocol):
    """Stores what `RobotRules` knows. Times are finite; every text can be encoded in UTF-8."""

    def load_robots(self, origin: str) -> Access | None: ...

    def save_robots(self, origin: str, access: Access) -> None:
        """Replaces what was known about `origin`."""

    def load_visits(self, token: str, host: str) -> Visits: ...

    def add_visit(self, token: str, host: str, at: float) -> None:
        """Counts one more visit of the robot `token`, and keeps the latest time."""


class MemoryRulesStore:
    """Keeps everything in memory, without a limit: every robots.txt, and about 1 kB for each origin and host."""

    def __init__(self) -> None:
        self._robots: dict[str, Access] = {}
        self._visits: dict[tuple[str, str], Visits] = {}

    def load_robots(self, origin: str) -> Access | None:
        """Returns what was saved last."""
        return self._robots.get(origin)

    def save_robots(self, origin: str, access: Access) -> None:
        """Keeps only the columns, nothing that was parsed."""
        self._robots[origin] = replace(access)

    def load_visits(self, token: str, host: str) -> Visits:
        """Returns (0, None) if there was no visit."""
        return self._visits.get((token, host), Visits(0, None))

    def add_visit(self, token: str, host: str, at: float) -> None:
        """Counts one more visit, and keeps the latest time."""
        total, last_at = self.load_visits(token, host)
        self._visits[token, host] = Visits(total + 1, at if last_at is None else max(last_at, at))


class RobotRules:
    """Answers, for one robot and many sites, whether the robot may fetch a URL and when it last visited a host.

    It fetches nothing: pass it what you fetched. Rules belong to an origin (scheme, host and port: RFC 9309 §2.3),
    visits to host and port. URLs are absolute, `http` or `https`; any other text has no origin, so nothing is known
    about it and nothing is kept. Host names are compared as written, except for case: write international names always
    as Unicode or always as punycode. No method raises for the text it gets; a store on disk raises RunError if the disk
    fails.
    """

    def __init__(
        self,
        agent: str,
        now: Callable[[], float] = time.time,
        store: RulesStore | None = None,
        *,
        dialect: str = "rfc9309",
    ) -> None:
        """`agent` is a product token or a whole User-Agent value; `now` returns Unix seconds; without a `store`,
        everything is lost when the process ends. Raises InputError for an unknown dialect."""
        self._agent = agent
        self._token = product_token(agent).lower().encode("utf-8", "replace").decode()
        self._now = now
        self._store = MemoryRulesStore() if store is None else store
        self._dialect = find_dialect(dialect).name
        self._parsed_files = _ParsedFiles(self._dialect)

    @property
    def agent(self) -> str:
        """The robot's name, as passed to the constructor."""
        return self._agent

    def parse(self, url: str, content: bytes | str, fresh_until: float | None = None) -> bool:
        """Takes `content` as the robots.txt of the origin of `url`, and replaces what was known about it.

        It is valid until `fresh_until` (Unix seconds; NaN: it is stale at once), or by default as long as the dialect
        says (RFC 9309 §2.4: 24 hours). Ignores everything after 500 KiB. Returns False, and keeps nothing, if `url` has
        no origin.
        """
        body = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
        now = self._now()
        access = Access.from_response(200, (), body, now, self._dialect)
        if fresh_until is not None:
            access = replace(access, valid_until=_seconds(fresh_until, unknown=now))
        return self.learn(url, access)

    def learn(self, url: str, access: Access) -> bool:
        """Takes the result of any fetch of the robots.txt of the origin of `url`, and replaces what was known about it.
        Returns False, and keeps nothing, if `url` has no origin."""
        location = _location_of(url)
        if location is None:
            return False
        self._store.save_robots(location.origin, access)
        return True

    def allowed(self, url: str) -> bool | None:
        """Whether the robot may fetch `url`. None: fetch robots.txt first, because nothing is known about the origin,
        or what is known is stale or comes from the future (the clock went back)."""
        access = self._fresh(url)
        return None if access is None else access.rules.allows(url, self._agent)

    def verdict(self, url: str) -> Verdict | None:
        """Returns the same answer with the reason."""
        access = self._fresh(url)
        return None if access is None else access.verdict(url, self._agent)

    def access(self, url: str) -> Access | None:
        """Returns what is known about the origin of `url`, stale or not: pass it as `last_good` of the next fetch."""
        location = _location_of(url)
        stored = location and self._store.load_robots(location.origin)
        return self._parsed_files.read(location.origin, stored) if location and stored else None

    def fresh_until(self, url: str) -> float | None:
        """Returns when the known rules of the origin of `url` expire (Unix seconds, perhaps in the past); None: nothing
        is known."""
        access = self.access(url)
        return None if access is None else access.valid_until

    def visit(self, url: str, at: float | None = None) -> None:
        """Counts a visit to the host of `url`, at `at` (Unix seconds) or, if that is missing or not finite, now."""
        location = _location_of(url)
        if location is None:
            return
        when = math.nan if at is None else _seconds(at, unknown=math.nan)
        self._store.add_visit(self._token, location.host, when if math.isfinite(when) else self._now())

    def visits(self, url: str) -> int:
        """Returns how many visits to the host of `url` were counted."""
        return self._visits(url).total

    def last_visit(self, url: str) -> float | None:
        """Returns the time of the latest visit (Unix seconds); a clock that goes back never lowers it."""
        return self._visits(url).last_at

    def _visits(self, url: str) -> Visits:
        location = _location_of(url)
        return Visits(0, None) if location is None else self._store.load_visits(self._token, location.host)

    def _fresh(self, url: str) -> Access | None:
        access = self.access(url)
        return access if access is not None and access.is_fresh(self._now()) else None


class _ParsedFiles:
    """Keeps the most recently used robots.txt files parsed, as long as the store still has the same content."""

    def __init__(self, dialect: str) -> None:
        self._dialect = dialect
        self._entries: OrderedDict[str, tuple[Access, Access]] = OrderedDict()
        self._bytes = 0

    def read(self, origin: str, stored: Access) -> Access:
        """Returns what `stored` means in this robot's dialect. `stored` itself is not changed, and stays unparsed."""
        entry = self._entries.get(origin)
        if entry is not None and (entry[0] is stored or entry[0] == stored):
            self._entries.move_to_end(origin)
            return entry[1]
        if entry is not None:
            self._forget(origin)
        read = replace(stored) if stored.dialect == self._dialect else stored.in_dialect(self._dialect)
        self._entries[origin] = stored, read
        self._bytes += _size(stored)
        while self._bytes > MAX_PARSED_BYTES and len(self._entries) > 1:
            self._forget(next(iter(self._entries)))
        return read

    def _forget(self, origin: str) -> None:
        self._bytes -= _size(self._entries.pop(origin)[0])


def _size(access: Access) -> int:
    return 1024 + len(access.body)


class _Location(NamedTuple):
    origin: str
    """As in RFC 6454 §6.2: without the default port."""
    host: str
    """Always with the port, like the netloc of WWW::RobotRules."""


def _location_of(url: str) -> _Location | None:
    """Returns origin and host of `url`; None if it is no http or https URL, or if URL parsers disagree about it.
    Linear."""
    scheme, _, rest = url.partition("://")
    scheme = scheme.lower()
    default = _DEFAULT_PORTS.get(scheme)
    authority = _AFTER_AUTHORITY.split(rest, maxsplit=1)[0]
    found = _HOST_AND_PORT.fullmatch(authority.rpartition("@")[2])
    if default is None or found is None or "\\" in authority:  # `\` ends the host in browsers, not in RFC 3986
        return None
    host = found[1].lower()
    port = (found[2].lstrip("0") or "0") if found[2] else default
    if len(port) > 5 or int(port) > 65535:
        return None
    return _Location(f"{scheme}://{host}" + ("" if port == default else f":{port}"), f"{host}:{port}")


def _seconds(value: float, unknown: float) -> float:
    """Converts a time of any size, even an integer of 400 digits, to a float; returns `unknown` for NaN."""
    try:
        seconds = float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    return unknown if math.isnan(seconds) else seconds
