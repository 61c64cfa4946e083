"""Sentences that the terminal and the page share: those with several forms."""

from dataclasses import replace

import pytest

from goodbot.watch.counting.signature_counts import SignatureCounts
from goodbot.watch.obedience.shares import Share
from goodbot.watch.report import WatchReport
from goodbot.watch.report.figure_words import bounds_in_words, narrow_percent, percent, share_in_words
from goodbot.watch.report.obedience_words import elsewhere_sentence, rules_in_words
from goodbot.watch.report.report_words import (
    no_requests_sentence,
    not_seen_sentence,
    possible_in_words,
    shares_sentence,
    signatures_sentence,
    signers_in_words,
)
from watch.report.made_reports import line, report_of

RULES = b"User-agent: *\nDisallow: /x"
HOSTS = tuple((f"h{number}.example", number) for number in range(1, 7))
SIGNED = SignatureCounts(3, 2, 1, {"expired": 1})


@pytest.fixture(scope="module")
def report() -> WatchReport:
    return report_of([line(0), line(1, "/x")], rules=RULES)


def signed(report: WatchReport, *names: str) -> WatchReport:
    others = tuple((name, SIGNED) for name in names)
    return replace(report, signatures=replace(report.signatures, total=SIGNED, others=others))


FIGURES = [
    ("a share", percent(0.497), "49.7 %"),
    ("no share", percent(0.0), "0.0 %"),
    ("a tiny share", percent(0.0001), "less than 0.1 %"),
    ("a tiny share, narrow", narrow_percent(0.0001), "<0.1 %"),
    ("an interval", share_in_words(Share(0.497, 0.421, 0.573)), "49.7 % (95 % interval 42.1–57.3)"),
    ("an interval, short", share_in_words(Share(0.497, 0.421, 0.573), short=True), "49.7 % [42.1–57.3]"),
    ("a tiny one", share_in_words(Share(0.0001, 0.0, 0.002)), "less than 0.1 % (95 % interval 0.0–0.2)"),
    ("a tiny one, short", share_in_words(Share(0.0001, 0.0, 0.002), short=True), "<0.1 % [0.0–0.2]"),
    ("nothing judged", share_in_words(None, short=True), "none was judged"),
    ("exact", bounds_in_words(1200, 1200), "1,200"),
    ("bounds", bounds_in_words(3, 1200), "3 to 1,200"),
    ("one address", possible_in_words(1), "1 more address is possibly a robot"),
    ("addresses", possible_in_words(71), "71 more addresses are possibly robots"),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in FIGURES], ids=[case[0] for case in FIGURES])
def test_figures(text: str, expected: str) -> None:
    assert text == expected


def test_requests(report: WatchReport) -> None:
    none = report_of([])
    assert no_requests_sentence(replace(none, outside=1)) == (
        "No requests in this period: --since or --until leaves out 1 request."
    )
    assert not_seen_sentence(replace(none, only="\x1bBot")) == "No requests: the logs are empty."
    assert not_seen_sentence(replace(report, only="\x1bBot")) == "\\x1bBot: none of 2 requests names it."
    assert shares_sentence(replace(report, only="GPTBot")) == "GPTBot sent 100.0 % of the requests."
    assert shares_sentence(replace(report, proxies=1)).endswith(
        "No other address that was judged is a certain or likely robot."
    )


def test_rules(report: WatchReport) -> None:
    assert report.rules is not None
    assert rules_in_words(report.rules) == "robots.txt: a note"
    dated = replace(report.rules, source="a\nb", versions=2, since=0.0, notes=())
    assert rules_in_words(dated) == "a\\nb: 2 versions since 1970-01-01 00:00:00 UTC"
    assert elsewhere_sentence(report) == ""
    assert "h4.example (4), h5.example (5) and others. --host" in elsewhere_sentence(replace(report, elsewhere=HOSTS))


def test_signatures(report: WatchReport) -> None:
    counts = "3 requests, 2 verified, 1 of them with a nonce that was used before, 1 not (expired: 1)"
    assert signatures_sentence(report) == ""
    assert signatures_sentence(signed(report)) == f"Signed (Web Bot Auth): {counts}. --keys FILE verifies them."
    named = list(signers_in_words(signed(report, "", *(f"k{number}\x07" for number in range(7)))))
    assert named[0] == f"signed with a key of k0\\x07, by a User-Agent that is not on record: {counts}"
    assert named[5:] == ["2 more; --json lists them all"]
