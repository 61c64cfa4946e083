"""Outcome of fetching robots.txt → rules in force, and until when (RFC 9309 §2.3.1, §2.4, §2.5)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from goodbot.exclusion.dialect import Dialect
from goodbot.exclusion.dialects import find_dialect
from goodbot.exclusion.freshness import LONGEST_FRESH_S, fresh_for_s, retry_after_s
from goodbot.exclusion.robotstxt import RobotsTxt
from goodbot.exclusion.verdict import AccessResult, Verdict

LIMIT_BYTES: Final = 500 * 1024
"""How much of a robots.txt counts: the least RFC 9309 §2.5 permits. Read one byte more, so that a cut is seen
and said."""

LAST_GOOD_S: Final = 30 * 24 * 3600.0
"""For how long a good copy rules while robots.txt is unreachable (RFC 9309 §2.3.1.4 gives 30 days as an
example)."""

RETRY_S: Final = 60.0
"""After how long an unreachable robots.txt is due again if the caller does not say."""

_EVERYTHING_CLOSED: Final = "User-agent: *\nDisallow: /"

_FAILURES: Final = {
    "dns": "its host name was not resolved",
    "connect": "no connection was made",
    "timeout": "no answer came in time",
    "reset": "the connection broke off",
    "tls": "no secure connection was made",
    "private-address": "its address is private and not open to this robot",
    "protocol": "the answer is not HTTP",
}


@dataclass(frozen=True)
class Access:
    """What a robot knows of one origin's robots.txt, and what follows. Plain columns: store them, call
    `Access(**columns)`.

    `fetched_at` is when it was last tried, `valid_until` when it is due again (Unix seconds). `status` is
    that of the answer, None if there was none. `reason` says in one sentence what follows, `section` what it
    rests on. `body` is the copy in force, at most `LIMIT_BYTES`, `good_at` when that copy was fetched (None:
    there is none), `cut_bytes` what was cut off it. `tries` counts the failed fetches in a row.
    """

    result: AccessResult
    dialect: str
    fetched_at: float
    valid_until: float
    status: int | None
    reason: str
    section: str
    body: bytes = b""
    good_at: float | None = None
    tries: int = 0
    cut_bytes: int = 0

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
    ) -> "Access":
        """What an answer to the fetch of robots.txt, received at `now`, means.

        Redirects are followed before; a 3xx given here says that the fetcher gave up. `headers` and `body`
        are those of the last answer, the content coding removed. `last_good` is what was known before, good
        or not. A server in trouble is due again after `retry_s` or its Retry-After, the longer of the two, at
        most 24 hours. Never raises on what a server sends; raises InputError for an unknown dialect.
        """
        headers = list(headers)
        reading = find_dialect(dialect)
        result = reading.access_result(status)
        if result == "unreachable":
            hold_s = max(retry_s, retry_after_s(headers, now) or 0.0)
            return _unreachable(f"its server answers {status}", status, now, hold_s, reading, last_good)
        unsaid_s = reading.fresh_s if result == "successful" else reading.absent_fresh_s
        valid_until = now + fresh_for_s(headers, now, unsaid_s, reading.longest_fresh_s)
        if result == "unavailable":
            return _unavailable(status, now, valid_until, reading)
        kept = _cut(bytes(body))
        cut_bytes = len(body) - len(kept)
        cut = f", of which {cut_bytes} bytes over the limit are left out" if cut_bytes else ""
        return cls(
            result="successful",
            dialect=dialect,
            fetched_at=now,
            valid_until=valid_until,
            status=status,
            reason=f"robots.txt was read{cut}.",
            section=reading.sections.cut if cut_bytes else reading.sections.read,
            body=kept,
            good_at=now,
            cut_bytes=cut_bytes,
        )

    @classmethod
    def from_failure(
        cls,
        kind: str,
        now: float,
        dialect: str = "rfc9309",
        last_good: "Access | None" = None,
        *,
        retry_s: float = RETRY_S,
    ) -> "Access":
        """What it means that there is no answer.

        `kind` is dns, connect, timeout, reset, tls, protocol, private-address: unreachable, due again after
        `retry_s` (at most 24 hours); or too-many-redirects: unavailable. Another kind counts as unreachable
        too. Raises InputError for an unknown dialect.
        """
        reading = find_dialect(dialect)
        if kind == "too-many-redirects":
            return _unavailable(None, now, now + LONGEST_FRESH_S, reading)
        return _unreachable(_FAILURES.get(kind, "no answer came"), None, now, retry_s, reading, last_good)

    @property
    def has_copy(self) -> bool:
        """Whether rules that were read are in force, from this fetch or an earlier one."""
        return self.good_at is not None

    @property
    def is_closed(self) -> bool:
        """Whether the whole site is closed without any rule: robots.txt is unreachable and no copy is known, or it is
        refused in a dialect in which that closes the site."""
        refused = self.result == "unavailable" and self.status in find_dialect(self.dialect).refusals
        return refused or (self.result == "unreachable" and not self.has_copy)

    @cached_property
    def robots(self) -> RobotsTxt:
        """The rules in force, parsed once. They allow everything if robots.txt is unavailable, and nothing
        where `is_closed`; why, only `verdict` says."""
        return RobotsTxt.parse(_EVERYTHING_CLOSED if self.is_closed else self.body, self.dialect)

    def verdict(self, url: str, agent: str) -> Verdict:
        """Whether `agent` may fetch `url` of this origin, and why. Never raises, whatever the texts."""
        verdict = replace(self.robots.verdict(url, agent), access=self.result, valid_until=self.valid_until)
        if self.result == "successful":
            return verdict
        if self.has_copy:
            reason = f"{verdict.reason[:-1]}, by the last good copy, while robots.txt is unreachable."
            return replace(verdict, reason=reason)
        if self.is_closed and verdict.allowed:  # robots.txt itself
            return verdict
        bare = replace(verdict, line=None, rule=None, pattern=None, group_line=None, group_agents=())
        return replace(bare, reason=self.reason, section=self.section)

    def in_dialect(self, name: str) -> "Access":
        """What the same answer means in another dialect. `valid_until` stays as it is.

        Pure. Raises InputError for an unknown dialect.
        """
        reading = find_dialect(name)
        there = replace(self, dialect=name)
        if self.result == "unavailable":
            bare = _unavailable(self.status, self.fetched_at, self.valid_until, reading)
            return replace(there, reason=bare.reason, section=bare.section)
        if self.result == "unreachable":
            return replace(there, section=reading.sections.unreachable)
        return replace(there, section=reading.sections.cut if self.cut_bytes else reading.sections.read)


def _unavailable(status: int | None, now: float, valid_until: float, reading: Dialect) -> Access:
    """RFC 9309 §2.3.1.3: without rules everything is allowed. §2.3.1.2: so it is when more than five redirects led
    nowhere. The dialects of the 1990s: a refusal closes the site."""
    sections = reading.sections
    if status is None or 300 <= status < 400:
        section, what = sections.redirected, "was not found behind its redirects, so everything is allowed"
    elif status in reading.refusals:
        section, what = sections.refused, f"is refused (status {status}), so the whole site is closed"
    else:
        section, what = sections.unavailable, f"is not to be had (status {status}), so everything is allowed"
    return Access(
        result="unavailable",
        dialect=reading.name,
        fetched_at=now,
        valid_until=valid_until,
        status=status,
        reason=f"robots.txt {what}.",
        section=section,
    )


def _unreachable(
    trouble: str, status: int | None, now: float, hold_s: float, reading: Dialect, last_good: Access | None
) -> Access:
    """§2.3.1.4: everything is closed, unless there is a good copy that is not too old: its rules stay in
    force."""
    # Deviation (Google, HTTP status codes): a site without a copy stays closed, where Google opens it after twelve
    # hours; and a copy rules from the first failure on, where Google does not crawl at all for twelve hours.
    copy = last_good if last_good and last_good.good_at is not None else None
    good_at = copy.good_at if copy else None
    if good_at is not None and now - good_at > LAST_GOOD_S:
        copy = good_at = None
    due = now + min(max(hold_s, 0.0), LONGEST_FRESH_S)
    follows = "the last good copy rules" if copy else "everything is closed"
    return Access(
        result="unreachable",
        dialect=reading.name,
        fetched_at=now,
        valid_until=due if good_at is None else min(due, good_at + LAST_GOOD_S),
        status=status,
        reason=f"robots.txt is unreachable ({trouble}), so {follows}.",
        section=reading.sections.unreachable,
        body=copy.body if copy else b"",
        good_at=good_at,
        tries=(last_good.tries if last_good else 0) + 1,
        cut_bytes=copy.cut_bytes if copy else 0,
    )


def _cut(body: bytes) -> bytes:
    """The lines that lie whole within the limit: half a pattern would say something else than its author
    did."""
    if len(body) <= LIMIT_BYTES:
        return body
    if body[LIMIT_BYTES : LIMIT_BYTES + 1] in (b"\r", b"\n"):
        return body[:LIMIT_BYTES]
    end = max(body.rfind(b"\n", 0, LIMIT_BYTES), body.rfind(b"\r", 0, LIMIT_BYTES))
    return body[: end + 1]
