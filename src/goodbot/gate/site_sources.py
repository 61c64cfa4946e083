"""Reads the robots.txt of each site, from a file or a URL, and reads it again when it has changed."""

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goodbot.check.file_kind import form_of
from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.exclusion import LIMIT_BYTES, Access
from goodbot.gate.decision import Sites
from goodbot.gate.site_rules import SiteRules
from goodbot.url import Url, parse_url

Fetch = Callable[[Url], Access]
"""Fetches the robots.txt in force at the origin of a URL. May take seconds; raises GoodbotError."""

FETCH_EVERY_S: Final = 600.0
"""A robots.txt at a URL is fetched again after this time. Robots keep theirs up to a day (RFC 9309 §2.4)."""

RETRY_S: Final = 60.0
FIRST_RETRY_S: Final = 5.0
"""The same after a failure; the second while there are no rules at all."""

_log: Final = logging.getLogger(__name__)

_Stamp = tuple[int, int, int]
"""What shows that a file has changed: time in nanoseconds, size, inode."""


@dataclass(slots=True)
class SiteSource:
    """One robots.txt and where it is. `problem`: why it could not be read the last time; empty if it could."""

    place: str
    url: Url | None = field(init=False)
    rules: SiteRules | None = field(init=False, default=None)
    problem: str = field(init=False, default="")
    _stamp: _Stamp | None = field(init=False, default=None)
    _seen: _Stamp | None = field(init=False, default=None)
    _due_s: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        self.url = parse_url(self.place) if "://" in self.place else None
        if "://" in self.place and self.url is None:
            raise InputError(f"{self.place!r} is not a URL of a site, such as https://example.org/")

    def is_due(self, passed_s: float) -> bool:
        """Whether it is to be read again. A file that has changed is read when it has stayed as it is between two
        calls: somebody may still be writing it."""
        if self.url is not None:
            return passed_s >= self._due_s
        stamp = _stamp_of(self.place)
        is_settled, self._seen = stamp == self._seen, stamp
        return is_settled and stamp != self._stamp

    def read(self, fetch: Fetch, passed_s: float) -> bool:
        """Reads it, and returns whether the rules are others now. If it cannot be read, the rules stay, and `problem`
        says why."""
        self._stamp = self._seen = None if self.url is not None else _stamp_of(self.place)
        try:
            access = self._access(fetch)
        except GoodbotError as error:
            if self.problem != str(error):
                kept = "the gate goes on with the rules that it has" if self.rules else "the gate has no rules yet"
                _log.warning("%s; %s", error, kept)
            self.problem = str(error)
            self._due_s = passed_s + (RETRY_S if self.rules else FIRST_RETRY_S)
            return False
        self._due_s = passed_s + FETCH_EVERY_S
        was_away, self.problem = bool(self.problem), ""
        is_new = self.rules is None or _content(access) != _content(self.rules.access)
        if is_new:
            self.rules = SiteRules(access)
        if is_new or was_away:
            _log.info("%s: %d groups of rules are in force", self.place, len(access.rules.groups))
        return is_new

    def _access(self, fetch: Fetch) -> Access:
        if self.url is None:
            body = _read_file(self.place)
            _check_form(self.place, body)
            return Access.from_response(200, (), body, 0.0)
        access = fetch(self.url)
        if access.result == "unreachable":
            raise RunError(f"the robots.txt of {self.url.origin} cannot be fetched: {access.reason.removesuffix('.')}")
        if access.result == "successful":
            _check_form(f"the robots.txt of {self.url.origin}", access.body)
        return access


class SiteSources:
    """The robots.txt of all sites: by host, and the one for every other host."""

    def __init__(self, other: str | None, by_host: Mapping[str, str], fetch: Fetch) -> None:
        """Raises InputError for a place that is neither a file nor a URL."""
        self._fetch = fetch
        self._places = {place: SiteSource(place) for place in [*([other] if other else []), *by_host.values()]}
        self._other = other
        self._by_host = {host.lower().rstrip("."): place for host, place in by_host.items()}

    def load(self, passed_s: float) -> None:
        """Reads all for the first time. Raises InputError or RunError if a file cannot be used; a URL that cannot be
        fetched is tried again later."""
        for source in self._places.values():
            source.read(self._fetch, passed_s)
            if source.problem and source.url is None:
                raise InputError(source.problem)

    def take_over(self, before: "SiteSources") -> None:
        """Takes over what another object has read of the same places."""
        self._places |= {place: source for place, source in before._places.items() if place in self._places}

    def refresh(self, passed_s: float) -> bool:
        """Reads again what has changed. Returns whether any rules are others now. May take seconds for URLs."""
        due = [source for source in self._places.values() if source.is_due(passed_s)]
        changed = [source.read(self._fetch, passed_s) for source in due]
        return any(changed)

    def sites(self) -> Sites:
        """Returns the rules as they are now."""
        other = self._places[self._other].rules if self._other else _NO_RULES
        return Sites(other, {host: self._places[place].rules for host, place in self._by_host.items()})

    def problems(self) -> dict[str, str]:
        """Returns for each place why it could not be read the last time; empty text if it could."""
        return {place: source.problem for place, source in self._places.items()}


_NO_RULES: Final = SiteRules(Access.from_response(404, (), b"", 0.0))
"""Of a host for which no robots.txt was named: everything is open."""


def _content(access: Access) -> tuple[object, bytes]:
    return access.result, access.body


def _stamp_of(place: str) -> _Stamp | None:
    try:
        found = os.stat(place)
    except (OSError, ValueError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read_file(place: str) -> bytes:
    path = Path(place)
    try:
        if path.exists() and not path.is_file():
            raise InputError(f"cannot read {place}: it is not a file")
        with path.open("rb") as opened:
            return opened.read(LIMIT_BYTES + 1)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {place}: {getattr(error, 'strerror', None) or error}") from error


def _check_form(name: str, body: bytes) -> None:
    """Raises InputError for a Web page and the like: as a robots.txt it would allow everything."""
    if (form := form_of(body)) is not None:
        raise InputError(f"{name} is {form}, not a robots.txt")
