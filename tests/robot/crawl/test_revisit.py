"""When a page is visited again: single cases, and properties of all cases."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.config import Settings
from goodbot.exclusion import Directives, RobotsTxt
from goodbot.robot.crawl.revisit import ChangeHints, Revisits, hints_of, plan_visit, text_digest
from goodbot.robot.crawl.wishes import Wishes, of_answer, were_in_robots_txt
from goodbot.url import Url
from goodbot.values import LastVisit, LeasedUrl, Outcome, Page, RecordRef, Response

NOW = 1_700_000_000.0
HOUR = 3600.0
DAY = 24 * HOUR
URL = Url("http://example.org/")
SETTINGS = Settings()


def seen(interval_s: float, ago_s: float | None = None, **more: object) -> LastVisit:
    """A page visited `ago_s` ago (as long as was planned, if not said), which was planned to wait `interval_s`."""
    at = NOW - (interval_s if ago_s is None else ago_s)
    return replace(LastVisit(at, at + interval_s, interval_s, at), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "changed", "hints", "due_in_s", "interval_s"),
    [
        pytest.param(None, False, ChangeHints(), DAY, DAY, id="a first visit waits a day"),
        pytest.param(None, False, ChangeHints(10 * DAY), 10 * DAY, 10 * DAY, id="unless the page says more"),
        pytest.param(None, False, ChangeHints(60.0), 4 * HOUR, 4 * HOUR, id="never less than the least"),
        pytest.param(None, False, ChangeHints(999 * DAY), 90 * DAY, 90 * DAY, id="nor more than the most"),
        pytest.param(None, False, ChangeHints(static=True), 90 * DAY, 90 * DAY, id="static waits longest"),
        pytest.param(None, False, ChangeHints(permanent=True), 90 * DAY, 90 * DAY, id="permanent redirect"),
        pytest.param(seen(DAY), True, ChangeHints(static=True), 90 * DAY, 90 * DAY, id="static though it changed"),
        pytest.param(seen(60 * DAY), True, ChangeHints(), 30 * DAY, 30 * DAY, id="a change halves"),
        pytest.param(seen(4 * HOUR), False, ChangeHints(), 6 * HOUR, 6 * HOUR, id="no change grows by half at most"),
        pytest.param(seen(8 * DAY), False, ChangeHints(), 8.12 * DAY, 8.12 * DAY, id="the longer the wait the less"),
        pytest.param(
            seen(DAY, 30 * DAY), True, ChangeHints(), 0.98 * DAY, 0.98 * DAY, id="a change long due says little"
        ),
        pytest.param(
            seen(DAY, 30 * DAY), False, ChangeHints(), 1.5 * DAY, 1.5 * DAY, id="no change in so long says much"
        ),
        pytest.param(seen(4 * HOUR), True, ChangeHints(), 4 * HOUR, 4 * HOUR, id="not below the least"),
        pytest.param(seen(90 * DAY), False, ChangeHints(), 90 * DAY, 90 * DAY, id="not above the most"),
        pytest.param(
            seen(60 * DAY), True, ChangeHints(7.5 * DAY), 15 * DAY, 15 * DAY, id="a hint hastens what is seen"
        ),
        pytest.param(seen(60 * DAY), True, ChangeHints(50 * DAY), 30 * DAY, 30 * DAY, id="and holds nothing back"),
        pytest.param(seen(4 * HOUR), False, ChangeHints(24 * HOUR), 12 * HOUR, 12 * HOUR, id="also the other way"),
        pytest.param(
            seen(4 * HOUR), False, ChangeHints(HOUR), 6 * HOUR, 6 * HOUR, id="a page that says hourly and does not"
        ),
        pytest.param(seen(4 * HOUR), True, ChangeHints(fresh_s=DAY), DAY, 4 * HOUR, id="not while the copy is fresh"),
        pytest.param(
            seen(4 * HOUR), False, ChangeHints(fresh_s=HOUR), 6 * HOUR, 6 * HOUR, id="fresh for less is no matter"
        ),
        pytest.param(
            None, False, ChangeHints(available_until=NOW + HOUR), HOUR, DAY, id="when it is to be shown no more"
        ),
        pytest.param(None, False, ChangeHints(available_until=NOW - HOUR), DAY, DAY, id="but not in the past"),
    ],
)
def test_the_next_visit(
    before: LastVisit | None, changed: bool, hints: ChangeHints, due_in_s: float, interval_s: float
) -> None:
    plan = plan_visit(SETTINGS, before, changed, hints, NOW)
    assert plan.due_at - NOW == pytest.approx(due_in_s, rel=0.005)
    assert plan.interval_s == pytest.approx(interval_s, rel=0.005)
    assert plan.reason
    assert "\n" not in plan.reason


@pytest.mark.parametrize("wait_s", [0.0, 5e-324, 2.225073858507203e-309, 1e-150, 1e-4])
@pytest.mark.parametrize("ago_s", [0.0, 1e12])
@pytest.mark.parametrize("changed", [False, True])
def test_a_wait_of_next_to_nothing_tells_nothing(wait_s: float, ago_s: float, changed: bool) -> None:
    assert plan_visit(SETTINGS, seen(wait_s, ago_s), changed, ChangeHints(), NOW).interval_s == 4 * HOUR


def test_bounds_are_settings() -> None:
    settings = Settings(revisit_first=0.0, revisit_least=0.0, revisit_most=100.0, revisit_growth=3.0)
    assert plan_visit(settings, None, False, ChangeHints(), NOW).due_at == NOW
    assert plan_visit(settings, seen(0.0), False, ChangeHints(), NOW).due_at == NOW
    assert plan_visit(settings, seen(8.0), True, ChangeHints(), NOW).interval_s == 4.0
    assert plan_visit(settings, None, False, ChangeHints(static=True), NOW).interval_s == 100.0


@pytest.mark.parametrize(
    ("headers", "fresh_s"),
    [
        ((), 0.0),
        ((("Cache-Control", "max-age=86400"),), DAY),
        ((("Cache-Control", "max-age=86400"), ("Age", "3600")), 23 * HOUR),
        ((("Cache-Control", "max-age=999999999"),), 90 * DAY),
        ((("Cache-Control", "no-store, max-age=86400"),), 0.0),
        ((("Cache-Control", "no-cache"),), 0.0),
        ((("Cache-Control", "max-age=0"),), 0.0),
        ((("Cache-Control", "max-age=30"),), 0.0),
        ((("Date", "Tue, 14 Nov 2023 22:13:20 GMT"), ("Expires", "Wed, 15 Nov 2023 22:13:20 GMT")), DAY),
        ((("Expires", "0"),), 0.0),
    ],
)
def test_how_long_a_copy_is_fresh(headers: tuple[tuple[str, str], ...], fresh_s: float) -> None:
    assert hints_of(SETTINGS, headers, NOW).fresh_s == fresh_s


def test_the_page_knows_better_than_the_sitemap() -> None:
    directives = Directives.parse([("revisit-after", "10 days"), ("document-state", "static")], (), "goodbot")
    hints = hints_of(SETTINGS, (), NOW, directives, listed_s=DAY)
    assert (hints.interval_s, hints.static) == (10 * DAY, True)
    assert hints_of(SETTINGS, (), NOW, Directives(), listed_s=DAY).interval_s == DAY


times = st.floats(0, 1e12) | st.just(inf)


@given(
    st.floats(0, 1e12),
    st.floats(-1e9, 1e12),
    st.booleans(),
    st.none() | st.floats(0, 1e12),
    st.floats(0, 1e9),
    st.booleans(),
    st.none() | st.floats(0, 1e12),
)
def test_the_wait_is_within_its_bounds_whatever_the_hints(
    interval_s: float,
    ago_s: float,
    changed: bool,
    said_s: float | None,
    fresh_s: float,
    static: bool,
    until: float | None,
) -> None:
    hints = ChangeHints(said_s, fresh_s, static, until)
    for before in (None, seen(interval_s, ago_s)):
        plan = plan_visit(SETTINGS, before, changed, hints, NOW)
        assert SETTINGS.revisit_least <= plan.interval_s <= SETTINGS.revisit_most
        assert NOW < plan.due_at <= NOW + max(plan.interval_s, fresh_s)


@given(st.text(), st.text())
def test_the_digest_of_a_text_is_its_own(first: str, second: str) -> None:
    page = Page(URL, Directives())
    digests = [text_digest(replace(page, text=text)) for text in (first, second)]
    assert (digests[0] == digests[1]) is (first == second)
    assert text_digest(page) is None
    assert text_digest(replace(page, title="a", text="b")) != text_digest(replace(page, title="ab"))


COPY = RecordRef("goodbot-20260101000000-00000.warc.gz", 7)


@pytest.mark.parametrize(
    ("page", "keeps", "names"),
    [
        (None, True, []),
        (seen(DAY, record=COPY), True, []),
        (seen(DAY, record=COPY, etag='"1"'), True, ["If-None-Match"]),
        (seen(DAY, record=COPY, modified="yesterday"), True, ["If-Modified-Since"]),
        (seen(DAY, record=COPY, etag='W/"1"', modified="x"), True, ["If-None-Match", "If-Modified-Since"]),
        (seen(DAY, etag='"1"'), True, []),
        (seen(DAY, etag='"1"'), False, ["If-None-Match"]),
        (seen(DAY, record=COPY, etag="a" * 2000), True, []),
        (seen(DAY, record=COPY, etag="a\r\nX: 1"), True, []),
        (seen(DAY, record=COPY, etag="\u0416"), True, []),
        (seen(DAY, record=COPY, etag=""), True, []),
    ],
)
def test_conditions_of_a_request_come_from_the_last_copy(page: LastVisit | None, keeps: bool, names: list[str]) -> None:
    fields = Revisits(SETTINGS, keeps).conditions(page, NOW)
    assert [name for name, _ in fields] == names
    assert page is None or all(value in (page.etag, page.modified) for _, value in fields)


@given(st.text(max_size=40))
def test_a_validator_that_is_sent_back_can_be_sent(value: str) -> None:
    for _, sent in Revisits(SETTINGS, True).conditions(seen(DAY, record=COPY, etag=value), NOW):
        assert sent.encode("latin-1")
        assert not set(sent) & {"\r", "\n", "\0"}


PAGE = seen(DAY, 3 * DAY, digest="d", record=COPY, title="t", etag='"1"', indexed=True)
REVISITS = Revisits(SETTINGS, keeps=True)


def outcome_of(state: str, **more: object) -> Outcome:
    return Outcome(URL, state, NOW, "why", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["ready", "failed", "gone", "disallowed", "out-of-scope"])
def test_a_url_never_visited_is_as_it_was(state: str) -> None:
    outcome = outcome_of(state)
    assert REVISITS.settle(LeasedUrl(URL, 0), outcome) == outcome


@pytest.mark.parametrize(
    ("state", "then", "leaves", "due_in_s"),
    [
        ("ready", "ready", False, -2 * DAY),
        ("failed", "visited", False, 3 * DAY),
        ("gone", "gone", True, DAY),
        ("disallowed", "disallowed", True, 3 * DAY),
        ("out-of-scope", "out-of-scope", True, None),
    ],
)
def test_what_becomes_of_a_page_that_was_visited(state: str, then: str, leaves: bool, due_in_s: float | None) -> None:
    outcome = REVISITS.settle(LeasedUrl(URL, 0, seen=PAGE), outcome_of(state, tries=3))
    assert (outcome.state, outcome.from_index, outcome.revisit) == (then, leaves, True)
    assert (None if outcome.seen is None else outcome.seen.due_at - NOW) == due_in_s
    if then == "visited":
        assert (outcome.record, outcome.digest, outcome.title, outcome.unchanged, outcome.tries) == (
            COPY,
            "d",
            "t",
            True,
            0,
        )
    if leaves and outcome.seen is not None:
        assert REVISITS.conditions(outcome.seen, NOW) == ()
        assert not outcome.seen.indexed


def test_a_page_that_is_gone_is_visited_three_times_more() -> None:
    page: LastVisit | None = PAGE
    waits = []
    while page is not None:
        outcome = REVISITS.settle(LeasedUrl(URL, 0, seen=page), outcome_of("gone"))
        page = outcome.seen
        waits.append(None if page is None else page.due_at - NOW)
    assert waits == [DAY, 2 * DAY, 4 * DAY, None]


@pytest.mark.parametrize("state", ["ready", "failed"])
def test_a_page_past_its_date_leaves_though_its_site_is_out_of_reach(state: str) -> None:
    page = replace(PAGE, available_until=NOW - 1)
    outcome = REVISITS.settle(LeasedUrl(URL, 0, seen=page), outcome_of(state))
    assert (outcome.from_index, outcome.unchanged) == (True, False)
    again = replace(PAGE, available_until=NOW + 60)
    kept = REVISITS.settle(LeasedUrl(URL, 0, seen=again), outcome_of("failed"))
    assert (kept.from_index, kept.seen is not None and kept.seen.due_at) == (False, NOW + 60)


@pytest.mark.parametrize(
    ("header", "leaves"),
    [
        ((), False),
        (("X-Robots-Tag", "noindex"), True),
        (("X-Robots-Tag", "otherbot: noindex"), False),
        (("X-Robots-Tag", "unavailable_after: 2001-01-01"), True),
        (("X-Robots-Tag", "unavailable_after: 2101-01-01"), False),
    ],
)
def test_what_a_304_says_counts(header: tuple[str, str] | tuple[()], leaves: bool) -> None:
    response = Response(304, (header,) if header else (), b"")
    directives = Directives.parse((), response.headers, "goodbot")
    leased = LeasedUrl(URL, 0, seen=PAGE)
    outcome = REVISITS.not_modified(leased, PAGE, outcome_of("failed", status=304), response, directives)
    assert (outcome.state, outcome.status, outcome.record) == ("visited", 304, COPY)
    assert (outcome.from_index, outcome.unchanged) == (leaves, not leaves)
    assert bool(REVISITS.conditions(outcome.seen, NOW)) is not leaves


@pytest.mark.parametrize(
    ("wishes", "sent_ago_s", "in_search", "is_conditional"),
    [
        pytest.param("", DAY, True, True, id="a page as most are"),
        pytest.param("", 31 * DAY, True, False, id="not sent whole for a month"),
        pytest.param("x-robots-tag: noarchive", DAY, True, False, id="with a wish of its own"),
        pytest.param("link: canonical:00", DAY, True, False, id="with a canonical URL"),
        pytest.param("robots.txt: nosearch", DAY, False, True, id="robots.txt keeps it out of search as before"),
        pytest.param("robots.txt: nosearch", DAY, True, False, id="robots.txt no longer does"),
        pytest.param("content-usage: nosearch; robots.txt: nosearch", DAY, True, False, id="its field still does"),
        pytest.param("content-usage: nosearch; robots.txt: nosearch", DAY, False, False, id="both keep it out"),
    ],
)
def test_when_the_whole_page_is_requested(
    wishes: str, sent_ago_s: float, in_search: bool, is_conditional: bool
) -> None:
    page = replace(PAGE, wishes=wishes, whole_at=NOW - sent_ago_s)
    assert bool(REVISITS.conditions(page, NOW, in_search=in_search)) is is_conditional
    if not wishes:
        unknown = replace(page, whole_at=None, changed_at=NOW - sent_ago_s)
        assert bool(REVISITS.conditions(unknown, NOW)) is is_conditional


NOARCHIVE = "x-robots-tag: noarchive"
SIGNAL = RobotsTxt.parse("User-agent: *\nContent-Signal: search=no").preferences("/", "goodbot").sources[0]

# whether the page was indexed, what the 304 states, and whether robots.txt keeps the page out of search; whether it
# leaves the index, and whether all of it is requested at once
AT_304: list[tuple[str, bool, tuple[tuple[str, str], ...], bool, bool, bool]] = [
    ("no wish", True, (), False, False, False),
    ("permission", True, (("X-Robots-Tag", "all"),), False, False, False),
    ("for another robot", True, (("X-Robots-Tag", "otherbot: noindex"),), False, False, False),
    ("nosnippet", True, (("X-Robots-Tag", "nosnippet"),), False, True, True),
    ("noarchive", True, (("X-Robots-Tag", "nocache, all"),), False, True, True),
    ("max-snippet", True, (("X-Robots-Tag", "max-snippet:40"),), False, True, True),
    ("Robots-Tag", True, (("Robots-Tag", "nosnippet"),), False, True, True),
    ("of a page not indexed", False, (("X-Robots-Tag", "nosnippet"),), False, False, True),
    ("links", True, (("X-Robots-Tag", "nofollow"),), False, False, True),
    ("links and more", True, (("X-Robots-Tag", "nofollow, noimageindex"),), False, True, True),
    ("a date to come", True, (("X-Robots-Tag", "unavailable_after: 2101-01-01"),), False, False, True),
    ("a date gone by", True, (("X-Robots-Tag", "unavailable_after: 2001-01-01"),), False, True, False),
    ("noindex", True, (("X-Robots-Tag", "noindex"),), False, True, False),
    ("none", True, (("X-Robots-Tag", "none"),), False, True, False),
    ("search=n", True, (("Content-Usage", "search=n"),), False, True, False),
    ("search=y", True, (("Content-Usage", "search=y"),), False, False, False),
    ("search=no", True, (("Content-Signal", "search=no"),), False, True, False),
    ("search=yes", True, (("Content-Signal", "search=yes"),), False, False, False),
    ("one yes, one no", True, (("Content-Usage", "search=y"), ("Content-Signal", "search=no")), False, True, False),
    ("Content-Usage about another use", True, (("Content-Usage", "train-ai=n"),), False, False, False),
    ("Content-Signal about another use", True, (("Content-Signal", "ai-train=no"),), False, False, False),
    ("another canonical URL", True, (("Link", "</c>; rel=canonical"),), False, False, True),
    ("its own canonical URL", True, (("Link", "</>; rel=canonical"),), False, False, False),
    ("a link of another kind", True, (("Link", "</c>; rel=preload"),), False, False, False),
    ("a field of that name", True, (("robots.txt", "nosearch"),), False, False, False),
    ("robots.txt", True, (), True, True, False),
    ("robots.txt as before", False, (), True, False, False),
]


@pytest.mark.parametrize("before", ["", "robots.txt: nosearch"])
@pytest.mark.parametrize(
    ("indexed", "fields", "in_robots_txt", "leaves", "rereads"),
    [case[1:] for case in AT_304],
    ids=[case[0] for case in AT_304],
)
def test_wishes_at_a_304(
    before: str, indexed: bool, fields: tuple[tuple[str, str], ...], in_robots_txt: bool, leaves: bool, rereads: bool
) -> None:
    """The last whole answer stated no wishes, or the request would have had no conditions."""
    page = replace(PAGE, wishes=before, indexed=indexed, due_at=NOW - HOUR)
    response = Response(304, fields, b"")
    directives = Directives.parse((), fields, "goodbot")
    wishes = Wishes.of(URL, response, "goodbot", SIGNAL if in_robots_txt else None)
    leased, answered = LeasedUrl(URL, 0, seen=page), outcome_of("failed", status=304)
    outcome = REVISITS.not_modified(leased, page, answered, response, directives, wishes)
    seen = outcome.seen
    assert seen is not None
    assert (outcome.from_index, outcome.rereads, seen.indexed) == (leaves, rereads, indexed and not leaves)
    assert of_answer(seen.wishes) == "", "as the copy in the archive and the index states them"
    assert were_in_robots_txt(seen.wishes) is in_robots_txt
    assert (seen.due_at <= NOW) is rereads
    is_conditional = not rereads and (in_robots_txt or not leaves)
    assert bool(REVISITS.conditions(seen, NOW, in_search=not in_robots_txt)) is is_conditional
    reasons = [(event.decision, event.line) for event in outcome.events if event.step == "index"]
    assert reasons == ([("no", SIGNAL.line if in_robots_txt else None)] if leaves or not indexed else [])


@pytest.mark.parametrize(
    ("before", "after", "is_new"),
    [
        ("", (), False),
        (NOARCHIVE, (("X-Robots-Tag", "noarchive"),), False),
        ("", (("X-Robots-Tag", "noarchive"),), True),
        (NOARCHIVE, (), True),
        (NOARCHIVE, (("X-Robots-Tag", "max-snippet:9"),), True),
        ("robots.txt: nosearch", (), False),
        ("", (("X-Robots-Tag", "max-image-preview: none"),), False),
    ],
)
def test_the_same_bytes_with_other_wishes_are_indexed_and_recorded_anew(
    before: str, after: tuple[tuple[str, str], ...], is_new: bool
) -> None:
    page = replace(PAGE, wishes=before)
    response = Response(200, after, b"")
    read = outcome_of("visited", status=200, digest="d", title="t", to_index=True)
    outcome = REVISITS.visited(
        LeasedUrl(URL, 0, seen=page), read, response, wishes=Wishes.of(URL, response, "goodbot", None)
    )
    assert outcome.seen is not None
    assert (outcome.to_index, outcome.unchanged, outcome.record) == (is_new, not is_new, None if is_new else COPY)
    assert (outcome.seen.changed_at, outcome.seen.whole_at) == (NOW if is_new else PAGE.changed_at, NOW)


fields_of_answers = st.lists(
    st.tuples(
        st.sampled_from(["X-Robots-Tag", "robots-tag", "Content-Usage", "Content-Signal", "Link", "robots.txt"]),
        st.text(max_size=60)
        | st.lists(
            st.sampled_from(
                [
                    "noarchive",
                    "max-snippet:9",
                    "noindex",
                    "search=n",
                    "search=no",
                    "</a>; rel=canonical",
                    "all",
                    "goodbot:",
                    "unavailable_after: 2030-01-01",
                ]
            ),
            max_size=4,
        ).map(", ".join),
    ),
    max_size=4,
).map(tuple)


@given(fields_of_answers)
def test_wishes_of_any_answer_are_kept_as_a_short_text(fields: tuple[tuple[str, str], ...]) -> None:
    without, within = (Wishes.of(URL, Response(200, fields, b""), "goodbot", one) for one in (None, SIGNAL))
    assert of_answer(within.text) == of_answer(without.text) == without.text
    assert (were_in_robots_txt(within.text), were_in_robots_txt(without.text)) == (True, False)
    assert (within.text_of_robots_txt, without.text_of_robots_txt) == ("robots.txt: nosearch", "")
    assert without.are_stated is within.are_stated is bool(without.text)
    assert without.are_stated or not without.hide
    assert len(within.text) < 500
