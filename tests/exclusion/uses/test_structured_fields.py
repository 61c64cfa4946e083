"""Dictionaries of RFC 9651: what parses, and as what. The sections are those of the RFC."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.uses.structured_fields import Member, Parameterized, parse_dictionary, parse_parameterized

VALUES = [
    # a value, its kind, section
    ("1", "integer", "3.3.1"),
    ("-1", "integer", "3.3.1"),
    ("-0", "integer", "3.3.1"),
    ("00", "integer", "3.3.1"),
    ("999999999999999", "integer", "3.3.1: at most 15 digits"),
    ("-999999999999999", "integer", "3.3.1"),
    ("1.5", "decimal", "3.3.2"),
    ("-123456789012.123", "decimal", "3.3.2: at most 12 and 3 digits"),
    ('""', "string", "3.3.3"),
    ('"hello world"', "string", "3.3.3"),
    (r'"a \"b\" \\"', "string", "3.3.3"),
    ("y", "token", "3.3.4"),
    ("*", "token", "3.3.4"),
    ("foo123/456:*!#$%&'+-.^_`|~", "token", "3.3.4"),
    ("Y", "token", "3.3.4"),
    (":cHJldGVuZA==:", "bytes", "3.3.5"),
    ("::", "bytes", "3.3.5"),
    (":YQ:", "bytes", "4.2.7: padding may be missing"),
    (":YQ=:", "bytes", "4.2.7"),
    (":YR==:", "bytes", "4.2.7: spare bits may be set"),
    ("?1", "boolean", "3.3.6"),
    ("?0", "boolean", "3.3.6"),
    ("@1659578233", "date", "3.3.7"),
    ("@-1", "date", "3.3.7"),
    ("@999999999999999", "date", "3.3.7: as many digits as an integer"),
    ('%"This is intended for display to %c3%bcsers."', "display_string", "3.3.8"),
    ('%""', "display_string", "3.3.8"),
    ("()", "inner_list", "3.1.1"),
    ("(  )", "inner_list", "3.1.1"),
    ('("foo" "bar")', "inner_list", "3.1.1"),
    ("( a;x  1 )", "inner_list", "3.1.1"),
]


@pytest.mark.parametrize(("text", "kind", "section"), VALUES)
def test_value(text: str, kind: str, section: str) -> None:
    member = Member(kind, text)
    assert parse_dictionary(f"k={text}") == {"k": member}
    assert parse_dictionary(f"k={text};p, j={text} ;q") is None, "no blank before a semicolon"
    assert parse_dictionary(f"k={text};p=1; q ,\tj={text}") == {"k": member, "j": member}
    if kind != "inner_list":
        assert parse_dictionary(f"k=({text} {text};p);p={text}") == {"k": Member("inner_list", f"({text} {text};p)")}


NO_VALUES = [
    ("", "4.2.3.1"),
    ("-", "4.2.4"),
    ("--1", "4.2.4"),
    ("+1", "4.2.4"),
    ("1.", "4.2.4"),
    (".1", "4.2.4"),
    ("1.1234", "4.2.4"),
    ("1.2.3", "4.2.4"),
    ("1234567890123.1", "4.2.4"),
    ("1234567890123456", "4.2.4"),
    ("1" * 400, "4.2.4"),
    ("1e9", "4.2.4"),
    ("1y", "4.2.4"),
    ("\u0661", "4.2: not ASCII"),
    ('"', "4.2.5"),
    ('"a', "4.2.5"),
    (r'"a\b"', "4.2.5"),
    ('"a\\', "4.2.5"),
    ('"a\tb"', "4.2.5"),
    ('"\x7f"', "4.2.5"),
    ('"é"', "4.2.5"),
    ("'a'", "4.2.3.1"),
    ("é", "4.2"),
    ("a\u00e9", "4.2"),
    (":YQ==", "4.2.7"),
    (":Y:", "4.2.7"),
    (":=:", "4.2.7"),
    (":YQ===:", "4.2.7"),
    (":Y=Q:", "4.2.7"),
    (":Y Q:", "4.2.7"),
    (":Y_Q-:", "4.2.7"),
    ("?", "4.2.8"),
    ("?2", "4.2.8"),
    ("?10", "4.2.8"),
    ("?true", "4.2.8"),
    ("@", "4.2.9"),
    ("@1.5", "4.2.9"),
    ("@a", "4.2.9"),
    ("@1234567890123456", "4.2.9"),
    ('%"a', "4.2.10"),
    ("%a", "4.2.10"),
    ('%"%C3%BC"', "4.2.10: lower case only"),
    ('%"%c3"', "4.2.10: UTF-8"),
    ('%"%ff"', "4.2.10"),
    ('%"%ed%a0%80"', "4.2.10: a surrogate"),
    ('%"%c"', "4.2.10"),
    ('%"%"', "4.2.10"),
    ('%"\t"', "4.2.10"),
    ('%"ü"', "4.2.10"),
    ("(", "4.2.1.2"),
    ("(a", "4.2.1.2"),
    ("(a b", "4.2.1.2"),
    ('("a""b")', "4.2.1.2"),
    ("(a,b)", "4.2.1.2"),
    ("(a\tb)", "4.2.1.2: blanks only"),
    ("((a))", "4.2.1.2: no lists in lists"),
    (")", "4.2.1.2"),
    ("a;", "4.2.3.2"),
    ("a;A=1", "4.2.3.2"),
    ("a;1", "4.2.3.2"),
    ("a;b=", "4.2.3.2"),
    ("a;b=(1)", "4.2.3.2: a parameter is no list"),
    ("a;\tb", "4.2.3.2: blanks only"),
    ("a b", "4.2.2"),
    (" a", "4.2.2"),
]


@pytest.mark.parametrize(("text", "section"), NO_VALUES)
def test_no_value(text: str, section: str) -> None:
    assert parse_dictionary(f"k={text}") is None
    assert parse_dictionary(f"j=1, k={text}") is None, "a failure spoils the members before it"
    assert parse_dictionary(f"k=({text})") is None or text in {"", " a", "a b"}


DICTIONARIES: list[tuple[str, dict[str, str] | None, str]] = [
    ("", {}, "3.2: empty"),
    ("   ", {}, "4.2"),
    ("a", {"a": "?1"}, "4.2.2: no value is true"),
    ("a;x=1", {"a": "?1"}, "4.2.2"),
    ("train-ai=n, search=y", {"train-ai": "n", "search": "y"}, "3.2"),
    ("a=1,b=2", {"a": "1", "b": "2"}, "3.2"),
    ("  a=1 \t,\t b=2  ", {"a": "1", "b": "2"}, "4.2.2"),
    ("a=1\t", {"a": "1"}, "4.2.2"),
    ("a=1, b, a=2", {"a": "2", "b": "?1"}, "3.2: the last of equal keys"),
    ("a=1, a", {"a": "?1"}, "3.2"),
    ("*a_-.*9=1", {"*a_-.*9": "1"}, "4.2.3.3"),
    ("a=1;b=2;b=3;  c", {"a": "1"}, "4.2.3.2"),
    ("\ta=1", None, "4.2: leading blanks, no tabs"),
    ("\t", None, "4.2"),
    ("a=1,", None, "4.2.2: a trailing comma"),
    ("a=1, ", None, "4.2.2"),
    (",a=1", None, "4.2.2"),
    ("a=1,,b=2", None, "4.2.2"),
    (",", None, "4.2.2"),
    ("a=1 b=2", None, "4.2.2"),
    ("a=1;b, c=2;", None, "4.2.3.2"),
    ("A=1", None, "4.2.3.3"),
    ("1a=1", None, "4.2.3.3"),
    ("-a=1", None, "4.2.3.3"),
    ("a =1", None, "4.2.2"),
    ("a= 1", None, "4.2.2"),
    ("aB=1", None, "4.2.3.3"),
    ("é=1", None, "4.2"),
    ("a=1\n", None, "4.2"),
    ("a=1\n,b=1", None, "4.2.2"),
    ("=1", None, "4.2.3.3"),
    ("/a train-ai=n", None, "4.2.3.3"),
]


@pytest.mark.parametrize(("text", "expected", "section"), DICTIONARIES)
def test_dictionary(text: str, expected: dict[str, str] | None, section: str) -> None:
    members = parse_dictionary(text)
    assert (None if members is None else {key: member.text for key, member in members.items()}) == expected


HOSTILE = ["a", "a,", "a;", "a;b", "b ", "(", '"', "\\", ":", "=", "%c3", " ", "\t", "*", "1", "?1", "@", "\ud800"]


@pytest.mark.parametrize("sign", HOSTILE)
@pytest.mark.parametrize("start", ["", "a=", "a=(", 'a="', "a=:", 'a=%"', "a;b="])
def test_a_long_text_is_answered(start: str, sign: str) -> None:
    parse_dictionary(start + sign * (100_000 // len(sign)))


@given(st.one_of(st.text(max_size=40), st.text('ab=,;( )"\\:?1@-.%c3Y\t*', max_size=40)))
def test_never_raises_and_members_stand_in_the_text(text: str) -> None:
    for key, member in (parse_dictionary(text) or {}).items():
        assert key in text
        assert member.text in text or member == Member("boolean", "?1")
        assert parse_dictionary(f"{key}={member.text}") == {key: member}


def test_parameters_and_items() -> None:
    """§4.2.3.2: of a repeated parameter the last value counts."""
    text = 'a=("x";k=1;f  "y" );p="q";  r;p=2, b;s=?0, c'
    x, y = (Member("string", f'"{name}"') for name in "xy")
    assert parse_parameterized(text) == {
        "a": Parameterized(
            Member("inner_list", '("x";k=1;f  "y" )'),
            (("p", "2"), ("r", "?1")),
            (Parameterized(x, (("k", "1"), ("f", "?1"))), Parameterized(y)),
        ),
        "b": Parameterized(Member("boolean", "?1"), (("s", "?0"),)),
        "c": Parameterized(Member("boolean", "?1")),
    }
