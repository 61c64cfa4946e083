"""When a page is visited again: single cases, and properties of all cases."""

from dataclasses import replace
from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.config import Settings
from goodbot.exclusion import Directives
from goodbot.robot.crawl.revisit import ChangeHints, Revisits, hints_of, plan_visit, text_digest
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
    fields = Revisits(SETTINGS, keeps).conditions(page)
    assert [name for name, _ in fields] == names
    assert page is None or all(value in (page.etag, page.modified) for _, value in fields)


@given(st.text(max_size=40))
def test_a_validator_that_is_sent_back_can_be_sent(value: str) -> None:
    for _, sent in Revisits(SETTINGS, True).conditions(seen(DAY, record=COPY, etag=value)):
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
        assert REVISITS.conditions(outcome.seen) == ()
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
    assert bool(REVISITS.conditions(outcome.seen)) is not leaves
