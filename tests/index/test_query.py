"""What was typed → what is meant."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.query import (
    MAX_DEPTH,
    MAX_EXPLAINED_CHARS,
    MAX_PHRASES,
    MAX_QUERY_CHARS,
    MAX_STARS,
    MAX_WORDS,
    explain_query,
    parse_query,
    plain_words,
    replace_word,
)
from goodbot.index.query_values import AllOf, AnyOf, Filter, Node, Words


def words(text: str) -> tuple[Words, ...]:
    return tuple(map(Words, text.split()))


def phrase(text: str) -> Words:
    return Words(text, quoted=True)


def title(text: str, *, quoted: bool = False) -> Words:
    return Words(text, where="title", quoted=quoted)


MEANT = [
    ("words", "robot war", AllOf(words("robot war"))),
    ("joined words", "update-rc.d", AllOf(words("update-rc.d"))),
    ("phrase", '"robot war"', AllOf((phrase("robot war"),))),
    ("quote without end", 'a "robot war', AllOf(words("a robot war"))),
    ("phrase, then a quote", '"a b" c"', AllOf((phrase("a b"), Words("c")))),
    ("typographic quotes", "«robot war»", AllOf((phrase("robot war"),))),
    ("Japanese quotes", "「東京駅」", AllOf((phrase("東京駅"),))),
    ("exclusion", "robot -war", AllOf(words("robot"), words("war"))),
    ("exclusion by a minus sign", "robot \u2212war", AllOf(words("robot"), words("war"))),
    ("excluded phrase", 'a -"b c"', AllOf(words("a"), (phrase("b c"),))),
    ("NOT", "a NOT b c", AllOf(words("a c"), words("b"))),
    ("hyphen alone", "a - b", AllOf(words("a b"))),
    ("hyphen inside", "a-b", AllOf(words("a-b"))),
    ("options of programs", "tar -x --help", AllOf(words("tar -x --help"))),
    ("plus", "+robot war", AllOf(words("robot war"))),
    ("or binds neighbours", "a b OR c d", AllOf((Words("a"), AnyOf(words("b c")), Words("d")))),
    ("or of three", "a OR b OR c", AllOf((AnyOf(words("a b c")),))),
    ("bar", "a | b", AllOf((AnyOf(words("a b")),))),
    ("or at the ends", "OR a OR", AllOf(words("a"))),
    ("small or is a word", "a or b", AllOf(words("a or b"))),
    ("and is nothing", "a AND b", AllOf(words("a b"))),
    ("operators in capital letters", "CATS AND DOGS OR MICE", AllOf(words("CATS AND DOGS OR MICE"))),
    ("group", "a (b OR c)", AllOf((Words("a"), AnyOf(words("b c"))))),
    ("parentheses around words", "a (b c) d", AllOf(words("a b c d"))),
    ("group beside or", "(a b) OR c", AllOf((AnyOf((AllOf(words("a b")), Words("c"))),))),
    ("excluded group", "a -(b c)", AllOf(words("a"), (AllOf(words("b c")),))),
    ("empty group", "a ()", AllOf(words("a"))),
    ("unmatched parentheses", ")) a ((", AllOf(words("a"))),
    ("star", "crawl* x", AllOf((Words("crawl", prefix=True), Words("x")))),
    ("star alone", "a * b", AllOf(words("a b"))),
    ("site", "a site:Example.ORG", AllOf((Words("a"), Filter("site", "example.org")))),
    ("site after a space", "a site: example.org", AllOf((Words("a"), Filter("site", "example.org")))),
    ("site as URL", "a site:http://example.org:81/x", AllOf((Words("a"), Filter("site", "example.org:81")))),
    ("site with a star", "a site:*.example.org.", AllOf((Words("a"), Filter("site", "example.org")))),
    ("site, IPv6", "a site:[::1]", AllOf((Words("a"), Filter("site", "::1")))),
    ("site alone", "site:example.org", AllOf((Filter("site", "example.org"),))),
    ("excluded site", "a -site:example.org", AllOf(words("a"), (Filter("site", "example.org"),))),
    ("type", "a filetype:.PDF", AllOf((Words("a"), Filter("filetype", "pdf")))),
    ("media type", "a filetype:text/plain", AllOf((Words("a"), Filter("filetype", "text/plain")))),
    ("language", "a lang:pt_BR", AllOf((Words("a"), Filter("lang", "pt-br")))),
    ("after a year", "after:2020", AllOf((Filter("after", "2020-01-01"),))),
    ("before a month", "before:2024/5", AllOf((Filter("before", "2024-05-01"),))),
    ("link", "link:HTTP://a.example#x", AllOf((Filter("link", "http://a.example/"),))),
    ("title", "title:robots", AllOf((title("robots"),))),
    ("title phrase", 'intitle:"a b"', AllOf((title("a b", quoted=True),))),
    ("title group", "title:(a b)", AllOf((title("a"), title("b")))),
    ("URL", "inurl:robots", AllOf((Words("robots", where="url"),))),
    ("unknown field", "foo:bar", AllOf(words("foo:bar"))),
    ("only exclusion", "-word", AllOf((), words("word"))),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), MEANT)
def test_meaning(name: str, text: str, expected: AllOf) -> None:
    parsed = parse_query(text)
    assert (parsed.root, parsed.is_prose, parsed.notes) == (expected, False, ())


@pytest.mark.parametrize("text", ["", "   ", "-", '""', "()", "...", "🙂", "\ud800", "OR", "*", "\x00\u202e"])
def test_nothing_asked_for(text: str) -> None:
    assert parse_query(text).root == AllOf()


UNUSABLE = [
    ("a* b", AllOf(words("a* b")), "* needs 2 letters or digits before it, such as cr*"),
    ("site:", AllOf(), "site: needs a host, such as site:example.org"),
    ("a site:[", AllOf(words("a")), "site: needs a host, such as site:example.org"),
    ("before:soon", AllOf(words("soon")), "before: needs a date, such as before:2024-05-01"),
    ("after:2024-13", AllOf(words("2024-13")), "after: needs a date, such as after:2024-05-01"),
    ("LANG:x", AllOf(words("x")), "lang: needs a language, such as lang:de"),
]


@pytest.mark.parametrize(("text", "expected", "note"), UNUSABLE)
def test_a_field_without_a_usable_value(text: str, expected: AllOf, note: str) -> None:
    parsed = parse_query(text)
    assert (parsed.root, parsed.notes) == (expected, (note,))


PROSE = 'what is -known about the (first) robots OR spiders, "who" wrote site:example.org and title: who read them?'


def test_prose() -> None:
    parsed = parse_query(PROSE)
    assert parsed.is_prose
    assert parsed.root.excluded == ()
    assert Filter("site", "example.org") in parsed.root.required
    assert {"known", "first", "OR", "who", "title", "them?"} <= {word.text for word in plain_words(parsed)}
    assert not any(
        isinstance(node, AnyOf) or (isinstance(node, Words) and node.quoted) for node in parsed.root.required
    )


def test_many_words_joined_by_or_are_no_prose() -> None:
    text = " OR ".join(f"w{number}" for number in range(20))
    assert parse_query(text).root == AllOf((AnyOf(words(text.replace(" OR ", " "))),))


def test_bounds() -> None:
    many = parse_query(" ".join(f"w{number}" for number in range(2000)))
    assert len(many.root.required) == MAX_WORDS
    assert many.notes == (f"only the first {MAX_WORDS:,} words count",)
    cut = parse_query("long-word-" * 200_000)
    assert cut.notes == (f"the query was cut after {MAX_QUERY_CHARS:,} characters",)
    deep = parse_query("(-" * 3000 + "a")
    assert depth(deep.root) <= MAX_DEPTH + 1
    assert deep.notes == (f"parentheses more than {MAX_DEPTH} deep were ignored",)
    assert parse_query("(" * MAX_DEPTH + "a" + ")" * MAX_DEPTH).notes == ()
    stars = parse_query(" OR ".join(f"word{number}*" for number in range(50)))
    (choices,) = stars.root.required
    assert isinstance(choices, AnyOf)
    assert sum(isinstance(node, Words) and node.prefix for node in choices.choices) == MAX_STARS
    assert stars.notes == (f"* counts only in the first {MAX_STARS} words that have it",)
    phrases = parse_query(" OR ".join(f'"a b{number}"' for number in range(50)))
    (choices,) = phrases.root.required
    assert isinstance(choices, AnyOf)
    assert len(choices.choices) == MAX_PHRASES
    assert phrases.notes == (f"only the first {MAX_PHRASES} phrases and joined words count",)


def depth(node: Node) -> int:
    match node:
        case AllOf():
            return 1 + max(map(depth, (*node.required, *node.excluded)), default=0)
        case AnyOf():
            return max(map(depth, node.choices))
    return 0


SIGNS = ['"', "(", ")", "-", "+", "*", "OR", "NOT", "AND", "|", "site:", "title:", "before:", "link:"]
WORDS = ["https://a.example/", "robot", "東京", "the", "ёж", "a.b", "2020", "🙂", " ", "\u202e", "\x00"]
PIECES = st.sampled_from([*SIGNS, *WORDS])


@given(st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join), st.lists(PIECES, max_size=60).map(" ".join)))
def test_any_text_is_a_query(text: str) -> None:
    parsed = parse_query(text)
    assert depth(parsed.root) <= MAX_DEPTH + 1
    said = explain_query(parsed)
    assert len(said) <= MAX_EXPLAINED_CHARS
    assert not set(said) & {"\x00", "\u202e", "\n"}


EXPLAINED = [
    ('robot "crawl delay" -google site:example.org', 'robot, "crawl delay", on example.org, without google'),
    ("robot OR spider intitle:x", "robot or spider, x in the title"),
    ("crawl* lang:de before:2024", "crawl*, in the language de, dated before 2024-01-01"),
    ("(a -b) OR c", "(a, without b) or c"),
]


@pytest.mark.parametrize(("text", "expected"), EXPLAINED)
def test_the_query_said_back(text: str, expected: str) -> None:
    assert explain_query(parse_query(text)) == expected


REPLACED = [
    ("robto war", "robto", "robot", "robot war"),
    ("Robto ROBTO", "robto", "robot", "Robot ROBOT"),
    ('robto "robto" site:robto', "robto", "robot", 'robot "robto" site:robto'),
    ("robtox robto-x", "robto", "robot", "robtox robot-x"),
]


@pytest.mark.parametrize(("text", "old", "new", "expected"), REPLACED)
def test_a_word_is_replaced(text: str, old: str, new: str, expected: str) -> None:
    assert replace_word(text, old, new) == expected


@given(st.text(string.ascii_letters + ' "():-', max_size=50))
def test_replacing_a_missing_word_changes_nothing(text: str) -> None:
    assert replace_word(text, "ёж", "уж") == text
