"""What the report says about obedience, as values and as people read it."""

from dataclasses import replace

import pytest

from goodbot.cli.watch_report import print_report
from goodbot.exclusion import Access
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.report import JudgedBy, WatchReport, make_report, rules_report
from watch.report.made_reports import BROWSER, IDENTITIES, REGISTRY, line, report_of, tally_of

ME = "192.0.2.1"
ARCHIVE = "archive.org_bot"
FEEDLY = "Feedly/1.0"
CURL = "curl/8.0"

RULES = b"User-agent: *\nDisallow: /x\nCrawl-delay: 10"

TEN = 1_789_466_400
DAY = 86_400


def printed(report: WatchReport, capsys: pytest.CaptureFixture[str]) -> str:
    print_report(report)
    return " ".join(capsys.readouterr().out.split())


def crawl(*paths: str, gap: int = 20, agent: str = ARCHIVE, address: str = ME) -> list[str]:
    return [line(gap * number, path, agent, address) for number, path in enumerate(paths)]


WORDS = [
    (
        "obeyed",
        crawl("/robots.txt", "/a"),
        RULES,
        "robots.txt? robots.txt: a note No disallowed request (in brackets: requests judged): archive.org_bot (1)",
    ),
    (
        "disobeyed",
        crawl("/x", "/a"),
        RULES,
        "archive.org_bot (declared): 1 of 2 requests disallowed, 50.0 % (95 % interval 9.5–90.5)",
    ),
    ("rule", crawl("/x/1", "/x/2"), RULES, "- Disallow: /x (line 2): 2 requests 192.0.2.1 - - [15/Sep/2026:10:00:00"),
    (
        "never",
        crawl("/x"),
        RULES,
        "robots of one operator may share a copy): archive.org_bot (1)",
    ),
    (
        "delay",
        crawl(*["/a"] * 30, gap=5),
        RULES,
        "(declared): 0 of 30 requests disallowed, 0.0 % (95 % interval 0.0–",
    ),
    (
        "gaps",
        crawl(*["/a"] * 30, gap=5),
        RULES,
        "- robots.txt asks for 10 s between requests: 29 of 29 gaps shorter, 100.0 % (",
    ),
    ("few gaps", crawl("/a", "/b", gap=9), RULES, "robots.txt asks for 10 s between requests: 1 of 1 gap shorter"),
    (
        "person",
        crawl("/x", agent=FEEDLY),
        RULES,
        "User-triggered fetchers, which robots.txt is not meant for: Feedly",
    ),
    ("nothing closed", crawl("/x"), b"", "requests judged): archive.org_bot (1)"),
    (
        "rate",
        crawl(*["/a"] * 60, gap=5),
        b"User-agent: *\nRequest-rate: 2/1m",
        "robots.txt asks for at most 2 requests in 60 s: exceeded in 5 of 5 time spans, 100.0 % (",
    ),
    (
        "hours",
        crawl(*["/a"] * 60),
        b"User-agent: *\nVisit-time: 0300-0400",
        "outside the hours of Visit-time: 60 of 60 requests, 100.0 % (",
    ),
    (
        "impostor",
        [line(0, "/x")],
        RULES,
        "- robots.txt: 1 of 1 request disallowed, 100.0 % (",
    ),
    (
        "likely robot",
        [line(second, f"/x/{second}", "RudeBot/1", ME) for second in range(90)],
        RULES,
        "- robots.txt disallows 90 of its requests, for example by Disallow: /x (line 2): 192.0.2.1 - - [15",
    ),
    (
        "program",
        crawl("/x", "/a", agent="script/1.0"),
        RULES,
        "192.0.2.1: 1 of 2 requests, as script/1.0 (verdict: no evidence) for example by Disallow: /x (line 2): 192",
    ),
    ("one name, two tiers", [line(0, "/", "YandexBot"), line(0, "/", "YandexBot", "10.0.0.1")], RULES, "YandexBot (2)"),
]


@pytest.mark.parametrize(("lines", "rules", "words"), [case[1:] for case in WORDS], ids=[case[0] for case in WORDS])
def test_words(lines: list[str], rules: bytes, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in printed(report_of(lines, rules=rules), capsys)


ONE = [
    ("obeyed", crawl("/x", "/a"), "disallowed 1 of 2 requests, 50.0 % ("),
    (
        "rules",
        crawl("/x", "/x", "/x", "/x"),
        "rules Disallow: /x (line 2): 4 requests 192.0.2.1 - - [15/Sep/2026:10:00:00",
    ),
    (
        "three lines",
        crawl("/x", "/x", "/x", "/x"),
        '[15/Sep/2026:10:00:40 +0000] "GET /x HTTP/1.1" 200 100 "-" "archive.org_bot" limits',
    ),
    (
        "pace",
        crawl("/a", "/a", gap=10),
        "limits robots.txt asks for 10 s between requests: 0 of 1 gap shorter, 0.0 % (95 % interval 0.0–79.3)",
    ),
    ("source", crawl("/a"), "Judged by robots.txt: a note"),
]


@pytest.mark.parametrize(("lines", "words"), [case[1:] for case in ONE], ids=[case[0] for case in ONE])
def test_words_about_one(lines: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert words in printed(report_of(lines, rules=RULES, robot=ARCHIVE), capsys)


def test_without_a_robots_txt_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(report_of(crawl("/x")), capsys)
    assert "obey" not in text
    assert "disallowed" not in text


def test_an_impostor_is_not_blamed_on_the_robot(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(report_of([line(0, "/x"), line(1, "/a", address="4.227.36.1")], rules=RULES), capsys)
    assert "requests judged): GPTBot (1)" in text


def test_a_tool_from_several_addresses_has_no_pace() -> None:
    several = [line(second, "/a", CURL, f"192.0.2.{second % 2}") for second in range(9)]
    alone = [line(second, "/a", CURL, ME) for second in range(9)]
    found = [report_of(lines, rules=RULES).robots[0].obedience for lines in (several, alone)]
    assert [len(one.limits) for one in found if one] == [0, 1]


def test_shortened_addresses_leave_no_log_line() -> None:
    lines = [*crawl("/x"), *(line(second, f"/x/{second}", "x", ME) for second in range(90))]
    report = report_of(lines, rules=RULES, anonymise=True)
    assert ME not in str(report)
    (robot,) = report.robots
    assert robot.obedience is not None
    assert [(rule.requests, rule.log_lines) for rule in robot.obedience.rules] == [(1, ())]


def dated(lines: list[str], *copies: tuple[int, bytes]) -> WatchReport:
    rules = RulesInForce.of_copies([Access.from_response(200, (), body, at) for at, body in copies])
    judged_by = JudgedBy(rules, rules_report("history", rules, []))
    return make_report(tally_of(lines, rules), IDENTITIES, REGISTRY, judged_by=judged_by)


def test_versions(capsys: pytest.CaptureFixture[str]) -> None:
    report = dated(crawl("/x"), (TEN - 9 * DAY, RULES), (TEN - 5 * DAY, b"User-agent: *\nDisallow: /x"))
    text = printed(report, capsys)
    assert "history: 2 versions since 2026-09-06 10:00:00 UTC" in text
    assert "Disallow: /x (line 2), version of 2026-09-10 10:00:00 UTC: 1 request" in text


def test_the_rules_are_not_known_before_the_first_copy(capsys: pytest.CaptureFixture[str]) -> None:
    report = dated(crawl("/x"), (TEN + DAY, RULES))
    assert "Not judged: came before the first copy of robots.txt: archive.org_bot (1)" in printed(report, capsys)
    one = printed(replace(report, only=ARCHIVE), capsys)
    assert "disallowed not judged; 1 request before the first copy of robots.txt" in one


def test_within_a_day_nobody_is_blamed(capsys: pytest.CaptureFixture[str]) -> None:
    report = dated(crawl("/x"), (TEN - 3 * DAY, b""), (TEN - DAY // 2, RULES))
    assert "requests judged): archive.org_bot (1)" in printed(report, capsys)
    one = printed(replace(report, only=ARCHIVE), capsys)
    assert "1 more request is disallowed by the latest version only" in one


def test_requests_to_other_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{host} {line(0, '/x', ARCHIVE, ME)}" for host in ("a.example:80", "a.example", "www.example.org")]
    text = printed(report_of(lines, rules=RULES, host="www.example.org"), capsys)
    assert "Not judged are requests to other hosts: a.example (2). --host names the host" in text
    assert "archive.org_bot (declared): 1 of 1 request disallowed" in text


def test_a_file_does_not_say_for_which_host_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"{host} {line(0, '/x', ARCHIVE, ME)}" for host in ("a.example:80", "a.example", "www.example.org")]
    text = printed(report_of(lines, rules=RULES), capsys)
    assert "The log names several hosts: a.example (2), www.example.org (1). Requests to all of them are judged" in text
    assert "several hosts" not in printed(report_of(lines[:2], rules=RULES), capsys)


def test_people_are_not_listed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(report_of([line(0, "/x", BROWSER, ME)], rules=RULES), capsys)
    assert "192.0.2.1" not in text
