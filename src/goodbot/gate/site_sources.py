"""Reads the robots.txt of each site, from a file or a URL, and reads it again when it has changed."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.exclusion import Access
from goodbot.files import Stamp, read_bounded, stamp_of
from goodbot.gate.background import begun
from goodbot.gate.decision import Sites
from goodbot.gate.gate_request import host_of
from goodbot.gate.site_rules import SiteRules, access_of_file
from goodbot.human import counted
from goodbot.url import Url, parse_url

Fetch = Callable[[Url], Access]
"""Fetches the robots.txt in force at the origin of a URL. May take a minute; raises GoodbotError."""

FETCH_EVERY_S: Final = 600.0
"""A robots.txt at a URL is fetched again after this time. Robots keep theirs up to a day (RFC 9309 §2.4)."""

RETRY_S: Final = 60.0
FIRST_RETRY_S: Final = 5.0
"""The same after a failure; the second while there are no rules at all."""

FETCHES_AT_ONCE: Final = 8

MOST_BYTES: Final = 8 * 1024 * 1024
"""The largest file that is read as a robots.txt; the largest real one known has 1 MB."""

FIRST_FETCH_S: Final = 10.0
"""How long `load` waits for robots.txt files at URLs. Those that take longer are taken over when they are there."""

_log: Final = logging.getLogger(__name__)


class Fetching:
    """Fetches in the background, at most `FETCHES_AT_ONCE` at the same time: a server that does not answer holds up no
    other robots.txt."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._places = threading.BoundedSemaphore(FETCHES_AT_ONCE)

    def begin(self, url: Url) -> Future[Access] | None:
        """Returns the answer to come; None if there is no place now."""
        if not self._places.acquire(blocking=False):
            return None
        return begun(lambda: self._access(url), "goodbot-gate-fetch", self._places.release)

    def _access(self, url: Url) -> Access:
        try:
            access = self._fetch(url)
        except GoodbotError:
            raise
        except Exception as error:
            _log.exception("the robots.txt of %s cannot be fetched", url.origin)
            raise RunError(f"cannot fetch the robots.txt of {url.origin}: {error!r}") from error
        if access.result == "unreachable":
            raise RunError(f"cannot fetch the robots.txt of {url.origin}: {_why(access)}")
        if access.result == "successful":
            _check_form(f"the robots.txt of {url.origin}", access)
        return access


@dataclass(slots=True)
class SiteSource:
    """One robots.txt and where it is. `problem`: why it could not be read the last time; empty if it could."""

    place: str
    url: Url | None = field(init=False)
    rules: SiteRules | None = field(init=False, default=None)
    problem: str = field(init=False, default="")
    was_read: bool = field(init=False, default=False)
    fetched: Future[Access] | None = field(init=False, default=None)
    """The answer to come, while it is fetched."""
    _stamp: Stamp | None = field(init=False, default=None)
    _seen: Stamp | None = field(init=False, default=None)
    _due_s: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        if not self.place:
            raise InputError("the place of a robots.txt is empty: name a file or a URL")
        self.url = parse_url(self.place) if "://" in self.place else None
        if "://" in self.place and self.url is None:
            raise InputError(f"not an http or https URL: {self.place}")
        if self.place == "-":
            raise InputError("the gate reads robots.txt again when it changes, so it cannot be standard input")

    def refresh(self, fetching: Fetching, passed_s: float) -> bool:
        """Reads a file again if it has changed. Of a URL, begins to fetch it when it is due, or takes over the answer
        if there is one by now. Returns whether the rules are others now."""
        if self.url is None:
            return self._is_changed(passed_s) and self._read(passed_s)
        if self.fetched is None:
            if passed_s >= self._due_s:
                self.fetched = fetching.begin(self.url)
            return False
        if not self.fetched.done():
            return False
        answer, self.fetched = self.fetched, None
        return self._take_over(answer.result, passed_s)

    def read_first(self, passed_s: float) -> None:
        """Reads a file for the first time. Raises InputError if it cannot be used."""
        self._stamp = self._seen = stamp_of(Path(self.place))
        access = _file_access(self.place)
        self._take_over(lambda: access, passed_s)

    def is_slow(self) -> None:
        """Notes that the first answer has not come in time."""
        self._note(f"the robots.txt of {self.url.origin if self.url else self.place} has not been fetched yet")

    def _read(self, passed_s: float) -> bool:
        self._stamp = self._seen = stamp_of(Path(self.place))
        return self._take_over(lambda: _file_access(self.place), passed_s)

    def _is_changed(self, passed_s: float) -> bool:
        """Whether a file is to be read again. One that has changed is read when it has stayed as it is between two
        calls: somebody may still be writing it. One that could not be read is tried again."""
        stamp = stamp_of(Path(self.place))
        is_settled, self._seen = stamp == self._seen, stamp
        return is_settled and (stamp != self._stamp or (bool(self.problem) and passed_s >= self._due_s))

    def _take_over(self, access_of: Callable[[], Access], passed_s: float) -> bool:
        """Returns whether the rules are others now. If there is no answer, they stay, and `problem` says why."""
        self.was_read = True
        try:
            access = access_of()
        except GoodbotError as error:
            self._note(str(error))
            self._due_s = passed_s + (RETRY_S if self.rules else FIRST_RETRY_S)
            return False
        self._due_s = passed_s + FETCH_EVERY_S
        was_away, self.problem = bool(self.problem), ""
        is_new = self.rules is None or _content(access) != _content(self.rules.access)
        if is_new:
            self.rules = SiteRules(access)
        if is_new or was_away:
            log = _log.warning if was_away else _log.info  # as the problem was a warning
            log("%s is in force, with %s", self.place, counted(len(access.rules.groups), "group"))
        return is_new

    def _note(self, problem: str) -> None:
        if self.problem != problem:
            kept = "the gate keeps the rules that it has" if self.rules else "the gate has no rules yet"
            _log.warning("%s; %s", problem, kept)
        self.problem = problem


class SiteSources:
    """The robots.txt of all sites: by host, and the one for every other host. `load` and `refresh` may be called in any
    thread, but one after the other; the other methods at any time."""

    def __init__(self, other: str | None, by_host: Mapping[str, str], fetch: Fetch) -> None:
        """Raises InputError for a place that is neither a file nor a URL."""
        self._fetching = Fetching(fetch)
        places = [*([other] if other is not None else []), *by_host.values()]
        self._places = {place: SiteSource(place) for place in places}
        self._other = other
        self._by_host = {_host(name): place for name, place in by_host.items()}

    def load(self, passed_s: float, most_s: float = FIRST_FETCH_S) -> None:
        """Reads all that have not been read. Raises InputError if a file cannot be used; a URL that cannot be
        fetched, or not within `most_s`, is tried again later."""
        unread = [source for source in self._places.values() if not source.was_read]
        for source in unread:
            if source.url is None:
                source.read_first(passed_s)
        until = time.monotonic() + most_s
        while unread := [source for source in unread if not source.was_read]:
            for source in unread:
                source.refresh(self._fetching, passed_s)
            open_ones = [source.fetched for source in unread if source.fetched is not None]
            wait(open_ones, max(0.0, until - time.monotonic()), FIRST_COMPLETED)
            if time.monotonic() > until:
                break
        for source in unread:
            source.is_slow()

    def take_over(self, before: "SiteSources") -> None:
        """Takes over what another object has read of the same places."""
        self._places |= {place: source for place, source in before._places.items() if place in self._places}

    def refresh(self, passed_s: float) -> bool:
        """Reads again what has changed. Returns whether any rules are others now. Waits for no server."""
        changed = [source.refresh(self._fetching, passed_s) for source in self._places.values()]
        return any(changed)

    def sites(self) -> Sites:
        """Returns the rules as they are now."""
        other = self._places[self._other].rules if self._other is not None else _NO_RULES
        return Sites(other, {host: self._places[place].rules for host, place in self._by_host.items()})

    def problems(self) -> dict[str, str]:
        """Returns for each place why it could not be read the last time; empty text if it could."""
        return {place: source.problem for place, source in self._places.items()}


def _why(access: Access) -> str:
    """Says why there is no robots.txt, without what that means to a robot."""
    return (
        f"status {access.status}" if access.status is not None else access.reason.removesuffix(".").rpartition(": ")[2]
    )


_NO_RULES: Final = SiteRules(Access.from_response(404, (), b"", 0.0))
"""Of a host for which no robots.txt was named: everything is open."""


def _host(name: str) -> str:
    """Returns the host as requests name it: in lower case, encoded as in DNS, without port."""
    url = parse_url(f"http://{name}/")
    return host_of(name if url is None else url.host)


def _content(access: Access) -> tuple[object, bytes]:
    return access.result, access.body


def _file_access(place: str) -> Access:
    body = read_bounded(Path(place), MOST_BYTES)
    if len(body) > MOST_BYTES:
        raise InputError(f"{place} has more than {MOST_BYTES // 1024**2} MiB, which is too long for a robots.txt")
    access = access_of_file(body)
    _check_form(place, access)
    return access


def _check_form(name: str, access: Access) -> None:
    """Raises InputError for a Web page and the like: as a robots.txt it would allow everything."""
    if access.rules.groups:
        return
    from goodbot.check.file_kind import form_of  # noqa: PLC0415  (brings all of `check`, 15 MB)

    if (form := form_of(access.body)) is not None:
        raise InputError(f"{name} is {form}, not a robots.txt")
