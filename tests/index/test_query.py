"""What was typed → what is meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.index.query import MAX_TERMS, AllOf, AnyOf, QueryWords, SiteFilter, parse_query, sought_terms


def word(text: str) -> QueryWords:
    return QueryWords((text,))


def phrase(*terms: str) -> QueryWords:
    return QueryWords(terms, quoted=True)


def title(*terms: str, quoted: bool = False) -> QueryWords:
    return QueryWords(terms, where="title", quoted=quoted)


MEANT = [
    ("words", "robot war", AllOf((word("robot"), word("war")))),
    ("several parts", "update-rc.d", AllOf((QueryWords(("updat", "rc", "d")),))),
    ("phrase", '"robot war"', AllOf((phrase("robot", "war"),))),
    ("phrase without end", '"robot war', AllOf((phrase("robot", "war"),))),
    ("typographic quotes", "«robot war»", AllOf((phrase("robot", "war"),))),
    ("exclusion", "robot -war", AllOf((word("robot"),), (word("war"),))),
    ("excluded phrase", 'a -"b c"', AllOf((word("a"),), (phrase("b", "c"),))),
    ("NOT", "a NOT b c", AllOf((word("a"), word("c")), (word("b"),))),
    ("hyphen alone", "a - b", AllOf((word("a"), word("b")))),
    ("hyphen inside", "a-b", AllOf((QueryWords(("a", "b")),))),
    ("or binds neighbours", "a b OR c d", AllOf((word("a"), AnyOf((word("b"), word("c"))), word("d")))),
    ("or of three", "a OR b OR c", AllOf((AnyOf((word("a"), word("b"), word("c"))),))),
    ("or at the ends", "OR a OR", AllOf((word("a"),))),
    ("small or is a word", "a or b", AllOf((word("a"), word("or"), word("b")))),
    ("and is nothing", "a AND b", AllOf((word("a"), word("b")))),
    ("group", "a (b OR c)", AllOf((word("a"), AnyOf((word("b"), word("c")))))),
    ("prose in parentheses", "a (b c) d", AllOf((word("a"), word("b"), word("c"), word("d")))),
    ("group beside or", "(a b) OR c", AllOf((AnyOf((AllOf((word("a"), word("b"))), word("c"))),))),
    ("excluded group", "a -(b c)", AllOf((word("a"),), (AllOf((word("b"), word("c"))),))),
    ("empty group", "a ()", AllOf((word("a"),))),
    ("unmatched parentheses", ")) a ((", AllOf((word("a"),))),
    ("site", "a site:Example.ORG", AllOf((word("a"), SiteFilter("example.org")))),
    ("site as URL", "a site:http://example.org:81/x", AllOf((word("a"), SiteFilter("example.org:81")))),
    ("site, IPv6", "a site:[::1]", AllOf((word("a"), SiteFilter("::1")))),
    ("excluded site", "a -site:example.org", AllOf((word("a"),), (SiteFilter("example.org"),))),
    ("site that is none", "a site:[", AllOf((word("a"),))),
    ("title", "title:robots", AllOf((title("robot"),))),
    ("title phrase", 'intitle:"a b"', AllOf((title("a", "b", quoted=True),))),
    ("title group", "title:(a b)", AllOf((title("a"), title("b")))),
    ("unknown field", "foo:bar", AllOf((QueryWords(("foo", "bar")),))),
    ("Russian", "Пакетами", AllOf((word("пакет"),))),
]


@pytest.mark.parametrize(("name", "text", "expected"), MEANT)
def test_meaning(name: str, text: str, expected: AllOf) -> None:
    assert parse_query(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "   ", "-", '""', "()", "...", "-word", '-"a b"', "NOT a", "site:example.org", "-a OR -b", "-(a b)", "\ud800"],
)
def test_without_a_word_to_look_for(text: str) -> None:
    with pytest.raises(InputError, match="no word to search for"):
        parse_query(text)


def test_bounds() -> None:
    assert len(sought_terms(parse_query(" ".join(f"w{number}" for number in range(500))))) == MAX_TERMS
    assert len(sought_terms(parse_query("word " * 200_000))) == 1
    nested = parse_query("(" * 100 + "a" + ")" * 100 + " b")
    assert sought_terms(nested) == {"a", "b"}


PIECES = st.sampled_from(
    ['"', "(", ")", "-", "OR", "NOT", "site:", "title:", "robot", "東京", "駅", "the", " ", "ёж", "a.b"]
)


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(PIECES).map(" ".join), st.lists(PIECES).map("".join)))
def test_any_text_has_a_meaning_or_none(text: str) -> None:
    try:
        meant = parse_query(text)
    except InputError:
        return
    assert sought_terms(meant)
