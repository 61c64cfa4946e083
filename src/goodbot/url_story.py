"""Says in plain words what became of a URL, from its discovery to the search index. Pure."""

import re
from dataclasses import dataclass
from math import inf
from typing import Final, NamedTuple

from goodbot.exclusion import Verdict
from goodbot.human import counted, human_time
from goodbot.lesson_values import Lesson, lesson_id
from goodbot.report_values import MAX_COUNT
from goodbot.url import Url, parse_url
from goodbot.values import Event, UrlRecord
from goodbot.visitor_values import Removal, Story, SubmissionResult, UrlReport

_SUBMIT: Final = "submit the page"
_ASK: Final = "ask the operator of this crawl to submit the page"
_REDIRECT: Final = re.compile(r"status \d+, to (\S+)")
_LATER_DATE: Final = "remove `unavailable_after`, or give it a later date"
ADVICE: Final = (
    ("the page asks not to be indexed", "remove that directive; the next visit adds the page"),
    ("the page asks not to be shown any longer", _LATER_DATE),
    ("the site asks search services to leave the page out", "change that statement; the next visit adds the page"),
    ("a sitemap", "look up one of the pages that it lists"),
    ("no text found in text/html", "give the page a title, and text that its HTML contains without scripts"),
)
"""What would help, by the beginning of the reason for which a page is not in the index."""


@dataclass(frozen=True, slots=True)
class StoryFacts:
    """What is known besides the report. `keeps_index`: the crawl has a search index; `in_index` is None if it cannot be
    looked into. `removal`: the page is hidden at its owner's request. `refusal`: why a visitor cannot submit the URL;
    `takes_urls`: visitors may submit URLs. `target_refusal`: why the URL to which it redirects is out of scope;
    `original_found`: search finds the page of which it is a copy, None if unknown.
    `verdict` is that of the robots.txt that the crawl has. A waiting URL has `before` URLs of its host before it, and
    may be requested from `ready_at` on. `running`: the crawl is running. `has_copy`: see `Story`. `now`: in Unix
    seconds."""

    keeps_index: bool = True
    in_index: bool | None = None
    removal: Removal | None = None
    refusal: tuple[SubmissionResult, str] | None = None
    takes_urls: bool = True
    target_refusal: str = ""
    original_found: bool | None = None
    verdict: Verdict | None = None
    before: int = 0
    ready_at: float | None = None
    running: bool = False
    has_copy: bool = False
    now: float = 0.0


class _Told(NamedTuple):
    summary: str
    advice: str = ""


def tell_story(url: Url, report: UrlReport, facts: StoryFacts) -> Story:
    """Returns the story of a URL."""
    record = report.record
    told = _possible(_told(report, facts), facts)
    return Story(
        url=url,
        requested_as=report.requested_as,
        state=record.state if record is not None else "unknown",
        in_index=facts.in_index,
        summary=told.summary,
        advice=told.advice,
        next_visit_at=_next_visit_at(record, facts),
        visited_at=last_answer_at(record),
        title=(record.title or "") if record is not None and facts.removal is None else "",
        same_as=record.same_as if record is not None else None,
        events=record.events if record is not None else (),
        lesson=report.lesson,
        has_copy=facts.has_copy,
    )


def last_answer_at(record: UrlRecord | None) -> float | None:
    """Returns when the server last answered a request for the URL."""
    if record is None or record.seen is None:
        return record.fetched_at if record is not None else None
    return record.seen.at


def _told(report: UrlReport, facts: StoryFacts) -> _Told:
    record = report.record
    if facts.removal is not None:
        return _removed(facts.removal)
    if facts.refusal is not None and facts.refusal[0] == "forgotten":
        return _Told(facts.refusal[1])
    if record is None:
        return _unknown(report, facts)
    return _over(record, facts.now) or _known(report, record, facts)


def _known(report: UrlReport, record: UrlRecord, facts: StoryFacts) -> _Told:
    match record.state:
        case "ready":
            return _ready(record, facts)
        case "leased":
            return _Told("the crawl is fetching it now, or will next on its host", "look again in a minute")
        case "visited":
            return _visited(record, facts)
        case "disallowed":
            return _disallowed(record)
        case "out-of-scope":
            return _out_of_scope(report, record)
        case "failed":
            again = "submit the page again when its server sends the page"
            return _Told(f"the crawl could not fetch it: {record.why}", again)
        case "gone":
            return _gone(record)


def _over(record: UrlRecord, now: float) -> _Told | None:
    """Returns the story of a page that must not be shown any longer; None if it may be."""
    until = record.seen.available_until if record.seen is not None and record.state in ("visited", "ready") else None
    if until is None or until > now:
        return None
    return _Told(f"the page asks not to be shown after {human_time(until)}", _LATER_DATE)


def _removed(removal: Removal) -> _Told:
    if removal.is_temporary:
        return _Told(
            f"it was removed at its owner's request: {removal.reason}", "the robot checks again at its next visit"
        )
    return _Told("it was removed at its owner's request", "the operator of this search can lift the removal")


def _unknown(report: UrlReport, facts: StoryFacts) -> _Told:
    match facts.refusal:
        case "private", reason:
            return _Told(f"the crawl has followed no link to it, and {reason}")
        case "out of scope", reason if reason == report.trap:
            return _Told(f"the crawl does not follow links to it: {reason}")
        case "out of scope", reason:
            return _Told(f"it does not belong to this crawl: {reason}")
    if facts.verdict is not None and not facts.verdict.allowed:
        forbidden = _forbidden(facts.verdict.reason, facts.verdict.line)
        advice = "remove that rule, wait a day, and submit the page" if forbidden.advice else ""
        return _Told(f"the crawl has followed no link to it, and {forbidden.summary}", advice)
    return _Told("the crawl has followed no link to it", _SUBMIT)


def _possible(told: _Told, facts: StoryFacts) -> _Told:
    """Changes advice to submit the page if the visitor cannot do that. A refusal by robots.txt does not count, because
    the file may change."""
    if _SUBMIT not in told.advice:
        return told
    result, reason = facts.refusal or ("disallowed", "")
    if result == "out of scope":
        return told._replace(advice=f"the crawl no longer takes this URL: {reason}")
    if result == "private" or not facts.takes_urls:
        return told._replace(advice=told.advice.replace(_SUBMIT, _ASK))
    return told


def _ready(record: UrlRecord, facts: StoryFacts) -> _Told:
    if facts.in_index:
        return _Told("it is in the search index, and is due for another visit")
    when = f" at {human_time(facts.ready_at)}" if facts.ready_at else ""
    later = f"the crawl tries again{when}" if facts.running else "the crawl tries again when it runs"
    if record.status is not None and 200 <= record.status < 300:
        return _Told("it waits for another visit", later)
    if record.why:
        return _Told(f"the last attempt to fetch it did not succeed: {record.why}", later)
    advice = (
        "wait for its turn" if facts.running else "the crawl fetches the page when the operator runs the crawl again"
    )
    return _Told(f"it was not fetched yet: {_waiting(facts.before)}", advice)


def _waiting(before: int) -> str:
    if not before:
        return "it is the next one of its host"
    more = " or more" if before >= MAX_COUNT else ""
    return f"{counted(before, 'URL')}{more} of its host {'comes' if before == 1 else 'come'} first"


def _visited(record: UrlRecord, facts: StoryFacts) -> _Told:
    if facts.in_index:
        return _Told("it is in the search index", "to find it, search for words of its title")
    if record.status is not None and 300 <= record.status < 400 and record.status != 304:
        return _redirected(record, facts)
    if record.same_as is not None and facts.original_found is False:
        return _Told(f"it is a copy of {record.same_as}, which search does not find either", "look up that page")
    if record.same_as is not None:
        differs = "if it is not a copy, give it its own title and text, and no canonical link to that page"
        return _Told(f"it is a copy of {record.same_as}, which is shown instead", differs)
    if not facts.keeps_index:
        return _Told("this crawl keeps no search index")
    if facts.in_index is None:
        return _Told("it was visited; the search index cannot be read at the moment", "try again later")
    if record.seen is not None and record.seen.indexed:
        added = (
            "the crawl is running and adds it within a minute" if facts.running else "the next run of the crawl adds it"
        )
        return _Told("it was visited, and is not in the search index yet", added)
    return _not_indexed(record)


def redirect_target(record: UrlRecord) -> Url | None:
    """Returns where a URL redirects; None if it does not, or if that was not recorded."""
    found = _REDIRECT.fullmatch(record.why) if record.state == "visited" else None
    return parse_url(found[1]) if found is not None else None


def _redirected(record: UrlRecord, facts: StoryFacts) -> _Told:
    if redirect_target(record) == record.url:
        advice = "it redirects to itself: change the server so that it sends the page"
    elif facts.target_refusal:
        advice = f"the URL to which it redirects does not belong to this crawl: {facts.target_refusal}"
    else:
        advice = "look up the URL to which it redirects"
    return _Told(f"its server redirects it ({record.why})", advice)


def _not_indexed(record: UrlRecord) -> _Told:
    event = _last(record.events, "index")
    if event is None or event.decision != "no":
        return _Told("it is not in the search index", "submit the page again, or wait for its next visit")
    advice = next((text for beginning, text in ADVICE if event.reason.startswith(beginning)), "")
    return _Told(_clause(event.reason, event.line), advice)


def _disallowed(record: UrlRecord) -> _Told:
    event = _last(record.events, "permission")
    told = _forbidden(record.why) if event is None else _forbidden(event.reason, event.line)
    if not record.is_closed:
        return told
    again = (
        "remove that rule, wait a day, and submit the page again"
        if told.advice
        else "submit the page again when this changes"
    )
    return told._replace(advice=again)


def _forbidden(reason: str, line: int | None = None) -> _Told:
    if line is None:
        return _Told(f"robots.txt forbids it: {_clause(reason, None)}")
    return _Told(
        f"robots.txt forbids it (line {line})", "remove that rule; the crawl reads robots.txt again within a day"
    )


def _out_of_scope(report: UrlReport, record: UrlRecord) -> _Told:
    advice = ""
    if report.lesson is not None:
        advice = f"the operator can drop what the crawl has learned: goodbot lessons drop {lesson_id(report.lesson)}"
    return _Told(f"it does not belong to this crawl: {record.why}", advice)


def _gone(record: UrlRecord) -> _Told:
    restored = "submit the page again when its server has it; no other visit is planned"
    advice = restored if record.is_closed else "restore the page; the next visit adds it"
    return _Told(f"its server reports that the page does not exist: {record.why}", advice)


def _next_visit_at(record: UrlRecord | None, facts: StoryFacts) -> float | None:
    if record is None or record.state == "leased":
        return None
    if record.state == "ready":
        return facts.ready_at or None
    seen = record.seen
    is_visited_again = record.state in ("visited", "gone", "disallowed")
    return seen.due_at if seen is not None and is_visited_again and seen.due_at < inf else None


def _last(events: tuple[Event, ...], step: str) -> Event | None:
    return next((event for event in reversed(events) if event.step == step), None)


def _clause(reason: str, line: int | None) -> str:
    """Returns a reason without its full stop, and with the line of robots.txt that it does not name itself."""
    reason = reason.removesuffix(".")
    return reason if line is None or f"line {line}" in reason else f"{reason} (line {line} of robots.txt)"


# ---- JSON -----------------------------------------------------------------------------------------------------------


def why_json(wanted: Url, report: UrlReport) -> dict[str, object]:
    """Returns what a crawl knows about a URL as JSON; times in Unix seconds."""
    record = report.record
    state, events = (record.state, record.events) if record is not None else ("unknown", ())
    return _json(wanted, report.requested_as, state, events, report.lesson)


def story_json(story: Story) -> dict[str, object]:
    """Returns a story as JSON: `why_json` and more."""
    return {
        **_json(story.url, story.requested_as, story.state, story.events, story.lesson),
        "in_index": story.in_index,
        "summary": story.summary,
        "advice": story.advice,
        "next_visit_at": story.next_visit_at,
    }


def _json(
    url: Url, requested_as: Url, state: str, events: tuple[Event, ...], lesson: Lesson | None
) -> dict[str, object]:
    return {
        "url": url.text,
        "asked_as": requested_as.text,
        "state": state,
        "events": [
            {"at": event.at, "step": event.step, "decision": event.decision, "reason": event.reason, "line": event.line}
            for event in events
        ],
        "lesson": lesson_json(lesson) if lesson is not None else None,
    }


def lesson_json(lesson: Lesson) -> dict[str, object]:
    """Returns a lesson as JSON; times in Unix seconds."""
    return {
        "id": lesson_id(lesson),
        "host": lesson.host,
        "kind": lesson.kind,
        "about": lesson.about,
        "evidence": lesson.evidence,
        "learned_at": lesson.at,
        "examined_at": lesson.until if lesson.until < inf else None,
        "times": lesson.times,
        "in_force": not lesson.lapsed,
    }
