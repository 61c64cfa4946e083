"""Crawl-delay, Request-rate, Visit-time: what is read, and what it means at an instant."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, RobotsTxt, format_robotstxt
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing, Window, parse_rate, parse_window
from goodbot.exclusion.text.shown_text import visible

DAY_S = 86_400
MIDNIGHT = 10_000 * DAY_S  # 1997-05-19, 00:00 UTC


def timing(*lines: str) -> Timing:
    return RobotsTxt.parse("\n".join(["User-agent: *", *lines, "Disallow: /x"])).timing("me")


def at(clock: str, seconds: float = 0.0) -> float:
    """That time of a day as Unix seconds."""
    return MIDNIGHT + int(clock[:2]) * 3600 + int(clock[2:]) * 60 + seconds


# ---- What is read

WINDOWS: list[tuple[str, Window | None, str]] = [
    # value, window in minutes (None: says nothing), source
    ("0600-0845", (360, 525), "Conner 2.0, example"),
    ("0600 0845", (360, 525), "draft of October 1996"),
    ("0600\t 0845", (360, 525), "our reading"),
    ("0600 - 0845", (360, 525), "our reading"),
    ("2200-0300", (1320, 180), "Conner 2.0: past midnight, as his rates"),
    ("0000-2359", (0, 1439), "Conner 2.0"),
    ("0000-2400", (0, 1439), "our reading: the end of the day"),
    ("1200-2400", (720, 1439), "our reading"),
    ("1200-1200", (720, 720), "our reading: one minute"),
    ("2400-0600", None, "our reading: no minute of a day begins there"),
    ("0600-2401", None, "no time of day"),
    ("0660-0700", None, "no time of day"),
    ("2500-9999", None, "no time of day"),
    ("600-845", None, "hhmm"),
    ("06:00-08:45", None, "hhmm"),
    ("0600", None, "hhmm"),
    ("0600-", None, "hhmm"),
    ("-0600-0845", None, "hhmm"),
    ("0600-0845-0900", None, "hhmm"),
    ("0600 0845 0900", None, "hhmm"),
    ("0600-0845 UTC", None, "hhmm"),
    ("٠٦٠٠-٠٨٤٥", None, "ASCII digits"),
    ("0600–0845", None, "a dash is no hyphen"),
    ("", None, "empty"),
    ("nan", None, "no number"),
    ("9" * 400 + "-" + "9" * 400, None, "400 digits"),
]


@pytest.mark.parametrize(("value", "window", "source"), WINDOWS)
def test_visit_time(value: str, window: Window | None, source: str) -> None:
    robots = RobotsTxt.parse(f"User-agent: me\nVisit-time: {value}\nDisallow: /x")
    assert robots.visit_times("me") == ([] if window is None else [window])
    assert isinstance(parse_window(value), str) is (window is None)
    assert len(robots.timing("me").unread) == (window is None)


RATES: list[tuple[str, RequestRate | None, str]] = [
    # value, rate (None: says nothing), source
    ("10/60", RequestRate(10, 60.0, None), "Conner 2.0, example"),
    ("10/10m", RequestRate(10, 600.0, None), "Conner 2.0, example"),
    ("20/1h", RequestRate(20, 3600.0, None), "Conner 2.0, example"),
    ("1/10m 1300-1659", RequestRate(1, 600.0, (780, 1019)), "Conner 2.0, example"),
    ("1/20m 1700-0459", RequestRate(1, 1200.0, (1020, 299)), "Conner 2.0, example: past midnight"),
    ("5/1m 0500-1259", RequestRate(5, 60.0, (300, 779)), "Conner 2.0, example"),
    ("1/5s", RequestRate(1, 5.0, None), "Conner 2.0: seconds"),
    ("1/5M", RequestRate(1, 300.0, None), "our reading: any case"),
    ("1/2H  0600 0845", RequestRate(1, 7200.0, (360, 525)), "our reading: blanks, and a window as in Visit-time"),
    (" 1 / 10m\t1300 - 1659", RequestRate(1, 600.0, (780, 1019)), "our reading: blanks"),
    ("9999999999/1", RequestRate(9_999_999_999, 1.0, None), "within our bound"),
    ("1/9999999999h", RequestRate(1, 9_999_999_999 * 3600.0, None), "within our bound"),
    ("12345678901/1", RequestRate(10**10, 1.0, None), "our bound"),
    ("1/" + "9" * 5000 + "s", RequestRate(1, 1e10, None), "our bound, whatever the digits"),
    ("9" * 5000 + "/" + "9" * 5000 + "h", RequestRate(10**10, 3.6e13, None), "our bound, whatever the digits"),
    ("0" * 5000 + "1/" + "0" * 5000 + "8", RequestRate(1, 8.0, None), "zeros in front say nothing"),
    ("1/" + "0" * 5000, None, "no time"),
    ("1/" + "9" * 5000 + "x", None, "no whole number"),
    ("0/0", None, "nothing in no time"),
    ("1/0", None, "no time"),
    ("0/60", None, "no documents"),
    ("-1/60", None, "negative"),
    ("1/-60", None, "negative"),
    ("+1/60", None, "a plain number"),
    ("1.5/60", None, "a whole number"),
    ("1/1.5m", None, "a whole number"),
    ("1e999", None, "no slash"),
    ("1/1e999", None, "no whole number"),
    ("1e999/1", None, "no whole number"),
    ("nan/nan", None, "no number"),
    ("1/inf", None, "no number"),
    ("1/60/60", None, "one slash"),
    ("9000/1D", RequestRate(9000, 86_400.0, None), "as Protego reads it: days"),
    ("1/10w", None, "unknown unit"),
    ("1/10 m", None, "the unit stands at its number"),
    ("1/10ſ", None, "unknown unit, though its capital is S"),
    ("٣/60", None, "ASCII digits"),
    ("/", None, "empty"),
    ("/60", None, "empty"),
    ("1/", None, "empty"),
    ("", None, "empty"),
    ("10", None, "no slash"),
    ("1/10m 2500-9999", None, "our reading: an unreadable window spoils all of it"),
    ("1/10m 1300-1659 x", None, "our reading"),
    ("1/10m daily", None, "our reading"),
]


@pytest.mark.parametrize(("value", "rate", "source"), RATES)
def test_request_rate(value: str, rate: RequestRate | None, source: str) -> None:
    robots = RobotsTxt.parse(f"User-agent: me\nRequest-rate: {value}\nDisallow: /x")
    assert robots.request_rates("me") == ([] if rate is None else [rate])
    assert isinstance(parse_rate(value), str) is (rate is None)
    assert len(robots.timing("me").unread) == (rate is None)


UNREAD = [
    ("Crawl-delay: 1e999", "crawl-delay", "1e999", "expected a plain number of seconds"),
    ("Crawl-delay: -1", "crawl-delay", "-1", "expected a plain number of seconds"),
    ("Crawl-delay: NaN", "crawl-delay", "NaN", "expected a plain number of seconds"),
    ("Request-rate: 10", "request-rate", "10", "expected documents/time, such as 1/10m"),
    (
        *("Request-rate: 0/0", "request-rate", "0/0"),
        "the number of documents must be a whole number of at least 1",
    ),
    (
        *("Request-rate: 1/0", "request-rate", "1/0"),
        "the time must be a whole number of at least 1, with unit s, m, h or d, or none",
    ),
    (
        *("Request-rate: 1/1 2500-9999", "request-rate", "1/1 2500-9999"),
        "in its window, hours must be 00-23 and minutes 00-59",
    ),
    (
        *("Visit-time: 2500-9999", "visit-time", "2500-9999"),
        "hours must be 00-23 and minutes 00-59",
    ),
    ("Visit-time: noon", "visit-time", "noon", "expected two four-digit times (HHMM-HHMM)"),
    ("visit-TIME : \x1b[2J", "visit-time", r"\x1b[2J", "expected two four-digit times (HHMM-HHMM)"),
    ("Crawl-delay: 1e" + "9" * 400, "crawl-delay", "1e" + "9" * 118 + "…", "expected a plain number of seconds"),
]


@pytest.mark.parametrize(("line", "field", "value", "reason"), UNREAD)
def test_invalid_records_have_a_reason(line: str, field: str, value: str, reason: str) -> None:
    read = timing(line)
    assert read.unread == ((2, field, value, reason),)
    assert read.at(MIDNIGHT) == timing().at(MIDNIGHT)


def test_unread_records_are_in_the_order_of_the_file() -> None:
    read = timing("Visit-time: x", "Crawl-delay: x", "Request-rate: x", "Crawl-delay: 1", "Visit-time: y")
    assert [(each.line, each.field) for each in read.unread] == [
        (2, "visit-time"),
        (3, "crawl-delay"),
        (4, "request-rate"),
        (6, "visit-time"),
    ]
    assert read.delay_s == 1.0


# ---- Whose it is

GROUPS = (
    "Crawl-delay: 9\nUser-agent: a\nCrawl-delay: 1\nVisit-time: 0100-0200\nDisallow: /\n\n"
    "User-agent: *\nDisallow: /\nCrawl-delay: 7\nRequest-rate: 1/8\nVisit-time: 0300-0400\n\n"
    "User-agent: a\nDisallow: /y\nCrawl-delay: 3\nVisit-time: 0500-0600\nRequest-rate: 1/2\n\n"
    "User-agent: b\nDisallow:\n"
)


def test_groups_that_apply_to_a_robot_count_together_and_nothing_is_inherited() -> None:
    robots = RobotsTxt.parse(GROUPS)
    assert robots.timing("a") == Timing(3.0, (RequestRate(1, 2.0, None),), ((60, 120), (300, 360)))
    assert robots.timing("other/1.0") == Timing(7.0, (RequestRate(1, 8.0, None),), ((180, 240),))
    assert robots.timing("b") == Timing()


HOLDERS = [
    # source, file, seconds between two requests that each robot is asked for
    ("real files", "User-agent: baidu\nCrawl-delay: 1\n\nUser-agent: *\nDisallow: /x", {"baidu": 1, "x": None}),
    (
        "real files",
        (
            "User-agent: bingbot\nCrawl-delay: 1\nUser-agent: msnbot\nCrawl-delay: 2\n"
            "User-agent: pinterestbot\nCrawl-delay: 0.2\nUser-agent: *\nDisallow: /x"
        ),
        {"bingbot": 1, "msnbot": 2, "pinterestbot": 0.2, "x": None},
    ),
    (
        "crawler-commons: delays of two robots, then all robots without one",
        "User-agent: a\nCrawl-delay: 10\nUser-agent: b\nCrawl-delay: 20\nUser-agent: *\nDisallow:/baz",
        {"a": 10, "b": 20, "x": None},
    ),
    ("crawler-commons", "User-agent: b\nCrawl-delay: 20\nUser-agent: *\nDisallow:/baz", {"b": 20, "a": None}),
    (
        "crawler-commons: a delay between rules",
        "User-agent: b\nDisallow: /\n\nUser-agent: a\nDisallow: /\nCrawl-Delay: 20\nAllow: /images/",
        {"a": 20, "b": None, "x": None},
    ),
    (
        "crawler-commons: a robot with a delay only",
        "User-agent: *\nDisallow: /x/\nCrawl-delay: 3\n\nUser-agent: a\nCrawl-delay: 1\n\nUser-agent: b\nDisallow: /",
        {"x": 3, "a": 1, "b": None},
    ),
    (
        "Protego: a last group with a delay only",
        "User-agent: *\nDisallow: /y\nAllow: /x\nCrawl-delay: 10\nUser-agent: a\nCrawl-delay: 15",
        {"*": 10, "x": 10, "a": 15},
    ),
    ("Protego: no number", "User-agent: *\nDisallow: /y\nCrawl-delay: some", {"*": None}),
    ("Protego: no delay", "User-agent: *\nDisallow: /y\nAllow: /x", {"*": None}),
    ("Protego: before any name", "Disallow: /x\nCrawl-delay: 5.2\nUser-agent: a\nDisallow: /y", {"a": None, "*": None}),
    (
        "Protego: rates",
        (
            "User-agent: a\nRequest-rate: 1/10s\nUser-agent: b\nRequest-rate: 100/15m\nUser-agent: c\n"
            "Request-rate: 400/1h\nUser-agent: d\nRequest-rate: 9000/1d\nUser-agent: e\nRequest-rate: 1/10s 0000-2359"
        ),
        {"a": 10, "b": 9, "c": 9, "d": 9.6, "e": 10},
    ),
    ("Protego: no rate", "User-agent: a\nRequest-rate: 1/10s\nUser-agent: b\nDisallow: /", {"a": 10, "b": None}),
    ("reppy: two delays", "User-agent: a\nCrawl-delay: 1\n\nUser-agent: b\nCrawl-delay: 2", {"a": 1, "b": 2}),
    ("reppy: no number", "User-agent: *\nCrawl-delay: word", {"a": None}),
    ("reppy: a delay above the rule", "User-agent: a\nCrawl-Delay: 1\nDisallow: /", {"a": 1}),
    ("a run", "User-agent: a\nUser-agent: b\nCrawl-delay: 5\nDisallow: /x\nUser-agent: c", {"a": 5, "b": 5, "c": None}),
    ("below the rule", "User-agent: a\nComment: x\nUser-agent: b\nDisallow: /x\nCrawl-delay: 5", {"a": None, "b": 5}),
    *(
        (f"{line} belongs to the whole file", f"User-agent: a\n{line}\nUser-agent: b\nCrawl-delay: 5", {"a": 5, "b": 5})
        for line in ("Sitemap: s", "Host: h", "License: l", "Clean-param: p", "# comment", "nothing", "")
    ),
    *(
        (f"{line} ends a run", f"User-agent: a\n{line}\nUser-agent: b\nCrawl-delay: 5", {"a": None, "b": 5})
        for line in ("Content-Signal: search=yes", "Comment: x", "Unknown: x", "Visit-time: x", "Noindex: /", "Foo:")
    ),
    (
        "a robot named twice",
        "User-agent: a\nCrawl-delay: 5\nUser-agent: b\nUser-agent: A/2\nCrawl-delay: 3\nUser-agent: c\nDisallow: /",
        {"a": 5, "b": 3, "c": None},
    ),
]


@pytest.mark.parametrize(("source", "text", "gaps"), HOLDERS, ids=[case[0] for case in HOLDERS])
def test_to_which_robots_timing_applies(source: str, text: str, gaps: dict[str, float | None]) -> None:
    robots = RobotsTxt.parse(text)
    assert {agent: robots.timing(agent).at(MIDNIGHT).gap_s for agent in gaps} == gaps
    delays = {agent: robots.crawl_delay(agent) for agent in gaps}
    assert {agent: robots.matcher(agent).delay_s for agent in gaps} == delays
    again = RobotsTxt.parse(format_robotstxt(robots))
    assert {agent: again.timing(agent).at(MIDNIGHT).gap_s for agent in gaps} == gaps


def test_the_rules_of_a_group_apply_to_all_its_names() -> None:
    """RFC 9309 §2.2.4: of the records that stand between them only the rules are shared."""
    text = "User-agent: a\nVisit-time: 0200 0630\nUser-agent: b\nRequest-rate: 1/5\nUser-agent: *\nDisallow: /x\n"
    robots = RobotsTxt.parse(text)
    assert [robots.allows("/x", agent) for agent in ("a", "b", "other")] == [False] * 3
    assert [robots.visit_times(agent) for agent in ("a", "b", "other")] == [[(120, 390)], [], []]
    assert [robots.request_rates(agent) for agent in ("a", "b", "other")] == [[], [(1, 5.0, None)], []]
    fields = [[field for _, field, _ in robots.matcher(agent).records()] for agent in ("a", "b", "other")]
    assert fields == [["visit-time", "disallow"], ["request-rate", "disallow"], ["disallow"]]


@pytest.mark.parametrize("dialect", ["1994", "kollar"])
def test_to_which_robots_timing_applies_between_names(dialect: str) -> None:
    robots = RobotsTxt.parse("User-agent: one\nCrawl-delay: 5\nUser-agent: two\nDisallow: /x", dialect)
    assert [robots.crawl_delay(agent) for agent in ("one", "two", "one two")] == [5.0, None, 5.0]


def test_many_names_with_a_delay_each_over_many_rules_stay_linear() -> None:
    names = "".join(f"User-agent: a{number}\nCrawl-delay: {number}\n" for number in range(2_000))
    robots = RobotsTxt.parse(names + "".join(f"Disallow: /{number}\n" for number in range(2_000)))
    assert sum(len(group.records) for group in robots.groups) == 4_000
    assert (robots.crawl_delay("a7"), robots.crawl_delay("a1999"), robots.crawl_delay("a")) == (7.0, 1999.0, None)


DEVIATIONS = [
    ("reppy: above every name a delay is for all", "Crawl-delay: 7\nDisallow: /path", "agent", None),
    ("crawler-commons: HTML tags are taken out", "User-agent: a<BR>\nCrawl-Delay: 10<BR>", "a", None),
    ("crawler-commons: over 300 s all is closed", "User-agent: *\nCrawl-delay: 3600\nDisallow:", "a", 3600.0),
    ("crawler-commons: any word of the agent", "User-agent: a\nCrawl-delay: 20", "Mozilla a 99.9", None),
    ("Protego: without colons", "user agent a\nrequest rate 1/10s", "a", None),
]


@pytest.mark.parametrize(("theirs", "text", "agent", "gap_s"), DEVIATIONS, ids=[case[0] for case in DEVIATIONS])
def test_deviation_from_the_tests_of_other_parsers(theirs: str, text: str, agent: str, gap_s: float | None) -> None:
    robots = RobotsTxt.parse(text)
    assert robots.timing(agent).at(MIDNIGHT).gap_s == gap_s
    assert robots.allows("/", agent)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_google_reads_no_timing(dialect: str) -> None:
    text = "User-agent: me\nDisallow: /x\nCrawl-delay: 5\nRequest-rate: 1/10\nVisit-time: 0600-0845\nVisit-time: x\n"
    robots = RobotsTxt.parse(text, dialect)
    if dialect == "google":
        assert (robots.crawl_delay("me"), robots.request_rates("me"), robots.visit_times("me")) == (None, [], [])
        assert robots.timing("me") == Timing()
    else:
        assert robots.crawl_delay("me") == robots.verdict("/", "me").delay_s == 5.0
        assert robots.request_rates("me") == [(1, 10.0, None)]
        assert robots.visit_times("me") == [(360, 525)]


# ---- At an instant

ONE = ("Visit-time: 0600-0845",)
NIGHT = ("Visit-time: 2200-0300",)
TWO = ("Visit-time: 0600-0845", "Visit-time: 2200 2400", "Visit-time: 2500-9999")
NOON = ("Visit-time: 1200-1200",)

INSTANTS: list[tuple[tuple[str, ...], float, float]] = [
    # lines, now, may come from (now itself: yes)
    (ONE, at("0600"), at("0600")),
    (ONE, at("0559", 59.9), at("0600")),
    (ONE, at("0845"), at("0845")),
    (ONE, at("0845", 59.9), at("0845", 59.9)),
    (ONE, at("0846"), at("3000")),
    (ONE, at("0000"), at("0600")),
    (ONE, at("2359"), at("3000")),
    (NIGHT, at("2159", 59.9), at("2200")),
    (NIGHT, at("2200"), at("2200")),
    (NIGHT, at("2359", 59.9), at("2359", 59.9)),
    (NIGHT, at("0000"), at("0000")),
    (NIGHT, at("0300", 59.9), at("0300", 59.9)),
    (NIGHT, at("0301"), at("2200")),
    (TWO, at("0700"), at("0700")),
    (TWO, at("0900"), at("2200")),
    (TWO, at("2359", 59.9), at("2359", 59.9)),
    (TWO, at("2400"), at("3000")),
    (NOON, at("1159"), at("1200")),
    (NOON, at("1200", 59.9), at("1200", 59.9)),
    (NOON, at("1201"), at("3600")),
    (("Visit-time: 0000-2400",), at("2359", 59.9), at("2359", 59.9)),
    (("Visit-time: 0600-0559",), at("0559", 59.9), at("0559", 59.9)),
    (("Visit-time: never",), at("0300"), at("0300")),
    ((), at("0300"), at("0300")),
    (ONE, -1.0, 6 * 3600.0),
    (NIGHT, -0.5, -0.5),
    (NIGHT, -DAY_S + 4 * 3600.0, -2 * 3600.0),
]


@pytest.mark.parametrize(("lines", "now", "from_at"), INSTANTS)
def test_may_come(lines: tuple[str, ...], now: float, from_at: float) -> None:
    visit = timing(*lines).at(now)
    assert visit.may_come is (from_at == now)
    assert visit.from_at == from_at


CONNER = ("Request-rate: 1/10m 1300-1659", "Request-rate: 1/20m 1700-0459", "Request-rate: 5/1m 0500-1259")
DAYTIME = ("Request-rate: 1/10 0800-1800", "Request-rate: 1/30 1200-1300")
ALWAYS_TOO = (*DAYTIME, "Request-rate: 1/60", "Request-rate: 2/10")

GAPS: list[tuple[tuple[str, ...], str, float | None]] = [
    # lines, time of day, seconds between two requests
    (CONNER, "0000", 1200.0),
    (CONNER, "0459", 1200.0),
    (CONNER, "0500", 12.0),
    (CONNER, "1259", 12.0),
    (CONNER, "1300", 600.0),
    (CONNER, "1659", 600.0),
    (CONNER, "1700", 1200.0),
    (CONNER, "2359", 1200.0),
    (DAYTIME, "0759", None),
    (DAYTIME, "0800", 10.0),
    (DAYTIME, "1200", 30.0),
    (DAYTIME, "1301", 10.0),
    (DAYTIME, "1801", None),
    (ALWAYS_TOO, "0759", 60.0),
    (ALWAYS_TOO, "0800", 10.0),
    (ALWAYS_TOO, "1230", 30.0),
    (("Crawl-delay: 20", *ALWAYS_TOO), "0800", 20.0),
    (("Crawl-delay: 20", *ALWAYS_TOO), "1230", 30.0),
    (("Crawl-delay: 20", *DAYTIME), "0000", 20.0),
    (("Crawl-delay: 20", "Crawl-delay: 0.5"), "0000", 20.0),
    (("Crawl-delay: 0",), "0000", 0.0),
    (("Crawl-delay: 10", "Request-rate: 1/10"), "0000", 10.0),
    (("Request-rate: 0/0", "Crawl-delay: -1"), "0000", None),
    ((), "0000", None),
]


@pytest.mark.parametrize(("lines", "clock", "gap_s"), GAPS)
def test_gap(lines: tuple[str, ...], clock: str, gap_s: float | None) -> None:
    assert timing(*lines).at(at(clock)).gap_s == gap_s
    assert timing(*lines).at(at(clock, 59.9)).gap_s == gap_s


REASONS = [
    ((), "0700", "The robot may crawl at any time, and no time between two requests is required."),
    (
        ("Visit-time: 0600-0845", "Crawl-delay: 2.5"),
        "0700",
        "The robot may crawl now (Visit-time 0600-0845 UTC), and Crawl-delay asks for 2.5 s between two requests.",
    ),
    (
        ("Visit-time: 0600 0845",),
        "1300",
        "The robot may not crawl before 0600 UTC (Visit-time 0600-0845), and no time between two requests is required.",
    ),
    (
        ("Request-rate: 20/1h 1300 1659",),
        "1300",
        "The robot may crawl at any time, and Request-rate 20/3600s 1300-1659 UTC asks for 180 s between two requests.",
    ),
]


@pytest.mark.parametrize(("lines", "clock", "reason"), REASONS)
def test_reason(lines: tuple[str, ...], clock: str, reason: str) -> None:
    assert timing(*lines).at(at(clock)).reason == reason


@pytest.mark.parametrize("now", [float("nan"), float("inf"), float("-inf")])
def test_nan_and_infinity_are_errors(now: float) -> None:
    with pytest.raises(ValueError, match="not a time in Unix seconds"):
        timing().at(now)


@pytest.mark.parametrize("now", [1e18, -1e18, 1e300, -1e300, sys.float_info.max, -sys.float_info.max, 5e-324, -5e-324])
def test_any_finite_instant_has_an_answer(now: float) -> None:
    for lines in (ONE, NIGHT, CONNER, ()):
        visit = timing(*lines).at(now)
        assert visit.from_at >= now


# ---- Whatever they say

MINUTES = st.integers(0, 1439)
SOME_WINDOWS = st.lists(st.tuples(MINUTES, MINUTES), max_size=4)


def open_minutes(windows: list[Window]) -> set[int]:
    """Minute for minute, as one would count on a clock."""
    opened = set(() if windows else range(1440))
    for first, last in windows:
        opened |= set(range(first, last + 1)) if first <= last else {*range(first, 1440), *range(last + 1)}
    return opened


@given(SOME_WINDOWS, st.floats(-1e11, 1e11))
def test_the_first_minute_that_is_open(windows: list[Window], now: float) -> None:
    opened, read = open_minutes(windows), Timing(windows=tuple(windows))
    visit = read.at(now)
    begun = int(now // 60)
    wait = next(wait for wait in range(1440) if (begun + wait) % 1440 in opened)
    assert visit.may_come is (wait == 0)
    assert visit.from_at == ((begun + wait) * 60 if wait else now)
    assert read.at(visit.from_at).may_come


@given(SOME_WINDOWS, st.floats(allow_nan=False, allow_infinity=False))
def test_any_instant(windows: list[Window], now: float) -> None:
    visit = Timing(windows=tuple(windows)).at(now)
    assert visit.from_at >= now
    assert visit.may_come is (int(now // 1 // 60) % 1440 in open_minutes(windows)) or abs(now) > 2**52


PARTS = st.sampled_from(
    ["0600", "2400", "0845", "9999", "1", "0", "10m", "-", "/", " ", "\t", "h", "e", ".", "٣", "\x00"]
)
VALUES = st.one_of(st.text(max_size=30), st.lists(PARTS, max_size=8).map("".join))
FIELDS = st.sampled_from(["Crawl-delay", "Request-rate", "Visit-time"])


@given(st.lists(st.tuples(FIELDS, VALUES), max_size=8), st.floats(-1e12, 1e12))
def test_never_raises(lines: list[tuple[str, str]], now: float) -> None:
    read = timing(*(f"{field}: {value}" for field, value in lines))
    visit = read.at(now)
    assert visit.gap_s is None or visit.gap_s >= 0
    assert visit.reason == visible(visit.reason)
    assert all(each.value == visible(each.value) and each.reason for each in read.unread)
    assert all(0 <= minute < 1440 for window in read.windows for minute in window)
    assert all(rate.documents > 0 and rate.gap_s > 0 for rate in read.rates)


LONG = [
    "-" * 1_000_000,
    " " * 1_000_000 + "x",
    "0600" + " " * 1_000_000 + "x",
    "1/" * 500_000,
    "1/10m " + "1 " * 500_000,
]


@pytest.mark.parametrize("value", [*LONG, "9" * 1_000_000, "1/" + "9" * 1_000_000], ids=range(len(LONG) + 2))
def test_a_long_hostile_value(value: str) -> None:
    read = timing(*(f"{field}: {value}" for field in ("Crawl-delay", "Request-rate", "Visit-time")))
    assert len(read.unread) + (read.delay_s is not None) + len(read.rates) == 3
    assert all(len(each.value) <= 121 for each in read.unread)


def test_many_lines() -> None:
    read = timing(
        *["Visit-time: 0600-0845", "Request-rate: 1/10m 1300-1659", "Crawl-delay: 1", "Visit-time: x"] * 5_000
    )
    assert (len(read.windows), len(read.rates), len(read.unread)) == (5_000, 5_000, 5_000)
    assert read.at(at("1300")).gap_s == 600.0
