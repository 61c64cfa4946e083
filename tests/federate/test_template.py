"""OpenSearch templates: what is filled in, and which ones cannot be used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.federate.template import CIRCLES, Question, Template, codec_of, search_url, template_fault
from goodbot.url import parse_url

X = "https://x.example/"

# template, question, the URL that is requested
FILLED: list[tuple[str, Template, Question, str]] = [
    ("terms", Template(f"{X}?q={{searchTerms}}"), Question("crawl delay"), f"{X}?q=crawl%20delay"),
    ("markup", Template(f"{X}?q={{searchTerms}}"), Question("a&b=c#d?"), f"{X}?q=a%26b%3Dc%23d%3F"),
    ("Russian", Template(f"{X}?q={{searchTerms}}"), Question("жук"), f"{X}?q=%D0%B6%D1%83%D0%BA"),
    ("in the path", Template(f"{X}{{searchTerms}}/all"), Question("a/b"), f"{X}a%2Fb/all"),
    ("page", Template(f"{X}?q={{searchTerms}}&p={{startPage?}}"), Question("a", 3, 20), f"{X}?q=a&p=3"),
    ("page from 0", Template(f"{X}?q={{searchTerms}}&p={{startPage}}", "", 1, 0), Question("a", 3), f"{X}?q=a&p=2"),
    ("index", Template(f"{X}?q={{searchTerms}}&i={{startIndex}}"), Question("a", 3, 17), f"{X}?q=a&i=18"),
    ("index from 0", Template(f"{X}?q={{searchTerms}}&i={{startIndex}}", "", 0), Question("a", 2, 10), f"{X}?q=a&i=10"),
    ("count", Template(f"{X}?q={{searchTerms}}&n={{count?}}"), Question("a"), f"{X}?q=a&n=10"),
    ("any language", Template(f"{X}?q={{searchTerms}}&l={{language}}"), Question("a"), f"{X}?q=a&l=*"),
    ("no language", Template(f"{X}?q={{searchTerms}}&l={{language?}}"), Question("a"), f"{X}?q=a"),
    ("encoding", Template(f"{X}?e={{inputEncoding}}&q={{searchTerms}}"), Question("a"), f"{X}?e=UTF-8&q=a"),
    ("Latin-2", Template(f"{X}?q={{searchTerms}}", encoding="iso-8859-2"), Question("żę"), f"{X}?q=%BF%EA"),
    ("all at once", Template(f"{X}?q={{searchTerms}}&n={{count}}"), Question("a", wanted=30), f"{X}?q=a&n=30"),
    (
        "page by page",
        Template(f"{X}?q={{searchTerms}}&n={{count}}&p={{startPage}}"),
        Question("a", wanted=30),
        f"{X}?q=a&n=10&p=1",
    ),
    ("extension", Template(f"{X}?q={{searchTerms}}&g={{geo:box?}}&h=1"), Question("a"), f"{X}?q=a&h=1"),
    ("part of a field", Template(f"{X}?q={{searchTerms}}+{{x:y?}}"), Question("a"), f"{X}?q=a+"),
    ("a fragment", Template(f"{X}?q={{searchTerms}}#{{count}}"), Question("a"), f"{X}?q=a"),
    ("a port", Template("http://127.0.0.1:8020/?q={searchTerms}"), Question("a"), "http://127.0.0.1:8020/?q=a"),
]


@pytest.mark.parametrize(("template", "question", "url"), [row[1:] for row in FILLED], ids=[row[0] for row in FILLED])
def test_what_is_filled_in(template: Template, question: Question, url: str) -> None:
    assert str(search_url(template, question)) == url
    assert template_fault(template.text) == ""


FAULTS: list[tuple[str, str]] = [
    (f"{X}?q=robots", "it lacks {searchTerms}"),
    (f"{X}?q={{searchTerm}}", "it lacks {searchTerms}"),
    (f"{X}#{{searchTerms}}", "it lacks {searchTerms}"),
    ("javascript:alert({searchTerms})", "it must begin with http:// or https:// and a host"),
    ("ftp://x.example/?q={searchTerms}", "it must begin with http:// or https:// and a host"),
    ("https://{searchTerms}.x.example/", "it must begin with http:// or https:// and a host"),
    ("//x.example/?q={searchTerms}", "it must begin with http:// or https:// and a host"),
    ("https://x.example\\@y.example/{searchTerms}", "it must begin with http:// or https:// and a host"),
    ("https://1.2.3.4.5/?q={searchTerms}", "it is not a valid URL"),
    ("https://u:p@x.example/?q={searchTerms}", "it has a user name or a password"),
    ("https://x.example/?q={searchTerms}&others=1", CIRCLES),
    ("https://x.example/?others=1&q={searchTerms}", CIRCLES),
    ("https://x.example/?q={searchTerms}&others={startPage}", CIRCLES),
    ("https://x.example/?q={searchTerms}&%6fthers=%31", CIRCLES),
    (f"{X}?q={{searchTerms}}&k={{apiKey}}", "it needs {apiKey}, which no search has"),
    (f"{X}?q={{searchTerms}}&{'x' * 9000}", "it has more than 8192 characters"),
]


@pytest.mark.parametrize(("text", "fault"), FAULTS, ids=[text[:40] for text, _ in FAULTS])
def test_what_cannot_be_used(text: str, fault: str) -> None:
    assert template_fault(text) == fault


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("UTF-8", "utf-8"),
        ("latin1", "iso8859-1"),
        ("us-ascii", "ascii"),
        ("Shift_JIS", "shift_jis"),
        ("windows-874", None),
        ("x-cp1251", "cp1251"),
        ("utf-16", None),
        ("rot13", None),
        ("klingon", None),
        ("", None),
    ],
)
def test_encodings_of_queries(label: str, codec: str | None) -> None:
    assert codec_of(label) == codec


@pytest.mark.parametrize(
    ("query", "is_sent"), [(".", False), ("..", False), ("...", True), ("/..", True), ("%2e", True)]
)
def test_a_query_is_no_step_in_a_path(query: str, is_sent: bool) -> None:
    assert (search_url(Template(f"{X}a/{{searchTerms}}/b"), Question(query)) is not None) is is_sent
    assert search_url(Template(f"{X}?q={{searchTerms}}"), Question(query)) is not None


def test_a_query_that_is_too_long_has_no_url() -> None:
    assert search_url(Template(f"{X}?q={{searchTerms}}"), Question("x" * 9000)) is None


@pytest.mark.parametrize(("text", "has_pages"), [("{startPage?}", True), ("{startIndex}", True), ("{count?}", False)])
def test_whether_there_are_more_pages(text: str, has_pages: bool) -> None:
    assert Template(f"{X}?q={{searchTerms}}&x={text}").has_pages is has_pages


PARTS = [
    "https://",
    "http://",
    "x.example",
    "/",
    "?",
    "&",
    "=",
    "#",
    "{",
    "}",
    "searchTerms",
    "startPage",
    "?}",
    "\0",
    "@",
]


@given(st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=20).map("".join), st.text(max_size=50))
def test_a_query_never_changes_where_it_is_sent(template: str, query: str) -> None:
    if template_fault(template) == "":
        url, start = search_url(Template(template), Question(query)), search_url(Template(template), Question("x"))
        assert url is not None
        assert start is not None
        assert url.origin == start.origin
        assert parse_url(url.text) == url
