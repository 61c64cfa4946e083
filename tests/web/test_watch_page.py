"""The report on access logs as a page: what it says, that no text of a log does harm, and the page in a browser."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from goodbot.watch.counting.timeline import DAY_S, HOUR_S, Timeline
from goodbot.watch.obedience.pace import GAP_SIZES, Limit
from goodbot.watch.report import LimitReport, RobotReport, WatchReport
from goodbot.web.operator.watch_charts import (
    BAR_WIDTH,
    GAP_BARS,
    MOST_BARS,
    ROBOTS_DRAWN,
    gap_charts,
    hour_rows,
    time_chart,
)
from goodbot.web.operator.watch_page import GAPS_DRAWN, OTHERS_LISTED, ROBOTS_LISTED, VERSIONS_LISTED, watch_page
from goodbot.web.operator.watch_words import edge_words, span_words, start_words, unbroken
from watch.report.made_reports import line, report_of
from web.browser import audit, chromium, small_targets
from web.watch_study import RULES, START, study

AT = 1_795_000_000.0
VOID = {"br", "link", "meta"}


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> WatchReport:
    return study(tmp_path_factory.mktemp("study") / "copies")


class Elements(HTMLParser):
    """Reads HTML, and notes elements that are not closed in order, and ids that are used twice."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.names: set[str] = set()
        self.ids: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.wrong += [name for name, _ in attrs if name.startswith("on") or name == "style"]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def read(html: str) -> Elements:
    """Reads a page, which must be well formed and have nothing that runs."""
    found = Elements()
    found.feed(html)
    assert (found.open, found.wrong) == ([], [])
    assert len(found.ids) == len(set(found.ids))
    assert found.names & {"script", "img", "iframe", "object", "form", "base"} == set()
    return found


def words(html: str) -> str:
    """Returns the text of a page, with single spaces."""
    return " ".join("".join(read(html).text).split())


# ---- what it says ---------------------------------------------------------------------------------------------------


def test_the_study(studied: WatchReport) -> None:
    text = words(watch_page(studied, AT))
    for sentence in (
        "2,085 requests, 10.7 MB, from 6 addresses",
        "Judged by",
        "3 versions since 2026-09-15 00:00:00 UTC",
        "robots.txt asks for 10 s between requests: 40 of 79 gaps shorter, 50.6 % [39.8–61.4]",
        "YandexBot: robots.txt asks for 10 s between requests: 40 of 79 gaps shorter, 50.6 % (95 % interval 39.8–61.4)",
        "YandexBot (declared): 108 of 336 requests disallowed, 32.1 % (95 % interval 27.4–37.3)",
        "Disallow: /shop/ Line 3, group *, version of 2026-09-29 00:00:00 UTC: 24 requests",
        '192.0.2.12 - - [30/Sep/2026:08:00:10 +0000] "GET /shop/1 HTTP/1.1" 200 5120 "-" "Mozilla/5.0',
        "4 more requests are disallowed by the latest version only.",
        "as Googlebot 462 requests from 9.9.9.9 (462)",
        "198.51.100.7: possible",
        "robots.txt disallows 300 of its requests",
        "2,085 lines, none skipped.",
    ):
        assert sentence in text
    assert "YandexBot (declared) 2026-09-15 00:00:00 UTC 112 0 28 25.0 % [17.9–33.8]" in text
    assert "Written by goodbot at 2026-11-18 11:06:40 UTC." in text


def test_every_figure_of_a_chart_is_in_a_table(studied: WatchReport) -> None:
    html = watch_page(studied, AT)
    robots = sorted(studied.robots, key=lambda robot: -robot.counts.requests)
    chart = time_chart(robots)
    assert chart is not None
    for name, rows in (("Requests over time", chart.rows), ("Requests by hour of the day", hour_rows(robots))):
        table = html.partition(f'aria-label="{name}"')[2].partition("</table>")[0]
        figures = re.findall(r'<td class="count">([^<]*)</td>', table)
        assert figures == [f"{row.counts[place]:,}" for place in range(len(rows[0].counts)) for row in rows]
    for gaps in gap_charts(robots):
        assert sum(bar.gaps for bar in gaps.bars) == gaps.limit.judged
        assert sum(bar.short for bar in gaps.bars) == gaps.limit.broken


def test_the_short_gaps_of_a_table_add_up(studied: WatchReport) -> None:
    """The size that has the asked delay has gaps of both kinds."""
    sizes = (4, 3, 2, 33, 5, *(0,) * (GAP_SIZES - 5))
    text = words(
        watch_page(replace(studied, robots=(with_gaps(studied, LimitReport(Limit(1, 6), 47, 19, sizes)),)), AT)
    )
    assert (
        "0 s: shorter than asked4 1 s: shorter than asked3 2 to 3 s: shorter than asked2 "
        "4 to 7 s: 10 of 33 shorter than asked33 8 to 15 s5 "
    ) in text


def test_robots_are_counted_by_name(studied: WatchReport) -> None:
    """A robot with rows in two tiers is one; an impostor is none."""
    twice = [replace(robot, tier="verified") for robot in studied.robots if robot.name == "YandexBot"]
    text = words(watch_page(replace(studied, robots=(*studied.robots, *twice)), AT))
    names = {robot.name for robot in studied.robots if robot.tier != "impostor"}
    assert f"Known robots{len(names)} Robots with disallowed requests" in text
    assert len(names) == 3


def test_a_robot_that_broke_nothing_is_not_said_to_obey() -> None:
    text = words(watch_page(report_of([line(0, agent="MJ12bot/v1.4.8")], rules=RULES[0]), AT))
    assert "0 (0.0 % [0.0–79.3]) broke no rule" in text
    assert "Broke no rule: it may obey, or have no interest in what is disallowed." in text
    assert "broke no rule: requested no disallowed URL, and kept delays, rates and hours, or nearly so; it may" in text


def with_gaps(studied: WatchReport, limit: LimitReport) -> RobotReport:
    """Returns YandexBot with a limit that was kept like this."""
    robot = next(robot for robot in studied.robots if robot.name == "YandexBot")
    assert robot.obedience is not None
    return replace(robot, obedience=replace(robot.obedience, limits=(limit,)))


@pytest.mark.parametrize(
    ("lines", "options", "sentence"),
    [
        ([], {}, "No requests: the logs are empty."),
        (["no log\n"], {}, "No requests in 1 line."),
        (["no log\n", line(0)], {}, "2 lines. 1 line skipped (unknown format: 1). Format of the lines: combined."),
        ([line(0)], {}, "All requests of known robots came within one span of time"),
        ([line(0)], {}, "No robots.txt was given"),
        ([line(0, agent="Firefox")], {}, "Known robots None."),
        ([line(0)], {"robot": "YandexBot"}, "YandexBot: none of 1 request names it."),
        ([line(0)], {"robot": "GPTBot"}, "GPTBot in access logs"),
        ([line(0, address="203.0.113.7")], {"anonymise": True}, "203.0.113.0/24 (1)"),
    ],
    ids=["empty", "no log", "skipped", "one span", "no rules", "no robot", "not seen", "one robot", "anonymous"],
)
def test_other_reports(lines: list[str], options: dict[str, Any], sentence: str) -> None:
    assert sentence in words(watch_page(report_of(lines, **options), AT))


def test_a_large_report_is_bounded(studied: WatchReport) -> None:
    robots = [replace(robot, name=f"{robot.name} {number}") for number in range(60) for robot in studied.robots]
    others = studied.undeclared * 400
    page = watch_page(replace(studied, robots=tuple(robots), undeclared=others, left_out={"possible": 7}), AT)
    assert len(page) < 1_500_000
    text = words(page)
    for sentence in (
        f"{len(robots) - ROBOTS_LISTED:,} more robots with fewer requests are left out here",
        f"{len(others) - OTHERS_LISTED + 7:,} more with a weaker verdict or fewer points are left out here",
        "140 more robots are left out here; --json has their evidence.",
        f"{180 * 3 - VERSIONS_LISTED} more rows are left out here",
        f"{120 * 2 - GAPS_DRAWN} more robots are left out here; the table below has them.",
        "70 more impostors are left out here",
    ):
        assert sentence in text


# ---- hostile text ---------------------------------------------------------------------------------------------------

HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "quotes": "\\\"'><svg onload=alert(1)>",
    "the end of a style": "</style></title></details>",
    "a comment": "<!-- ]]> {{ 7*7 }} {% raw %} &lt;",
    "writing direction": "\xe2\x80\xae\xe2\x81\xa6",
    "terminal escapes": "\x1b]0;owned\x07\x9b1m",
    "10,000 characters": "A" * 10_000,
    "no UTF-8": "\xff\xfe\xc3",
    "NUL": "\x00",
}


def hostile_log(text: str) -> list[str]:
    """Has a text as User-Agent, path and referrer, beside a robot's name and of an address that probes."""
    path = "/" + text.replace(" ", "+").replace("\\", "").replace('"', "%22")
    return [
        *(line(number, f"/.env?{number}", text, "192.0.2.2", status=404) for number in range(20)),
        *(line(30 + number, path, f"GPTBot/1.3 {text[:3000]}", referrer=text) for number in range(3)),
    ]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_text_of_a_log_does_no_harm(text: str) -> None:
    page = watch_page(report_of(hostile_log(text)), AT)
    read(page)
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", page) is None
    assert len(page) < 150_000
    assert "A" * 501 not in page


@given(st.text(st.characters(max_codepoint=255, exclude_characters='\n"\\'), max_size=40))
def test_any_text_keeps_the_page_well_formed(text: str) -> None:
    read(watch_page(report_of(hostile_log(text)), AT))


# ---- charts ---------------------------------------------------------------------------------------------------------

SPANS = [
    ([0, 90 * HOUR_S], HOUR_S, 91),
    ([0, 10 * DAY_S], 6 * HOUR_S, 41),
    ([0, 30 * DAY_S], DAY_S, 31),
    ([0, 365 * DAY_S], 7 * DAY_S, 53),
    ([-2_000_000_000, 250_000_000_000], 8192 * 7 * DAY_S, 52),
]


@pytest.mark.parametrize(("times", "span_s", "bars"), SPANS, ids=["hours", "quarter days", "days", "weeks", "ages"])
def test_spans_of_the_time_chart(times: list[int], span_s: int, bars: int, studied: WatchReport) -> None:
    timeline = Timeline()
    timeline.add({START // DAY_S * DAY_S + at if at >= 0 else at: 2 for at in times})
    robots = [replace(studied.robots[0], timeline=timeline), replace(studied.robots[1], timeline=Timeline())]
    chart = time_chart(robots)
    assert chart is not None
    assert (chart.span_s, len(chart.starts)) == (span_s, bars)
    assert len(chart.starts) <= MOST_BARS
    assert sum(chart.rows[0].counts) == 4
    assert chart.rows[1].bars == ""
    read(watch_page(replace(studied, robots=tuple(robots)), AT))


def test_the_others_have_one_row(studied: WatchReport) -> None:
    many = [replace(studied.robots[0], name=f"Bot{number}") for number in range(20)]
    rows = hour_rows(many)
    assert [row.label for row in rows[ROBOTS_DRAWN - 1 :]] == ["Bot7", "12 other robots"]
    assert rows[-1].requests == 12 * rows[0].requests
    assert len(hour_rows(many[: ROBOTS_DRAWN + 1])) == ROBOTS_DRAWN + 1


# asked delay → low ends of the bars, which of them are shorter, place of the line in bars
GAPS = [
    (0.5, [0, 1, 2, 4, 8, 16, 32, 64], 0, 0.5),
    (1.0, [0, 1, 2, 4, 8, 16, 32, 64], 1, 1.0),
    (5.0, [0, 1, 2, 4, 8, 16, 32, 64], 3, 3.25),
    (10.0, [0, 1, 2, 4, 8, 16, 32, 64], 4, 4.25),
    (60.0, [0, 4, 8, 16, 32, 64, 128, 256], 4, 4.875),
    (3600.0, [0, 256, 512, 1024, 2048, 4096, 8192, 16384], 4, 4.758),
    (1e10, [0, *(1 << size for size in range(25, 32))], 7, 8.0),
]


@pytest.mark.parametrize(("asked", "lows", "short", "place"), GAPS, ids=[f"{asked:g} s" for asked, *_ in GAPS])
def test_gaps(asked: float, lows: list[int], short: int, place: float, studied: WatchReport) -> None:
    (chart,) = gap_charts([with_gaps(studied, LimitReport(Limit(1, asked), GAP_SIZES, 3, (1,) * GAP_SIZES))])
    assert [bar.low for bar in chart.bars] == lows
    assert [bar.is_short for bar in chart.bars] == [number < short for number in range(GAP_BARS)]
    assert chart.line / BAR_WIDTH == pytest.approx(place, abs=0.01)
    assert sum(bar.gaps for bar in chart.bars) == GAP_SIZES


def test_words(studied: WatchReport) -> None:
    assert [span_words(span_s) for span_s in (1, HOUR_S, 6 * HOUR_S, DAY_S, 14 * DAY_S)] == [
        "1 s", "hour", "6 hours", "day", "2 weeks",
    ]  # fmt: skip
    assert [start_words(START, span_s) for span_s in (HOUR_S, DAY_S)] == ["2026-09-15 00:00", "2026-09-15"]
    assert start_words(10**15, DAY_S) == "a time beyond the calendar"
    assert [edge_words(size) for size in (0, 512, 1024, 16_384, 1 << 20)] == ["0", "512", "17 min", "5 h", "12 d"]
    assert unbroken("10.7 MB, 12 days 3 h, 50.6 % (95 % interval) of 3 hours") == (
        "10.7\xa0MB, 12\xa0days 3\xa0h, 50.6\xa0% (95\xa0% interval) of 3 hours"
    )
    one = next(robot.obedience for robot in studied.robots if robot.name == "YandexBot")
    assert one is not None
    assert one.obeyed == "no"
    assert replace(one, disallowed=0).obeyed == "paths only"
    assert replace(one, disallowed=0, limits=()).obeyed == "yes"


# ---- in a browser ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def file(studied: WatchReport, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(watch_page(studied, AT), "utf-8")
    return path


def opened(browser: Browser, file: Path, scheme: str, width: int, *, scripts: bool = True) -> tuple[Page, list[str]]:
    """Opens the file, and returns its tab and the list of its requests."""
    tab = browser.new_context(
        color_scheme="dark" if scheme == "dark" else "light",
        viewport={"width": width, "height": 800},
        java_script_enabled=scripts,
    ).new_page()
    requests: list[str] = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(file.as_uri())
    return tab, requests


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 320),
        pytest.param("light", 1280, marks=pytest.mark.long),
        pytest.param("dark", 1280, marks=pytest.mark.long),
    ],
)
def test_axe_finds_nothing(browser: Browser, file: Path, scheme: str, width: int) -> None:
    tab, requests = opened(browser, file, scheme, width)
    tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert audit(tab).violations == []
    assert small_targets(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    smallest = """() => Math.min(...[...document.querySelectorAll("svg text")].map((text) =>
      parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a))"""
    assert tab.evaluate(smallest) >= 12
    assert requests == [file.as_uri()]
    tab.context.close()


@pytest.mark.parametrize("width", [1000, 1100])
def test_names_are_not_broken_within_a_word(width: int, browser: Browser, studied: WatchReport, tmp_path: Path) -> None:
    names = ("Googlebot", "YandexBot", "facebookexternalhit")
    robots = tuple(replace(robot, name=name) for robot, name in zip(studied.robots, names, strict=False))
    path = tmp_path / "names.html"
    path.write_text(watch_page(replace(studied, robots=robots), AT), "utf-8")
    tab, _ = opened(browser, path, "light", width)
    lines = (
        """() => [...document.querySelectorAll(".robots tbody th bdi")].map((name) => name.getClientRects().length)"""
    )
    assert set(tab.evaluate(lines)) == {1}
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    tab.context.close()


def test_it_is_whole_without_scripts(browser: Browser, file: Path) -> None:
    """Evidence opens, links lead to it, and a print has everything, on light ground."""
    tab, requests = opened(browser, file, "dark", 1280, scripts=False)
    log_line = tab.get_by_text("/shop/1 HTTP/1.1").first
    assert not log_line.is_visible()
    tab.get_by_role("link", name="YandexBot").click()
    assert tab.get_by_text("[30/Sep/2026:08:00:10 +0000]").first.is_visible()
    assert tab.get_by_role("img").count() >= 8
    tab.emulate_media(media="print")
    assert log_line.is_visible()
    assert tab.get_by_role("cell", name="567").last.is_visible()
    assert tab.pdf(format="A4").startswith(b"%PDF")
    assert requests == [file.as_uri()]
    tab.context.close()
