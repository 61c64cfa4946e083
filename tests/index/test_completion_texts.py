"""The texts of completions: names whole, and no mark without its counterpart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.completion_texts import parts_of_title, tidy, words_in

TEXTS = [
    # names stay whole
    ("C++", "C++"),
    ("C#", "C#"),
    (".NET and C#", ".NET and C#"),
    ("node.js", "node.js"),
    ("std::pair", "std::pair"),
    ("std::vector<T>::operator=", "std::vector<T>::operator="),
    ("operator[]", "operator[]"),
    ("--tls-min-v1.0", "--tls-min-v1.0"),
    ("-t, --trace", "-t, --trace"),
    ("::before", "::before"),
    ("don't", "don't"),
    # numbers and parameters
    ("5.1.3. List comprehensions", "List comprehensions"),
    ("6) Functions", "Functions"),
    ("os.path.join(path, *paths)", "os.path.join"),
    ("emitter[Symbol.for('rejection')](err)", "emitter[Symbol.for('rejection')]"),
    ("tbreak [([filename:]lineno | function)]", "tbreak [([filename:]lineno | function)]"),
    ("{port, integer()}", "{port, integer()}"),
    ("(optional) headers", "(optional) headers"),
    # marks without a counterpart
    ("pair)", "pair"),
    ("(foo", "foo"),
    ("foo [bar", "foo bar"),
    ("a } b { c", "a b c"),
    ('"bar', "bar"),
    ('say "yes" and "no', 'say "yes" and no'),
    ("The original “mapper", "The original mapper"),
    ("„eins“ und „zwei“", "„eins“ und „zwei“"),
    ("« note", "note"),
    ("`eagerload", "eagerload"),
    ("what `stable' means", "what `stable' means"),
    ("'quoted", "quoted"),
    ("'quoted' word", "'quoted' word"),
    ("「引用", "引用"),
    ("the range [first, last)", "the range [first, last)"),
    # what is left at the ends
    ("Delay,", "Delay"),
    (", and so on;", "and so on"),
    ("Name:", "Name"),
    ("- v -", "v"),
    ("» See also", "See also"),
    ("key = (value)", "key"),
    ("a   b\n\tc", "a b c"),
    ("red\x1b\x9b\u202ede", "red de"),
    ("می\u200cخواهم", "می\u200cخواهم"),
    ("(", ""),
    (" , ; : ", ""),
    ("", ""),
]


@pytest.mark.parametrize(("text", "expected"), TEXTS)
def test_texts(text: str, expected: str) -> None:
    assert tidy(text) == expected


TITLES = [
    ("os.path — Common paths — Python 3.11", ["os.path", "Common paths", "Python 3.11"]),
    ("std::pair - cppreference.com", ["std::pair", "cppreference.com"]),
    ("Robots :: Site", ["Robots", "Site"]),
    ("Robots:: Site", ["Robots", "Site"]),
    ("Robots: a guide", ["Robots", "a guide"]),
    ("update-rc.d", ["update-rc.d"]),
    ("", [""]),
]


@pytest.mark.parametrize(("title", "expected"), TITLES)
def test_parts_of_titles(title: str, expected: list[str]) -> None:
    assert parts_of_title(title) == expected


WORDS = [
    ("C++ and C# with .NET", {"c++", "and", "c#", "with", "net", ".net"}),
    ("Node.js", {"node", "node.js"}),
    ("std::pair", {"std", "pair", "std::pair"}),
    ("Naïve Bayes, e.g. x", {"naive", "bayes", "e.g"}),
    ("a .b c. …", {".b"}),
]


@pytest.mark.parametrize(("text", "expected"), WORDS)
def test_words(text: str, expected: set[str]) -> None:
    assert words_in(text) == expected


def are_matched(text: str) -> bool:
    depth = 0
    for char in text:
        depth += (char in "([{") - (char in ")]}")
        if depth < 0:
            return False
    return depth == 0 and text.count('"') % 2 == 0


@given(st.text(max_size=300) | st.text("ab ()[]{}\"'`“”.,:;-=1", max_size=300))
def test_no_mark_lacks_its_counterpart(text: str) -> None:
    made = tidy(text)
    assert are_matched(made)
    assert made == " ".join(made.split())
    assert not made.endswith((",", ";", ":"))
