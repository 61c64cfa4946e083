"""The expressions of an export match what the exclusion library matches."""

import re
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.exclusion import RobotsTxt
from goodbot.gate.export.notation import PCRE, RE2, RE2_PATH, REQUEST_LINE, Notation
from goodbot.gate.export.path_regex import MOST_OCTETS, path_regex
from goodbot.gate.export.rule_lists import closes_everything, cut_rules, rule_list, written_rules

UNITS: Final = (
    *("/", "a", "B", "~", "%7E", "%7e", "%61", "-", ".", "_", "1", "?", "*", "%2A", "%2a", "$", "%24", "%", "%25"),
    *(
        "%2F",
        "%2f",
        "é",
        "%C3%A9",
        "%c3",
        "{",
        "%7B",
        "}",
        "'",
        '"',
        "%22",
        "`",
        "\\",
        "&",
        ";",
        "%3B",
        "(",
        "[",
        "|",
        "^",
    ),
    *("+", "@", ",", "!", ":"),
)
TARGETS: Final = st.lists(st.sampled_from(UNITS), max_size=10).map(lambda units: "/" + "".join(units))
PATTERNS: Final = st.tuples(
    st.sampled_from("/*"), st.lists(st.sampled_from(UNITS), max_size=8), st.sampled_from(("", "$"))
).map(lambda parts: parts[0] + "".join(parts[1]) + parts[2])
IN_QUERY: Final = ("a", "b", ":", "%3A", "%3a", "/", "%2F", "~", "%7E", "é", "'", "&", ";", "?")


def octets(text: str) -> str:
    return text.encode().decode("latin-1")


def matches(pattern: str, target: str, notation: Notation = PCRE) -> bool:
    regex = path_regex(pattern, notation)
    return bool(regex) and re.match(f"{regex}", octets(target)) is not None


def disallows(pattern: str, target: str) -> bool:
    return not RobotsTxt.parse(f"User-agent: *\nDisallow: {pattern}\n").allows(target, "bot")


@given(PATTERNS, TARGETS)
def test_an_expression_matches_what_the_pattern_matches(pattern: str, target: str) -> None:
    assert matches(pattern, target) == disallows(pattern, target), path_regex(pattern, PCRE)


@given(st.lists(st.sampled_from(IN_QUERY), max_size=5), st.lists(st.sampled_from(IN_QUERY), max_size=6))
def test_in_the_value_of_a_parameter_reserved_characters_may_be_encoded(rule: list[str], asked: list[str]) -> None:
    pattern, target = "/x?a=" + "".join(rule), "/x?a=" + "".join(asked)
    assert matches(pattern, target) == disallows(pattern, target), path_regex(pattern, PCRE)


@given(PATTERNS, TARGETS.filter(str.isascii))
def test_all_notations_agree_about_encoded_targets(pattern: str, target: str) -> None:
    expected = matches(pattern, target)
    assert matches(pattern, target, RE2) == expected
    line = re.match(rf"{path_regex(pattern, REQUEST_LINE)}", f"{target} HTTP/1.1")
    assert (line is not None) == expected


@pytest.mark.parametrize("notation", [RE2, RE2_PATH])
@given(pattern=st.text(max_size=30).map(lambda text: f"/{text}"))
def test_re2_gets_no_lookaround_and_no_atomic_group(notation: Notation, pattern: str) -> None:
    regex = path_regex(pattern, notation)
    assert not re.search(r"\(\?[=!<>]|\\[1-9]", regex)


@pytest.mark.parametrize("notation", [PCRE, REQUEST_LINE, RE2])
@given(pattern=st.text(max_size=30).map(lambda text: f"/{text}"))
def test_an_expression_has_no_character_that_ends_a_text(notation: Notation, pattern: str) -> None:
    regex = path_regex(pattern, notation)
    assert re.fullmatch(r"[A-Za-z0-9/:=&@,_~%|()\[\]\\?*^$.<>!-]*", regex), regex
    assert not set(regex) & set("\"'`{}# \n;")
    assert not re.search(r"\$[A-Za-z{]", regex)


@pytest.mark.parametrize("pattern", ["", "private", "$", "%2Fx"])
def test_a_pattern_that_matches_nothing_has_no_expression(pattern: str) -> None:
    assert path_regex(pattern, PCRE) == ""


def test_traefik_compares_decoded_paths() -> None:
    assert path_regex("/é", RE2_PATH) == r"/(?:\x{e9}|%[Cc]3%[Aa]9)"
    assert path_regex("/%FF", RE2_PATH) == "/%[Ff][Ff]"


# ---- the order of rules ---------------------------------------------------------------------------------------------

RULES: Final = st.lists(
    st.tuples(st.booleans(), st.lists(st.sampled_from(("/", "a", "b", "*", "%2F")), max_size=4).map("".join)),
    max_size=6,
)


@given(
    RULES, st.lists(st.lists(st.sampled_from(("a", "b", "/", "%2f")), max_size=5).map("".join), min_size=1, max_size=4)
)
def test_the_first_rule_that_matches_decides_as_the_longest_one(
    rules: list[tuple[bool, str]], paths: list[str]
) -> None:
    lines = "".join(f"{'Allow' if allow else 'Disallow'}: /{pattern}\n" for allow, pattern in rules)
    robots_txt = RobotsTxt.parse(f"User-agent: *\n{lines}")
    written = written_rules(rule_list(robots_txt.groups), PCRE)
    for path in paths:
        first = next((one for one in written if re.match(one.regex, f"/{path}")), None)
        assert (first is None or first.rule.allow) == robots_txt.allows(f"/{path}", "bot")


def test_an_allow_that_changes_nothing_is_left_out() -> None:
    groups = RobotsTxt.parse("User-agent: *\nAllow: /\nDisallow: /private\nAllow: /x\n").groups
    assert [str(rule) for rule in rule_list(groups)] == ["line 3: Disallow: /private"]
    assert rule_list(RobotsTxt.parse("User-agent: *\nAllow: /a\n").groups) == ()


@pytest.mark.parametrize(
    ("lines", "is_closed"),
    [
        ("Disallow: /", True),
        ("Disallow: *", True),
        ("Disallow: /*\nDisallow: /x", True),
        ("Disallow: /\nAllow: /x", False),
        ("Disallow: /x", False),
        ("Disallow:", False),
    ],
)
def test_rules_that_close_everything(lines: str, is_closed: bool) -> None:
    assert closes_everything(rule_list(RobotsTxt.parse(f"User-agent: *\n{lines}\n").groups)) == is_closed


def test_a_rule_that_is_too_long_counts_in_favour_of_robots() -> None:
    long = "/" + "a" * 1000
    groups = RobotsTxt.parse(f"User-agent: *\nDisallow: {long}\nAllow: {long}b\nDisallow: /\n").groups
    rules = rule_list(groups)
    assert [rule.line for rule in cut_rules(rules, PCRE)] == [3, 2]
    written = written_rules(rules, PCRE)
    assert [(one.rule.allow, one.rule.line) for one in written] == [(True, 3), (False, 4)]
    assert all(len(one.regex) <= MOST_OCTETS for one in written)
    assert re.match(written[0].regex, f"{long}b")


@settings(max_examples=30)
@given(st.lists(st.sampled_from(("%", "%2", "%2F", "$", "a", "é")), min_size=300, max_size=900).map("".join))
def test_a_long_allow_still_matches_what_it_allows(pattern: str) -> None:
    groups = RobotsTxt.parse(f"User-agent: *\nAllow: /{pattern}\nDisallow: /\n").groups
    target = "/" + pattern.removesuffix("$")
    first = next(one for one in written_rules(rule_list(groups), PCRE) if re.match(one.regex, octets(target)))
    assert first.rule.allow
