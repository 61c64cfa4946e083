"""Makes the outcomes of leased URLs that were not requested: out of scope, disallowed, held off, given up. Pure."""

from goodbot.robot.manners.permission import Permit
from goodbot.values import Discovery, Event, LeasedUrl, Outcome


def out_of_scope(leased: LeasedUrl, now: float, why: str, links: tuple[Discovery, ...] = ()) -> Outcome:
    """Returns the outcome of a URL that no longer belongs to the crawl, or belongs to a trap. `links`: the URLs to
    request in its place."""
    event = Event(now, "scope", "out-of-scope", why)
    return Outcome(leased.url, "out-of-scope", now, why, tries=leased.tries, events=(event,), links=links)


def disallowed(leased: LeasedUrl, now: float, permit: Permit) -> Outcome:
    """Returns the outcome of a URL that the verdict forbids. While robots.txt is unreachable, the URL is held off until
    the next try; after the last try it has failed. If robots.txt is not requested because its
    host is public and no contact is set, the URL is out of scope."""
    verdict = permit.verdict
    if permit.failure == "no-contact":
        return out_of_scope(leased, now, verdict.reason)
    event = Event(now, "permission", "disallowed", verdict.reason, verdict.line)
    if verdict.access == "unreachable" and permit.given_up:
        given_up = event._replace(decision="given up")
        return Outcome(leased.url, "failed", now, verdict.reason, tries=leased.tries, events=(given_up,))
    if verdict.access == "unreachable" and verdict.rule is None:
        return held_off(leased, now, verdict.reason, verdict.valid_until or now, verdict.line)
    return Outcome(leased.url, "disallowed", now, verdict.reason, tries=leased.tries, events=(event,))


def held_off(leased: LeasedUrl, now: float, why: str, until: float, line: int | None = None) -> Outcome:
    """Returns the outcome of a URL that is ready again at `until` (Unix seconds)."""
    event = Event(now, "permission", "held off", why, line)
    return Outcome(leased.url, "ready", now, why, tries=leased.tries, ready_at=until, events=(event,))


def given_up(leased: LeasedUrl, now: float, why: str) -> Outcome:
    """Returns the outcome of a URL whose host is given up: it fails at once."""
    event = Event(now, "fetch", "given up", why)
    return Outcome(leased.url, "failed", now, why, tries=leased.tries, events=(event,))
