"""Pure: when a page is asked for again, and what becomes of one that was visited before.

**The wait.** A page that changes every `t` seconds is best visited every `sqrt(p * t)`: so the pages of a crawl are
fresher together, for the same number of visits, than if each were visited in proportion to its changes (Cho and
Garcia-Molina, Effective page refresh policies for Web crawlers, TODS 2003, for `p` small against `t`). `p` is the least
wait there is, `revisit_least`. The wait itself stands for what is known of `t`: `wait² / p`. Each visit corrects it, up
the slope of the likelihood of what was found, where `x = elapsed / t` changes were to be expected: by `2**x` if there
was none, by `2**(-x / (e**x - 1))` if there was one. So a change that was no surprise says little, one that was
halves the wait; no change makes it grow, the more the shorter it is, `revisit_growth` at most.
"""

from dataclasses import replace
from hashlib import blake2b
from math import exp2, expm1, sqrt
from typing import Final, NamedTuple

from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.exclusion.validity.freshness import STALE_FRESH_S, fresh_for_s
from goodbot.values import Event, Headers, LastVisit, LeasedUrl, Outcome, Page, Response

VALIDATOR_MOST: Final = 1024
"""Characters of a validator that is sent back; a longer one is none."""
PERMANENT: Final = (301, 308)
_WAIT_LEAST_S: Final = 1e-3
"""A shorter wait is as good as none."""
_EXPECTED_MOST: Final = 50.0
"""Changes to be expected beyond which it makes no difference."""


class ChangeHints(NamedTuple):
    """What an answer, its page or a sitemap say of the next visit. `interval_s`: how often it changes; `fresh_s`: for
    how long this copy may be used (RFC 9111); `static`: it does not change."""

    interval_s: float | None = None
    fresh_s: float = 0.0
    static: bool = False
    available_until: float | None = None


class NextVisit(NamedTuple):
    """The next visit, and one sentence that says why then. Times in Unix seconds."""

    due_at: float
    interval_s: float
    reason: str


def hints_of(
    settings: Settings,
    headers: Headers,
    now: float,
    directives: Directives | None = None,
    listed_s: float | None = None,
) -> ChangeHints:
    """`listed_s` is what a sitemap says; REVISIT-AFTER of the page comes before it. Less than a minute, `no-store` and
    the like ask for nothing: nobody means by them that a robot should come at once."""
    fresh_s = fresh_for_s(headers, now, default_s=0.0, longest_s=settings.revisit_most)
    said = directives or Directives()
    return ChangeHints(
        listed_s if said.revisit_after_s is None else said.revisit_after_s,
        fresh_s if fresh_s > STALE_FRESH_S else 0.0,
        said.document_state == "static",
        said.unavailable_after,
    )


def plan_visit(
    settings: Settings, before: LastVisit | None, changed: bool, hints: ChangeHints, now: float
) -> NextVisit:
    """When a page that was answered `now` is asked for again. `before`: what was known of it; None: nothing."""
    if hints.static:
        interval_s, why = settings.revisit_most, "it is said not to change"
    elif before is None:
        said = hints.interval_s
        interval_s = _bounded(settings, settings.revisit_first if said is None else said)
        why = "visited for the first time" if said is None else f"it is said to change every {_span(said)}"
    else:
        interval_s = _bounded(settings, _weighed(_learned(settings, before, changed, now), hints.interval_s, changed))
        why = f"{'changed' if changed else 'unchanged'} after {_span(now - before.at)}"
    due_at = now + interval_s
    if hints.fresh_s > interval_s:
        due_at, why = now + hints.fresh_s, f"{why}; its server calls this copy fresh until then"
    if hints.available_until is not None and now < hints.available_until < due_at:
        due_at, why = hints.available_until, f"{why}; it is not to be shown any more then"
    return NextVisit(due_at, interval_s, f"{why}: due again in {_span(due_at - now)}")


def _learned(settings: Settings, before: LastVisit, changed: bool, now: float) -> float:
    """See above. A wait of nothing, or a pace of nothing, leaves nothing to be expected."""
    wait_s, expected = before.interval_s, 0.0
    if wait_s > _WAIT_LEAST_S and settings.revisit_least > 0:
        expected = max(now - before.at, 0.0) / wait_s * (settings.revisit_least / wait_s)
    expected = min(expected, _EXPECTED_MOST)
    if not changed:
        return wait_s * min(exp2(expected), settings.revisit_growth)
    return wait_s * exp2(-expected / expm1(expected) if expected > 0 else -1.0)


def _weighed(interval_s: float, said_s: float | None, changed: bool) -> float:
    """What is said counts where the page bears it out: half of the way, as times go. Else what was seen does."""
    agrees = said_s is not None and (0 < said_s < interval_s if changed else said_s > interval_s)
    return sqrt(interval_s * said_s) if agrees and said_s is not None else interval_s


def _bounded(settings: Settings, interval_s: float) -> float:
    return min(max(interval_s, settings.revisit_least), settings.revisit_most)


# ---- what becomes of a page -----------------------------------------------------------------------------------------


def text_digest(page: Page) -> str | None:
    """Of title and text, both as read; None if there are none. Bytes may change with every request (a token, a nonce)
    where these do not. 12 µs for 5,000 characters."""
    if not (page.text or page.title):
        return None
    said = f"{page.title}\0{page.text}".encode("utf-8", "surrogatepass")
    return blake2b(said, digest_size=12).hexdigest()


def asked_with_conditions(headers: Headers) -> bool:
    """Whether a request may be answered with 304."""
    return any(name.lower() in ("if-none-match", "if-modified-since") for name, _ in headers)


class Revisits:
    """Settles outcomes of one crawl with what their URLs were before. `keeps`: the crawl has an archive."""

    def __init__(self, settings: Settings, keeps: bool) -> None:
        self._settings = settings
        self._keeps = keeps

    def conditions(self, seen: LastVisit | None) -> Headers:
        """The validators of the last copy as they were received (RFC 9110 13.1.2, 13.1.3), if that copy is there."""
        if seen is None or (self._keeps and seen.record is None):
            return ()
        fields = (("If-None-Match", seen.etag), ("If-Modified-Since", seen.modified))
        return tuple((name, value) for name, value in fields if value is not None and _can_be_sent(value))

    def visited(
        self,
        leased: LeasedUrl,
        outcome: Outcome,
        response: Response,
        directives: Directives | None = None,
        text: str | None = None,
        *,
        rendered: bool = False,
    ) -> Outcome:
        """A page, or a redirect. One of the same bytes as before stays in the index as it is; of one that a browser
        has `rendered` only the text tells, and no validator."""
        before, settings = leased.seen, self._settings
        hints = hints_of(settings, response.headers, outcome.at, directives, leased.interval_s)
        hints = hints._replace(static=hints.static or response.status in PERMANENT)
        same_bytes = before is not None and before.digest == outcome.digest and before.title == outcome.title
        same_text = before is not None and before.text == text and text is not None
        plan = plan_visit(settings, before, not (same_text if rendered else same_bytes or same_text), hints, outcome.at)
        kept = before is not None and same_bytes and not rendered and (before.record is not None or not self._keeps)
        validates = 200 <= response.status < 300 and not rendered and response.truncated != "disconnect"
        seen = LastVisit(
            at=outcome.at,
            due_at=plan.due_at,
            interval_s=plan.interval_s,
            changed_at=before.changed_at if kept and before is not None else outcome.at,
            etag=response.header("etag") if validates else None,
            modified=response.header("last-modified") if validates else None,
            digest=outcome.digest,
            record=before.record if kept and before is not None else None,
            title=outcome.title,
            available_until=hints.available_until,
            indexed=outcome.to_index,
            text=text,
            rendered=rendered,
        )
        outcome = replace(outcome, seen=seen, record=seen.record)
        if before is None:
            said = hints != ChangeHints()
            return replace(outcome, events=_told(outcome, plan.reason)) if said else outcome
        unchanged = kept and before.indexed == outcome.to_index
        return replace(
            outcome,
            to_index=outcome.to_index and not unchanged,
            from_index=before.indexed and not outcome.to_index,
            unchanged=unchanged,
            revisit=True,
            events=_told(outcome, plan.reason),
        )

    def not_modified(
        self, leased: LeasedUrl, before: LastVisit, outcome: Outcome, response: Response, directives: Directives
    ) -> Outcome:
        """A 304: the page is what it was; what its header says of it counts from now on (RFC 9111 4.3.4). One that is
        not to be shown any more leaves the index, and is asked for as a whole from then on: it may come back."""
        until = before.available_until if directives.unavailable_after is None else directives.unavailable_after
        hints = hints_of(self._settings, response.headers, outcome.at, None, leased.interval_s)
        plan = plan_visit(self._settings, before, False, hints._replace(available_until=until), outcome.at)
        leaves = before.indexed and not (directives.index and (until is None or outcome.at < until))
        seen = replace(
            before,
            at=outcome.at,
            due_at=plan.due_at,
            interval_s=plan.interval_s,
            etag=None if leaves else response.header("etag") or before.etag,
            modified=None if leaves else response.header("last-modified") or before.modified,
            gone=0,
            available_until=until,
            indexed=before.indexed and not leaves,
        )
        outcome = _as_before(outcome, before)
        if leaves:
            said = "the page asks not to be indexed" if not directives.index else "it is not to be shown any more"
            index = Event(outcome.at, "index", "no", f"{said}: it leaves the index")
            outcome = replace(outcome, events=(*outcome.events, index))
        return replace(outcome, seen=seen, from_index=leaves, unchanged=not leaves, events=_told(outcome, plan.reason))

    def settle(self, leased: LeasedUrl, outcome: Outcome) -> Outcome:
        """Any outcome that brought no page: what was visited before is kept through trouble, and taken out of the index
        where its site wants it."""
        before = leased.seen
        if before is None:
            return outcome
        if outcome.state == "failed":
            return self._kept(outcome, before)
        expired = before.available_until is not None and before.available_until <= outcome.at
        if outcome.state == "ready":
            return replace(outcome, seen=before, from_index=before.indexed and expired, revisit=True)
        outcome = replace(outcome, from_index=before.indexed, revisit=True)
        if outcome.state == "gone":
            return self._gone(outcome, before)
        if outcome.state == "disallowed":
            return self._closed(outcome, before)
        return outcome

    def _kept(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Trouble takes nothing away, but what was to go by now. The next wait is as long as all since the last answer:
        twice as long each time."""
        due_at = self._later(before, outcome.at)
        expired = before.available_until is not None and before.available_until <= outcome.at
        leaves = before.indexed and expired
        seen = replace(before, due_at=due_at, indexed=before.indexed and not leaves)
        if leaves:
            seen = replace(seen, etag=None, modified=None)
        elif before.available_until is not None and not expired:
            seen = replace(seen, due_at=min(due_at, before.available_until))
        stays = "it was not to be shown any more by now, and leaves the index" if leaves else "its last copy is kept"
        reason = f"{stays}: due again in {_span(seen.due_at - outcome.at)}"
        outcome = replace(_as_before(outcome, before), why=f"{outcome.why}; {stays}", tries=0)
        return replace(outcome, seen=seen, from_index=leaves, unchanged=not leaves, events=_told(outcome, reason))

    def _gone(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Out of the index at once; asked for some times more, as sites lose pages by mistake."""
        gone = before.gone + 1
        if gone > self._settings.gone_tries:
            return replace(outcome, events=_told(outcome, f"gone {gone} times in a row: not asked for any more"))
        wait_s = min(
            _bounded(self._settings, self._settings.revisit_first) * 2.0 ** (gone - 1), self._settings.revisit_most
        )
        seen = _without_copy(replace(before, at=outcome.at, due_at=outcome.at + wait_s, gone=gone))
        left = f"{gone} of {self._settings.gone_tries + 1} times gone: asked for again in {_span(wait_s)}"
        return replace(outcome, seen=seen, events=_told(outcome, left))

    def _closed(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Its robots.txt has closed the page, and may open it again: looking there now and then asks for no page."""
        due_at = self._later(before, outcome.at)
        reason = f"it leaves the index; its robots.txt is looked at again in {_span(due_at - outcome.at)}"
        seen = _without_copy(replace(before, due_at=due_at))
        return replace(outcome, seen=seen, events=_told(outcome, reason))

    def _later(self, before: LastVisit, now: float) -> float:
        return now + _bounded(self._settings, max(before.interval_s, now - before.at))


def _as_before(outcome: Outcome, before: LastVisit) -> Outcome:
    """Visited, with what the last answer brought that was one."""
    return replace(
        outcome, state="visited", digest=before.digest, title=before.title, record=before.record, revisit=True
    )


def _without_copy(seen: LastVisit) -> LastVisit:
    """Asked for as a whole, and in no index."""
    return replace(seen, etag=None, modified=None, indexed=False)


def _told(outcome: Outcome, reason: str) -> tuple[Event, ...]:
    return (*outcome.events, Event(outcome.at, "settle", "revisit", reason))


def _can_be_sent(value: str) -> bool:
    """Whether a field value may stand in a request (RFC 9110 5.5), and is of a sensible length."""
    printable = all(" " <= char <= "~" or "\xa0" <= char <= "\xff" or char == "\t" for char in value)
    return 0 < len(value) <= VALIDATOR_MOST and printable


def _span(seconds: float) -> str:
    """`90 s`, `5 min`, `36 h`, `5 days`."""
    for most, unit_s, name in ((120, 1, "s"), (7200, 60, "min"), (2 * 86400, 3600, "h")):
        if seconds < most:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{seconds / 86400:.0f} days"
