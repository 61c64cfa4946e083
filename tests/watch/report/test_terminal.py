"""The report as people read it."""

import unicodedata
from itertools import chain
from typing import Any

import pytest

from goodbot.cli.watch_report import print_report
from goodbot.watch.report import WatchReport
from watch.labelled_log import make_log
from watch.report.made_reports import BROWSER, GPTBOT, line, report_of, timed_line

WIDTHS = [30, 48, 71, 72, 80, 100, 200]

HOSTILE = [
    line(0, "/\x1b]0;title\x07", "GPTBot \x1b[2J\x9b1m", "host\x1b[1m"),
    line(1, "/<script>alert(1)</script>", "<b>GPTBot</b> [red]x[/red] :smile:"),
    line(2, "/" + "x" * 5000, "GPTBot " + "y" * 5000),
    line(3, "/\xe2\x80\xae\xff", "Googlebot \xe2\x80\xae", "192.0.2.1\x08"),
    *(line(4 + number, f"/.env?{number}\x1b[2J", "\x1b[31m" + "z" * 5000, "192.0.2.2") for number in range(20)),
]


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> "Printed":
    return Printed(capsys, monkeypatch)


class Printed:
    """Prints reports, and returns what was printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def __call__(self, report: WatchReport, columns: int = 100) -> str:
        self._monkeypatch.setenv("COLUMNS", str(columns))
        print_report(report)
        out, err = self._capsys.readouterr()
        assert err == ""
        return out


def one_line(text: str) -> str:
    """Returns a text without its line breaks."""
    return " ".join(text.split())


ONE = {"robot": "gptbot"}
TEN_AM = "2026-09-15 10:00:00 UTC"

CDN = [line(0, "/", agent) for agent in (GPTBOT, "Googlebot/2.1", "bingbot/2.0")]

BEHIND_A_PROXY = [
    *(line(60 * number, "/robots.txt", GPTBOT, "10.0.0.1") for number in range(4)),
    *(line(number, f"/{number}", f"Browser {number % 9}", "10.0.0.1") for number in range(200)),
]

WORDS: list[tuple[str, list[str], dict[str, Any], str]] = [
    ("nothing", [], {}, "No requests: the logs are empty."),
    ("no request", ["x\n"], {}, "No requests in 1 line. 1 line skipped (unknown format: 1). Is this an access log?"),
    ("head", [line(0)], {}, f"1 request, 100 bytes, from 1 address, {TEN_AM} to {TEN_AM} (0 s)"),
    (
        "robots",
        [line(0)],
        {},
        "and their impostors 100.0 %. No other address is a certain or likely robot.",
    ),
    (
        "no robots",
        [line(0, "/", BROWSER)],
        {},
        "Known robots none Other addresses that behaved like robots none",
    ),
    (
        "few",
        [line(0), *(line(1, "/", BROWSER) for _ in range(3000))],
        {},
        "their impostors less than 0.1 %",
    ),
    (
        "proxy",
        BEHIND_A_PROXY,
        {},
        "100.0 % of the requests come from local addresses such as 10.0.0.1: from a proxy, or",
    ),
    ("proxy: robots", BEHIND_A_PROXY, {}, "GPTBot declared ai-training 4 "),
    (
        "proxy: others",
        BEHIND_A_PROXY,
        {},
        "certain or likely not judged: 1 local address with several User-Agents",
    ),
    (
        "one: proxy",
        BEHIND_A_PROXY,
        {"robot": "gptbot"},
        "10.0.0.1 is a local address, so a proxy or a program of your own",
    ),
    ("CDN", CDN, {}, "9.9.9.9 used the names of 3 robots. If it belongs to a proxy or CDN of yours, take the clients"),
    (
        "few local addresses",
        [line(0, "/", BROWSER, "127.0.0.1"), *map(line, range(19))],
        {},
        "robot. Format of the lines",
    ),
    ("skipped", [line(0), "\n", "x\n", "x\n"], {}, "3 lines skipped (empty: 1, unknown format: 2)."),
    ("one format", [line(0)], {}, "Format of the lines: combined."),
    ("two formats", [line(0), line(0), timed_line(0, 1)], {}, "Formats of the lines: combined (2), "),
    ("tier", [line(0)], {}, "GPTBot impostor ai-training 1 100.0 % 1 100 bytes 1 0 0"),
    ("tiers", [line(0), line(0, "/", "YandexBot/3.0")], {}, "declared: not verified; impostor: not in the operator's"),
    ("impostor", [line(0)], {}, "as GPTBot: 1 request from 9.9.9.9 (1) - 9.9.9.9 is outside the ranges published at"),
    ("impostors", [line(0, "/", GPTBOT, f"9.9.9.{n}") for n in range(9)], {}, "9.9.9.2 (1) and others (6)"),
    ("robots.txt", [line(0, "/robots.txt", status=404)], {}, "Responses to requests for robots.txt 404: 1"),
    ("no status", [line(0, status="-")], {}, "Statuses none: 1"),
    ("hours", [line(0)], {}, "··········█············· busiest hour: 10 (1 request)"),
    ("paths", [line(0, "/a"), line(0, "/a")], {}, "Paths requested most 2 /a"),
    ("not seen", [line(0)], {"robot": "googlebot"}, "Googlebot: none of 1 request names it."),
    (
        "named otherwise",
        [line(0, "/", "Ezooms/1.0")],
        {"robot": "ezooms"},
        "ezooms: no request matches its pattern. 1 request of other addresses have that",
    ),
    ("one: tier", [line(0)], ONE, "GPTBot: impostor, ai-training, OpenAI"),
    (
        "one: kinds",
        [line(0), line(0, "/.env")],
        ONE,
        "scripts and the like: 0; robots.txt: 0; probes: 1",
    ),
    ("one: speed", [line(n // 2) for n in range(120)], ONE, "at most 2 a second and 120 a minute, 1 minute with 60 or"),
    ("one: mean", [line(n // 2) for n in range(120)], ONE, "more; 2.00 a second on average in its active minutes"),
    ("one: answers", [timed_line(0, 1.5), timed_line(9, 0.5)], ONE, "1.000 s on average, 1 took a second or more, 100"),
    ("one: robots.txt", [line(0)], ONE, "robots.txt never requested"),
    ("one: addresses", [line(0, "/", GPTBOT, f"9.9.9.{n}") for n in range(12)], ONE, "9.9.9.7 (1) and others (2)"),
    ("one: two tiers", [line(0), line(0, "/", GPTBOT, "4.227.36.1")], ONE, "GPTBot: verified, ai-training, OpenAI"),
]


@pytest.mark.parametrize(("lines", "options", "words"), [case[1:] for case in WORDS], ids=[case[0] for case in WORDS])
def test_words(lines: list[str], options: dict[str, Any], words: str, printed: Printed) -> None:
    assert words in one_line(printed(report_of(lines, **options)))


def test_addresses_that_behaved_like_robots(printed: Printed) -> None:
    report = report_of(make_log().text())
    text = one_line(printed(report))
    many = report.verdicts["certain"] + report.verdicts["likely"]
    assert f"{many} other addresses that behaved like robots ({report.verdicts['certain']} certain, " in text
    assert "203.0.114.0/24 (40 addresses): certain, " in text
    assert f"{report.verdicts['possible']} more addresses are possibly robots" in text


def test_requests_that_are_pooled(printed: Printed) -> None:
    lines = (line(0, "/", BROWSER, f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}") for number in range(61_000))
    text = one_line(printed(report_of(lines)))
    assert "from about 61," in text
    assert (
        "goodbot counted 20,000 addresses one by one (20,000 of them certainly completely). It pooled 41,000 " in text
    )


@pytest.mark.parametrize("columns", WIDTHS)
def test_lines_fit(columns: int, printed: Printed) -> None:
    """But for words that are longer than a line."""
    log = make_log().text()
    lines = [printed(report_of(log, robot=name), columns).splitlines() for name in (None, "GPTBot")]
    too_long = [each.split() for each in chain(*lines) if len(each.rstrip()) > columns]
    assert [words for words in too_long if len(words) > 1 and max(map(len, words)) < columns - 20] == []


@pytest.mark.parametrize("options", [{}, {"robot": "gptbot"}, {"anonymise": True}], ids=["all", "one", "anonymised"])
@pytest.mark.parametrize("columns", [40, 80])
def test_text_of_visitors_is_harmless_and_short(columns: int, options: dict[str, Any], printed: Printed) -> None:
    text = printed(report_of(HOSTILE, **options), columns)
    assert {unicodedata.category(character) for character in text} & {"Cc", "Cf", "Cs"} == {"Cc"}
    assert {character for character in text if unicodedata.category(character) == "Cc"} == {"\n"}
    assert "x" * 300 not in text
    assert "z" * 300 not in text


def test_markup_is_text(printed: Printed) -> None:
    text = one_line(printed(report_of(HOSTILE, robot="gptbot")))
    assert "<b>GPTBot</b> [red]x[/red] :smile:" in text
