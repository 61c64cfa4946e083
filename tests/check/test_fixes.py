"""`--fix` changes the bytes as expected, and no robot's verdict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from check.test_kinds import BODIES, HOSTILE
from goodbot.check import Subject, check
from goodbot.check.fixes import apply_fixes
from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.exclusion.access.access import LIMIT_BYTES

MENDS: list[tuple[str, bytes, bytes]] = [
    ("nothing to fix", b"User-agent: *\nDisallow: /a\n", b"User-agent: *\nDisallow: /a\n"),
    ("mark", b"\xef\xbb\xbfUser-agent: *\nDisallow: /a\n", b"User-agent: *\nDisallow: /a\n"),
    (
        "a second mark would come first",
        b"\xef\xbb\xbf\xef\xbb\xbf\nUser-agent: *\n",
        b"\xef\xbb\xbf\xef\xbb\xbf\nUser-agent: *\n",
    ),
    ("CR only", b"User-agent: *\rDisallow: /a\r", b"User-agent: *\nDisallow: /a\n"),
    ("mostly CR LF", b"User-agent: *\r\nDisallow: /a\r\n# x\n", b"User-agent: *\r\nDisallow: /a\r\n# x\r\n"),
    ("mostly LF", b"User-agent: *\nDisallow: /a\n# x\r\n", b"User-agent: *\nDisallow: /a\n# x\n"),
    ("CR LF stays", b"User-agent : *\r\nDisallow: /a\r\n", b"User-agent: *\r\nDisallow: /a\r\n"),
    ("no end of line at the end", b"User-agent: *\nDisallow : /a", b"User-agent: *\nDisallow: /a"),
    ("blank before colon", b"User-agent\t : *\nDisallow : /a:b : c\n", b"User-agent: *\nDisallow: /a:b : c\n"),
    ("not UTF-8", b"User-agent: *\nDisallow: /caf\xe9\n", b"User-agent: *\nDisallow: /caf\xe9\n"),
    (
        "other findings in lines that are not UTF-8",
        b"User-agent: *\nDisallow : /\xe9\nAllow : /a\nDisallow: /%E9\nDisallow: /\xe9",
        b"User-agent: *\nDisallow : /\xe9\nAllow: /a\nDisallow: /\xe9",
    ),
    (
        "line ends and mark of a file that is not UTF-8",
        b"\xef\xbb\xbfUser-agent: A\xe9\rDisallow : /a\r",
        b"User-agent: A\xe9\nDisallow: /a\n",
    ),
    (
        "a comment alone stays",
        b"# caf\xe9\nUser-agent : *\nDisallow: /a\n",
        b"# caf\xe9\nUser-agent: *\nDisallow: /a\n",
    ),
    ("duplicates", b"User-agent: *\nDisallow: /a\nDisallow: /a # x\nDisallow:/a", b"User-agent: *\nDisallow: /a\n"),
    (
        "a duplicate with a blank",
        b"User-agent: *\nAllow: /\nAllow : /\n",
        b"User-agent: *\nAllow: /\n",
    ),
    ("a tie is no duplicate", b"User-agent: *\nAllow: /a\nDisallow: /a\n", b"User-agent: *\nAllow: /a\nDisallow: /a\n"),
    (
        "silenced",
        b"User-agent : * # goodbot: ignore R202\nAllow : /\n",
        b"User-agent : * # goodbot: ignore R202\nAllow: /\n",
    ),
    ("UTF-16", b"\xff\xfeU\x00", b"\xff\xfeU\x00"),
    ("HTML", b"<html>\r\nDisallow : /\n", b"<html>\r\nDisallow : /\n"),
]


@pytest.mark.parametrize(("name", "before", "after"), MENDS, ids=[case[0] for case in MENDS])
def test_fixes(name: str, before: bytes, after: bytes) -> None:
    assert apply_fixes(Subject(before)) == after
    assert apply_fixes(Subject(after)) == after


def test_what_is_ignored_is_not_fixed() -> None:
    before = b"User-agent : *\r\nDisallow : /a\nDisallow: /a\n"
    assert apply_fixes(Subject(before), ["R2"]) == b"User-agent : *\nDisallow : /a\n"
    assert apply_fixes(Subject(before), ["R105", "R202"]) == b"User-agent : *\r\nDisallow : /a\n"
    assert apply_fixes(Subject(before), ["R"]) == before


def test_a_line_that_is_not_utf8_keeps_its_warning() -> None:
    """`--fix` cannot know which letter the byte stands for, and `/caf%E9` would hide that `/caf%C3%A9` is allowed."""
    body = b"User-agent: *\nDisallow : /caf\xe9\nDisallow: /caf\xe9\n"
    found = [(each.code, each.edit) for each in check(Subject(body)) if each.line in (2, 3)]
    assert [code for code, _ in found].count("R104") == 2
    assert {"R202", "R502"} <= {code for code, _ in found}
    assert [edit for _, edit in found if edit is not None] == []


def test_a_file_over_500_kib_stays_unchanged() -> None:
    before = b"User-agent: *\nDisallow : /a\n" + b"#" * LIMIT_BYTES
    assert apply_fixes(Subject(before)) == before


def test_all_of_many_findings_are_fixed() -> None:
    before = b"User-agent: *\n" + b"Disallow : /a\n" * 2_000
    assert apply_fixes(Subject(before)) == b"User-agent: *\nDisallow: /a\n"


def test_a_rule_that_some_dialect_needs_stays() -> None:
    """In the dialects of the 1990s the first of the two equal rules belongs to no group."""
    before = b"User-agent: *\n\nDisallow: /a\nUser-agent: *\nDisallow: /a\n"
    assert apply_fixes(Subject(before)) == before


AGENTS = ("*", "Googlebot", "OneBot/1.0")
PATHS = ("/", "/a", "/a/", "/a/b?c=d", "/caf%C3%A9", "/caf%E9", "/x.pdf", "/%2A", "/b", "/robots.txt")


@given(body=st.one_of(BODIES, st.sampled_from([body for _, body in HOSTILE])))
def test_no_verdict_changes(body: bytes) -> None:
    after = apply_fixes(Subject(body))
    assert apply_fixes(Subject(after)) == after
    assert {finding.code for finding in check(Subject(after)) if finding.edit} <= {
        finding.code for finding in check(Subject(body)) if finding.edit
    }
    for dialect in DIALECTS:
        one, other = RobotsTxt.parse(body, dialect), RobotsTxt.parse(after, dialect)
        for agent in AGENTS:
            assert [one.allows(path, agent) for path in PATHS] == [other.allows(path, agent) for path in PATHS]
            assert one.crawl_delay(agent) == other.crawl_delay(agent)
        assert one.sitemaps == other.sitemaps
