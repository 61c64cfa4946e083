"""What is judged of the whole drive, at the end of the card: who the crawler said it is, its end, its memory."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from goodbot.exam.card import Mark, SiteCard, origin_called
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
    """One run of the command. `status` is its exit status, minus the signal that ended it, None if it had to be killed
    and was never seen to end; `stopped`: it had not ended in time."""

    status: int | None
    took_s: float
    requests: int
    stopped: bool = False

    @property
    def judgement(self) -> SiteJudgement:
        """Whether it came to an end of its own. A status other than 0 is no fault by itself: wget says 8 for a 404."""
        if self.stopped:
            return SiteJudgement(False, f"still running after {self.took_s:.0f} s, and was stopped")
        if self.status is not None and self.status < 0:
            return SiteJudgement(False, f"ended by signal {-self.status} after {self.took_s:.1f} s")
        if self.status and not self.requests:
            return SiteJudgement(
                False, f"ended with status {self.status} after {self.took_s:.1f} s and asked for nothing"
            )
        return SiteJudgement(True, f"ended by itself after {self.took_s:.1f} s with status {self.status}")


def judge_drive(seen: Mapping[str, Observed], visits: Sequence[ExamVisit], peak_bytes: int | None) -> SiteCard:
    """The last line of the card, from what was seen of every site by its name. Without visits (the web was only
    served) nothing but who the crawler is, and what it asks for first."""
    requests = sorted((each for site in seen.values() for each in site.requests), key=lambda each: each.at)
    marks = [
        Mark(RULES["identity"], "every request says who it is from and whom to write to", _identity(requests)),
        Mark(RULES["robots-first"], "asks for robots.txt first, everywhere", _robots_first(seen)),
    ]
    if visits:
        ends = [visit.judgement for visit in visits]
        ended = next((end for end in ends if not end.passed), ends[-1])
        marks.append(Mark(RULES["finished"], "ends by itself, in time", ended))
        marks.append(Mark(RULES["memory"], "takes less than 1 GiB of memory", _memory(peak_bytes)))
    teaches = "A crawler says who it is, comes to an end, and is modest in memory."
    return SiteCard(THE_DRIVE, teaches, "RFC 9309 2.2.1; RFC 9110 10.1.2, 10.1.5", tuple(marks), len(requests))


def lacks_of_identity(user_agent: str, from_: str = "") -> str | None:
    """Why this does not say who asks; None if it does. A mail address may also stand in From (RFC 9110 10.1.2)."""
    if not user_agent.strip():
        return "no User-Agent"
    shown = repr(user_agent if len(user_agent) <= 120 else user_agent[:119] + "…")
    names = _products(user_agent[:_LOOKED_AT_CHARS])
    if not names:
        return f"{shown} names no product"
    if names <= _BROWSERS:
        return f"{shown} is a browser's"
    if _CONTACT.search(user_agent[:_LOOKED_AT_CHARS]) or "@" in from_:
        return None
    return f"{shown} has no URL and no mail address"


def _products(user_agent: str) -> set[str]:
    """Product names in lower case; of a comment, what it says after `compatible;` and, beside a contact, products."""
    text = _CONTACT.sub(" ", user_agent)
    beside = [found[0] for found in _COMMENT.finditer(user_agent) if _CONTACT.search(found[0])]
    named = re.findall(r"compatible;\s*([A-Za-z][\w.-]*)", text, re.IGNORECASE)
    claimed = [name for comment in beside for name in _VERSIONED.findall(_CONTACT.sub(" ", comment))]
    words = _COMMENT.sub(" ", text).split()
    found = [_PRODUCT.match(word) for word in words]
    return {name.lower() for name in [*named, *claimed, *(each.group() for each in found if each)]}


def _robots_first(seen: Mapping[str, Observed]) -> SiteJudgement:
    """A habit, so it is judged once: it would fail every site alike and hide what else is wrong there."""
    asked = {name: site for name, site in seen.items() if site.requests}
    if not asked:
        return SiteJudgement(False, "no request came")
    late = [
        (name, label, judgement)
        for name, site in asked.items()
        for label in dict.fromkeys(each.origin for each in site.requests)
        if not (judgement := RobotsFirst(label).judge(site)).passed
    ]
    if not late:
        return SiteJudgement(True, f"at all {counted(len(asked), 'site')} that were reached")
    name, label, first = late[0]
    place = f"{name} ({origin_called(label)})" if label else name
    count = len({site for site, *_ in late})
    return SiteJudgement(
        False, f"not at {count} of {len(asked)} sites; at {place} it {first.observed}", first.offending
    )


_lacks = lru_cache(maxsize=1024)(lacks_of_identity)


def _identity(requests: Sequence[ExamRequest]) -> SiteJudgement:
    if not requests:
        return SiteJudgement(False, "no request came")
    for each in requests:
        lack = _lacks(each.header("User-Agent") or "", each.header("From") or "")
        if lack:
            return SiteJudgement(False, lack, each)
    return SiteJudgement(True, f"all {counted(len(requests), 'request')} did")


def _memory(peak_bytes: int | None) -> SiteJudgement:
    if not peak_bytes:
        return SiteJudgement(True, "ended before it could be measured")
    return SiteJudgement(peak_bytes < MEMORY_LIMIT_BYTES, f"{peak_bytes / 1e6:.1f} MB at its peak")
