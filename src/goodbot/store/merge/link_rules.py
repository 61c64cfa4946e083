"""Decides what a link changes about a known URL: the rules of `Frontier.add` and `Frontier.settle`. Pure."""

from typing import NamedTuple

from goodbot.store.merge.rank import better_of, depth_of, rank_of
from goodbot.values import Discovery


class KnownUrl(NamedTuple):
    """The facts about a URL that the rules need. `waits`: it is ready or leased. `left_out`: the scope refused it
    before it was ever fetched. `given_up`: it is out of scope or failed. `closed`: it is gone or disallowed, without a
    next visit."""

    rank: int
    public_only: bool
    waits: bool
    left_out: bool
    given_up: bool
    closed: bool = False


class LinkChange(NamedTuple):
    """The URL after the link. `ready`: it is put into the queue, as if it had never been tried."""

    rank: int
    public_only: bool
    ready: bool


def change_by_link(known: KnownUrl, link: Discovery) -> LinkChange | None:
    """Returns what `link` changes; None: nothing. A link that is out of scope changes nothing.

    The best rank of all links counts. Once a page with access to private addresses links to a URL, the URL is no longer
    limited to public addresses. A URL that was left out becomes ready. One that was given up becomes ready by a seed,
    or by the first link from a private page; a closed one by a report of a change. A fetched URL keeps its rank, unless
    it is less deep now.
    """
    if link.refused is not None:
        return None
    rank = better_of(known.rank, rank_of_link(link))
    is_cleared = known.public_only and not link.public_only
    public_only = known.public_only and link.public_only
    is_retried = known.given_up and (link.source is None or is_cleared)
    if known.left_out or is_retried or (known.closed and link.is_report):
        return LinkChange(rank, public_only, ready=True)
    if rank != known.rank and (known.waits or depth_of(rank) < depth_of(known.rank)):
        return LinkChange(rank, public_only, ready=False)
    return LinkChange(known.rank, public_only, ready=False) if is_cleared else None


def rank_of_link(link: Discovery) -> int:
    """See `rank_of`."""
    return rank_of(link.depth, link.inlinks, link.priority, link.expects_list, link.can_wait)


def is_due_by(modified_at: float, seen_at: float, due_at: float, read_at: float) -> bool:
    """Returns whether a page becomes due at once: a sitemap says that it changed after the last visit, and it is not
    due yet."""
    return seen_at < modified_at and due_at > read_at
