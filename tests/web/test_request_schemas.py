"""What the description of the API allows is accepted, as far as a pattern can say it. test_schemathesis.py asks the
service itself."""

import re
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.filters import SPACES, read_filters
from goodbot.search_values import Filters
from goodbot.url import requested
from goodbot.visitor_urls import named_host
from goodbot.web.machines import request_schemas as schemas
from goodbot.web.machines.api_values import Schema

FILTERS = {
    "site": schemas.SITE_FILTER,
    "language": schemas.LANGUAGE_FILTER,
    "filetype": schemas.TYPE_FILTER,
    "after": schemas.DATE_FILTER["anyOf"][1],
}


def matching(schema: Schema) -> st.SearchStrategy[str]:
    pattern: str = schema["pattern"]
    return st.from_regex(pattern, fullmatch=True)


def test_spaces_are_those_that_python_strips() -> None:
    space = re.compile(f"[{SPACES}]")
    characters = [chr(number) for number in range(0x110000)]
    assert [each for each in characters if space.match(each)] == [each for each in characters if not each.strip()]


@given(st.data(), st.sampled_from(sorted(FILTERS)))
def test_filters_that_match_can_be_used(data: st.DataObject, name: str) -> None:
    read_filters(Filters(**{name: data.draw(matching(FILTERS[name]))}))


@given(matching(schemas.CHECK_BODY["allOf"][1]["oneOf"][0]["properties"]["url"]))
def test_urls_for_the_checker_that_match_can_be_requested(text: str) -> None:
    assert requested(text) is not None or named_host(text)


CHECKS: list[tuple[dict[str, Any], bool]] = [
    ({"robots": ""}, True),
    ({"robots": "", "agent": None, "url": " "}, True),
    ({"robots": "", "agent": "MyBot", "url": "/x"}, True),
    ({"robots": "", "agent": "MyBot", "url": "http://127.0.0.1:8020/x?y"}, True),
    ({"site": "example.org"}, True),
    ({"site": "https://example.org/", "robots": None}, True),
    ({}, False),
    ({"robots": None}, False),
    ({"robots": "", "site": "example.org"}, False),
    ({"robots": "", "agent": "MyBot"}, False),
    ({"robots": "", "url": "/x"}, False),
    ({"robots": "", "agent": "x" * 501, "url": "/x"}, False),
    ({"robots": "", "agent": "MyBot", "url": "private"}, False),
    ({"site": "javascript:1"}, False),
    ({"robots": "", "other": ""}, False),
]


@pytest.mark.parametrize(("body", "is_valid"), CHECKS, ids=[str(sorted(body)) for body, _ in CHECKS])
def test_bodies_for_the_checker(body: dict[str, Any], is_valid: bool) -> None:
    assert jsonschema.Draft202012Validator(schemas.CHECK_BODY).is_valid(body) is is_valid


URLS = {
    **dict.fromkeys(("https://example.org/", "http://127.0.0.1:60999/%D0%B6?a=b#c", "http://[::1]:8020/"), True),
    **dict.fromkeys(("https://xn--e1afmkfd.xn--p1ai/", "http://wiki/a", "example.org/a", "127.0.0.1:8020"), True),
    **dict.fromkeys(("http://1.2.3.4.5/", "example.org"), True),
    **dict.fromkeys(
        ("wiki/a", "/a", "javascript:1", "ftp://example.org/", "http://me@example.org/", "", "null"), False
    ),
}


@pytest.mark.parametrize(("text", "is_valid"), URLS.items())
def test_urls(text: str, is_valid: bool) -> None:
    assert jsonschema.Draft202012Validator(schemas.URL).is_valid(text) is is_valid
