"""Prepares the story of a URL for visitors: leaves out what only the operator of the crawl should see. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, get_args

from goodbot.url import parse_url
from goodbot.values import Event, FailureKind
from goodbot.visitor_values import Story

NO_ADDRESS: Final = "its host has no public address"
"""Says the same of a name without an address and of one with a private address, so that visitors cannot map a network
by submitting names."""

_SOURCE: Final = re.compile(r"linked from (\S+)(?=, depth \d+\Z)")
_DETAIL: Final = re.compile(r" \(.*|: .*", re.DOTALL)
_UNREACHABLE: Final = re.compile(r"(robots\.txt is unreachable, so [^:]*):.*", re.DOTALL)
_ADDRESSES: Final = re.compile(
    r"its host name could not be resolved|its address is private, and [^)]*|"
    r"\S+ is a private address; --allow-private .*"
)
_KINDS: Final = get_args(FailureKind)
_FAILURE: Final = re.compile(rf"\b({'|'.join(_KINDS)}): (.*)", re.DOTALL)
_KEPT_ANSWER: Final = re.compile(r"; its answer (?:is|could) .*", re.DOTALL)


def public_story(story: Story) -> Story:
    """Returns the story without names of files of this machine, addresses of its network, and URLs of other pages that
    link to the page: such a page may be secret."""
    return replace(
        story,
        summary=public_text(story.summary),
        advice=public_text(story.advice),
        events=tuple(_public(event) for event in story.events),
    )


def public_text(sentence: str) -> str:
    """Returns a sentence that ends with the reason of a failure, without what only the operator should see."""
    sentence = _KEPT_ANSWER.sub("", _UNREACHABLE.sub(r"\1", sentence))
    return _ADDRESSES.sub(NO_ADDRESS, _FAILURE.sub(lambda match: _failure(match[1], match[2])[1], sentence))


def _public(event: Event) -> Event:
    make = _REASONS.get(event.step)
    return event if make is None else make(event)


def _found(event: Event) -> Event:
    return event._replace(reason=_SOURCE.sub(_of_site, event.reason))


def _of_site(match: re.Match[str]) -> str:
    source = parse_url(match[1])
    return f"linked from a page of {source.authority}" if source is not None else "linked from a page"


def _scope(event: Event) -> Event:
    return event._replace(reason=_ADDRESSES.sub(NO_ADDRESS, event.reason))


def _permission(event: Event) -> Event:
    reason = _UNREACHABLE.sub(r"\1.", event.reason)
    return event._replace(reason=_ADDRESSES.sub(NO_ADDRESS, reason))


def _fetch(event: Event) -> Event:
    """The event of a failure may name addresses and a proxy."""
    if event.decision not in _KINDS:
        return event
    decision, reason = _failure(event.decision, event.reason)
    return event._replace(decision=decision, reason=reason)


def _failure(kind: str, detail: str) -> tuple[str, str]:
    """Returns a name for the kind of a failure and its reason."""
    if kind in ("dns", "private-address"):
        return "no address", NO_ADDRESS
    if kind == "forgotten":
        return kind, "the operator has excluded this host"
    return kind, "no connection could be made" if "proxy" in detail else _DETAIL.sub("", detail)


def _read(event: Event) -> Event:
    """What a browser or a process reports about its end may name files."""
    return event._replace(reason=event.reason.partition(" (")[0])


def _keep(event: Event) -> Event:
    is_whole = event.decision != "headers"
    return event._replace(reason="the archive has the answer" if is_whole else "the archive has only the header fields")


_REASONS: Final[Mapping[str, Callable[[Event], Event]]] = {
    "found": _found,
    "scope": _scope,
    "permission": _permission,
    "fetch": _fetch,
    "read": _read,
    "keep": _keep,
}
