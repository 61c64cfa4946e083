"""What holds while robots.txt cannot be reached, by dialect (RFC 9309 §2.3.1.4). Pure: all times are given."""

from math import inf
from typing import Final, Literal, NamedTuple

InForce = Literal["rules", "open", "closed"]
"""The rules of a copy, everything, or nothing (but robots.txt itself, where the dialect says so)."""

LAST_GOOD_S: Final = 30 * 24 * 3600.0
"""For how long a good copy rules while robots.txt is unreachable (RFC 9309 §2.3.1.4 gives 30 days as an example; Google
counts them from the first failure)."""

NO_CRAWL_S: Final = 12 * 3600.0
"""For how long from the first failure on Google does not crawl at all."""


class Outage(NamedTuple):
    """A run of failed fetches: the times of the first and the last one, and of the fetch that gave the last good copy
    (None: there is no copy), all in Unix seconds; and whether other pages of the site were answered lately."""

    since: float
    now: float
    good_at: float | None
    site_answers: bool


class Hold(NamedTuple):
    """What is in force, until when at most (Unix seconds) if no answer comes, and the same in words."""

    in_force: InForce
    until: float
    words: str


def copy_while_young(outage: Outage) -> Hold:
    """RFC 9309 §2.3.1.4: complete disallow, but a copy may be used on; for 30 days from its fetch.

    Our choice: then the site is closed; the RFC would let it be opened.
    """
    if outage.good_at is None:
        return Hold("closed", inf, "everything is closed")
    until = outage.good_at + LAST_GOOD_S
    if outage.now < until:
        return Hold("rules", until, "the last good copy applies")
    return Hold("closed", inf, "everything is closed, since the last good copy is older than 30 days")


def as_google(outage: Outage) -> Hold:
    """Google, HTTP status codes: 12 hours closed, then the copy (none: no restrictions), and 30 days after the first
    failure as if there were no file if the site answers otherwise."""
    shut, over = outage.since + NO_CRAWL_S, outage.since + LAST_GOOD_S
    if outage.now < shut:
        return Hold("closed", shut, "everything is closed for the first 12 hours")
    if outage.now < over and outage.good_at is not None:
        return Hold("rules", over, "the last good copy applies")
    if outage.now < over:
        return Hold("open", over, "everything is allowed, since no copy is known after 12 hours")
    if outage.site_answers:
        return Hold("open", inf, "everything is allowed, since after 30 days the site answers otherwise")
    return Hold("closed", inf, "everything is closed, since after 30 days the site does not answer otherwise either")


def put_off(outage: Outage) -> Hold:
    """draft-koster-robots-00 3.1: a temporary failure puts the site off until it answers, whatever is known of it."""
    return Hold("closed", inf, "the site is put off until it answers")
