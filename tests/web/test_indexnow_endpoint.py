"""IndexNow over HTTP."""

import json
from urllib.parse import urlencode

import pytest

from goodbot.announce.batches import MAX_BODY_BYTES
from goodbot.errors import RunError
from goodbot.visitor_values import IndexNowOutcome
from goodbot.web import Rate, Site
from web.library import Answer, Visitor
from web.visitor_desks import HOST, SITE, Desk, url, visited

KEY = "0123456789abcdef"
BODY = {"host": HOST, "key": KEY, "urlList": [f"https://{HOST}/", f"https://{HOST}/new"]}


def post(visitor: Visitor, body: object) -> Answer:
    return visitor.ask("/indexnow", "POST", json.dumps(body).encode(), Content_Type="application/json; charset=utf-8")


def get(visitor: Visitor, **fields: str) -> Answer:
    return visitor.ask("/indexnow?" + urlencode(fields))


OUTCOMES = [
    (IndexNowOutcome(200, "2 of 2 URLs belong to this crawl"), "message", False),
    (IndexNowOutcome(202, "this server cannot check the key"), "message", False),
    (IndexNowOutcome(403, "the key file does not have the key"), "error", False),
    (IndexNowOutcome(422, "none of the URLs was submitted"), "error", False),
    (IndexNowOutcome(429, "too many sites were fetched"), "error", True),
]


@pytest.mark.parametrize(("outcome", "key", "waits"), OUTCOMES)
def test_outcomes(outcome: IndexNowOutcome, key: str, waits: bool) -> None:
    with visited(Desk(outcome=outcome)) as visitor:
        for answer in (post(visitor, BODY), get(visitor, url=f"https://{HOST}/", key=KEY)):
            assert answer.status == outcome.status
            assert json.loads(answer.text) == {key: outcome.reason}
            assert (answer.headers["Retry-After"] is not None) == waits


def test_what_is_taken() -> None:
    desk = Desk()
    with visited(desk) as visitor:
        post(visitor, BODY)
        get(visitor, url=f"https://{HOST}/a/b", key=KEY, keyLocation=f"https://{HOST}/a/key.txt")
    first, second = desk.taken
    assert (first.host, first.key, first.urls) == (HOST, KEY, (url("/"), url("/new")))
    assert (second.urls, second.key_location) == ((url("/a/b"),), url("/a/key.txt"))


BAD_BODIES = [
    (b"", 400),
    (b"{", 400),
    (b"[" * 100_000, 400),
    (json.dumps({**BODY, "urlList": []}).encode(), 400),
    (json.dumps({**BODY, "key": "short"}).encode(), 422),
    (json.dumps({**BODY, "urlList": ["https://other.example/"]}).encode(), 422),
    (json.dumps({**BODY, "host": "unknown.example"}).encode(), 403),
    (json.dumps({**BODY, "host": "1.2.3.4.5"}).encode(), 403),
    (json.dumps({**BODY, "keyLocation": "https://other.example/key.txt"}).encode(), 403),
    (b"x" * (MAX_BODY_BYTES + 1), 413),
]


@pytest.mark.parametrize(("body", "status"), BAD_BODIES, ids=range(len(BAD_BODIES)))
def test_bad_bodies(body: bytes, status: int) -> None:
    desk = Desk()
    with visited(desk) as visitor:
        answer = visitor.ask("/indexnow", "POST", body)
    assert answer.status == status
    assert set(json.loads(answer.text)) == {"error"}
    assert "`" not in answer.text
    assert desk.taken == []


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400),
        ("?url=https://x.example/", 400),
        (f"?key={KEY}", 400),
        (f"?url=x&key={KEY}", 422),
        (f"?url=http://1.2.3.4.5/&key={KEY}", 403),
        ("?url=%00&key=%00", 422),
    ],
)
def test_bad_queries(query: str, status: int) -> None:
    desk = Desk()
    with visited(desk) as visitor:
        answer = visitor.ask("/indexnow" + query)
    assert answer.status == status
    assert set(json.loads(answer.text)) == {"error"}
    assert desk.taken == []


def test_a_crawl_that_does_not_answer(caplog: pytest.LogCaptureFixture) -> None:
    with visited(Desk(trouble=RunError("/srv/crawl is damaged"))) as visitor:
        answer = post(visitor, BODY)
    assert (answer.status, answer.headers["Retry-After"]) == (503, "60")
    assert "/srv" not in answer.text
    assert "/srv/crawl" in caplog.text


def test_switched_off() -> None:
    desk = Desk()
    with visited(desk, Site(submissions=False, post_rate=SITE.post_rate)) as visitor:
        assert (post(visitor, BODY).status, get(visitor).status) == (403, 403)
    assert desk.taken == []


def test_other_methods() -> None:
    with visited() as visitor:
        answer = visitor.ask("/indexnow", "DELETE")
    assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD, POST")


def test_too_many_requests() -> None:
    with visited(site=Site(post_rate=Rate(1, 1))) as visitor:
        first, second = post(visitor, BODY), get(visitor, url=f"https://{HOST}/", key=KEY)
    assert (first.status, second.status) == (200, 429)
    assert second.headers["Retry-After"] is not None
