"""Decides what an outcome changes about a URL: the rules of `Frontier.settle`. Pure."""

from dataclasses import replace
from typing import Literal

from goodbot.url import Url
from goodbot.values import NOT_INDEXED, LastVisit, Outcome, State

QueueChange = Literal["pending", "leaving", "done", "kept"]


def queue_change(outcome: Outcome) -> QueueChange:
    """Returns what happens to the page in the index queue.

    `pending`: it waits to be indexed. `leaving`: it waits to be removed from the index. `done`: it waits for nothing.
    `kept`: a retry, or a page that has not changed, leaves the queue as it is.
    """
    if outcome.to_index:
        return "pending"
    if outcome.from_index:
        return "leaving"
    return "kept" if outcome.unchanged or outcome.state == "ready" else "done"


def pages_added(outcome: Outcome, was: State | None) -> int:
    """Returns the change in the number of the host's visited pages: -1, 0 or 1. `was`: the state before a revisit, None
    for a URL that is fetched for the first time. A retry changes nothing: it is counted when it is settled."""
    if outcome.state == "ready":
        return 0
    return (outcome.state == "visited") - (was == "visited")


def is_list_read(outcome: Outcome, *, expects_list: bool, was: State | None) -> bool:
    """Returns whether the outcome counts towards the day's sitemaps and feeds of its host: revisits do not."""
    return expects_list and was is None and outcome.state in ("visited", "failed", "gone")


def decides_copy(outcome: Outcome) -> bool:
    """Returns whether the outcome decides which page this one copies, or that it copies none. A retry does not decide,
    nor does a page that has not changed."""
    return outcome.state != "ready" and not (outcome.unchanged and outcome.same_as is None)


def seen_by_next_visit(
    seen: LastVisit, copy_of: Url | None, text_then: str | None, text_now: str | None
) -> tuple[LastVisit, Url | None]:
    """Returns what the next visit of a page gets: its last visit, and the page that it is a copy of.

    `text_then` is the digest of the other page's text when the two were compared, `text_now` its digest in the index,
    None if it is not there. If they differ, the page must be compared again: so all of it is requested, without
    validators.
    """
    if seen.indexed or copy_of is None or text_then is None:
        return seen, None
    if text_now == text_then:
        return seen, copy_of
    return replace(seen, etag=None, modified=None), None


def is_unindexed(outcome: Outcome) -> bool:
    """Returns whether the page would be indexed if the run wrote an index."""
    return outcome.same_as is None and any(event.reason == NOT_INDEXED for event in outcome.events)


def as_pending(outcome: Outcome) -> Outcome:
    """Changes the outcome of a page that a run without an index fetched, in a crawl that has one: it becomes
    pending."""
    seen = outcome.seen and replace(outcome.seen, indexed=True)
    return replace(outcome, to_index=True, from_index=False, unchanged=False, seen=seen)
