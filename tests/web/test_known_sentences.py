"""What the crawl and the services for visitors say is read back, so that pages can translate it."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exclusion.access.test_access import FAILURES, STATUSES
from exclusion.access.test_access_dialects import OUTAGES
from exclusion.robotstxt.test_dialects import SENTENCES as VERDICTS
from exclusion.robotstxt.test_dialects import SENTENCES_TEXT
from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.exclusion import Access, RobotsTxt
from goodbot.exclusion.robotstxt.dialects import DIALECTS
from goodbot.human import human_time
from goodbot.lesson_values import Lesson
from goodbot.robot.crawl.revisit import ChangeHints, plan_visit
from goodbot.robot.fetch.curl_errors import failure_of
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.lessons.budgets import Account, _evidence
from goodbot.robot.lessons.calendars import sentence
from goodbot.robot.lessons.url_families import UrlFamily, evidence_of
from goodbot.robot.lessons.url_shape import trap_in_url
from goodbot.robot.scope.scope import Scope
from goodbot.store.merge.limits import budget_reason, found_events, lists_reason
from goodbot.url import Url
from goodbot.url_story import ADVICE as OF_REFUSALS
from goodbot.url_story import tell_story
from goodbot.values import Event, LastVisit
from goodbot.visitor_urls import visitor_url
from goodbot.web.pages import visitor_sentences
from goodbot.web.pages.known_sentences import CLAUSES, SENTENCES, read_sentence
from goodbot.web.pages.phrases import MAX_CHARS, VALUES
from goodbot.web.public_sites import Refuse
from goodbot.web.visitors.public_story import public_story, public_text
from robot.fetch.test_curl_errors import CASES as CURL
from robot.scope.test_scope import ANSWERS, CASES, RULES, SEEDS
from test_url_story import STORIES, URL
from test_visitor_urls import REFUSED as TYPED
from web.russian import RUSSIAN, english_in
from web.test_public_story import EVENTS
from web.visitor_desks import story

NOW = 1_795_000_000.0
INVENTED = {
    "these pages repeat",
    "elsewhere",
    "example.org is not the host of a seed",
    "robots.txt is unreachable",
    "robots.txt is refused (status 403)",
    "no answer",
    "no answer within 60 s",
    "a soft 404: like pages that do not exist",
}
"""Reasons of the cases that no crawl gives in these words."""


@pytest.mark.parametrize("case", STORIES, ids=[row[0] for row in STORIES])
def test_stories(case: tuple) -> None:  # type: ignore[type-arg]
    told = public_story(tell_story(URL, case[1], case[2]))
    for text in (told.summary, told.advice):
        assert set(english_in(text)) <= INVENTED


def test_the_stories_of_the_cases_are_all_there_are() -> None:
    stories = [tell_story(URL, report, facts) for _, report, facts, *_ in STORIES]
    read = [read_sentence(text) for story in stories for text in (story.summary, story.advice)]
    told = {message.text for message in read if message is not None}
    assert set(visitor_sentences.STORIES) - told == set()
    of_refusals = {advice for _, advice in OF_REFUSALS}
    assert set(visitor_sentences.ADVICE) - told - of_refusals == {"the crawl tries again"}


def scopes() -> Iterator[str | None]:
    for kind, text, depth, _ in CASES:
        settings = Settings(scope=kind, depth=2)  # type: ignore[arg-type]
        yield Scope(settings, [Url(SEEDS[0])], AddressGuard([])).refuse(Url(text), depth)
    for include, exclude, text, _ in RULES:
        settings = Settings(scope="all", include=tuple(include), exclude=tuple(exclude))
        yield Scope(settings, (), AddressGuard([])).refuse(Url(text), 1)
    for types, size, media_type, length, _ in ANSWERS:
        yield Scope(Settings(types=tuple(types), max_size=size), (), AddressGuard([])).refuse_answer(media_type, length)
    yield Scope(Settings(depth=0), (), AddressGuard([])).refuse(Url(f"http://{'a' * 254}/"), 0)
    yield Scope(Settings(depth=0), (), AddressGuard([])).refuse(Url("http://a.example/"), 1)
    yield Scope(Settings(scope="all"), (), AddressGuard(public=False)).refuse(Url("http://8.8.4.4/"), 1)
    yield from (budget_reason(1), budget_reason(1000), lists_reason(100))


def lessons() -> Iterator[str | None]:
    host = "https://example.org"
    yield trap_in_url(f"{host}/en/en/en/en/page")
    yield trap_in_url(f"{host}/" + "/".join(f"f{number}" for number in range(60)))
    yield trap_in_url(f"{host}/list?" + "&".join(f"p{number}=1" for number in range(31)))
    yield trap_in_url(f"{host}/list?" + "sort=up&" * 5 + "q=1")
    yield trap_in_url(f"{host}/login?to=%2Flogin%3Fto%3D%252Flogin%253Fto%253D%2Flogin")
    yield trap_in_url(f"{host}/a?" + "x" * 2100)
    yield _evidence(f"pages below {host}/a/", Account(0.0, 400, 390))
    yield _evidence(f"pages of {host}", Account(0.0, 400, 390))
    dates = "6 dates in a row have pages with the same text"
    yield sentence(f"{host}/DATE", 1, 738_000, dates)
    yield sentence(f"{host}/DATE", 737_000, 738_000, dates)
    yield sentence(f"{host}/DATE", 1, 738_000, "60 dates were visited, and the calendar does not end")
    for news in (0, 3):
        yield evidence_of(f"{host}/x/*?a&b", UrlFamily(40, 2, "", pages=77, news=news, same=f"{host}/x/1"))


def robots_txt() -> Iterator[str]:
    for dialect, agent, path, *_ in VERDICTS:
        yield RobotsTxt.parse(SENTENCES_TEXT, dialect).verdict(path, agent).reason
    for body in ("User-agent: *\nDisallow: /a b", "User-agent: me\nAllow: /\n\nUser-agent: me\nDisallow: /x"):
        for path in ("/a b", "/x", "/", "/robots.txt"):
            yield RobotsTxt.parse(body).verdict(path, "me").reason
    for status, *_ in STATUSES:
        if status >= 0:
            yield Access.from_response(status, [], b"", NOW).verdict("/a", "me").reason
    for kind, *_ in FAILURES:
        yield Access.from_failure(kind, NOW).verdict("/a", "me").reason
    yield Access.from_failure("walled: Sample", NOW).verdict("/a", "me").reason
    good = Access.from_response(200, [], b"User-agent: *\nDisallow: /a", NOW)
    yield Access.from_failure("timeout", NOW, last_good=good).verdict("/a", "me").reason
    for dialect, hours, copy, answers, _ in OUTAGES:
        before = Access.from_response(200, [], b"", NOW - 86_400, dialect) if copy else None
        first = Access.from_failure("timeout", NOW, dialect, before)
        yield Access.from_failure("timeout", NOW + hours * 3600, dialect, first, site_answers=answers).reason


def failures() -> Iterator[str]:
    for code, message, errno, _, _ in CURL:
        failure = failure_of(code, message, Url("http://[::1]:9/"), lambda name, errno=errno: errno)  # type: ignore[misc]
        yield public_text(f"the crawl could not fetch it: {failure.kind}: {failure.detail}")
    yield "the last attempt to fetch it did not succeed: status 500 (3 tries)"
    yield "the crawl could not fetch it: wall: Sample (status 403)"


def visits() -> Iterator[str]:
    seen = LastVisit(at=NOW - 90_000, due_at=NOW, interval_s=1000, changed_at=NOW)
    for hints in (
        ChangeHints(),
        ChangeHints(interval_s=86_400.0),
        ChangeHints(static=True),
        ChangeHints(fresh_s=9e7),
        ChangeHints(available_until=NOW + 1),
    ):
        for before in (None, seen):
            for changed in (False, True):
                yield plan_visit(Settings(), before, changed, hints, NOW).reason
    yield "the page asks not to be indexed: it leaves the index"
    yield "1024 bytes in 12 ms, cut (length)"
    yield "17 links, 4 new, 2 of these out of scope, 1 marked nofollow"
    yield "a list of 1,200 URLs, 3 of them out of scope"


def for_visitors() -> Iterator[str]:
    for typed, _ in TYPED:
        try:
            visitor_url(typed)
        except InputError as error:
            yield str(error)
    for host in ("a.example", "10.1.2.3"):
        for redirected in (False, True):
            yield str(Refuse("").error(host, redirected=redirected))
    yield f"the page asks not to be shown after {human_time(NOW)}"
    yield "the page asks not to be indexed: noindex in META robots, none in X-Robots-Tag"


EACH = [*scopes(), *lessons(), *robots_txt(), *failures(), *visits(), *for_visitors()]


@pytest.mark.parametrize("said", sorted({said for said in EACH if said}), ids=lambda said: said[:40])
def test_reasons(said: str) -> None:
    assert english_in(said) == []
    assert RUSSIAN.said(said) != said


def test_verdicts_have_a_reason_in_every_dialect() -> None:
    assert {row[0] for row in VERDICTS} == set(DIALECTS)


UNREAD = {
    "12 bytes in 3 ms, cut (length)": False,
    "in 3 ms, without a browser": True,
    "a bot wall (Sample) answered": True,
    "robots.txt is unreachable (its host has no public address), so nothing is.": True,
    "robots.txt is unreachable, so nothing is allowed for now.": True,
    "Allow: /a matches.": True,
    "the page asks (so)": True,
}
"""Reasons of cases; whether they stay English, because no crawl says so."""


@pytest.mark.parametrize("case", EVENTS, ids=[row[0] for row in EVENTS])
def test_events(case: tuple) -> None:  # type: ignore[type-arg]
    step, decision, reason = case[1]
    (event,) = public_story(story("/", events=(Event(1.0, step, decision, reason),))).events
    assert bool(english_in(event.reason)) is UNREAD.get(event.reason, False)
    assert english_in(event.decision) == [event.decision] * event.decision.isdecimal()


def test_how_a_url_was_found() -> None:
    for source, public_only in ((None, False), (None, True), ("https://example.org/a", True)):
        found = found_events(NOW, source, 2, "excluded by --exclude *.pdf", public_only=public_only)
        events = public_story(story("/", events=found)).events
        assert [english_in(event.reason) for event in events] == [[], []]


def test_a_lesson_is_read() -> None:
    about = "pages of more than 12 titles name https://example.org/ as their canonical URL"
    assert english_in(Lesson("example.org", "canonical", "x", about, NOW).evidence) == []


RUSSIAN_TEXTS = [
    (
        "it was not fetched yet: 1,200 URLs of its host come first",
        "страница ещё не загружена: перед ней в очереди 1\u00a0200 URL её сайта",
    ),
    (
        "the crawl has followed no link to it, and robots.txt forbids it (line 2)",
        "робот не переходил на эту страницу ни по одной ссылке; кроме того, robots.txt запрещает её (строка 2)",
    ),
    (
        "Disallow: /a b (line 2) is the longest rule that matches in the group for all robots (*) (line 1).",
        "Disallow: /a b (строка 2) — самое длинное из подходящих правил в группе для всех роботов (*) (строка 1)",
    ),
    ("unchanged after 2 days: due again in 36 h", "не изменилась за 2\u00a0дн.; следующий визит через 36\u00a0ч"),
    ("it does not belong to this crawl: a new reason", "страница не входит в область обхода: a new reason"),
    ("the crawl could not fetch it: ", "the crawl could not fetch it: "),
    ("a new reason; another", "a new reason; another"),
    ("its server redirects it to %(url)s and 100 %", "сервер перенаправляет с неё на %(url)s and 100 %"),
]


@pytest.mark.parametrize(("said", "russian"), RUSSIAN_TEXTS)
def test_in_russian(said: str, russian: str) -> None:
    assert RUSSIAN.said(said) == russian


def test_what_is_unknown_stays_english() -> None:
    pieces = RUSSIAN.pieces("it does not belong to this crawl: a <b>new</b> reason")
    assert [piece.kind for piece in pieces if piece.text] == ["text", "English"]
    assert english_in("a new reason") == ["a new reason"]
    assert read_sentence("it is a copy of " + "x" * MAX_CHARS + ", which is shown instead") is None


def test_sentences_are_matched_in_linear_time() -> None:
    """At most one placeholder for any text, besides one at the end."""
    clauses = [text for clause in CLAUSES.values() for text in clause.sentences or ()]
    for text in (*SENTENCES, *clauses):
        before_end = re.sub(r"%\(\w+\)s\Z", "", text)
        names = re.findall(r"%\((\w+)\)s", before_end)
        assert sum(name not in VALUES for name in names) <= 1, text
    assert len(set(SENTENCES)) == len(SENTENCES)


PARTS = ["; ", " (line 2 of robots.txt)", ": it leaves the index", " (3 tries)", "it is a copy of ", ", which is shown"]


@given(st.text() | st.lists(st.sampled_from([*PARTS, *SENTENCES, "a", "1", "."]), max_size=60).map("".join))
def test_any_text(text: str) -> None:
    message = read_sentence(text)
    assert message is None or str(message) in (text, text.removesuffix("."))
    RUSSIAN.said(text)
