"""Formatted files, tidy or compact, have the same verdicts in every dialect; compact ones are as short as possible."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from counting import calls
from goodbot.check.layout import compact, tidy, why_unchanged
from goodbot.check.source_lines import MAX_LINES
from goodbot.exclusion import DIALECTS, RobotsTxt

TIDY = [
    ("fields, blanks and ends", b"user-agent :  *\r\nDISALLOW:/a  \r\n", b"User-agent: *\nDisallow: /a\n"),
    (
        "comments stay",
        b"# ours\nUser-agent: *# all\nDisallow: /a  # a\n",
        b"# ours\nUser-agent: *# all\nDisallow: /a # a\n",
    ),
    (
        "a blank line between groups",
        b"\n\nUser-agent: a\nDisallow: /\n# next\nUser-agent: b\nDisallow: /\n\n\n",
        b"User-agent: a\nDisallow: /\n\n# next\nUser-agent: b\nDisallow: /\n",
    ),
    (
        "no blank line into a record",
        b"User-agent: a\nUser-agent: b\nAllow: /\n",
        b"User-agent: a\nUser-agent: b\nAllow: /\n",
    ),
    ("one that ends a record stays", b"User-agent: a\n\n\nDisallow: /\n", b"User-agent: a\n\nDisallow: /\n"),
    ("fields nobody knows", b"X-Thing:1\n", b"X-Thing: 1\n"),
    ("octets that are no UTF-8", b"User-agent: *\nDisallow: /caf\xe9\n", b"User-agent: *\nDisallow: /caf%E9\n"),
    ("UTF-16 stays", "\ufeffUser-agent: *".encode("utf-16-le"), "\ufeffUser-agent: *".encode("utf-16-le")),
    ("NUL stays", b"User-agent: *\nDisallow: /a\0 b  \n", b"User-agent: *\nDisallow: /a\0 b  \n"),
    ("a part of a byte order mark stays", b"\xefUser-agent :  *\nDisallow:/a\n", b"\xefUser-agent :  *\nDisallow:/a\n"),
    ("two thirds of one, too", b"\xef\xbbUser-agent :  *\n", b"\xef\xbbUser-agent :  *\n"),
    ("a whole one goes", b"\xef\xbb\xbfUser-agent :  *\n", b"User-agent: *\n"),
    ("a letter that begins like one", "\uff01User-agent:*\n".encode(), "\ufeff\uff01User-agent: *\n".encode()),
    ("nothing", b"", b""),
]
COMPACT = [
    ("comments and blanks", b"# ours\nUser-agent: *  # all\n\t Disallow : /a\n\n", b"User-agent:*\nDisallow:/a\n"),
    (
        "rules said twice",
        b"User-agent: *\nDisallow: /a\nDisallow: /b\nDisallow: /a\n",
        b"User-agent:*\nDisallow:/a\nDisallow:/b\n",
    ),
    (
        "neighbours with the same rules",
        b"User-agent: a\nDisallow: /\n\nUser-agent: b\nDisallow: /\n",
        b"User-agent:a\nUser-agent:b\nDisallow:/\n",
    ),
    (
        "not with the group for all",
        b"User-agent: a\nDisallow: /\n\nUser-agent: *\nDisallow: /\n",
        b"User-agent:a\nDisallow:/\nUser-agent:*\nDisallow:/\n",
    ),
    (
        "what Google reads without a colon",
        b"User-agent: *\nDisallow /a\nwhat is this\n",
        b"User-agent:*\nDisallow /a\n",
    ),
    (
        "a blank line that ends a record",
        b"User-agent: *\nDisallow: /a\n\nDisallow: /b\n",
        b"User-agent:*\nDisallow:/a\n\nDisallow:/b\n",
    ),
    ("a part of a byte order mark stays", b"\xefUser-agent : *\nDisallow: /a\n", b"\xefUser-agent : *\nDisallow: /a\n"),
    ("nothing but comments", b"# nothing\n# at all\n", b""),
]


@pytest.mark.parametrize(("name", "body", "expected"), TIDY, ids=[case[0] for case in TIDY])
def test_tidy(name: str, body: bytes, expected: bytes) -> None:
    assert tidy(body) == expected


@pytest.mark.parametrize(("name", "body", "expected"), COMPACT, ids=[case[0] for case in COMPACT])
def test_compact(name: str, body: bytes, expected: bytes) -> None:
    assert compact(body) == expected


PATHS = ["/", "/a", "/a/b", "/a*", "/*b$", "", "*", "/b c", "/caf\xe9", "/a%2fb"]
AGENTS = ["*", "OneBot", "onebot/2.0", "Two", "TwoBot extra", ""]
LINES = st.one_of(
    st.builds("{}: {}".format, st.just("User-agent"), st.sampled_from(AGENTS)),
    st.builds(
        "{}{}".format, st.sampled_from(["Disallow:", "Allow:", "disallow :", "Dissallow: "]), st.sampled_from(PATHS)
    ),
    st.sampled_from(
        ["", " ", "# c", "Disallow /a", "Allow /a", "Crawl-delay: 5", "Sitemap: /s", "X: y", "no colon at all", ": x"]
    ),
    st.sampled_from(
        ["Robot-version: 2.0", "Disallow: /a # why", "Disallow: /a#b", "User-agent: OneBot #", "\tAllow: /a/b\v"]
    ),
    st.text(alphabet="aU:*/# \t\v\x85\ufeff", max_size=8),
)
MARKS = [b"", b"\xef", b"\xef\xbb", b"\xef\xbb\xbf", b"\xef\xbb\xbf\xef", b"\xef\xbc", b"\xef\xbc\x81", b"\xef\xef"]
MARKS += [b"\xbb", b"\xbf", b"\xbb\xbf", b"\xfe", b"\xff", b"\xff\xfe", b"\xfe\xff", b"\xef\n", b"#\n\xef", b"\xef#\n"]
FILES = st.builds(
    lambda mark, lines, end: mark + end.join(lines).encode("utf-8", "replace"),
    st.one_of(st.just(b""), st.sampled_from(MARKS)),
    st.lists(LINES, max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


@pytest.mark.parametrize(
    "text",
    [
        lambda n: "".join(f"User-agent: bot{i}\nDisallow: /a\n" for i in range(n)),
        lambda n: (
            "".join(f"User-agent: bot{i}\n" for i in range(n)) + "Disallow: /a\nUser-agent: x\nDisallow: /a\n" * n
        ),
        lambda n: "".join(f"User-agent: bot{i}\nDisallow: /{i}\n" for i in range(n)),
    ],
    ids=["groups that join", "many names, then groups that join", "groups that do not"],
)
def test_twice_as_many_groups_are_twice_the_work(text: Callable[[int], str]) -> None:
    assert calls(lambda: compact(text(800).encode())) <= 2.1 * calls(lambda: compact(text(400).encode()))


@pytest.mark.long
@pytest.mark.parametrize("lines", [MAX_LINES - 1, MAX_LINES, MAX_LINES + 2])
def test_a_file_with_very_many_lines_loses_none(lines: int) -> None:
    body = b"#\n" * (lines - 2) + b"User-agent: *\nDisallow: /a\n"
    for written in (tidy(body), compact(body)):
        assert not RobotsTxt.parse(written).allows("/a", "Any")


@given(FILES)
def test_every_verdict_stays_the_same(body: bytes) -> None:
    check_answers(body)


@pytest.mark.parametrize("mark", MARKS)
def test_every_verdict_stays_the_same_after_a_byte_order_mark_or_a_part_of_one(mark: bytes) -> None:
    check_answers(mark + b"User-agent : *\n\nDisallow : /a\nUser-agent: OneBot\nDisallow: /b\n")


def test_lines_without_a_colon_that_dialect_google_reads_stay() -> None:
    body = b"User-agent: A\nDisallow: /x\nContent-Signal ai-train=no\nClean-param  a&b\nNonsense here\n"
    for written in (tidy(body), compact(body)):
        robots = RobotsTxt.parse(written, "google")
        assert (robots.content_signals("A"), robots.clean_params) == ({"ai-train": "no"}, [(("a", "b"), "")])
    assert b"Nonsense" not in compact(body)


def check_answers(body: bytes) -> None:
    tidied, compacted = tidy(body), compact(body)
    assert (tidy(tidied), compact(compacted)) == (tidied, compacted)
    assert len(compacted) <= len(body)
    for dialect in DIALECTS:
        before = RobotsTxt.parse(body, dialect)
        for after in (RobotsTxt.parse(tidied, dialect), RobotsTxt.parse(compacted, dialect)):
            for agent in ("OneBot", "TwoBot", "Other", "onebot twobot"):
                assert before.crawl_delay(agent) == after.crawl_delay(agent), (dialect, agent)
                for url in ("/", "/a", "/a/b", "/ab", "/b", "/b%20c"):
                    assert before.allows(url, agent) is after.allows(url, agent), (dialect, agent, url)


@given(st.binary(max_size=300))
def test_any_bytes(body: bytes) -> None:
    assert tidy(tidy(body)) == tidy(body)
    assert len(compact(body)) <= len(body) or b"%" in compact(body)


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"User-agent: *\n", None),
        (b"User-agent: *\n#" + b"a" * 4_164, None),
        (b"User-agent: *\n#" + b"a" * 4_165, "line 2 is longer than 4,165 characters"),
        (b"\n" * (MAX_LINES - 2), None),
        (b"\n" * MAX_LINES, "it has 200,000 lines or more"),
        (b"\xfe\xff\0U", "it is in UTF-16"),
        (b"User-agent: a\0", "it contains a NUL character"),
        (b"\xefUser-agent: a", "it begins with a part of a byte order mark"),
    ],
)
def test_why_a_file_is_left_unchanged(body: bytes, why: str | None) -> None:
    assert why_unchanged(body) == why
