"""What the report says of counts."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from goodbot.errors import InputError
from goodbot.watch.judging import VERDICTS
from goodbot.watch.report import RobotReport, WatchReport, make_report, making
from watch.labelled_log import make_log
from watch.report.made_reports import (
    BROWSER,
    GOOGLEBOT,
    GPTBOT,
    IDENTITIES,
    REGISTRY,
    line,
    report_of,
    tally_of,
    timed_line,
)

ROBOT_LOG = [
    line(0, "/robots.txt", status=404),
    line(1, "/robots.txt"),
    *(line(2, f"/{number}", address="8.8.8.8") for number in range(3)),
    line(90, "/style.css", status=500),
    line(91, "/.env", status="-"),
    line(92, "/0", GPTBOT + " (2)", method="HEAD"),
    line(100, "/", BROWSER, "192.0.2.1"),
    line(101, "/", BROWSER, "192.0.2.1"),
]
"""Eight requests of a robot within two minutes, two of a browser."""

FIGURES: dict[str, tuple[Callable[[RobotReport], Any], Any]] = {
    "name": (lambda robot: robot.name, "GPTBot"),
    "tier": (lambda robot: robot.tier, "impostor"),
    "purpose": (lambda robot: robot.robot and robot.robot.purpose, "ai-training"),
    "requests": (lambda robot: robot.counts.requests, 8),
    "share of requests": (lambda robot: robot.share_of_requests, 0.8),
    "share of bytes": (lambda robot: robot.share_of_bytes, 0.8),
    "share of time": (lambda robot: robot.share_of_time, None),
    "kinds": (lambda robot: robot.counts.kinds, [4, 1, 2, 1, 0]),
    "robots.txt": (lambda robot: robot.robots_txt, {200: 1, 404: 1}),
    "robots.txt fetches": (lambda robot: robot.robots_txt_fetches, 2),
    "errors": (lambda robot: robot.errors, 2),
    "statuses": (lambda robot: robot.counts.statuses, {200: 5, 404: 1, 500: 1, 0: 1}),
    "peak second": (lambda robot: robot.rates.peak_second, 3),
    "peak minute": (lambda robot: robot.rates.peak_minute, 5),
    "mean": (lambda robot: robot.mean_rps, 8 / 120),
    "hours": (lambda robot: robot.counts.hours[10], 8),
    "addresses": (lambda robot: (robot.addresses, robot.addresses_are_exact), (2, True)),
    "busiest": (lambda robot: robot.busiest, (("9.9.9.9", 5), ("8.8.8.8", 3))),
    "agents": (lambda robot: robot.agents, ((GPTBOT, 7), (GPTBOT + " (2)", 1))),
    "first path": (lambda robot: (robot.paths[0].path, robot.paths[0].requests), ("/0", 2)),
    "second path": (lambda robot: (robot.paths[1].path, robot.paths[1].at_most), ("/robots.txt", 2)),
    "evidence": (lambda robot: robot.evidence[1].split(" published")[0], "9.9.9.9 is outside the ranges"),
}


@pytest.fixture(scope="module")
def robot() -> RobotReport:
    (robot,) = report_of(ROBOT_LOG).robots
    return robot


@pytest.mark.parametrize("figure", FIGURES)
def test_a_robot(figure: str, robot: RobotReport) -> None:
    value_of, expected = FIGURES[figure]
    assert value_of(robot) == expected


def test_answers_that_take_time() -> None:
    report = report_of([timed_line(number, 4.5) for number in range(5)] + [timed_line(9, 0.5, BROWSER)])
    (robot,) = report.robots
    assert (robot.durations.slow, robot.durations.total_s) == (5, 22.5)
    assert robot.share_of_time == pytest.approx(22.5 / 23)
    assert robot.rates.parallel >= 1


def test_the_order_of_robots() -> None:
    verified = "66.249.66.1"
    lines = [
        *(line(second, "/", GOOGLEBOT, verified) for second in range(2)),
        *(line(second, "/", GOOGLEBOT) for second in range(5)),
        *(line(second, "/", "YandexBot/3.0") for second in range(3)),
        *(line(second, "/", "MJ12bot/1.4") for second in range(4)),
    ]
    found = [(robot.name, robot.tier, robot.counts.requests) for robot in report_of(lines).robots]
    assert found == [
        ("Googlebot", "verified", 2),
        ("MJ12bot", "declared", 4),
        ("YandexBot", "declared", 3),
        ("Googlebot", "impostor", 5),
    ]


def test_a_list_of_another_time_makes_no_impostor() -> None:
    lines = [text.replace("2026", "2015") for text in ROBOT_LOG[:4]]
    (robot,) = report_of(lines).robots
    assert robot.tier == "unknown"
    assert "so the address may have been the robot's then" in robot.evidence[-1]


# ---- --robot --------------------------------------------------------------------------------------------------------

NAMED = [
    ("GPTBot", "GPTBot", 1),
    (" gptbot ", "GPTBot", 1),
    (GPTBOT, "GPTBot", 1),
    ("googlebot", "Googlebot", 0),
    ("Google-Extended", "Google-Extended", 0),
]


@pytest.mark.parametrize(("text", "name", "robots"), NAMED, ids=[text for text, *_ in NAMED])
def test_one_robot(text: str, name: str, robots: int) -> None:
    report = report_of(ROBOT_LOG, robot=text)
    assert (report.only, len(report.robots)) == (name, robots)
    assert (report.undeclared, report.verdicts, report.counts.requests) == ((), {}, 10)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Gogolebot", "did you mean Googlebot?"),
        ("nobody-at-all", "goodbot who --list names the robots"),
        ("", "no robot is called ''"),
        ("\x1b[2J", r"no robot is called '\x1b[2J'"),
    ],
)
def test_a_robot_that_does_not_exist(text: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        report_of(ROBOT_LOG, robot=text)
    assert words in str(error.value)


def test_a_robot_that_is_on_no_record_but_came() -> None:
    lines = [
        line(second, "/", "Mozilla/5.0 (compatible; AddThis.com robot tech.support@clearspring.com)")
        for second in range(2)
    ]
    (name,) = {robot.name for robot in report_of(lines).robots}
    assert report_of(lines, robot=name.upper()).robots[0].counts.requests == 2


# ---- other addresses ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def labelled() -> WatchReport:
    return report_of(make_log().text())


def test_every_address_has_one_verdict(labelled: WatchReport) -> None:
    tally = tally_of(make_log().text())
    assert list(labelled.verdicts) == list(labelled.requests_by_verdict) == list(VERDICTS)
    assert sum(labelled.verdicts.values()) == len(tally.clients)
    assert sum(labelled.requests_by_verdict.values()) == sum(tally.clients.columns["requests"])


def test_the_surest_come_first(labelled: WatchReport) -> None:
    order = [(VERDICTS.index(one.verdict), -one.points) for one in labelled.undeclared]
    assert order == sorted(order)
    assert labelled.left_out == {}


READS = [f"/{number}" for number in range(60)]
LOCAL: list[tuple[str, str, list[str], str, int]] = [
    ("one User-Agent", "10.0.0.1", ["Browser"], "certain", 0),
    ("two User-Agents", "10.0.0.1", ["Browser", "Other"], "no evidence", 1),
    ("two User-Agents, IPv6", "fd00::1", ["Browser", "Other"], "no evidence", 1),
    ("a robot too", "10.0.0.1", ["Browser", GPTBOT], "no evidence", 1),
    ("not local", "9.9.9.9", ["Browser", "Other"], "likely", 0),
]


@pytest.mark.parametrize(
    ("address", "agents", "verdict", "proxies"), [case[1:] for case in LOCAL], ids=[case[0] for case in LOCAL]
)
def test_a_proxy_is_not_judged(address: str, agents: list[str], verdict: str, proxies: int) -> None:
    """One who reads robots.txt, and pages without images."""
    people = [
        line(600, path, BROWSER, f"8.8.{number}.8", referrer=referrer)
        for number in range(40)
        for path, referrer in (("/", "https://search.example/"), ("/a.png", "/"), ("/b.css", "/"))
    ]
    log = [line(number, path, agents[0], address) for number, path in enumerate(["/robots.txt", *READS])]
    report = report_of([*log, *(line(200, "/", agent, address) for agent in agents[1:]), *people])
    assert {one.address: one.verdict for one in report.undeclared}.get(address, "no evidence") == verdict
    assert report.proxies == proxies


def test_what_is_left_out_is_counted(labelled: WatchReport, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(making, "MOST_UNDECLARED", 3)
    report = report_of(make_log().text())
    assert len(report.undeclared) == 3
    listed = Counter(one.verdict for one in report.undeclared)
    assert listed + Counter(report.left_out) == Counter(one.verdict for one in labelled.undeclared)


def test_a_group_is_one_entry(labelled: WatchReport) -> None:
    group = next(one for one in labelled.undeclared if one.address == "203.0.114.0/24")
    assert (group.addresses, len(group.members), group.together, group.requests) == (40, 40, "certain", 240)
    assert not {*group.members} & {one.address for one in labelled.undeclared}
    assert labelled.verdicts["certain"] >= 40


def test_a_sure_member_of_an_unsure_group_is_listed_by_itself() -> None:
    sure, *others = (f"9.9.9.{number}" for number in range(4))
    browsers = [
        line(second, f"/{kind}", BROWSER, f"192.0.2.{second}", referrer="http://x.example/")
        for second in range(200)
        for kind in ("", "a.png", "b.css")
    ]
    lines = [line(0, "/robots.txt", "Firefox/2", sure)]
    lines += [line(number, f"/page-{number}", "Firefox/2", sure) for number in range(120)]
    lines += [line(3000 + number, "/", "Firefox/2", address) for number, address in enumerate(others)]
    report = report_of(browsers + lines)
    group = next(one for one in report.undeclared if one.members)
    assert sure in group.members
    assert group.verdict != "certain"
    assert [(one.verdict, one.requests) for one in report.undeclared if one.address == sure] == [("certain", 121)]


def test_addresses_that_are_pooled() -> None:
    lines = [line(0, "/", BROWSER, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}") for number in range(61_000)]
    pooled = report_of([*lines, line(0, "/", BROWSER, "10.0.0.7")]).pooled
    assert (pooled.kept, pooled.rows, pooled.requests, pooled.bytes) == (20_000, 41_000, 41_000, 4_100_000)
    assert pooled.exact == 20_000


# ---- paths ----------------------------------------------------------------------------------------------------------


def test_paths_are_added_up_whatever_the_method() -> None:
    lines = [line(0, "/a?b=1"), line(0, "/a?b=1", method="HEAD"), line(1, "/a"), line(2, "/\xc3\xa4")]
    paths = report_of(lines).paths
    assert [(path.path, path.requests, path.at_most) for path in paths] == [
        ("/a?b=1", 2, 2),
        ("/a", 1, 1),
        ("/ä", 1, 1),
    ]


def test_counts_of_very_many_paths_are_bounds() -> None:
    lines = [line(0, f"/{number}") for number in range(3000)] + [line(1, "/often")] * 50
    tally = tally_of(lines)
    (robot,) = make_report(tally, IDENTITIES, REGISTRY).robots
    often = robot.paths[0]
    assert often.path == "/often"
    assert often.requests <= 50 <= often.at_most


@pytest.mark.parametrize("lines", [[], ["garbage\n"], ["\n"]], ids=["empty", "no request", "an empty line"])
def test_without_requests(lines: list[str]) -> None:
    report = report_of(lines)
    assert (report.counts.requests, report.robots, report.undeclared, report.visitors) == (0, (), (), 0)
