"""Compares groups that are found by their User-agent lines with groups made from all lines."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.robotstxt.grouping import in_groups
from goodbot.exclusion.robotstxt.lines import read_records
from goodbot.exclusion.robotstxt.records import by_reading
from goodbot.exclusion.robotstxt.sections import in_sections, values_in_lines
from goodbot.exclusion.verdict import FILE_FIELDS, Group

RULES = frozenset({"allow", "disallow", "content-usage"})

PIECES = st.sampled_from(
    [
        *(b"User-agent", b"user-agent:", b"USER-AGENT : *", b"Allow:", b"disallow: /a", b"Content-Usage: a=n"),
        *(b"Sitemap: x", b"sitemap", b"Host: h", b"License: l", b"Crawl-delay: 1", b"Comment: c", b"x", b"*", b":"),
        *(b"#", b" ", b"\t", b"\n", b"\n", b"\r", b"\r\n", b"\v", b"\f", b"\x1c", b"\x85", b"\0", b"\xe2\x80\xa8"),
        *(b"\xff", b"\xe4", b"\xc5\xbf", b"\xef\xbb\xbf", b"\xff\xfe", b"\xe2\x84\xaa"),
    ]
)
BODIES = st.lists(PIECES, max_size=40).map(b"".join)


def parts_of(groups: tuple[Group, ...]) -> list[object]:
    return [(group.agents, group.lines, group.runs, group.line, group.records, group.rules) for group in groups]


@given(BODIES | BODIES.map(lambda body: body.decode("utf-8", "surrogateescape")))
@example(b"user-agent: a\r#\nallow: /\r#\nuser-agent: b")
@example(b"# user-agent: a\nuser-agent:#user-agent: b\nuser-agent user-agent: c\n \tuser-agent\t: d")
@example("\ufeffUser-agent: a\nAllow: /".encode("utf-16"))
def test_sections_are_the_groups_of_all_lines(body: bytes | str) -> None:
    assert parts_of(in_sections(RULES)(body)) == parts_of(in_groups(read_records, RULES)(body))
    for field in FILE_FIELDS:
        assert values_in_lines(body, field) == by_reading(read_records)(body, field)


@given(BODIES)
def test_a_part_is_read_as_in_the_whole(body: bytes) -> None:
    read = {record[0]: record for record in read_records(body)}
    for group in RobotsTxt.parse(body).groups:
        assert all(read[record[0]] == record for record in group.records)
        assert all(
            read[line] == (line, "user-agent", agent) for line, agent in zip(group.lines, group.agents, strict=True)
        )


BEGINNINGS = st.sampled_from(["/abcdefg", "/abc/def", "/a_.-/09"])
RULE_LINES = st.builds(
    "{}{}{}{}{}{}".format,
    st.sampled_from(
        ["Disallow:", "disallow:", "Allow:", "allow:", "DISALLOW:", "Allow :", " Allow:", "x:", "Noindex:"]
    ),
    st.sampled_from(["", " ", "  ", "\t"]),
    st.sampled_from(["", "/", "/a", "x"]) | BEGINNINGS,
    st.sampled_from(["", "/", "*", "$", "%61", "é", "x", " ", "\udcff"]),
    st.sampled_from(["", "#", " # /abcdefg", "/abcdefg"]) | BEGINNINGS,
    st.sampled_from(["\n", "\r", "\r\n", "\n\n", "\nUser-agent: b\n"]),
)
RULE_TEXTS = st.lists(RULE_LINES, max_size=20).map(lambda lines: "".join(["User-agent: *\n", *lines]))


@given(RULE_TEXTS.map(lambda text: text.encode("utf-8", "surrogateescape")) | RULE_TEXTS, BEGINNINGS)
@example(b"User-agent: *\nDisallow: /abcdefg", "/abcdefg")
def test_a_usual_rule_is_found_by_its_beginning(body: bytes | str, beginning: str) -> None:
    for group, whole in zip(in_sections(RULES)(body), in_sections(RULES)(body), strict=True):
        near, others = list(group.records_near(beginning + "x")), group.other_records
        assert group._records is None
        assert near == sorted(near)
        assert set(others) <= set(near) <= set(whole.records)
        assert all(field in {"allow", "disallow"} for _, field, _ in set(whole.records) - set(others))
        far = set(whole.records) - set(near)
        assert not any(value.startswith(beginning) for _, _, value in far)
        assert all(re.match(r"/[A-Za-z0-9_./-]{7}", value) for _, _, value in far)


def test_a_target_with_other_characters_has_no_usual_rules_near() -> None:
    (group,) = in_sections(RULES)(b"User-agent: *\nDisallow: /abcdefg\nDisallow: /a?\nAllow: /*x\n")
    assert [line for line, _, _ in group.records_near("/a?b=index.htm")] == [3, 4]
    assert [line for line, _, _ in group.records_near("/abcdefg/x")] == [2, 3, 4]
    assert [line for line, _, _ in group.records] == [2, 3, 4]
    assert [line for line, _, _ in group.other_records] == [2, 3, 4]


def test_a_group_is_read_when_it_is_first_needed() -> None:
    robots = RobotsTxt.parse(b"User-agent: a\nDisallow: /\n\nUser-agent: *\nDisallow: /x\n")
    assert not robots.allows("/x", "other")
    unread, read = robots.groups
    assert (unread._others, read._others) == (None, ((5, "disallow", "/x"),))
    assert not robots.allows("/", "a")
    assert unread._others == ((2, "disallow", "/"),)
    assert read._records is None
    robots.matcher("other")
    assert read.records == read.other_records == ((5, "disallow", "/x"),)


def test_the_records_below_names_count_for_these_names() -> None:
    text = "User-agent: a\nUser-agent: b\nHost: h\nUser-agent: c\nCrawl-delay: 1\nComment: x\nUser-agent: d\nAllow: /"
    (group,) = RobotsTxt.parse(text).groups
    assert (group.lines, group.runs) == ((1, 2, 4, 7), (1, 1, 1, 7))
