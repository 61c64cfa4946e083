"""What services answer, judged."""

from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.answers import ANSWER_CHARS, answer_text, judge
from goodbot.announce.key import check_key
from goodbot.one_shot import service_request
from goodbot.url import Url
from goodbot.values import Capture, Failure, FailureKind, Headers, Response

URL = Url("https://search.example/indexnow")
NOW = 1_700_000_000.0


def capture_of(result: Response | Failure) -> Capture:
    return Capture(service_request(URL), result, NOW, 0.1)


ANSWERS = [
    (200, (), "accepted", "accepted", None),
    (202, (), "accepted", "has not checked the key", None),
    (204, (), "give up", "not an answer of an IndexNow service", None),
    (302, (("Location", "https://other.example/\x1b"),), "give up", r"redirects to https://other.example/\x1b", None),
    (302, (), "give up", "redirects, which is not followed", None),
    (304, (("Location", "/x"),), "give up", "not an answer of an IndexNow service", None),
    (400, (), "refuse batch", "does not understand", None),
    (401, (), "refuse host", "does not accept the key", None),
    (403, (("Retry-After", "5"),), "refuse host", "does not accept the key", None),
    (404, (), "give up", "no IndexNow service", None),
    (405, (), "give up", "no POST", None),
    (413, (), "refuse batch", "longer", None),
    (422, (), "refuse batch", "invalid or not of this host", None),
    (418, (), "refuse batch", "refuses", None),
    (429, (("Retry-After", "7"),), "try again", "too many requests", 7.0),
    (429, (("Retry-After", "soon"),), "try again", "too many requests", None),
    (500, (), "try again", "problem of its own", None),
    (503, (("retry-after", "Tue, 14 Nov 2023 22:13:30 GMT"),), "try again", "problem of its own", 10.0),
    (501, (), "give up", "no POST", None),
    (999, (), "give up", "not an answer", None),
]


@pytest.mark.parametrize(("status", "headers", "action", "meaning", "wait_s"), ANSWERS)
def test_statuses(status: int, headers: Headers, action: str, meaning: str, wait_s: float | None) -> None:
    found = judge(capture_of(Response(status, headers, b"text")), NOW)
    assert (found.action, found.status, found.answer, found.wait_s) == (action, status, "text", wait_s)
    assert meaning in found.meaning


@pytest.mark.parametrize(
    ("kind", "lasting", "action"),
    [("timeout", False, "try again"), ("connect", False, "try again"), ("private-address", True, "give up")],
)
def test_no_answer(kind: FailureKind, lasting: bool, action: str) -> None:
    found = judge(capture_of(Failure(kind, "no answer\x1b in 30 s", lasting)), NOW)
    assert (found.action, found.status) == (action, None)
    assert found.meaning == r"no answer: no answer\x1b in 30 s"


TEXTS = [
    (b'{"error": "the key\\nis wrong"}', "the key is wrong"),
    (b'{"code": "Bad", "message": "Invalid"}', "Invalid"),
    (b'{"message": 1}', '{"message": 1}'),
    (b"[1]", "[1]"),
    (b"[" * 5_000, "[" * ANSWER_CHARS + "…"),
    (b"", ""),
    (b"\xff\x1b[2J", r"�\x1b[2J"),
    (b"<!doctype html><title>Home</title>", "(an HTML page)"),
    (b"word " * 9_999, ("word " * 99)[:ANSWER_CHARS] + "…"),
]


@pytest.mark.parametrize(("body", "text"), TEXTS, ids=range(len(TEXTS)))
def test_the_text_of_an_answer(body: bytes, text: str) -> None:
    assert answer_text(Response(422, (), body)) == text


CODINGS = st.sampled_from([(), (("Content-Encoding", "gzip"),), (("Content-Encoding", "br, zstd"),)])
HEADERS = st.lists(st.tuples(st.sampled_from(["Retry-After", "Location", "Date"]), st.text()), max_size=3)


@given(st.integers(100, 999), CODINGS, HEADERS, st.binary() | st.text().map(str.encode))
def test_no_answer_raises(status: int, coding: Headers, headers: list[tuple[str, str]], body: bytes) -> None:
    capture = capture_of(Response(status, (*coding, *headers), body))
    found = judge(capture, NOW)
    assert len(found.answer) <= ANSWER_CHARS * 10
    assert all(each.isprintable() or category(each) == "Zs" for each in found.answer + found.meaning)
    check = check_key(URL, "0123456789", capture)
    assert check.is_right == (status == 200 and not coding and body.strip() == b"0123456789")
