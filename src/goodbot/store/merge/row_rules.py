"""Merges links and outcomes into the row of one URL: the rules of `Frontier.settle`, for a crawl that no frontier holds
open. Pure."""

from dataclasses import replace
from typing import NamedTuple

from goodbot.store.merge.coding import AGAIN, CODED, CODES, LATER, OUT_OF_SCOPE, READY
from goodbot.store.merge.crawl_rows import UrlRow, VisitRow
from goodbot.store.merge.link_rules import KnownUrl, change_by_link, is_due_by, rank_of_link
from goodbot.store.merge.outcome_rows import settled_row, storable_seen, visit_row
from goodbot.store.merge.outcome_rules import QueueChange, decides_copy, queue_change
from goodbot.store.merge.storable_text import storable
from goodbot.values import Discovery, LastVisit, Outcome

_WAITING = (READY, LATER)
_GIVEN_UP = (OUT_OF_SCOPE, CODES["failed"])
_CLOSED = (CODES["gone"], CODES["disallowed"])
"""Those with a next visit have other codes."""


def linked(row: UrlRow | None, link: Discovery, at: float, place: int) -> UrlRow:
    """Returns the row after a link that was found at `at`. `row` is None for a URL that was not known. `place`: see
    `UrlRow`."""
    if row is None:
        return _new_row(link, at, place)
    if link.refused is not None:
        return row
    return _with_hints(_changed(row, link), link, at)


def _new_row(link: Discovery, at: float, place: int) -> UrlRow:
    return UrlRow(
        host=link.url.host_key,
        url=link.url.text,
        state=READY if link.refused is None else OUT_OF_SCOPE,
        rank=rank_of_link(link),
        found_at=at,
        source=None if link.source is None else link.source.text,
        place=place,
        public_only=link.public_only,
        hops=link.hops,
        lists=link.lists,
        refused=None if link.refused is None else storable(link.refused),
        interval_s=link.interval_s,
    )


def _changed(row: UrlRow, link: Discovery) -> UrlRow:
    """See `change_by_link`."""
    known = KnownUrl(
        rank=row.rank,
        public_only=row.public_only,
        waits=row.state in _WAITING,
        left_out=row.refused is not None,
        given_up=row.state in _GIVEN_UP,
        closed=row.state in _CLOSED,
    )
    change = change_by_link(known, link)
    if change is None:
        return row
    row = row._replace(rank=change.rank, public_only=change.public_only)
    return made_ready(row) if change.ready else row


def made_ready(row: UrlRow) -> UrlRow:
    """Returns the row of a URL that is put into the queue, as if it had never been tried."""
    return row._replace(state=READY, tries=0, ready_at=None, refused=None)


def _with_hints(row: UrlRow, link: Discovery, at: float) -> UrlRow:
    """Applies what a sitemap read at `at`, or a report, says about a known URL."""
    if link.interval_s is not None and link.interval_s != row.interval_s:
        row = row._replace(interval_s=link.interval_s)
    seen = row.seen
    if link.modified_at is None or seen is None:
        return row
    if link.is_report and seen.at < link.modified_at:
        seen = replace(seen, etag=None, modified=None)
    if row.state >= AGAIN and is_due_by(link.modified_at, seen.at, seen.due_at, at):
        seen = replace(seen, due_at=at)
        row = row._replace(ready_at=at)
    return row if seen is row.seen else row._replace(seen=seen)


def state_before(row: UrlRow) -> int | None:
    """Returns the state code from before the next visit of this URL if it is a revisit; None for a first visit."""
    return row.state if row.state >= AGAIN else row.was


class Settlement(NamedTuple):
    """What a visit changes in the row of its URL. `state`, `tries`, `ready_at`, `visit`, `seen`: as in `UrlRow`.
    `is_retry`: the URL is to be requested once more, so what is known of earlier visits stays. `decides_copy`: see the
    rule of that name; then `same_as` and `compared_text` count. `queue`: see `queue_change`."""

    state: int
    tries: int
    ready_at: float | None
    visit: VisitRow
    seen: LastVisit | None
    is_retry: bool
    decides_copy: bool
    same_as: str | None
    compared_text: str | None
    queue: QueueChange


def settlement_of(outcome: Outcome, compared_text: str | None) -> Settlement:
    """Returns what an outcome changes. `compared_text`: `LastVisit.text` of the page that this one copies
    (`Outcome.same_as`), if that page is in the index."""
    state, tries, ready_at = settled_row(outcome, (0, 0))[:3]
    copied = outcome.same_as
    return Settlement(
        *(state, tries, ready_at, VisitRow(*visit_row(0, outcome)[1:])),
        seen=outcome.seen and storable_seen(outcome.seen),
        is_retry=outcome.state == "ready",
        decides_copy=decides_copy(outcome),
        same_as=None if copied is None else copied.text,
        compared_text=compared_text if copied is not None and outcome.alike else None,
        queue=queue_change(outcome),
    )


def settled(row: UrlRow, change: Settlement) -> UrlRow:
    """Returns the row after a visit."""
    was, seen = (state_before(row), row.seen) if change.is_retry else (None, change.seen)
    row = row._replace(
        state=change.state,
        tries=change.tries,
        ready_at=change.ready_at,
        refused=None,
        was=was,
        visit=change.visit,
        seen=seen,
    )
    if change.decides_copy:
        row = row._replace(same_as=change.same_as, compared_text=change.compared_text)
    match change.queue:
        case "pending":
            return row._replace(pending=True, leaving=False)
        case "leaving":
            return row._replace(pending=False, leaving=True)
        case "done":
            return row._replace(pending=False)
    return row


def requeued(row: UrlRow) -> UrlRow:
    """Returns the row of a page whose last visit counts no more: the whole page is requested, unless the URL is out of
    scope."""
    row = row._replace(pending=False, seen=None, was=None)
    return row if row.state in (*_WAITING, OUT_OF_SCOPE) else made_ready(row)


def is_page(row: UrlRow) -> bool:
    """Returns whether the URL counts as a visited page of its host, as it also does while it is revisited."""
    return "visited" in (CODED[row.state], None if row.was is None else CODED[row.was])


def is_left_out_by(row: UrlRow, evidence: str) -> bool:
    """Returns whether the URL is out of scope because of a lesson with this evidence."""
    why = row.refused if row.refused is not None else row.visit.why if row.visit is not None else ""
    return row.state == OUT_OF_SCOPE and storable(evidence) in why


def closed(row: UrlRow, reason: str) -> UrlRow:
    """Returns the row of a URL whose host gets no more visits for `reason`: a URL that waits for its first visit is out
    of scope."""
    if row.state in _WAITING and row.was is None:
        return row._replace(state=OUT_OF_SCOPE, ready_at=None, refused=storable(reason))
    return row
