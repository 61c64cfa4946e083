"""Arguments of calls come from models: each is read as it is meant, or the error says what would be right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.agents.arguments import Arguments, url_of
from goodbot.errors import InputError

NAMES = ("url", "urls", "query", "limit", "whole", "as")

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def test_arguments_are_read_by_their_kind() -> None:
    given_values = {"url": " HTTP://Example.ORG:80/a/../b#c ", "limit": 5.0, "whole": True, "as": "text", "query": None}
    arguments = Arguments(given_values, NAMES)
    assert arguments.url("url").text == "http://example.org/b"
    assert (arguments.number("limit", 10, 1, 50), arguments.number("query", 10, 1, 50)) == (5, 10)
    assert (arguments.flag("whole"), arguments.choice("as", ("text", "html"), "html")) == (True, "text")
    assert ("url" in arguments, "query" in arguments) == (True, False)


@pytest.mark.parametrize(
    ("typed", "requested"),
    [
        ("https://user:secret@example.org/", "https://example.org/"),
        ("https://example.org./closed", "https://example.org/closed"),
        ("http://example.org.:8080/x.", "http://example.org:8080/x."),
        ("https://EXAMPLE.org:443/%63losed/./x/..", "https://example.org/%63losed/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://[::ffff:7f00:1]/", "http://[::ffff:7f00:1]/"),
        ("https://bücher.example/", "https://xn--bcher-kva.example/"),
    ],
)
def test_a_url_is_requested_in_normal_form(typed: str, requested: str) -> None:
    assert url_of(typed).text == requested


@pytest.mark.parametrize(
    ("values", "name", "complaint"),
    [
        ({"url": "ftp://example.org/"}, "url", "'ftp://example.org/' is not a complete http or https URL such as"),
        ({"url": "file:///etc/passwd"}, "url", "not a complete http or https URL"),
        ({"url": "javascript:alert(1)"}, "url", "not a complete http or https URL"),
        ({"url": "example.org"}, "url", "not a complete http or https URL"),
        ({"url": ""}, "url", "url is empty"),
        ({"url": ["https://example.org/"]}, "url", "url must be a string, not"),
        ({}, "url", "url is missing: give an http or https URL"),
        ({"url": None}, "url", "url is missing"),
        ({}, "urls", "urls is missing"),
        ({"url": "https://example.org/" + "x" * 9000}, "url", "at most 8,192 characters"),
        ({"urls": []}, "urls", "must be a list of one or more URLs"),
        ({"urls": "https://example.org/"}, "urls", "must be a list of one or more URLs"),
        ({"urls": ["https://example.org/", 1]}, "urls", "must be a list of one or more URLs"),
        ({"urls": ["https://example.org/"] * 21}, "urls", "at most 20 URLs"),
        ({"urls": ["https://a/" + "x" * 9000]}, "urls", "at most 8,192 characters"),
        ({"limit": "5"}, "limit", "whole number from 1 to 50"),
        ({"limit": 0}, "limit", "whole number from 1 to 50"),
        ({"limit": 10**400}, "limit", "whole number from 1 to 50"),
        ({"limit": True}, "limit", "whole number from 1 to 50"),
        ({"limit": float("inf")}, "limit", "whole number from 1 to 50"),
        ({"whole": "true"}, "whole", "must be true or false"),
        ({"as": "pdf"}, "as", "must be one of text, html"),
        ({"uri": 1}, "url", "unknown argument 'uri': the arguments are url, urls"),
    ],
)
def test_an_error_says_in_one_line_what_would_be_right(values: dict[str, object], name: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        read(values, name)
    assert len(str(caught.value)) < 300
    assert len(str(caught.value).splitlines()) == 1


def read(values: dict[str, object], name: str) -> object:
    arguments = Arguments(values, NAMES)
    match name:
        case "url":
            return arguments.url("url")
        case "urls":
            return arguments.urls("urls", 20)
        case "limit":
            return arguments.number("limit", 10, 1, 50)
        case "whole":
            return arguments.flag("whole")
    return arguments.choice("as", ("text", "html"), "html")


@given(st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=8), JSON, max_size=4), st.sampled_from(NAMES))
def test_any_json_is_an_argument_or_an_error_of_one_line(values: dict[str, object], name: str) -> None:
    text = ""
    try:
        read(values, name)
    except InputError as error:
        text = str(error)
    assert len(text.splitlines()) <= 1
    assert len(text) < 400
