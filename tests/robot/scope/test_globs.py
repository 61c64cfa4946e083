"""Globs over URLs and media types."""

import fnmatch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.robot.scope.globs import GlobTable, parse_type_globs, parse_url_globs

# glob, URLs it matches, URLs it does not
CASES = [
    ("http://127.0.0.*:8800/*", ["http://127.0.0.10:8800/", "http://127.0.0.9:8800/a/b?c"], ["http://127.0.0.1:88/"]),
    ("https://example.org/docs/*", ["https://example.org/docs/a/b"], ["https://example.org/docs", "http://h/docs/a"]),
    ("*.pdf", ["http://h/a.pdf"], ["http://h/a.pdf?x", "http://h/a.PDF"]),
    ("*/private/*", ["http://h/private/", "https://h/a/private/b"], ["http://h/private"]),
    ("*/p?.html", ["http://h/p1.html"], ["http://h/p.html", "http://h/p12.html"]),
    ("*/p[0-9].html", ["http://h/p1.html"], ["http://h/px.html"]),
    ("*/p[!0-9].html", ["http://h/px.html"], ["http://h/p1.html"]),
    ("*[?]*", ["http://h/?a", "http://h/a?"], ["http://h/a"]),
    ("http://h/search?q=*", ["http://h/search?q=1"], ["http://h/search"]),
    ("*$", ["http://h/a$"], ["http://h/a$b", "http://h/a"]),
    ("http://[::1]:8000/*", ["http://[::1]:8000/a"], ["http://[::2]:8000/a"]),
    ("http://[::1]/p?", ["http://[::1]/p1"], ["http://:/p1", "http://[::1]/p"]),
    ("HTTP://Example.ORG/Docs/*", ["http://example.org/Docs/a"], ["http://example.org/docs/a"]),
    ("http://*.Example.org/*", ["http://www.example.org/"], ["http://example.org/"]),
    ("http://example.org:80/*", ["http://example.org/a"], ["http://example.org:8080/a"]),
    ("http://bücher.example/*", ["http://xn--bcher-kva.example/a"], []),
    ("*/Größe/*", ["http://h/Gr%C3%B6%C3%9Fe/a"], []),
    ("https://example.org", ["https://example.org/"], ["https://example.org/a"]),
    (" http://h/a ", ["http://h/a"], ["http://h/ab"]),
    ("h*", ["http://h/", "https://h/"], []),
    ("*", ["http://h/"], []),
]

# glob → words of the complaint
WRONG = [
    ("", "empty"),
    ("  ", "empty"),
    ("http://h/[ab", "without a ]"),
    ("*[!]", "without a ]"),
    ("*?*", "[?] for a question mark"),
    ("example.org/*", "did you mean '*example.org/*' ?"),
    ("http", "did you mean"),
    ("/private/*", "did you mean '*/private/*' ?"),
    ("ftp://h/*", "matches no URL"),
    ("http://*.bücher.example/*", "ASCII"),
    ("http://exa mple/*", "not an http or https URL"),
]


@pytest.mark.parametrize(("glob", "inside", "outside"), CASES, ids=[case[0] for case in CASES])
def test_globs(glob: str, inside: list[str], outside: list[str]) -> None:
    table = parse_url_globs([glob], "--include")
    assert [url for url in inside if table.first(url) is None] == []
    assert [url for url in outside if table.first(url) is not None] == []


@pytest.mark.parametrize(("glob", "words"), WRONG)
def test_a_glob_that_cannot_be_meant(glob: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        parse_url_globs(["*.html", glob], "--exclude")
    assert str(error.value).startswith("--exclude ")
    assert words in str(error.value)


def test_the_first_that_matches_is_named() -> None:
    table = GlobTable(["*/a?", "*/ab", "http://h/*", "*/[xy]"])
    assert [table.first(f"http://h/{path}") for path in ("ab", "x", "")] == ["*/a?", "http://h/*", "http://h/*"]
    assert [table.first(f"http://g/{path}") for path in ("ac", "x", "")] == ["*/a?", "*/[xy]", None]
    assert GlobTable([]).first("http://h/") is None


GLOB = st.text(alphabet="ab*?[]!^-/:.$", max_size=12)


@given(globs=st.lists(GLOB, max_size=5), text=st.text(alphabet="ab?[]!^-/:.$", max_size=12))
@example(globs=["[!]]"], text="]")
@example(globs=["[[]*[?]"], text="[a?")
def test_the_shells_meaning(globs: list[str], text: str) -> None:
    """But for the host of an IPv6 address."""
    globs = [glob for glob in globs if "://[" not in glob]
    expected = next((glob for glob in globs if fnmatch.fnmatchcase(text, glob)), None)
    assert GlobTable(globs).first(text) == expected


@given(glob=st.text(max_size=40) | GLOB.map("http://".__add__))
def test_whatever_is_typed_is_a_glob_or_one_complaint(glob: str) -> None:
    for parse in (parse_url_globs, parse_type_globs):
        try:
            parse([glob], "--include").first("http://example.org/")
        except InputError as error:
            complaint = str(error)
            assert complaint.startswith("--include ")


@pytest.mark.parametrize("glob", ["*a" * 4000 + "*b", "*a?" * 3000 + "*b", "*[ab]" * 2000 + "*c", "*" * 9000 + "b"])
def test_hostile_globs_end(glob: str) -> None:
    """A matcher that goes back would not."""
    assert GlobTable([glob]).first("http://h/" + "a" * 8000) is None


def test_types() -> None:
    table = parse_type_globs(["Text/HTML ", "image/*", "application/*+xml"], "--type")
    assert [table.first(text) for text in ("text/html", "image/png", "application/rss+xml", "text/plain", "")] == [
        *("text/html", "image/*", "application/*+xml"),
        *(None, None),
    ]
    for wrong in ("html", "", "text/html/x", "text/[ht"):
        with pytest.raises(InputError, match="--type"):
            parse_type_globs([wrong], "--type")
