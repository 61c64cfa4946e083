"""The other records: Sitemap, License, Host, Clean-param, Comment, Robot-version, Noindex, Content-Signal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, RobotsTxt, format_robotstxt
from goodbot.exclusion.robotstxt.records import CLEAN_PARAM_CHARS, content_signals, parse_clean_param

# ---- Of a robot's groups

GROUPS = (
    "Comment: nobody's\nUser-agent: a\nRobot-version: 2.0\nComment: mail first # not in the file\nDisallow: /\n"
    "NoIndex: /drafts/*\nComment:\nContent-Signal: search=yes, ai-train=no\n\n"
    "User-agent: *\nRobot-version:\nRobot-version: 2.0.0\nDisallow: /\nComment: for all: come at night\n\n"
    "User-agent: A\nDisallow: /y\nComment: twice\nRobot-version: 1.0\nNoindex: /x$\nNoindex:\n"
    "Content-signal: use=full\n"
)


def test_groups_that_apply_to_a_robot_count_together_and_nothing_is_inherited() -> None:
    robots = RobotsTxt.parse(GROUPS)
    assert robots.comments("a") == ["mail first", "twice"]
    assert robots.robot_version("a") == "2.0"
    assert robots.noindex("a") == ["/drafts/*", "/x$"]
    assert robots.content_signals("a") == {"search": "yes", "ai-train": "no", "use": "full"}
    assert robots.comments("other") == ["for all: come at night"]
    assert robots.robot_version("other") == "2.0.0"
    assert (robots.noindex("other"), robots.content_signals("other")) == ([], {})


def test_without_a_group_there_are_no_records() -> None:
    robots = RobotsTxt.parse("User-agent: a\nRobot-version: 2.0\nComment: x\nDisallow: /")
    assert (robots.comments("b"), robots.robot_version("b"), robots.noindex("b")) == ([], None, [])
    assert robots.content_signals("b") == {}


SIGNALS: list[tuple[list[str], dict[str, str], str]] = [
    # values of the lines, signals, source
    (
        ["search=yes, ai-input=no, ai-train=no"],
        {"search": "yes", "ai-input": "no", "ai-train": "no"},
        "contentsignals.org",
    ),
    (["search=yes,ai-train=no"], {"search": "yes", "ai-train": "no"}, "contentsignals.org: one left out says nothing"),
    (
        ["search=yes,ai-train=no,use=reference"],
        {"search": "yes", "ai-train": "no", "use": "reference"},
        "files of 2026",
    ),
    (["Search = YES"], {"search": "yes"}, "our reading: any case, blanks"),
    (["x-new=Some Thing"], {"x-new": "some thing"}, "unknown keys are kept"),
    (["a=b=c"], {"a": "b=c"}, "the first = counts"),
    (["search=yes", "search=no"], {"search": "no"}, "our reading: the last counts"),
    (["search=no", "search=yes"], {"search": "no"}, "our reading: no is taken back by nothing"),
    (["ai-train=no, ai-train=maybe"], {"ai-train": "no"}, "our reading"),
    (["ai-input=maybe, ai-input=yes"], {"ai-input": "yes"}, "our reading: the last counts"),
    (["use=no, use=full"], {"use": "full"}, "our reading: no means that only for the three known uses"),
    (["use=reference, use=full", "use=x"], {"use": "reference"}, "our reading: the strictest use"),
    (["use=full", "use=immediate"], {"use": "immediate"}, "our reading: the strictest use"),
    (["search", "=yes", "search=", ",,,", ""], {}, "says nothing"),
    (["search;yes"], {}, "says nothing"),
]


@pytest.mark.parametrize(("values", "signals", "source"), SIGNALS)
def test_content_signal(values: list[str], signals: dict[str, str], source: str) -> None:
    lines = "".join(f"Content-Signal: {value}\n" for value in values)
    assert RobotsTxt.parse(f"User-agent: *\n{lines}Allow: /").content_signals("me") == signals


# ---- Of the whole file

PLACES = [
    # name, the text around the record
    ("alone", "{}"),
    ("before the groups", "{}\n\nUser-agent: *\nDisallow: /x\n"),
    ("between two User-agent lines", "User-agent: a\n{}\nUser-agent: b\nDisallow: /x\n"),
    ("in a group", "User-agent: *\nDisallow: /x\n{}\nAllow: /y\n"),
    ("after a group that ended", "User-agent: *\nDisallow: /x\n\n{}\n"),
    ("after what is no record", "<html>\n\ufeff: :\n{}"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("name", "text"), PLACES, ids=[name for name, _ in PLACES])
def test_records_of_the_file_count_anywhere(name: str, text: str, dialect: str) -> None:
    lines = "Sitemap: https://h/s\nlicense : https://other/l.xml\nHOST: www.h # main\nClean-param: a&b /x*"
    robots = RobotsTxt.parse(text.format(lines), dialect)
    assert robots.sitemaps == ["https://h/s"]
    assert robots.licenses == ["https://other/l.xml"]
    assert robots.host == "www.h"
    assert robots.clean_params == [(("a", "b"), "/x*")]


def test_records_of_the_file_end_no_group() -> None:
    robots = RobotsTxt.parse("User-agent: a\nLicense: l\nHost: h\nClean-param: p\nUser-agent: b\nDisallow: /x")
    assert not robots.allows("/x", "a")
    assert not robots.allows("/x", "b")


def test_several_empty_and_none() -> None:
    robots = RobotsTxt.parse("Host:\nHost: a.example\nHost: b.example\nLicense:\nLicense: 1\nLicense: 2\nClean-param:")
    assert robots.host == "a.example"
    assert robots.licenses == ["1", "2"]
    assert robots.clean_params == []
    assert (RobotsTxt.parse("").host, RobotsTxt.parse("").licenses) == (None, [])


def test_returned_lists_are_copies() -> None:
    robots = RobotsTxt.parse("License: l\nClean-param: p")
    robots.licenses.clear()
    robots.clean_params.clear()
    assert (robots.licenses, robots.clean_params) == (["l"], [(("p",), "")])


CLEAN: list[tuple[str, tuple[tuple[str, ...], str] | None, str]] = [
    # value, names and path (None: says nothing), source
    ("ref /some_dir/get_book.pl", (("ref",), "/some_dir/get_book.pl"), "Yandex"),
    ("s /forum*/showthread.php", (("s",), "/forum*/showthread.php"), "Yandex: a wildcard"),
    ("sid&sort /catalog/", (("sid", "sort"), "/catalog/"), "Yandex: several names"),
    ("utm_source&utm_medium", (("utm_source", "utm_medium"), ""), "Yandex: no path is everywhere"),
    ("Sid&sid", (("Sid", "sid"), ""), "names keep their case"),
    ("&a&&b& \t /x", (("a", "b"), "/x"), "our reading: empty names say nothing"),
    ("a /x /y", (("a",), "/x /y"), "our reading: the path as written"),
    ("& /x", None, "no name"),
    ("&&&", None, "no name"),
    ("a" * CLEAN_PARAM_CHARS, (("a" * CLEAN_PARAM_CHARS,), ""), "at most 500 characters"),
    ("a" * (CLEAN_PARAM_CHARS + 1), None, "at most 500 characters"),
]


@pytest.mark.parametrize(("value", "clean", "source"), CLEAN)
def test_clean_param(value: str, clean: tuple[tuple[str, ...], str] | None, source: str) -> None:
    assert parse_clean_param(value) == clean
    assert RobotsTxt.parse(f"Clean-param: {value}").clean_params == ([] if clean is None else [clean])


# ---- Whatever the bytes

FIELDS = [
    "Crawl-delay",
    "Comment",
    "Robot-version",
    "Noindex",
    "Content-Signal",
    "License",
    "Host",
    "Clean-param",
    "Sitemap",
]
PARTS = st.sampled_from(
    ["5", "=", "&", ",", " ", "\t", "search", "no", "yes", "/x", "\x00", "é", "\ud800", "#", "User-agent: me\n"]
)
VALUES = st.one_of(st.text(max_size=30), st.lists(PARTS, max_size=8).map("".join))
LINES = st.lists(st.tuples(st.sampled_from(["User-agent", "Disallow", *FIELDS]), VALUES), max_size=12)


def everything(robots: RobotsTxt, agent: str) -> list[object]:
    """All that the other records say."""
    return [
        *(robots.comments(agent), robots.robot_version(agent), robots.noindex(agent), robots.content_signals(agent)),
        *(robots.sitemaps, robots.licenses, robots.host, robots.clean_params, robots.request_rates(agent)),
        *(robots.visit_times(agent), robots.crawl_delay(agent)),
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(body=st.one_of(st.binary(max_size=200), st.text(max_size=200)), agent=st.text(max_size=20))
def test_never_raises(dialect: str, body: bytes | str, agent: str) -> None:
    assert everything(RobotsTxt.parse(body, dialect), agent)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(lines=LINES)
def test_normal_form_keeps_the_meaning(dialect: str, lines: list[tuple[str, str]]) -> None:
    robots = RobotsTxt.parse("".join(f"{field}: {value}\n" for field, value in lines), dialect)
    again = RobotsTxt.parse(format_robotstxt(robots), dialect)
    for agent in ("me", "search"):
        assert everything(again, agent) == everything(robots, agent)


LONG = ["," * 1_000_000, "=," * 500_000, "&" * 1_000_000, "a " * 500_000, "a=" * 500_000, "\x1b" * 1_000_000]


@pytest.mark.parametrize("value", LONG, ids=range(len(LONG)))
def test_a_long_hostile_value(value: str) -> None:
    robots = RobotsTxt.parse("User-agent: *\nDisallow: /x\n" + "".join(f"{field}: {value}\n" for field in FIELDS))
    assert robots.clean_params == []
    assert len(robots.content_signals("me")) <= 1
    assert everything(robots, "me")


@given(st.lists(st.text(max_size=40), max_size=5))
def test_signals_have_keys_and_values(values: list[str]) -> None:
    signals = content_signals(values)
    assert all(key and said and key == key.strip() and said == said.strip() for key, said in signals.items())
