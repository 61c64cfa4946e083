"""Decides which rules are in force after a fetch of robots.txt, and until when (RFC 9309 §2.3.1, §2.4, §2.5)."""

from collections.abc import Iterable
from dataclasses import InitVar, dataclass, fields, replace
from functools import cached_property
from typing import Any, Final, NamedTuple

from goodbot.exclusion.access.bot_walls import wall_of
from goodbot.exclusion.robotstxt.dialects import find_dialect
from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt
from goodbot.exclusion.validity.freshness import LONGEST_FRESH_S, fresh_for_s, retry_after_s
from goodbot.exclusion.validity.outage import LAST_GOOD_S, InForce, Outage
from goodbot.exclusion.verdict import AccessResult, Verdict

LIMIT_BYTES: Final = 500 * 1024
"""How much of a robots.txt counts: the minimum of RFC 9309 §2.5. Callers read one byte more, so that a cut is noticed
and reported."""

_UTF16_ENDS: Final = {b"\xff\xfe": (b"\r\0", b"\n\0"), b"\xfe\xff": (b"\0\r", b"\0\n")}
"""The line endings of UTF-16, by byte order mark."""

RETRY_S: Final = 60.0
"""The time from a failed fetch to the next one, unless the caller gives another."""

CLOCK_BACK_S: Final = 60.0
"""A robots.txt is fetched again if its fetch time is more than this ahead of the clock: the clock was set back."""

_EVERYTHING_OPEN: Final = b""
_EVERYTHING_CLOSED: Final = b"User-agent: *\nDisallow: /"

_NOT_MODIFIED: Final = 304
_MISSING: Final = frozenset((404, 410))

_FAILURES: Final = {
    "dns": "its host name could not be resolved",
    "connect": "no connection could be made",
    "timeout": "no answer arrived in time",
    "reset": "the connection was lost",
    "tls": "no secure connection could be made",
    "private-address": "its address is private, and this robot may not access it",
    "no-contact": "its host is public, and no contact is set",
    "protocol": "the answer is not valid HTTP",
    "forgotten": "its host was forgotten",
    "redirect-closed": "it redirects to a URL that the robot may not fetch",
    "held-off": "its host may not be requested yet",
    "host-rests": "its host asks for a longer wait than the robot accepts",
    "walled": "a bot wall answered",
}
_WALLED: Final = "walled: "
"""The beginning of `Access.failure` if a bot wall answered; the name of the wall follows."""


class _Consequence(NamedTuple):
    """What follows from a fetch and the fetches before it: what is in force, until when at most (Unix seconds), and
    why."""

    in_force: InForce
    until: float
    reason: str
    section: str


@dataclass(frozen=True)
class Access:
    """What a robot knows about one origin's robots.txt. The fields are plain columns: store them, and load them with
    `Access(**columns)`. What follows in its dialect is computed from them: `in_force`, `rules`, `reason`, `section`.

    `fetched_at` is the time of the last fetch, `valid_until` the time when the next one is due (Unix seconds). `status`
    is the status of the answer, None if there was none; then `failure` is the kind of failure. If a bot wall answered
    instead of robots.txt, `failure` is `walled: ` and the name of the wall. `body` is the last good copy, at most
    `LIMIT_BYTES`, `good_at` the time when it was fetched (None: there is no copy), `cut_bytes` how many bytes were cut
    off. The copy is kept while robots.txt is unreachable, whether it is in force or not, until no dialect would use it
    any more. `tries` counts the failed fetches in a row, `failing_since` is the time of the first of them (None: the
    last fetch did not fail), `site_answers` is whether the site recently answered requests for other pages.

    `detail` is not a column: it describes this failure for `reason`, and is lost when an `Access` is stored.
    """

    result: AccessResult
    dialect: str
    fetched_at: float
    valid_until: float
    status: int | None = None
    failure: str | None = None
    body: bytes = b""
    good_at: float | None = None
    cut_bytes: int = 0
    tries: int = 0
    failing_since: float | None = None
    site_answers: bool = False
    detail: InitVar[str] = ""

    def __post_init__(self, detail: str) -> None:
        object.__setattr__(self, "detail", detail)  # `replace` finds it there

    @classmethod
    def from_response(
        cls,
        status: int,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        now: float,
        dialect: str = "rfc9309",
        last_good: "Access | None" = None,
        *,
        retry_s: float = RETRY_S,
        site_answers: bool = False,
        conditional: bool = True,
    ) -> "Access":
        """Makes an `Access` from an answer to the request for robots.txt, received at `now`.

        The caller follows redirects first; a status 3xx means that it gave up. `headers` and `body` are those of the
        last answer, without content coding. `last_good` is the previous `Access`, even of a failed fetch: it may still
        hold the last good copy. After a server error the next fetch is due after `retry_s` or Retry-After, whichever is
        longer, but within 24 hours. `site_answers`: the site recently answered requests for other pages (False if
        unknown); it matters only in dialect `google`, 30 days after the first failure.

        A 304 confirms the good copy of `last_good` if the request was `conditional` (If-None-Match, If-Modified-Since);
        without a copy, or after an unconditional request, it counts as unreachable. So does a challenge page of a bot
        wall, whatever its status. Never raises on what a server sends; raises InputError for an unknown dialect.
        """
        headers = list(headers)
        reading = find_dialect(dialect)
        if status == _NOT_MODIFIED and conditional and last_good is not None and last_good.good_at is not None:
            valid_until = now + fresh_for_s(headers, now, reading.fresh_s, reading.longest_fresh_s)
            confirmed = cls("successful", dialect, now, valid_until, status, good_at=now)
            return replace(confirmed, body=last_good.body, cut_bytes=last_good.cut_bytes)
        wall = wall_of(status, headers, body)
        result = reading.access_result(status) if wall is None else "unreachable"
        if result == "unreachable":
            due = _due(now, max(retry_s, retry_after_s(headers, now) or 0.0))
            failure = None if wall is None else _WALLED + wall.name
            tried = cls(result, dialect, now, due, status, failure=failure, site_answers=site_answers)
            return tried._failed_after(last_good)
        if result == "unavailable":
            return cls(result, dialect, now, now + fresh_for_s(headers, now), status)
        kept = cut(bytes(body))
        valid_until = now + fresh_for_s(headers, now, reading.fresh_s, reading.longest_fresh_s)
        cut_bytes = len(body) - len(kept)
        return cls(result, dialect, now, valid_until, status, body=kept, good_at=now, cut_bytes=cut_bytes)

    @classmethod
    def from_failure(
        cls,
        kind: str,
        now: float,
        dialect: str = "rfc9309",
        last_good: "Access | None" = None,
        *,
        retry_s: float = RETRY_S,
        site_answers: bool = False,
        detail: str = "",
    ) -> "Access":
        """Makes an `Access` from a fetch of robots.txt without an answer.

        If `kind` is too-many-redirects, robots.txt is unavailable. All other kinds (dns, connect, timeout, reset, tls,
        protocol, private-address, walled, …) mean unreachable; the next fetch is due after `retry_s`, within 24 hours.
        `site_answers` is as in `from_response`; `detail` says in words what failed. Raises InputError for an unknown
        dialect.
        """
        find_dialect(dialect)
        if kind == "too-many-redirects":
            return cls("unavailable", dialect, now, now + LONGEST_FRESH_S, failure=kind)
        due = _due(now, retry_s)
        tried = cls("unreachable", dialect, now, due, failure=kind, site_answers=site_answers, detail=detail)
        return tried._failed_after(last_good)

    def is_fresh(self, now: float) -> bool:
        """Whether this may still be used at `now` (Unix seconds). If not, fetch robots.txt again: `valid_until` has
        come, or the clock was set back to more than `CLOCK_BACK_S` before `fetched_at`."""
        return self.fetched_at - CLOCK_BACK_S <= now < self.valid_until

    @property
    def in_force(self) -> InForce:
        """What is in force: `rules` (of this answer, or of the last good copy), or, without any rule, `open`
        (everything is allowed) or `closed` (nothing is)."""
        return self._consequence.in_force

    @property
    def is_closed(self) -> bool:
        """Whether the whole site is disallowed without any rule: robots.txt is unreachable and the dialect uses no
        copy, or the server refuses it and the dialect then disallows the whole site."""
        return self.in_force == "closed"

    @property
    def wall(self) -> str | None:
        """The name of the bot wall that answered instead of robots.txt; None if no known wall did."""
        failure = self.failure or ""
        return failure.removeprefix(_WALLED) if failure.startswith(_WALLED) else None

    @property
    def reason(self) -> str:
        """One sentence: the result of the fetch, and its consequence."""
        return self._consequence.reason

    @property
    def section(self) -> str:
        """The section that `reason` follows (`"RFC 9309 2.3.1.4"`; docs/conformance.md lists all sections)."""
        return self._consequence.section

    @cached_property
    def rules(self) -> RobotsTxt:
        """The rules in force, parsed once. They allow everything if `open` is in force, and nothing if `closed` is;
        only `verdict` gives the reason."""
        copies = {"rules": self.body, "open": _EVERYTHING_OPEN, "closed": _EVERYTHING_CLOSED}
        return RobotsTxt.parse(copies[self.in_force], self.dialect)

    def verdict(self, url: str, agent: str) -> Verdict:
        """Whether `agent` may fetch `url` of this origin, and why. Never raises, whatever the texts."""
        in_force, section, reason = self.in_force, self.section, self.reason
        if in_force == "rules":
            verdict = self.rules.verdict(url, agent, self.result, self.valid_until)
            if self.result == "successful":
                return verdict
            reason = f"{verdict.reason[:-1]}, according to the last good copy, while robots.txt is unreachable."
            return replace(verdict, reason=reason)
        if in_force == "closed":
            verdict = self.rules.verdict(url, agent, self.result, self.valid_until)
            if verdict.allowed:  # robots.txt itself
                return verdict
        return Verdict(
            in_force == "open",
            line=None,
            rule=None,
            reason=reason,
            section=section,
            access=self.result,
            valid_until=self.valid_until,
            url=url,
            agent=agent,
            dialect=self.dialect,
        )

    def in_dialect(self, name: str) -> "Access":
        """Returns what the same fetches mean in another dialect. `valid_until` may be earlier there, never later. The
        dialects treat 402 differently: after a 402 the result lacks the last good copy and the count of failures.

        Pure. Raises InputError for an unknown dialect.
        """
        reading, status = find_dialect(name), self.status
        by_status = self.failure is None and self.result != "successful"
        if status is not None and by_status and reading.access_result(status) != self.result:
            anew = Access.from_response(status, (), b"", self.fetched_at, name, site_answers=self.site_answers)
            return replace(anew, valid_until=min(anew.valid_until, self.valid_until))
        return replace(self, dialect=name)._within_bounds()

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: the columns and the detail, without what was computed from them."""
        return {**{item.name: getattr(self, item.name) for item in fields(self)}, "detail": vars(self)["detail"]}

    def _failed_after(self, last: "Access | None") -> "Access":
        """Adds to this failed fetch what `last` knows: the run of failures that it continues, and the last good
        copy."""
        if last is None:
            return replace(self, tries=1, failing_since=self.fetched_at)._within_bounds()
        since = self.fetched_at if last.failing_since is None else last.failing_since
        counted = replace(self, tries=last.tries + 1, failing_since=since)
        if last.good_at is not None and self.fetched_at < max(since, last.good_at) + LAST_GOOD_S:
            counted = replace(counted, body=last.body, good_at=last.good_at, cut_bytes=last.cut_bytes)
        return counted._within_bounds()

    def _within_bounds(self) -> "Access":
        return replace(self, valid_until=min(self.valid_until, self._consequence.until))

    @cached_property
    def _consequence(self) -> _Consequence:
        if self.result == "successful":
            return _after_success(self)
        return _without_file(self) if self.result == "unavailable" else _during_outage(self)


def _after_success(access: Access) -> _Consequence:
    """robots.txt was read (RFC 9309 §2.3.1.1); the reason reports what was cut (§2.5)."""
    reading = find_dialect(access.dialect)
    until = access.fetched_at + reading.longest_fresh_s
    if not access.cut_bytes:
        return _Consequence("rules", until, "robots.txt was read.", reading.sections.read)
    cut = f"robots.txt was read, except {access.cut_bytes} bytes over the limit."
    return _Consequence("rules", until, cut, reading.sections.cut)


def _without_file(access: Access) -> _Consequence:
    """Without a robots.txt (RFC 9309 §2.3.1.3), or without one behind its redirects (§2.3.1.2), everything is allowed.
    In the dialects of the 1990s a refusal disallows everything."""
    reading, status = find_dialect(access.dialect), access.status
    until = access.fetched_at + LONGEST_FRESH_S
    sections = reading.sections
    if status is None or 300 <= status < 400:
        reason = "No robots.txt was found after following its redirects, so everything is allowed."
        return _Consequence("open", until, reason, sections.redirected)
    if status in reading.refusals:
        reason = f"robots.txt is refused (status {status}), so the whole site is disallowed."
        return _Consequence("closed", until, reason, sections.refused)
    missing = (
        f"There is no robots.txt ({status})" if status in _MISSING else f"robots.txt is unavailable (status {status})"
    )
    reason = f"{missing}, so everything is allowed."
    return _Consequence("open", until, reason, sections.unavailable)


def _during_outage(access: Access) -> _Consequence:
    """robots.txt is unreachable (RFC 9309 §2.3.1.4); the dialects differ in what is in force then."""
    reading = find_dialect(access.dialect)
    since = access.fetched_at if access.failing_since is None else access.failing_since
    hold = reading.outage(Outage(since, access.fetched_at, access.good_at, access.site_answers))
    if access.wall is not None:
        trouble = f"a bot wall answered: {access.wall}"
    elif access.status is None:
        trouble = _FAILURES.get(access.failure or "", "no answer arrived")
    else:
        trouble = f"its server answered {access.status}"
    reason = f"robots.txt is unreachable ({trouble}), so {hold.words}."
    if detail := vars(access)["detail"]:
        reason = f"robots.txt is unreachable, so {hold.words}: {detail}."
    return _Consequence(hold.in_force, hold.until, reason, reading.sections.unreachable)


def _due(now: float, hold_s: float) -> float:
    """Returns when the next fetch is due after a server error: not in the past, and within 24 hours."""
    return now + min(max(hold_s, 0.0), LONGEST_FRESH_S)


def cut(body: bytes) -> bytes:
    """Returns the lines that lie completely within the limit: half a pattern would not mean what its author meant."""
    if len(body) <= LIMIT_BYTES:
        return body
    ends = _UTF16_ENDS.get(body[:2], (b"\r", b"\n"))
    width = len(ends[0])
    if body[LIMIT_BYTES : LIMIT_BYTES + width] in ends:
        return body[:LIMIT_BYTES]
    return body[: max(_after_last(end, body) for end in ends)]


def _after_last(end: bytes, body: bytes) -> int:
    """Returns the position after the last line end within the limit; in UTF-16 at a whole code unit."""
    at = body.rfind(end, 0, LIMIT_BYTES)
    while at >= 0 and at % len(end):
        at = body.rfind(end, 0, at + len(end) - 1)
    return at + len(end) if at >= 0 else 0
