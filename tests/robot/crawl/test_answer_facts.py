"""Sentences about answers are read back as they were written."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import RobotsTxt
from goodbot.robot.crawl.answer_facts import AnswerSize, answer_size, fetched_event, redirect_reason, redirected_to
from goodbot.store.merge.limits import found_events, found_on
from goodbot.url import Url
from goodbot.values import REDIRECTS, Capture, Event, Request, Response

URL = Url("https://site.example/a b".replace(" ", "%20"))


def capture_of(response: Response, elapsed_s: float) -> Capture:
    allowed = RobotsTxt.parse(b"").verdict(URL.text, "goodbot")
    return Capture(Request(URL, allowed), response, 1.0, elapsed_s)


@given(st.integers(0, 10**6), st.floats(0, 10**6), st.sampled_from([None, "length", "disconnect"]))
def test_size_and_time_of_an_answer(size: int, elapsed_s: float, truncated: str | None) -> None:
    response = Response(200, (), bytes(size), truncated=truncated)  # type: ignore[arg-type]
    capture = capture_of(response, elapsed_s)
    events = [Event(0.0, "found", "known", "seed"), fetched_event(capture, response)]
    found = answer_size(events)
    assert found is not None
    assert found.size_bytes == size
    assert found.taken_s == pytest.approx(elapsed_s, abs=0.0006)


def test_the_last_answer_counts() -> None:
    events = [
        Event(0.0, "fetch", "503", "1 bytes in 2 ms"),
        Event(1.0, "fetch", "200", "30 bytes in 4000 ms, cut (length)"),
    ]
    assert answer_size(events) == AnswerSize(30, 4.0)
    assert (
        answer_size([Event(0.0, "fetch", "timeout", "no answer"), Event(0.0, "read", "x", "1 bytes in 2 ms")]) is None
    )


@pytest.mark.parametrize("status", sorted(REDIRECTS))
def test_the_target_of_a_redirect(status: int) -> None:
    assert redirected_to(redirect_reason(status, URL)) == URL.text


@pytest.mark.parametrize(
    "why", ["", "status 200", "status 301 without a usable Location", "status 301, to ftp://x/", "status 404"]
)
def test_other_reasons_name_no_target(why: str) -> None:
    assert redirected_to(why) is None


@given(st.text())
def test_no_reason_makes_it_fail(text: str) -> None:
    redirected_to(text)
    answer_size([Event(0.0, "fetch", "200", text)])
    found_on(Event(0.0, "found", "known", text))


def test_where_a_url_was_found() -> None:
    (event,) = found_events(1.0, URL.text, 3, None)
    assert found_on(event) == URL.text
    assert [found_on(each) for each in found_events(1.0, None, 0, "out of scope")] == [None, None]
