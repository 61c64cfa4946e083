"""Decides what is in force while robots.txt cannot be reached, by dialect (RFC 9309 §2.3.1.4). Pure: callers pass all
times."""

from math import inf
from typing import Final, Literal, NamedTuple

InForce = Literal["rules", "open", "closed"]
"""The rules of a file apply, everything is allowed, or nothing is (except robots.txt itself, if the dialect says
so)."""

LAST_GOOD_S: Final = 30 * 24 * 3600.0
"""How long a good copy applies while robots.txt is unreachable (30 days are the example in RFC 9309 §2.3.1.4; Google
counts them from the first failure)."""

NO_CRAWL_S: Final = 12 * 3600.0
"""How long after the first failure Google does not crawl at all."""


class Outage(NamedTuple):
    """A run of failed fetches: the time of the first and of the last one, the time when the last good copy was fetched
    (None: there is no copy), all in Unix seconds; and whether the site recently answered requests for other pages."""

    since: float
    now: float
    good_at: float | None
    site_answers: bool


class Hold(NamedTuple):
    """What is in force, until when at most (Unix seconds) if no answer comes, and why, in words."""

    in_force: InForce
    until: float
    words: str


def copy_while_young(outage: Outage) -> Hold:
    """Decides by RFC 9309 §2.3.1.4: everything is disallowed, but a good copy may be used for 30 days after its fetch.

    Our choice: after that everything is disallowed again; the RFC would permit allowing everything.
    """
    if outage.good_at is None:
        return Hold("closed", inf, "everything is disallowed")
    until = outage.good_at + LAST_GOOD_S
    if outage.now < until:
        return Hold("rules", until, "the last good copy applies")
    return Hold("closed", inf, "everything is disallowed, since the last good copy is older than 30 days")


def as_google(outage: Outage) -> Hold:
    """Decides as Google does (HTTP status codes): everything is disallowed for 12 hours, then the copy applies (none:
    no restrictions), and 30 days after the first failure everything is allowed if the site answers other requests."""
    shut, over = outage.since + NO_CRAWL_S, outage.since + LAST_GOOD_S
    if outage.now < shut:
        return Hold("closed", shut, "everything is disallowed for the first 12 hours")
    if outage.now < over and outage.good_at is not None:
        return Hold("rules", over, "the last good copy applies")
    if outage.now < over:
        return Hold("open", over, "everything is allowed, since no copy is known after 12 hours")
    if outage.site_answers:
        return Hold(
            "open", inf, "everything is allowed, since robots.txt has failed for 30 days and other requests succeed"
        )
    return Hold(
        "closed", inf, "everything is disallowed, since robots.txt has failed for 30 days and other requests fail too"
    )


def closed_until_answered(outage: Outage) -> Hold:
    """Decides by draft-koster-robots-00 3.1: after a temporary failure no visit until the site answers, even if a copy
    is known."""
    return Hold("closed", inf, "everything is disallowed until it answers")
