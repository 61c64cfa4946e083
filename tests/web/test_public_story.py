"""What visitors see of the reasons that a crawl records."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.values import Event
from goodbot.web.visitors.public_story import NO_ADDRESS, public_story, public_text
from goodbot.web.visitors.story_view import MAX_EVENTS_SHOWN, heading_of, queue_heading_of, steps_of
from web.visitor_desks import STORIES, VISITED, story, url

EVENTS = [
    ("seed", ("found", "known", "seed or submitted, depth 0"), ("known", "seed or submitted, depth 0")),
    (
        "source",
        ("found", "known", "linked from http://a.example:8080/x?key=1, depth 3"),
        ("known", "linked from a page of a.example:8080, depth 3"),
    ),
    (
        "file of the archive",
        ("keep", "yes", "goodbot-2026.warc.gz at byte 12"),
        ("yes", "the archive has the answer"),
    ),
    ("headers", ("keep", "headers", "x.warc.gz at byte 1"), ("headers", "the archive has only the header fields")),
    ("answer", ("fetch", "200", "12 bytes in 3 ms, cut (length)"), ("200", "12 bytes in 3 ms, cut (length)")),
    ("no name", ("fetch", "dns", "the name has no address (in.example): not found"), ("no address", NO_ADDRESS)),
    (
        "private",
        ("fetch", "private-address", "in.example leads to a private address: 10.1.2.3 is private"),
        ("no address", NO_ADDRESS),
    ),
    ("refused", ("fetch", "connect", "connection refused (a.example:443)"), ("connect", "connection refused")),
    (
        "proxy",
        ("fetch", "connect", "the name of the proxy has no address: proxy.corp"),
        ("connect", "no connection could be made"),
    ),
    (
        "over a proxy",
        ("fetch", "connect", "connection refused (a.example:443 over proxy 10.0.0.1:3128)"),
        ("connect", "no connection could be made"),
    ),
    (
        "certificate",
        ("fetch", "tls", "the certificate has expired (a.example): SSL error 60"),
        ("tls", "the certificate has expired"),
    ),
    (
        "barred",
        ("fetch", "forgotten", "a.example is forgotten, so no request is sent (goodbot forget HOST --undo)"),
        ("forgotten", "the operator has excluded this host"),
    ),
    ("wall", ("fetch", "wall", "a bot wall (Sample) answered"), ("wall", "a bot wall (Sample) answered")),
    (
        "browser",
        ("read", "lost", "in 3 ms, without a browser (no file /usr/bin/chromium); 0 requests"),
        ("lost", "in 3 ms, without a browser"),
    ),
    (
        "robots.txt unreachable",
        (
            "permission",
            "held off",
            "robots.txt is unreachable, so nothing is allowed for now: connection refused (x over proxy 10.0.0.1:1).",
        ),
        ("held off", "robots.txt is unreachable, so nothing is allowed for now."),
    ),
    (
        "robots.txt on a private address",
        (
            "permission",
            "held off",
            "robots.txt is unreachable (its address is private, and this robot may not access it), so nothing is.",
        ),
        ("held off", f"robots.txt is unreachable ({NO_ADDRESS}), so nothing is."),
    ),
    (
        "private, out of scope",
        ("scope", "no", "10.0.0.1 is a private address; --allow-private opens only the ranges the seeds lie in"),
        ("no", NO_ADDRESS),
    ),
    ("scope", ("scope", "no", "not one of the seeds (--scope page)"), ("no", "not one of the seeds (--scope page)")),
    ("rule", ("permission", "allowed", "Allow: /a matches."), ("allowed", "Allow: /a matches.")),
    ("index", ("index", "no", "the page asks (so)"), ("no", "the page asks (so)")),
]


@pytest.mark.parametrize(("event", "public"), [case[1:] for case in EVENTS], ids=[case[0] for case in EVENTS])
def test_events(event: tuple[str, str, str], public: tuple[str, str]) -> None:
    step, decision, reason = event
    shown = public_story(story("/", events=(Event(1.0, step, decision, reason, 7),))).events[0]  # type: ignore[arg-type]
    assert (shown.at, shown.step, shown.decision, shown.reason, shown.line) == (1.0, step, *public, 7)


SUMMARIES = [
    ("it is in the search index", "it is in the search index"),
    (
        "the crawl could not fetch it: private-address: in.example leads to a private address: 10.1.2.3",
        f"the crawl could not fetch it: {NO_ADDRESS}",
    ),
    ("the crawl could not fetch it: dns: the name has no address (x)", f"the crawl could not fetch it: {NO_ADDRESS}"),
    ("the crawl could not fetch it: tls: no TLS (x): 35", "the crawl could not fetch it: no TLS"),
    ("the crawl could not fetch it: status 500", "the crawl could not fetch it: status 500"),
    (
        "the crawl could not fetch it: kills the reader: the worker ended, 2 times; its answer is kept in deadly/a.gz",
        "the crawl could not fetch it: kills the reader: the worker ended, 2 times",
    ),
    (
        "the last attempt did not succeed: robots.txt is unreachable, so nothing is allowed: refused (x over proxy y)",
        "the last attempt did not succeed: robots.txt is unreachable, so nothing is allowed",
    ),
]


@pytest.mark.parametrize(("summary", "public"), SUMMARIES)
def test_summaries(summary: str, public: str) -> None:
    assert public_story(story("/", summary=summary)).summary == public


@given(
    st.text()
    | st.lists(st.sampled_from(["dns: ", "proxy ", " (", "robots.txt is unreachable, so ", ": "])).map("".join)
)
def test_any_sentence(sentence: str) -> None:
    assert len(public_text(sentence)) <= len(sentence) + 20 * len(NO_ADDRESS)


HEADINGS = {
    "/": "Search can find this page",
    "/new": "This page waits for a visit",
    "/now": "The robot is visiting this page now, or will next on its host",
    "/hidden": "Search does not find this page",
    "/copy": "Search shows another page in its place",
    "/private": "robots.txt forbids this page",
    "/down": "The robot could not fetch this page",
    "/gone": "There is no such page",
    "/far": "This URL is outside the scope of the crawl",
}


def test_headings() -> None:
    stories = {each.url.path: each for each in STORIES}
    assert {path: heading_of(stories[path]) for path in HEADINGS} == HEADINGS
    assert heading_of(story("/x")) == "The crawl does not know this URL"
    assert (
        heading_of(story("/x", state="visited", in_index=None)) == "The crawl has this page, but search cannot find it"
    )


def test_headings_after_a_submission() -> None:
    assert queue_heading_of(story("/x", state="ready")) == "This page waits for its first visit"
    assert queue_heading_of(story("/x", state="ready", visited_at=1.0)) == "The crawl knows this URL"
    assert queue_heading_of(VISITED) == "The crawl has this page already"
    assert (
        queue_heading_of(story("/x", state="leased")) == "The robot is visiting this page now, or will next on its host"
    )
    assert queue_heading_of(story("/x", state="gone")) == "The crawl knows this URL"


def test_steps() -> None:
    steps = steps_of(VISITED)
    assert [step.label for step in steps][:3] == ["Discovery", "Permission by robots.txt", "Request"]
    assert [step.decision for step in steps] == ["", "allowed", "200", "yes", "yes", "yes", "delay"]
    assert [step.line for step in steps if step.line] == [3]
    named = story("/", events=(Event(1.0, "permission", "disallowed", "Disallow: /x (line 2) forbids it", 2),))
    assert steps_of(named)[0].line is None
    many = story("/", events=VISITED.events * 30)
    assert len(steps_of(many)) == MAX_EVENTS_SHOWN


def test_the_url_stays() -> None:
    assert public_story(VISITED).url == url("/")
