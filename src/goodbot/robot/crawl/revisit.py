"""Decides when a page is visited again, and what becomes of a page that was visited before. Pure.

**The wait.** A page that changes every `t` seconds is best visited every `sqrt(p * t)`: for the same number of visits,
the pages of a crawl are then fresher than if each were visited in proportion to its changes (Cho and Garcia-Molina,
Effective page refresh policies for Web crawlers, TODS 2003, for `p` small compared with `t`). `p` is the minimum wait,
`revisit_least`. The wait also represents the estimate of `t`, which is `wait² / p`. Each visit corrects it along the
gradient of the likelihood of its result, where `x = elapsed / t` changes were expected: by `2**x` if the page had not
changed, by `2**(-x / (e**x - 1))` if it had. So an expected change has little effect, and an unexpected one halves the
wait. Without a change the wait grows, short waits more than long ones, by `revisit_growth` at most.
"""

from dataclasses import replace
from hashlib import blake2b
from math import exp2, expm1, sqrt
from typing import Final, NamedTuple

from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.exclusion.validity.freshness import STALE_FRESH_S, fresh_for_s
from goodbot.robot.crawl.wishes import Refusal, Wishes, no_search_refusal, of_answer, were_in_robots_txt
from goodbot.values import Event, Headers, LastVisit, LeasedUrl, Outcome, Page, Response

MAX_VALIDATOR_CHARS: Final = 1024
"""A longer validator is ignored."""
PERMANENT: Final = (301, 308)
WHOLE_AGAIN_S: Final = 30 * 86400.0
"""After this time a page is requested without conditions, although it may not have changed: some servers leave
X-Robots-Tag and similar fields out of a 304. See docs/decisions/0044."""
NO_WISHES: Final = Wishes({})
_MIN_WAIT_S: Final = 1e-3
"""A shorter wait counts as 0."""
_MAX_EXPECTED_CHANGES: Final = 50.0
"""More expected changes than this make no difference."""


class ChangeHints(NamedTuple):
    """What an answer, its page or a sitemap state about the next visit. `interval_s`: how often the page changes;
    `fresh_s`: how long this copy stays fresh (RFC 9111); `static`: the page does not change; `available_until`: it
    must not be shown after that time; `permanent`: it redirects for good."""

    interval_s: float | None = None
    fresh_s: float = 0.0
    static: bool = False
    available_until: float | None = None
    permanent: bool = False


class NextVisit(NamedTuple):
    """The time of the next visit (Unix seconds), the wait chosen, and the reason in one sentence."""

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
    """Collects the hints of an answer. `listed_s`: the interval that a sitemap states; REVISIT-AFTER of the page
    overrides it. A freshness of less than a minute, `no-store` and similar are ignored: they are not meant to make a
    robot come back at once."""
    fresh_s = fresh_for_s(headers, now, default_s=0.0, longest_s=settings.revisit_most)
    stated = directives or Directives()
    return ChangeHints(
        listed_s if stated.revisit_after_s is None else stated.revisit_after_s,
        fresh_s if fresh_s > STALE_FRESH_S else 0.0,
        stated.document_state == "static",
        stated.unavailable_after,
    )


def plan_visit(
    settings: Settings, before: LastVisit | None, changed: bool, hints: ChangeHints, now: float
) -> NextVisit:
    """Decides when a page that was answered `now` is visited again. `before`: its previous visit, or None."""
    if hints.permanent:
        interval_s, why = settings.revisit_most, "its redirect is permanent"
    elif hints.static:
        interval_s, why = settings.revisit_most, "its page says that it does not change"
    elif before is None:
        stated_s = hints.interval_s
        interval_s = _bounded(settings, settings.revisit_first if stated_s is None else stated_s)
        why = "first visit" if stated_s is None else f"its site says that it changes every {_duration(stated_s)}"
    else:
        interval_s = _bounded(
            settings, _combined_with_hint(_corrected_wait(settings, before, changed, now), hints.interval_s, changed)
        )
        why = f"{'changed' if changed else 'unchanged'} after {_duration(now - before.at)}"
    due_at = now + interval_s
    if hints.fresh_s > interval_s:
        due_at, why = now + hints.fresh_s, f"{why}; its server says that this copy is fresh until then"
    if hints.available_until is not None and now < hints.available_until < due_at:
        due_at, why = hints.available_until, f"{why}; it is not to be shown after that"
    return NextVisit(due_at, interval_s, f"{why}: due again in {_duration(due_at - now)}")


def _corrected_wait(settings: Settings, before: LastVisit, changed: bool, now: float) -> float:
    """Returns the wait corrected by the last visit (see the top of this module). With a wait or minimum wait of 0, no
    change is expected."""
    wait_s, expected = before.interval_s, 0.0
    if wait_s > _MIN_WAIT_S and settings.revisit_least > 0:
        expected = max(now - before.at, 0.0) / wait_s * (settings.revisit_least / wait_s)
    expected = min(expected, _MAX_EXPECTED_CHANGES)
    if not changed:
        return wait_s * min(exp2(expected), settings.revisit_growth)
    return wait_s * exp2(-expected / expm1(expected) if expected > 0 else -1.0)


def _combined_with_hint(interval_s: float, stated_s: float | None, changed: bool) -> float:
    """Returns the geometric mean of the wait and the stated interval if the last visit supports the statement (changed,
    and the stated interval is shorter; or unchanged, and it is longer), else the wait."""
    agrees = stated_s is not None and (0 < stated_s < interval_s if changed else stated_s > interval_s)
    return sqrt(interval_s * stated_s) if agrees and stated_s is not None else interval_s


def _bounded(settings: Settings, interval_s: float) -> float:
    return min(max(interval_s, settings.revisit_least), settings.revisit_most)


# ---- outcomes of pages visited before --------------------------------------------------------------------------------


def text_digest(page: Page) -> str | None:
    """Returns a digest of the title and the text as read; None if there are none. The bytes of a page may change with
    every request (a token, a nonce) while these do not. Takes 12 µs for 5,000 characters."""
    if not (page.text or page.title):
        return None
    content = f"{page.title}\0{page.text}".encode("utf-8", "surrogatepass")
    return blake2b(content, digest_size=12).hexdigest()


def is_conditional(headers: Headers) -> bool:
    """Whether a request had conditions, so that its answer may be a 304."""
    return any(name.lower() in ("if-none-match", "if-modified-since") for name, _ in headers)


class Revisits:
    """Completes the outcomes of one crawl with the previous visits of their URLs. `keeps`: the crawl has an archive."""

    def __init__(self, settings: Settings, keeps: bool) -> None:
        self._settings = settings
        self._keeps = keeps

    def conditions(self, seen: LastVisit | None, now: float, *, in_search: bool = True) -> Headers:
        """Returns the validators of the last copy as received (RFC 9110 13.1.2, 13.1.3), if the archive has that copy.
        There are none if the whole page is needed: if its header fields stated wishes, since a 304 does not show that a
        field was dropped; if robots.txt kept the page out of search and no longer does (`in_search`); or if the page
        was not sent for `WHOLE_AGAIN_S`."""
        if seen is None or (self._keeps and seen.record is None):
            return ()
        whole_at = seen.changed_at if seen.whole_at is None else seen.whole_at
        if now - whole_at >= WHOLE_AGAIN_S or of_answer(seen.wishes) or (in_search and were_in_robots_txt(seen.wishes)):
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
        wishes: Wishes = NO_WISHES,
    ) -> Outcome:
        """Returns the outcome of a page or redirect that was answered. A page with the same bytes and wishes as before
        stays in the index as it is. For `rendered` pages only the text shows a change; validators do not apply."""
        before, settings = leased.seen, self._settings
        hints = hints_of(settings, response.headers, outcome.at, directives, leased.interval_s)
        hints = hints._replace(permanent=response.status in PERMANENT)
        same_bytes = before is not None and before.digest == outcome.digest and before.title == outcome.title
        same_text = before is not None and before.text == text and text is not None
        plan = plan_visit(settings, before, not (same_text if rendered else same_bytes or same_text), hints, outcome.at)
        kept = before is not None and same_bytes and not rendered and (before.record is not None or not self._keeps)
        kept = kept and before is not None and of_answer(before.wishes) == of_answer(wishes.text)
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
            wishes=wishes.text,
            whole_at=outcome.at,
        )
        if before is None:
            events = _with_revisit(outcome, plan.reason) if hints != ChangeHints() else outcome.events
            return replace(outcome, seen=seen, record=seen.record, events=events)
        unchanged = kept and before.indexed == outcome.to_index
        return replace(
            outcome,
            seen=seen,
            record=seen.record,
            to_index=outcome.to_index and not unchanged,
            from_index=before.indexed and not outcome.to_index,
            unchanged=unchanged,
            revisit=True,
            events=_with_revisit(outcome, plan.reason),
        )

    def not_modified(
        self,
        leased: LeasedUrl,
        before: LastVisit,
        outcome: Outcome,
        response: Response,
        directives: Directives,
        wishes: Wishes = NO_WISHES,
    ) -> Outcome:
        """Returns the outcome of a page answered with 304: it is unchanged, and the header fields of the 304 apply from
        now on (RFC 9111 4.3.4).

        A page that must not be shown any longer leaves the index. It is requested without conditions from then on,
        since it may come back. If the page may be shown, but the 304 states wishes about how, the whole page is
        requested at once, since its last answer stated none (`conditions`); if they hide something, it leaves the index
        until then."""
        until = before.available_until if directives.unavailable_after is None else directives.unavailable_after
        hints = hints_of(self._settings, response.headers, outcome.at, None, leased.interval_s)
        plan = plan_visit(self._settings, before, False, hints._replace(available_until=until), outcome.at)
        refusal = _refusal(until, outcome.at, directives, wishes)
        rereads = refusal is None and wishes.are_stated
        leaves = before.indexed and (refusal is not None or (rereads and wishes.hide))
        drops = rereads or (leaves and not wishes.in_robots_txt)
        seen = replace(
            before,
            at=outcome.at,
            due_at=min(before.due_at, outcome.at) if rereads else plan.due_at,
            interval_s=plan.interval_s,
            etag=None if drops else response.header("etag") or before.etag,
            modified=None if drops else response.header("last-modified") or before.modified,
            gone=0,
            available_until=until,
            indexed=before.indexed and not leaves,
            wishes=wishes.text_of_robots_txt,
        )
        outcome = replace(_as_before(outcome, before), seen=seen, from_index=leaves, unchanged=not leaves)
        if leaves or (self._settings.index and not before.indexed):
            outcome = replace(outcome, events=(*outcome.events, _absence(outcome.at, refusal, leaves=leaves)))
        reason = "it states other wishes than before: the whole page is requested at once" if rereads else plan.reason
        return replace(outcome, rereads=rereads, events=_with_revisit(outcome, reason))

    def settle(self, leased: LeasedUrl, outcome: Outcome) -> Outcome:
        """Returns the outcome of a visit that brought no page. A page visited before is kept through failures, and
        leaves the index if its site wants that."""
        before = leased.seen
        if before is None:
            return outcome
        if outcome.state == "failed":
            return self._failed(outcome, before)
        expired = before.available_until is not None and before.available_until <= outcome.at
        if outcome.state == "ready":
            return replace(outcome, seen=before, from_index=before.indexed and expired, revisit=True)
        outcome = replace(outcome, from_index=before.indexed, revisit=True)
        if outcome.state == "gone":
            return self._gone(outcome, before)
        if outcome.state == "disallowed":
            return self._disallowed(outcome, before)
        return outcome

    def _failed(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Returns the outcome of a failed visit: the page stays as it was, unless its `available_until` has passed and
        it leaves the index. The next wait is the time since the last answer, so it doubles each time."""
        due_at = self._later(before, outcome.at)
        expired = before.available_until is not None and before.available_until <= outcome.at
        leaves = before.indexed and expired
        seen = replace(before, due_at=due_at, indexed=before.indexed and not leaves)
        if leaves:
            seen = replace(seen, etag=None, modified=None)
        elif before.available_until is not None and not expired:
            seen = replace(seen, due_at=min(due_at, before.available_until))
        stays = "it was not to be shown any longer, so it leaves the index" if leaves else "its last copy is kept"
        reason = f"{stays}: due again in {_duration(seen.due_at - outcome.at)}"
        outcome = replace(_as_before(outcome, before), why=f"{outcome.why}; {stays}", tries=0)
        return replace(
            outcome, seen=seen, from_index=leaves, unchanged=not leaves, events=_with_revisit(outcome, reason)
        )

    def _gone(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Returns the outcome of a page that is gone: it leaves the index at once, and is visited some more times,
        since sites lose pages by mistake."""
        gone = before.gone + 1
        if gone > self._settings.gone_tries:
            return replace(outcome, events=_with_revisit(outcome, f"gone {gone} times in a row: not visited again"))
        wait_s = min(
            _bounded(self._settings, self._settings.revisit_first) * 2.0 ** (gone - 1), self._settings.revisit_most
        )
        seen = _as_not_indexed(replace(before, at=outcome.at, due_at=outcome.at + wait_s, gone=gone))
        left = f"{gone} of {self._settings.gone_tries + 1} times gone: visited again in {_duration(wait_s)}"
        return replace(outcome, seen=seen, events=_with_revisit(outcome, left))

    def _disallowed(self, outcome: Outcome, before: LastVisit) -> Outcome:
        """Returns the outcome of a page that robots.txt forbids now. It leaves the index. Later leases check whether
        robots.txt allows it again, without requesting the page."""
        due_at = self._later(before, outcome.at)
        reason = f"it leaves the index; its robots.txt is checked again in {_duration(due_at - outcome.at)}"
        seen = _as_not_indexed(replace(before, due_at=due_at))
        return replace(outcome, seen=seen, events=_with_revisit(outcome, reason))

    def _later(self, before: LastVisit, now: float) -> float:
        return now + _bounded(self._settings, max(before.interval_s, now - before.at))


def _refusal(until: float | None, now: float, directives: Directives, wishes: Wishes) -> Refusal | None:
    """Returns why a page answered with 304 may not be in the index, as far as the 304 and robots.txt state it."""
    if not directives.index:
        return Refusal("the page asks not to be indexed")
    if until is not None and now >= until:
        return Refusal("it must not be shown any longer")
    return None if wishes.no_search is None else no_search_refusal(wishes.no_search)


def _absence(at: float, refusal: Refusal | None, *, leaves: bool) -> Event:
    """Returns the event that says why a page answered with 304 is not in the index. `leaves`: it was until now."""
    if leaves:
        reason, line = refusal or Refusal("it may not be shown as it was")
        return Event(at, "index", "no", f"{reason}: it leaves the index", line)
    reason, line = refusal or Refusal("it was not in the index, and has not changed")
    return Event(at, "index", "no", reason, line)


def _as_before(outcome: Outcome, before: LastVisit) -> Outcome:
    """Returns the outcome as visited, with the content of the last answer that brought the page."""
    return replace(
        outcome, state="visited", digest=before.digest, title=before.title, record=before.record, revisit=True
    )


def _as_not_indexed(seen: LastVisit) -> LastVisit:
    """Returns the visit as one whose page is requested without conditions and is in no index."""
    return replace(seen, etag=None, modified=None, indexed=False)


def _with_revisit(outcome: Outcome, reason: str) -> tuple[Event, ...]:
    return (*outcome.events, Event(outcome.at, "settle", "revisit", reason))


def _can_be_sent(value: str) -> bool:
    """Whether a field value is allowed in a request (RFC 9110 5.5), and is not too long."""
    printable = all(" " <= char <= "~" or "\xa0" <= char <= "\xff" or char == "\t" for char in value)
    return 0 < len(value) <= MAX_VALIDATOR_CHARS and printable


def _duration(seconds: float) -> str:
    """Formats a duration for people: `90 s`, `5 min`, `36 h`, `5 days`."""
    for most, unit_s, name in ((120, 1, "s"), (7200, 60, "min"), (2 * 86400, 3600, "h")):
        if seconds < most:
            return f"{seconds / unit_s:.0f} {name}"
    return f"{seconds / 86400:.0f} days"
