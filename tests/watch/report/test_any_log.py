"""Any log gives a report in every form, with text that is harmless and short."""

import contextlib
import csv
import io
import unicodedata

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from goodbot.cli.printing import json_text
from goodbot.cli.watch_report import print_report
from goodbot.watch.report import WatchReport, report_csv, report_json, report_prometheus
from watch.report.made_reports import GPTBOT, line, report_of

BYTES = st.text(st.characters(min_codepoint=0, max_codepoint=255, exclude_characters='\n"\\'), max_size=60)
AGENTS = st.one_of(st.sampled_from(["", "-", GPTBOT, "bingbot/2.0", "=1+1 Googlebot", "\x1b[2J YandexBot"]), BYTES)
ADDRESSES = st.one_of(
    st.sampled_from(["192.0.2.1", "66.249.66.1", "2001:DB8::1", "::ffff:9.9.9.9", "a.b.example.org", "fe80::1%eth0"]),
    st.ip_addresses().map(str),
    st.text(st.characters(min_codepoint=33, max_codepoint=255, exclude_characters='"\\'), min_size=1, max_size=30),
)
TARGETS = st.one_of(st.sampled_from(["/", "/robots.txt", "/a.png", "/.env", "/" + "x" * 3000]), BYTES)
LINES = st.builds(
    line,
    st.integers(0, 40_000),
    TARGETS,
    AGENTS,
    ADDRESSES,
    status=st.sampled_from([200, 304, 404, 503, "-"]),
    method=st.sampled_from(["GET", "HEAD", "-", "\xff"]),
)
LOGS = st.one_of(
    st.binary(max_size=300), st.lists(LINES, max_size=12).map(lambda lines: "".join(lines).encode("latin-1"))
)


RULES = b"User-agent: *\nDisallow: /\nCrawl-delay: 5\nVisit-time: 0000-0001\nRequest-rate: 2/1m"


@given(LOGS, st.booleans(), st.sampled_from([None, "GPTBot"]), st.sampled_from([None, b"", RULES]))
def test_every_form(log: bytes, anonymise: bool, robot: str | None, rules: bytes | None) -> None:
    report = report_of(log, rules=rules, anonymise=anonymise, robot=robot)
    assert json_text(report_json(report)).isascii()
    table = list(csv.reader(io.StringIO(report_csv(report)), strict=True))
    assert {len(row) for row in table} == {len(table[0])}
    assert not [cell for row in table for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert list(text_string_to_metric_families(report_prometheus(report)))
    assert_harmless(report)


def assert_harmless(report: WatchReport) -> None:
    """The text has no characters that a terminal obeys or hides, and no endless lines."""
    with contextlib.redirect_stdout(io.StringIO()) as stream:
        print_report(report)
    text = stream.getvalue()
    assert {unicodedata.category(character) for character in text.replace("\n", "")} & {"Cc", "Cf", "Cs"} == set()
    assert max(map(len, text.splitlines())) < 1000
