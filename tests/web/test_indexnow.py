"""IndexNow requests: https://www.indexnow.org/documentation."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.batches import MAX_URLS
from goodbot.visitor_values import IndexNowOutcome
from goodbot.web.visitors.indexnow import (
    IndexNowRequest,
    MisplacedUrls,
    parse_indexnow,
    read_indexnow_query,
)

Read = IndexNowRequest | MisplacedUrls | IndexNowOutcome

KEY = "0123abcd-KEY"
GOOD: dict[str, Any] = {
    "host": "www.example.org",
    "key": KEY,
    "urlList": ["https://www.example.org/a", "http://www.example.org/b?c=d#e"],
}


def posted(**changes: Any) -> Read:
    fields = {**GOOD, **changes}
    return parse_indexnow(json.dumps({name: value for name, value in fields.items() if value is not ...}).encode())


def status_of(found: Read) -> int | None:
    """Returns the status of the answer if the crawl knows the host; None if the request is accepted."""
    match found:
        case MisplacedUrls():
            return 422
        case IndexNowOutcome(status):
            return status
    return None


def test_a_request() -> None:
    request = posted()
    assert isinstance(request, IndexNowRequest)
    assert (request.host, request.key) == ("www.example.org", KEY)
    assert request.key_location.text == f"https://www.example.org/{KEY}.txt"
    assert [url.text for url in request.urls] == ["https://www.example.org/a", "http://www.example.org/b?c=d"]


ACCEPTED: dict[str, tuple[dict[str, Any], str]] = {
    "http alone": ({"urlList": ["http://www.example.org/a"]}, f"http://www.example.org/{KEY}.txt"),
    "a key elsewhere": (
        {"urlList": ["https://www.example.org/c/a"], "keyLocation": "https://www.example.org/c/k.txt"},
        "https://www.example.org/c/k.txt",
    ),
    "no key location": ({"keyLocation": None}, f"https://www.example.org/{KEY}.txt"),
    "upper case": ({"host": "WWW.Example.org"}, f"https://www.example.org/{KEY}.txt"),
    "a port": (
        {"host": "example.org:8443", "urlList": ["https://example.org:8443/"]},
        f"https://example.org:8443/{KEY}.txt",
    ),
    "another alphabet": (
        {"host": "пример.рф", "urlList": ["https://пример.рф/ж"]},
        f"https://xn--e1afmkfd.xn--p1ai/{KEY}.txt",
    ),
    "other fields": ({"other": [1, {}]}, f"https://www.example.org/{KEY}.txt"),
    "the shortest key": ({"key": "a" * 8}, f"https://www.example.org/{'a' * 8}.txt"),
    "the longest key": ({"key": "-" * 128}, f"https://www.example.org/{'-' * 128}.txt"),
    "the same URL twice": ({"urlList": ["https://www.example.org/a"] * 2}, f"https://www.example.org/{KEY}.txt"),
    "most URLs": (
        {"urlList": [f"https://www.example.org/{number}" for number in range(MAX_URLS)]},
        f"https://www.example.org/{KEY}.txt",
    ),
}


@pytest.mark.parametrize(("changes", "location"), ACCEPTED.values(), ids=ACCEPTED.keys())
def test_accepted(changes: dict[str, Any], location: str) -> None:
    request = posted(**changes)
    assert isinstance(request, IndexNowRequest)
    assert request.key_location.text == location
    assert len(request.urls) == len(set(request.urls))


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "no host": ({"host": ...}, 400, "JSON object"),
    "no key": ({"key": ...}, 400, "JSON object"),
    "no list": ({"urlList": ...}, 400, "JSON object"),
    "a text for a list": ({"urlList": "https://www.example.org/a"}, 400, "JSON object"),
    "a number for a URL": ({"urlList": [7]}, 400, "JSON object"),
    "a number for a key": ({"key": 12345678}, 400, "JSON object"),
    "an empty list": ({"urlList": []}, 400, "1 to 10,000"),
    "too many URLs": ({"urlList": ["https://www.example.org/"] * (MAX_URLS + 1)}, 400, "1 to 10,000"),
    "a short key": ({"key": "1234567"}, 422, "8 to 128"),
    "a long key": ({"key": "a" * 129}, 422, "8 to 128"),
    "a key with a path": ({"key": "../../etc"}, 422, "8 to 128"),
    "a key with a line end": ({"key": "12345678\n"}, 422, "8 to 128"),
    "another host": ({"urlList": ["https://example.org/"]}, 422, "https://example.org/ is not a URL of the host"),
    "one URL of another host": (
        {"urlList": ["https://www.example.org/", "https://evil.example/"]},
        422,
        "evil.example/ is not a URL of the host",
    ),
    "another port": ({"urlList": ["https://www.example.org:8443/"]}, 422, "is not a URL of the host"),
    "a user name": ({"urlList": ["https://me@www.example.org/"]}, 422, "is not a URL of the host"),
    "a file": ({"urlList": ["file:///etc/passwd"]}, 422, "is not a URL of the host"),
    "a path alone": ({"urlList": ["/a"]}, 422, "is not a URL of the host"),
    "a host with a path": ({"host": "www.example.org/a"}, 422, "is not a URL of the host"),
    "a host with a user name": ({"host": "me@www.example.org"}, 422, "is not a URL of the host"),
    "a URL for a host": ({"host": "https://www.example.org"}, 422, "is not a URL of the host"),
    "an empty host": ({"host": ""}, 422, "is not a URL of the host"),
    "a key on another host": ({"keyLocation": "https://evil.example/k.txt"}, 403, "`keyLocation` must be"),
    "a key with a query": ({"keyLocation": f"https://www.example.org/echo?{KEY}"}, 403, "`keyLocation` must be"),
    "a key in another folder": ({"keyLocation": "https://www.example.org/c/k.txt"}, 403, "the folder of the key file"),
    "out of the folder": (
        {"urlList": ["https://www.example.org/c/../a"], "keyLocation": "https://www.example.org/c/k.txt"},
        403,
        "the folder of the key file",
    ),
    "out of the folder, encoded": (
        {"urlList": ["https://www.example.org/c/%2e%2E/a"], "keyLocation": "https://www.example.org/c/k.txt"},
        403,
        "the folder of the key file",
    ),
}


@pytest.mark.parametrize(("changes", "status", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(changes: dict[str, Any], status: int, reason: str) -> None:
    outcome = posted(**changes)
    assert not isinstance(outcome, IndexNowRequest)
    assert status_of(outcome) == status
    assert reason in outcome.reason
    assert len(outcome.reason) < 400


QUERIES: dict[str, tuple[dict[str, str], int | None]] = {
    "a URL": ({"url": "https://www.example.org/a", "key": KEY}, None),
    "a port": ({"url": "http://127.0.0.1:8020/a", "key": KEY}, None),
    "a key elsewhere": (
        {"url": "https://www.example.org/c/a", "key": KEY, "keyLocation": "https://www.example.org/c/k.txt"},
        None,
    ),
    "an empty place of the key": ({"url": "https://www.example.org/a", "key": KEY, "keyLocation": ""}, None),
    "no URL": ({"key": KEY}, 400),
    "no key": ({"url": "https://www.example.org/a"}, 400),
    "no URL at all": ({"url": "nonsense", "key": KEY}, 422),
    "a bad key": ({"url": "https://www.example.org/a", "key": "?"}, 422),
    "a key of another host": (
        {"url": "https://www.example.org/a", "key": KEY, "keyLocation": "https://example.org/k.txt"},
        403,
    ),
}


@pytest.mark.parametrize(("fields", "status"), QUERIES.values(), ids=QUERIES.keys())
def test_the_query_of_a_get(fields: dict[str, str], status: int | None) -> None:
    found = read_indexnow_query(fields)
    if status is None:
        assert isinstance(found, IndexNowRequest)
        assert [url.text for url in found.urls] == [fields["url"]]
    else:
        assert status_of(found) == status


def test_a_byte_order_mark_is_skipped() -> None:
    assert isinstance(parse_indexnow(b"\xef\xbb\xbf" + json.dumps(GOOD).encode()), IndexNowRequest)


HOSTILE = [
    b"",
    b"[]",
    b"null",
    b"\xff",
    b"[" * 1_000_000,
    b'{"host":' * 100_000,
    b'{"host": "\\ud800", "key": "12345678"',
]


@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_bodies(body: bytes) -> None:
    outcome = parse_indexnow(body)
    assert isinstance(outcome, IndexNowOutcome)
    assert outcome.status == 400


_TEXTS = st.text(max_size=40) | st.sampled_from(
    [
        "example.org",
        "https://example.org/",
        "https://example.org/c/a",
        "http://example.org/c/k.txt",
        KEY,
        "..",
        "@",
        "[::1]",
    ]
)
_VALUES = st.recursive(st.none() | st.booleans() | st.floats() | _TEXTS, lambda inner: st.lists(inner, max_size=3))
_BODIES = st.fixed_dictionaries(
    {"host": _TEXTS | _VALUES, "key": _TEXTS | _VALUES, "urlList": st.lists(_TEXTS, max_size=4) | _VALUES},
    optional={"keyLocation": _TEXTS | _VALUES},
)


@given(st.binary() | _BODIES.map(lambda value: json.dumps(value).encode()))
def test_every_body_has_an_answer(body: bytes) -> None:
    check(parse_indexnow(body))


@given(st.dictionaries(st.sampled_from(["url", "key", "keyLocation"]), _TEXTS))
def test_every_query_has_an_answer(fields: dict[str, str]) -> None:
    check(read_indexnow_query(fields))


def check(found: Read) -> None:
    """A refusal is one line; an accepted request names only URLs below the folder of the key."""
    if not isinstance(found, IndexNowRequest):
        assert status_of(found) in (400, 403, 422)
        assert "\n" not in found.reason
        return
    folder = found.key_location.path.rpartition("/")[0] + "/"
    assert found.urls
    assert {url.host for url in found.urls} == {found.key_location.host}
    assert all(url.path.startswith(folder) for url in found.urls)
