"""Tests when a host may be requested again, one row for each case of the formula."""

from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.exclusion import RobotsTxt, Verdict
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing
from goodbot.robot.manners.politeness import (
    MAX_RECORDS,
    NOTHING_ASKED,
    Politeness,
    asked_gap_s,
    bounded_timing,
    is_trouble,
    opens_at,
)
from goodbot.url import Url
from goodbot.values import Capture, Failure, FailureKind, Request, Response

AT = 1_000_000.0  # 12 January 1970, 13:46:40 UTC
PUBLIC, PRIVATE = "http://example.org/", "http://127.0.0.1:8000/"
DAY = 86_400.0


def asks(*lines: str) -> Timing:
    """What such a robots.txt asks of everyone."""
    return RobotsTxt.parse("User-agent: *\n" + "\n".join(lines)).timing("goodbot")


def capture(
    url: str = PUBLIC,
    status: int = 200,
    elapsed_s: float = 0.0,
    retry_after: str | None = None,
    peer: str | None = None,
    failure: FailureKind | None = None,
) -> Capture:
    """An answer that began at AT, or none."""
    headers = (("Retry-After", retry_after),) if retry_after is not None else ()
    verdict = Verdict(allowed=True, line=None, rule=None, reason="test", section="", url=url)
    result = Failure(failure, "test") if failure else Response(status, headers, b"")
    return Capture(Request(Url(url), verdict), result, AT, elapsed_s, peer)


@dataclass(frozen=True)
class Case:
    """`rest`: seconds from the answer to the next request; `after`: what the host's trouble adds from then on."""

    name: str
    capture: Capture
    rest: float
    after: float = 0.0
    before: float = 0.0
    asked: Timing = NOTHING_ASKED
    reason: str = ""
    settings: dict[str, Any] = field(default_factory=dict)
    walled: bool = False


CASES = [
    # floor and response time
    Case("a public host rests a second", capture(), 1.0),
    Case("a private host needs no rest", capture(PRIVATE), 0.0),
    Case("a slow public host rests as long as it took", capture(elapsed_s=4.0), 4.0),
    Case("a slow private host does not", capture(PRIVATE, elapsed_s=4.0), 0.0),
    Case("twice as long", capture(elapsed_s=4.0), 8.0, settings={"response_factor": 2.0}),
    Case("a private host too", capture(PRIVATE, elapsed_s=4.0), 4.0, settings={"response_factor": 1.0}),
    Case("a name that leads to a private address", capture(peer="127.0.0.1"), 0.0),
    Case("behind a proxy the peer says nothing", capture(peer="127.0.0.1"), 1.0, settings={"proxy": "http://[::1]:1"}),
    Case("--delay is a floor", capture(), 5.0, asked=asks("Crawl-delay: 3"), settings={"delay": 5.0}),
    # what robots.txt asks
    Case("Crawl-delay", capture(), 10.0, asked=asks("Crawl-delay: 10"), reason="robots.txt asks for 10 s"),
    Case("Crawl-delay below the floor", capture(), 1.0, asked=asks("Crawl-delay: 0.5")),
    Case("of a private host", capture(PRIVATE), 2.5, asked=asks("Crawl-delay: 2.5"), reason="asks for 2.5 s"),
    Case("--delay 0 does not lower it", capture(), 3.0, asked=asks("Crawl-delay: 3"), settings={"delay": 0.0},
         reason="asks for 3 s"),
    Case("Request-rate", capture(PRIVATE), 180.0, asked=asks("Request-rate: 20/1h"), reason="asks for 180 s"),
    Case("the longer of both", capture(), 6.0, asked=asks("Request-rate: 1/6", "Crawl-delay: 2"), reason="for 6 s"),
    Case("in the window of a rate", capture(), 60.0, asked=asks("Request-rate: 1/1m 1300-1400", "Request-rate: 1/5"),
         reason="for 60 s"),
    Case("outside it", capture(), 5.0, asked=asks("Request-rate: 1/1m 1500-1600", "Request-rate: 1/5"),
         reason="for 5 s"),
    Case("a slower rate begins meanwhile", capture(), 3600.0,
         asked=asks("Request-rate: 1/1m 1300-1346", "Request-rate: 1/1h 1347-1400"), reason="for 3600 s"),
    Case("inside Visit-time", capture(), 1.0, asked=asks("Visit-time: 1300-1400")),
    Case("outside Visit-time", capture(), 15 * 60 - 100.0, asked=asks("Visit-time: 1400-1500"), reason="time begins"),
    Case("it closes during the rest", capture(), DAY - 2800.0, asked=asks("Visit-time: 1300-1346", "Crawl-delay: 60"),
         reason="Visit-time begins"),
    Case("Retry-After ends outside", capture(status=503, retry_after="3600"), DAY - 2800.0, 5.0,
         asked=asks("Visit-time: 1300-1400"), reason="Visit-time begins"),
    # trouble
    Case("429 adds a second to a private host", capture(PRIVATE, 429), 1.0, 1.0, reason="429 adds 1 s"),
    Case("429 adds five to a public one", capture(status=429), 6.0, 5.0, reason="429 adds 5 s"),
    Case("503 doubles it", capture(PRIVATE, 503), 2.0, 2.0, 1.0, reason="503 adds 2 s"),
    Case("doubling has an end", capture(status=503), 3601.0, 3600.0, 3000.0, reason="503 adds 3600 s"),
    Case("a sooner one for private hosts", capture(PRIVATE, 503), 60.0, 60.0, 32.0, reason="503 adds 60 s"),
    Case("both can be set", capture(status=503), 8.0, 7.0, 6.0, reason="adds 7 s", settings={"backoff_most": 7.0}),
    Case("the first too", capture(status=503), 3.0, 2.0, reason="adds 2 s", settings={"backoff_first": 2.0}),
    Case("it adds to Crawl-delay", capture(PRIVATE, 429), 11.0, 1.0, asked=asks("Crawl-delay: 10"), reason="for 10 s"),
    Case("a name without an address", capture(failure="dns"), 1.0, 1.0, reason="dns adds 1 s"),
    Case("a time-out", capture(failure="timeout", elapsed_s=60.0), 65.0, 5.0, reason="timeout adds 5 s"),
    Case("a reset", capture(failure="reset"), 11.0, 10.0, 5.0, reason="reset adds 10 s"),
    Case("no connection", capture(PRIVATE, failure="connect"), 1.0, 1.0, reason="connect adds 1 s"),
    Case("no HTTP is an answer of a kind", capture(PRIVATE, failure="protocol"), 4.0, 4.0, 4.0, reason="adds 4 s"),
    Case("our own guard", capture(PRIVATE, failure="private-address"), 0.0),
    Case("a fault of one page", capture(status=500), 1.0),
    Case("success halves it", capture(PRIVATE), 4.0, 4.0, 8.0, reason="its back-off adds 4 s"),
    Case("until it is gone", capture(PRIVATE), 0.0, 0.0, 1.0),
    Case("404 is a success", capture(status=404), 11.0, 10.0, 20.0, reason="its back-off adds 10 s"),
    # a bot wall
    Case("a wall adds as much", capture(status=403), 6.0, 5.0, reason="a bot wall adds 5 s", walled=True),
    Case("with status 200 too", capture(), 21.0, 20.0, 10.0, reason="a bot wall adds 20 s", walled=True),
    Case("up to a minute", capture(), 61.0, 60.0, 60.0, reason="its back-off adds 60 s", walled=True),
    Case("to a private host a second", capture(PRIVATE, 403), 1.0, 1.0, 1.0, reason="adds 1 s", walled=True),
    Case("less if so set", capture(), 4.0, 3.0, reason="adds 3 s", settings={"backoff_most": 3.0}, walled=True),
    Case("it takes nothing off", capture(), 301.0, 300.0, 300.0, reason="adds 300 s", walled=True),
    Case("a wall that answers 429", capture(status=429), 121.0, 120.0, 60.0, reason="adds 120 s", walled=True),
    # Retry-After
    Case("in seconds", capture(PRIVATE, 503, retry_after="120"), 120.0, 1.0, reason="Retry-After asks for 120 s"),
    Case("shorter than the back-off", capture(PRIVATE, 503, retry_after="1"), 16.0, 16.0, 8.0, reason="for 1 s; 503"),
    Case("with success it counts too", capture(PRIVATE, retry_after="7"), 7.0, reason="Retry-After asks for 7 s"),
    Case("as a date", capture(PRIVATE, 503, retry_after="Mon, 12 Jan 1970 13:47:40 GMT"), 60.0, 1.0, reason="for 60 s"),
    Case("a date that is past", capture(PRIVATE, 429, retry_after="Sun, 11 Jan 1970 13:47:40 GMT"), 1.0, 1.0,
         reason="429 adds"),
    Case("that cannot be read", capture(PRIVATE, 503, retry_after="soon"), 1.0, 1.0, reason="503 adds"),
    Case("of 400 digits", capture(PRIVATE, 503, retry_after="9" * 400), DAY, 1.0, reason="digits) s, cut to 86400 s"),
    Case("bounded by a setting", capture(PRIVATE, 503, retry_after="999"), 60.0, 1.0, reason="for 999 s, cut to 60 s",
         settings={"retry_after_most": 60.0}),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["dns", "connect", "timeout", "reset", "tls"])
def test_a_robots_txt_without_an_answer_makes_no_back_off(kind: FailureKind) -> None:
    """Its own pauses grow; a back-off would be kept, and the next run would wait for it."""
    asked, robots = capture(failure=kind), capture(f"{PUBLIC}robots.txt", failure=kind)
    lasting = replace(asked, result=Failure("dns", "no such name", lasting=True))
    for before_s in (0.0, 40.0):
        assert Politeness(Settings()).after(robots, Timing(), before_s).backoff_s == before_s
        assert Politeness(Settings()).after(lasting, Timing(), before_s).backoff_s == before_s
    assert Politeness(Settings()).after(asked, Timing(), 0.0).backoff_s > 0


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_rest(case: Case) -> None:
    politeness = Politeness(Settings(**case.settings))
    rest = politeness.after(case.capture, case.asked, case.before, walled=case.walled)
    assert rest.ready_at - AT - case.capture.elapsed_s == pytest.approx(case.rest)
    assert (rest.backoff_s, rest.given_up) == (case.after, False)
    assert case.reason in rest.reason
    assert bool(rest.reason) == bool(case.reason)


@pytest.mark.parametrize(("url", "times", "seconds"), [(PUBLIC, 11, 8715.0), (PRIVATE, 7, 123.0)])
def test_a_host_in_trouble_rests_longer_and_longer_and_is_given_up(url: str, times: int, seconds: float) -> None:
    politeness, backoff_s, added = Politeness(Settings()), 0.0, []
    while not (rest := politeness.after(capture(url, 503), NOTHING_ASKED, backoff_s)).given_up:
        backoff_s = rest.backoff_s
        added.append(backoff_s)
    assert (len(added), sum(added)) == (times, seconds)
    assert added == sorted(set(added))
    recovered = politeness.after(capture(url), NOTHING_ASKED, rest.backoff_s)
    assert (recovered.given_up, recovered.backoff_s) == (False, rest.backoff_s / 2)


def test_what_was_sent_before_the_host_backed_off_says_nothing_new() -> None:
    politeness = Politeness(Settings())
    for answer in (capture(status=429), capture()):
        assert politeness.after(answer, NOTHING_ASKED, 8.0, backed_off_at=AT + 1).backoff_s == 8.0


CUTS = [
    ("a public host", PUBLIC, NOTHING_ASKED, 1.0),
    ("a private one", PRIVATE, NOTHING_ASKED, 0.0),
    ("Crawl-delay", PRIVATE, asks("Crawl-delay: 20"), 20.0),
    ("Request-rate", PUBLIC, asks("Request-rate: 1/1m"), 60.0),
    ("Visit-time", PUBLIC, asks("Visit-time: 1400-1500"), 800.0),
]


@pytest.mark.parametrize(("url", "asked", "rest"), [c[1:] for c in CUTS], ids=[c[0] for c in CUTS])
def test_rest_after_a_cut(url: str, asked: Timing, rest: float) -> None:
    assert Politeness(Settings()).after_interruption(Url(url), asked, AT) == AT + rest


PAUSES: list[tuple[str, Capture, dict[str, Any], list[float]]] = [
    ("public", capture(status=500), {}, [60.0, 300.0, 1500.0]),
    ("private", capture(PRIVATE, 503), {}, [2.0, 6.0, 18.0]),
    ("a time-out", capture(failure="timeout"), {}, [60.0, 300.0, 1500.0]),
    ("no connection", capture(failure="connect"), {}, [15.0, 75.0, 375.0]),
    ("no address troubles no server", capture(failure="dns"), {}, [0.5, 1.5, 4.5]),
    ("as said", capture(), {"robots_retry_first": 1.0, "robots_retry_factor": 1.0}, [1.0, 1.0, 1.0]),
]


@pytest.mark.parametrize(("answer", "settings", "pauses"), [c[1:] for c in PAUSES], ids=[c[0] for c in PAUSES])
def test_pauses_before_robots_txt_is_asked_again(
    answer: Capture, settings: dict[str, Any], pauses: list[float]
) -> None:
    politeness = Politeness(Settings(**settings))
    assert [politeness.robots_pause_s(answer, tries) for tries in range(3)] == pauses
    assert politeness.robots_pause_s(answer, 10**9) < 1e10


def test_a_long_list_of_records_is_not_all_heeded() -> None:
    rates = tuple(RequestRate(1, float(second), (minute, minute)) for second in (1, 2) for minute in range(1000))
    windows = tuple((minute, minute) for minute in range(1000)) * 2
    kept = bounded_timing(Timing(3.0, rates, windows))
    assert kept.delay_s == 3.0
    assert {rate.seconds for rate in kept.rates} == {2.0}
    assert (len(kept.rates), kept.windows) == (MAX_RECORDS, windows[:MAX_RECORDS])


def test_what_robots_txt_asks_at_a_time() -> None:
    timing = asks("Crawl-delay: 2", "Request-rate: 1/5 1400-1500", "Visit-time: 1345-1500")
    assert [asked_gap_s(timing, at) for at in (AT, AT + 1000)] == [2.0, 5.0]
    assert [opens_at(timing, at) for at in (AT, AT - 3600)] == [AT, AT - 100.0]
    assert (asked_gap_s(NOTHING_ASKED, AT), opens_at(NOTHING_ASKED, AT)) == (0.0, AT)


def test_trouble() -> None:
    troubled = [kind for kind in ("dns", "connect", "timeout", "reset", "tls") if is_trouble(capture(failure=kind))]
    assert len(troubled) == 5
    assert not any(is_trouble(capture(failure=kind)) for kind in ("protocol", "private-address"))
    assert [status for status in (200, 404, 429, 500, 502, 503) if is_trouble(capture(status=status))] == [429, 503]


@pytest.mark.parametrize(
    ("asked", "retry_after", "waits_s", "whole_s", "why"),
    [
        ("Crawl-delay: 3600", None, 3600.0, 0.0, ""),
        ("Crawl-delay: 3601", None, 1.0, 3601.0, "3601 s between two requests, more than --crawl-delay-most 3600"),
        ("Request-rate: 1/1000h", None, 1.0, 3.6e6, "3600000 s between two requests"),
        ("Crawl-delay: 1", "86400", DAY, 0.0, ""),
        ("Crawl-delay: 1", "86401", DAY, DAY + 1, "Retry-After asks for 86401 s, more than retry_after_most 86400"),
        ("Crawl-delay: 1", "0999999999999", DAY, 1e10, "Retry-After asks for 999999999999 s, more than"),
        ("Crawl-delay: 1", "9" * 30, DAY, 1e10, f"Retry-After asks for {'9' * 20}… (30 digits) s, more than"),
    ],
)
def test_what_is_too_long_to_wait_for_is_told_and_kept_whole(
    asked: str, retry_after: str | None, waits_s: float, whole_s: float, why: str
) -> None:
    rest = Politeness(Settings()).after(capture(retry_after=retry_after), asks(asked), 0.0)
    assert rest.ready_at - AT == pytest.approx(waits_s)
    assert rest.not_before == pytest.approx(AT + whole_s if whole_s else 0.0)
    assert bool(rest.too_long) == bool(why)
    assert why in rest.too_long
    if retry_after is not None and rest.too_long:
        asked_for = rest.too_long.partition("asks for ")[2].partition(" s, ")[0]
        assert f"Retry-After asks for {asked_for} s, cut to 86400 s (retry_after_most)" in rest.reason
    cut = Politeness(Settings()).after_interruption(Url(PUBLIC), asks(asked), AT)
    assert cut <= AT + 3600.0
