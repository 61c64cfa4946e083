"""Judges the drive as a whole: how the crawler identified itself, how it ended, how much memory it used."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from goodbot.exam.card import Mark, SiteCard, origin_name
from goodbot.exam.exam_values import ExamRequest, Observed, SiteJudgement
from goodbot.exam.expectations import RobotsFirst
from goodbot.exam.rules import RULES
from goodbot.human import counted

THE_DRIVE: Final = "the-drive"
MEMORY_LIMIT_BYTES: Final = 2**30

_LOOKED_AT_CHARS: Final = 1000
_CONTACT = re.compile(r"https?://[^\s;,()]+|[^\s;,()<>:@/]+@[^\s;,()<>:@/]+", re.IGNORECASE)
_PRODUCT = re.compile(r"[A-Za-z][\w.-]*")
_VERSIONED = re.compile(r"(?<![\w./-])([A-Za-z][\w.-]{0,99})/\d")
_COMMENT = re.compile(r"\([^()]*\)")
_BROWSERS: Final = frozenset(
    (
        *("mozilla", "applewebkit", "khtml", "gecko", "chrome", "headlesschrome", "chromium", "crios", "safari"),
        *("mobile", "version", "firefox", "fxios", "edg", "edge", "opr", "opera", "msie", "trident"),
    )
)


@dataclass(frozen=True, slots=True)
class ExamVisit:
    """One run of the command. `status` is its exit status, or minus the signal that ended it, or None if it was killed
    and its end was not observed; `stopped` means that it did not end in time."""

    status: int | None
    took_s: float
    requests: int
    stopped: bool = False

    @property
    def judgement(self) -> SiteJudgement:
        """Whether the crawler ended by itself. A status other than 0 is not an error by itself: wget returns 8 after a
        404."""
        if self.stopped:
            return SiteJudgement(False, f"still running after {self.took_s:.0f} s, and was stopped")
        if self.status is not None and self.status < 0:
            return SiteJudgement(False, f"ended by signal {-self.status} after {self.took_s:.1f} s")
        if self.status and not self.requests:
            return SiteJudgement(
                False, f"ended with status {self.status} after {self.took_s:.1f} s without any request"
            )
        return SiteJudgement(True, f"ended by itself after {self.took_s:.1f} s with status {self.status}")


def judge_drive(seen: Mapping[str, Observed], visits: Sequence[ExamVisit], peak_bytes: int | None) -> SiteCard:
    """Returns the last line of the card, from what was observed at every site by name. Without visits (the sites were
    only served) it judges identity and robots.txt only."""
    requests = sorted((each for site in seen.values() for each in site.requests), key=lambda each: each.at)
    marks = [
        Mark(RULES["identity"], "names itself and a contact in every request", _identity(requests)),
        Mark(RULES["robots-first"], "fetches robots.txt first, everywhere", _robots_first(seen)),
    ]
    if visits:
        ends = [visit.judgement for visit in visits]
        ended = next((end for end in ends if not end.passed), ends[-1])
        marks.append(Mark(RULES["finished"], "ends by itself, in time", ended))
        marks.append(Mark(RULES["memory"], "uses less than 1 GiB of memory", _memory(peak_bytes)))
    teaches = "Say who you are, end on your own, and use little memory."
    return SiteCard(THE_DRIVE, teaches, "RFC 9309 2.2.1; RFC 9110 10.1.2, 10.1.5", tuple(marks), len(requests))


def identity_fault(user_agent: str, from_: str = "") -> str | None:
    """Returns why these headers do not identify a crawler, or None if they do. The contact address may also be in From
    (RFC 9110 10.1.2)."""
    if not user_agent.strip():
        return "sent no User-Agent"
    shown = repr(user_agent if len(user_agent) <= 120 else user_agent[:119] + "…")
    names = _products(user_agent[:_LOOKED_AT_CHARS])
    if not names:
        return f"sent {shown}, which names no product"
    if names <= _BROWSERS:
        return f"sent {shown}, which is a browser's"
    if _CONTACT.search(user_agent[:_LOOKED_AT_CHARS]) or "@" in from_:
        return None
    return f"sent {shown}, which has no URL and no mail address"


def _products(user_agent: str) -> set[str]:
    """Returns the product names in lower case. In comments it reads the name after `compatible;`, and product names
    next to a contact."""
    text = _CONTACT.sub(" ", user_agent)
    beside = [found[0] for found in _COMMENT.finditer(user_agent) if _CONTACT.search(found[0])]
    named = re.findall(r"compatible;\s*([A-Za-z][\w.-]*)", text, re.IGNORECASE)
    claimed = [name for comment in beside for name in _VERSIONED.findall(_CONTACT.sub(" ", comment))]
    words = _COMMENT.sub(" ", text).split()
    found = [_PRODUCT.match(word) for word in words]
    return {name.lower() for name in [*named, *claimed, *(each.group() for each in found if each)]}


def _robots_first(seen: Mapping[str, Observed]) -> SiteJudgement:
    """Judges all sites at once: a crawler with this habit would otherwise fail every site, which would hide its other
    mistakes."""
    visited = {name: site for name, site in seen.items() if site.requests}
    if not visited:
        return SiteJudgement(False, "sent no request")
    late = [
        (name, label, judgement)
        for name, site in visited.items()
        for label in dict.fromkeys(each.origin for each in site.requests)
        if not (judgement := RobotsFirst(label).judge(site)).passed
    ]
    if not late:
        return SiteJudgement(True, f"did so at all {counted(len(visited), 'site')} it visited")
    name, label, first = late[0]
    place = f"{name} ({origin_name(label)})" if label else name
    count = len({site for site, *_ in late})
    return SiteJudgement(
        False, f"did not at {count} of {len(visited)} sites; at {place} it {first.observed}", first.offending
    )


_identity_fault = lru_cache(maxsize=1024)(identity_fault)


def _identity(requests: Sequence[ExamRequest]) -> SiteJudgement:
    if not requests:
        return SiteJudgement(False, "sent no request")
    for each in requests:
        fault = _identity_fault(each.header("User-Agent") or "", each.header("From") or "")
        if fault:
            return SiteJudgement(False, fault, each)
    return SiteJudgement(True, f"did so in all {counted(len(requests), 'request')}")


def _memory(peak_bytes: int | None) -> SiteJudgement:
    if not peak_bytes:
        return SiteJudgement(True, "ended before its memory could be measured")
    return SiteJudgement(peak_bytes < MEMORY_LIMIT_BYTES, f"used {peak_bytes / 1e6:.1f} MB at its peak")
