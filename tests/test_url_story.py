"""The stories of URLs, in every state."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest

from goodbot.exclusion import Access, Directives
from goodbot.lesson_values import Lesson
from goodbot.report_values import MAX_COUNT
from goodbot.robot.crawl.indexable import index_refusal
from goodbot.url import Url
from goodbot.url_story import ADVICE, StoryFacts, story_json, tell_story, why_json
from goodbot.values import Event, LastVisit, Page, Response, State, UrlRecord
from goodbot.visitor_values import Removal, UrlReport
from goodbot.visitors.submission_rules import BARRED, PRIVATE

URL, OTHER = Url("https://example.org/a"), Url("https://example.org/b")
AT = 1_795_000_000.0
SEEN = LastVisit(at=AT, due_at=AT + 100, interval_s=100, changed_at=AT, indexed=True)
OUT = replace(SEEN, indexed=False)
RULES = Access.from_response(200, [], b"User-agent: *\nDisallow: /a\n", AT)
VERDICT = RULES.verdict(URL.text, "goodbot")
LESSON = Lesson("example.org", "family", "https://example.org /a", "these pages repeat", AT)
GRANTED = Removal("1", AT, "page", "its server answers with status 404", url=URL)


def known(state: State, *events: Event, **more: Any) -> UrlReport:
    found = Event(AT, "found", "known", "seed or submitted, depth 0")
    return UrlReport(URL, UrlRecord(URL, state, 0, events=(found, *events), **more), None)


def no(reason: str, line: int | None = None) -> Event:
    return Event(AT, "index", "no", reason, line)


UNKNOWN = UrlReport(URL, None, None)
HELD = Event(AT, "permission", "held off", "robots.txt is unreachable", None)

STORIES: list[tuple[str, UrlReport, StoryFacts, str, str, float | None]] = [
    ("unknown", UNKNOWN, StoryFacts(in_index=False), "the crawl has followed no link to it", "submit the page", None),
    (
        "unknown, of a barred host",
        UNKNOWN,
        StoryFacts(refusal=("forgotten", BARRED)),
        "the operator of this crawl has excluded this host",
        "",
        None,
    ),
    (
        "unknown, out of scope",
        UNKNOWN,
        StoryFacts(refusal=("out of scope", "example.org is not the host of a seed"), verdict=VERDICT),
        "it does not belong to this crawl: example.org is not the host of a seed",
        "",
        None,
    ),
    (
        "unknown, in a trap",
        replace(UNKNOWN, trap="these pages repeat"),
        StoryFacts(refusal=("out of scope", "these pages repeat")),
        "the crawl does not follow links to it: these pages repeat",
        "",
        None,
    ),
    (
        "unknown, perhaps private",
        UNKNOWN,
        StoryFacts(refusal=("private", PRIVATE.format(host="example.org"))),
        "the crawl has followed no link to it, and " + PRIVATE.format(host="example.org"),
        "",
        None,
    ),
    (
        "failed, and out of scope since",
        known("failed", why="status 403"),
        StoryFacts(refusal=("out of scope", "not one of the seeds (--scope page)")),
        "the crawl could not fetch it: status 403",
        "the crawl no longer takes this URL: not one of the seeds (--scope page)",
        None,
    ),
    (
        "failed, and perhaps private",
        known("failed", why="status 403"),
        StoryFacts(refusal=("private", PRIVATE.format(host="example.org"))),
        "the crawl could not fetch it: status 403",
        "ask the operator of this crawl to submit the page again when its server sends the page",
        None,
    ),
    (
        "unknown, disallowed",
        UNKNOWN,
        StoryFacts(verdict=VERDICT),
        "the crawl has followed no link to it, and robots.txt forbids it (line 2)",
        "remove that rule, wait a day, and submit the page",
        None,
    ),
    (
        "waiting",
        known("ready"),
        StoryFacts(before=1200, ready_at=AT + 5, running=True),
        "it was not fetched yet: 1,200 URLs of its host come first",
        "wait for its turn",
        AT + 5,
    ),
    (
        "waiting behind one",
        known("ready"),
        StoryFacts(before=1),
        "it was not fetched yet: 1 URL of its host comes first",
        "the crawl fetches the page when the operator runs the crawl again",
        None,
    ),
    (
        "waiting behind many",
        known("ready"),
        StoryFacts(before=MAX_COUNT),
        "it was not fetched yet: 10,000 URLs or more of its host come first",
        "the crawl fetches the page when the operator runs the crawl again",
        None,
    ),
    (
        "the next one",
        known("ready"),
        StoryFacts(ready_at=0.0),
        "it was not fetched yet: it is the next one of its host",
        "the crawl fetches the page when the operator runs the crawl again",
        None,
    ),
    (
        "held off",
        known("ready", HELD, why="robots.txt is unreachable"),
        StoryFacts(ready_at=AT + 60, running=True),
        "the last attempt to fetch it did not succeed: robots.txt is unreachable",
        "the crawl tries again at 2026-11-18 11:07:40 UTC",
        AT + 60,
    ),
    (
        "tried, and not running",
        known("ready", why="timeout: no answer"),
        StoryFacts(ready_at=AT + 60),
        "the last attempt to fetch it did not succeed: timeout: no answer",
        "the crawl tries again when it runs",
        AT + 60,
    ),
    (
        "due again",
        known("ready", seen=SEEN, why="status 200"),
        StoryFacts(in_index=True),
        "it is in the search index, and is due for another visit",
        "",
        None,
    ),
    (
        "leased",
        known("leased"),
        StoryFacts(),
        "the crawl is fetching it now, or will next on its host",
        "look again in a minute",
        None,
    ),
    (
        "indexed",
        known("visited", seen=SEEN, status=200),
        StoryFacts(in_index=True),
        "it is in the search index",
        "to find it, search for words of its title",
        AT + 100,
    ),
    (
        "indexed and removed",
        known("visited", seen=SEEN, status=200),
        StoryFacts(in_index=True, removal=GRANTED),
        "it was removed at its owner's request: its server answers with status 404",
        "the robot checks again at its next visit",
        AT + 100,
    ),
    (
        "removed for good",
        UNKNOWN,
        StoryFacts(removal=replace(GRANTED, proof="token file", url=None, site="example.org")),
        "it was removed at its owner's request",
        "the operator of this search can lift the removal",
        None,
    ),
    (
        "over",
        known("visited", seen=replace(SEEN, available_until=AT), status=200),
        StoryFacts(in_index=False, now=AT),
        "the page asks not to be shown after 2026-11-18 11:06:40 UTC",
        "remove `unavailable_after`, or give it a later date",
        AT + 100,
    ),
    (
        "over, and due",
        known("ready", seen=replace(SEEN, available_until=AT), status=200),
        StoryFacts(in_index=False, now=AT),
        "the page asks not to be shown after 2026-11-18 11:06:40 UTC",
        "remove `unavailable_after`, or give it a later date",
        None,
    ),
    (
        "a redirect",
        known("visited", seen=OUT, status=301, why="status 301, to https://example.org/b"),
        StoryFacts(in_index=False),
        "its server redirects it (status 301, to https://example.org/b)",
        "look up the URL to which it redirects",
        AT + 100,
    ),
    (
        "a redirect to itself",
        known("visited", seen=OUT, status=301, why=f"status 301, to {URL}"),
        StoryFacts(in_index=False),
        f"its server redirects it (status 301, to {URL})",
        "it redirects to itself: change the server so that it sends the page",
        AT + 100,
    ),
    (
        "a redirect out of the crawl",
        known("visited", seen=OUT, status=308, why="status 308, to https://example.com/"),
        StoryFacts(in_index=False, target_refusal="not one of the seeds (--scope page)"),
        "its server redirects it (status 308, to https://example.com/)",
        "the URL to which it redirects does not belong to this crawl: not one of the seeds (--scope page)",
        AT + 100,
    ),
    (
        "a copy",
        known("visited", no("a copy"), seen=OUT, status=200, same_as=OTHER),
        StoryFacts(in_index=False),
        "it is a copy of https://example.org/b, which is shown instead",
        "if it is not a copy, give it its own title and text, and no canonical link to that page",
        AT + 100,
    ),
    (
        "a copy of a page that is not found",
        known("visited", no("a copy"), seen=OUT, status=200, same_as=OTHER),
        StoryFacts(in_index=False, original_found=False),
        "it is a copy of https://example.org/b, which search does not find either",
        "look up that page",
        AT + 100,
    ),
    (
        "visited, and due since its original was forgotten",
        known("ready", seen=OUT, status=200, why="status 200"),
        StoryFacts(in_index=False),
        "it waits for another visit",
        "the crawl tries again when it runs",
        None,
    ),
    (
        "visited, of a host that was barred since",
        known("visited", seen=SEEN, status=200),
        StoryFacts(in_index=False, refusal=("forgotten", BARRED), running=True),
        "the operator of this crawl has excluded this host",
        "",
        AT + 100,
    ),
    (
        "no index",
        known("visited", no("this crawl does not index"), seen=OUT, status=200),
        StoryFacts(keeps_index=False),
        "this crawl keeps no search index",
        "",
        AT + 100,
    ),
    (
        "an index that cannot be read",
        known("visited", seen=SEEN, status=200),
        StoryFacts(),
        "it was visited; the search index cannot be read at the moment",
        "try again later",
        AT + 100,
    ),
    (
        "not in the index yet",
        known("visited", seen=SEEN, status=200),
        StoryFacts(in_index=False, running=True),
        "it was visited, and is not in the search index yet",
        "the crawl is running and adds it within a minute",
        AT + 100,
    ),
    (
        "not in the index when the crawl ended",
        known("visited", seen=SEEN, status=200),
        StoryFacts(in_index=False),
        "it was visited, and is not in the search index yet",
        "the next run of the crawl adds it",
        AT + 100,
    ),
    (
        "noindex",
        known("visited", no("the page asks not to be indexed: noindex in META robots"), seen=OUT, status=304),
        StoryFacts(in_index=False),
        "the page asks not to be indexed: noindex in META robots",
        "remove that directive; the next visit adds the page",
        AT + 100,
    ),
    (
        "kept out of search by robots.txt",
        known("visited", no("the site asks search services to leave the page out: search=no", 3), seen=OUT, status=200),
        StoryFacts(in_index=False),
        "the site asks search services to leave the page out: search=no (line 3 of robots.txt)",
        "change that statement; the next visit adds the page",
        AT + 100,
    ),
    (
        "a soft 404",
        known("visited", no("a soft 404: like pages that do not exist"), seen=OUT, status=200),
        StoryFacts(in_index=False),
        "a soft 404: like pages that do not exist",
        "",
        AT + 100,
    ),
    (
        "left the index for no known reason",
        known("visited", Event(AT, "index", "yes", "the page allows indexing"), seen=OUT, status=200),
        StoryFacts(in_index=False),
        "it is not in the search index",
        "submit the page again, or wait for its next visit",
        AT + 100,
    ),
    (
        "disallowed",
        known(
            *("disallowed", Event(AT, "permission", "disallowed", VERDICT.reason, VERDICT.line)),
            why=VERDICT.reason,
            seen=OUT,
        ),
        StoryFacts(in_index=False),
        "robots.txt forbids it (line 2)",
        "remove that rule; the crawl reads robots.txt again within a day",
        AT + 100,
    ),
    (
        "disallowed for good",
        known("disallowed", Event(AT, "permission", "disallowed", VERDICT.reason, VERDICT.line), why=VERDICT.reason),
        StoryFacts(in_index=False),
        "robots.txt forbids it (line 2)",
        "remove that rule, wait a day, and submit the page again",
        None,
    ),
    (
        "disallowed for good, without a rule",
        known("disallowed", why="robots.txt is refused (status 403)."),
        StoryFacts(in_index=False),
        "robots.txt forbids it: robots.txt is refused (status 403)",
        "submit the page again when this changes",
        None,
    ),
    (
        "disallowed without a rule",
        known("disallowed", Event(AT, "permission", "disallowed", "robots.txt is refused (status 403)."), seen=OUT),
        StoryFacts(in_index=False),
        "robots.txt forbids it: robots.txt is refused (status 403)",
        "",
        AT + 100,
    ),
    (
        "out of scope",
        known("out-of-scope", why="not below the folder of a seed (--scope prefix)"),
        StoryFacts(in_index=False),
        "it does not belong to this crawl: not below the folder of a seed (--scope prefix)",
        "",
        None,
    ),
    (
        "a trap",
        replace(known("out-of-scope", why="these pages repeat"), lesson=LESSON),
        StoryFacts(in_index=False),
        "it does not belong to this crawl: these pages repeat",
        "the operator can drop what the crawl has learned: goodbot lessons drop ",
        None,
    ),
    (
        "failed",
        known("failed", why="timeout: no answer within 60 s"),
        StoryFacts(in_index=False),
        "the crawl could not fetch it: timeout: no answer within 60 s",
        "submit the page again when its server sends the page",
        None,
    ),
    (
        "gone",
        known("gone", seen=OUT, status=404, why="status 404"),
        StoryFacts(in_index=False),
        "its server reports that the page does not exist: status 404",
        "restore the page; the next visit adds it",
        AT + 100,
    ),
    (
        "gone for good",
        known("gone", status=404, why="status 404", fetched_at=AT),
        StoryFacts(in_index=False),
        "its server reports that the page does not exist: status 404",
        "submit the page again when its server has it; no other visit is planned",
        None,
    ),
    (
        "never due",
        known("gone", seen=replace(OUT, due_at=inf), status=410, why="status 410"),
        StoryFacts(in_index=False),
        "its server reports that the page does not exist: status 410",
        "submit the page again when its server has it; no other visit is planned",
        None,
    ),
]
STORIES += [
    (
        f"{name}, and visitors submit nothing",
        report,
        replace(facts, takes_urls=False),
        summary,
        advice.replace("submit", "ask the operator of this crawl to submit"),
        next_visit_at,
    )
    for name, report, facts, summary, advice, next_visit_at in STORIES
    if "submit the page" in advice and facts.refusal is None
]


@pytest.mark.parametrize(
    ("report", "facts", "summary", "advice", "next_visit_at"),
    [row[1:] for row in STORIES],
    ids=[row[0] for row in STORIES],
)
def test_stories(report: UrlReport, facts: StoryFacts, summary: str, advice: str, next_visit_at: float | None) -> None:
    story = tell_story(URL, report, facts)
    assert story.summary == summary
    assert story.advice.startswith(advice)
    assert bool(story.advice) == bool(advice)
    assert story.next_visit_at == next_visit_at
    assert story.state == (report.record.state if report.record else "unknown")
    assert story.in_index is facts.in_index
    assert not summary.endswith(".")
    assert story_json(story) == {
        **why_json(URL, report),
        "in_index": facts.in_index,
        "summary": story.summary,
        "advice": story.advice,
        "next_visit_at": next_visit_at,
    }


def test_every_state_has_a_story() -> None:
    states = {report.record.state if report.record else "unknown" for _, report, *_ in STORIES}
    assert states == {"unknown", "ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone"}


def test_when_the_server_answered() -> None:
    assert tell_story(URL, UNKNOWN, StoryFacts()).visited_at is None
    assert tell_story(URL, known("visited", seen=SEEN), StoryFacts()).visited_at == AT
    assert tell_story(URL, known("gone", status=404, fetched_at=AT + 1), StoryFacts()).visited_at == AT + 1


def test_the_json_of_an_unknown_url() -> None:
    assert why_json(OTHER, UNKNOWN) == {
        "url": OTHER.text,
        "asked_as": URL.text,
        "state": "unknown",
        "events": [],
        "lesson": None,
    }


def page(*metas: tuple[str, str], **more: Any) -> Page:
    return Page(URL, Directives.parse(metas, (), "goodbot"), **more)


REFUSALS = [
    page(("robots", "noindex"), text="words"),
    page(("robots", "unavailable_after: 2020-01-01"), text="words"),
    page(listed=(), text=""),
]


@pytest.mark.parametrize("refused", REFUSALS)
def test_there_is_advice_for_what_the_crawl_says(refused: Page) -> None:
    refusal = index_refusal(refused, Response(200, (("Content-Type", "text/html"),), b""), AT)
    assert refusal is not None
    assert any(refusal.reason.startswith(beginning) for beginning, _ in ADVICE)
