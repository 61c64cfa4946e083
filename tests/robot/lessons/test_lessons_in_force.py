"""Tests the lessons in force."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.lesson_values import Lesson
from goodbot.robot.lessons.lessons_in_force import LessonsInForce

ORIGIN = "http://example.org"
LESSONS = (
    Lesson("example.org", "parameter", f"{ORIGIN} sid", "the parameter sid changes nothing", 1.0),
    Lesson("example.org", "family", f"{ORIGIN} {ORIGIN}/gone/*", "a trap: /gone/*", 1.0),
    Lesson("example.org", "family", f"{ORIGIN} {ORIGIN}/deep/**", "a trap: /deep/**", 1.0),
    Lesson("example.org", "calendar", f"{ORIGIN} {ORIGIN}/cal?m=DATE 700000 739000", "24 dates", 1.0),
    Lesson("m.example.org", "mirror", "http://m.example.org http://example.org", "a mirror", 1.0),
)


def learned() -> LessonsInForce:
    """All of them in force."""
    known = LessonsInForce()
    known.take(LESSONS)
    return known


@pytest.mark.parametrize(
    ("url", "reason", "instead"),
    [
        ("http://example.org/a?sid=1&b=2", "the parameter sid changes nothing", "http://example.org/a?b=2"),
        ("http://example.org/gone/one", "a trap: /gone/*", None),
        ("http://example.org/deep/er/1", "a trap: /deep/**", None),
        ("http://example.org/cal?m=2099-01", "a trap: an endless calendar", None),
        ("http://m.example.org/a?b", "a mirror", "http://example.org/a?b"),
    ],
)
def test_what_is_refused(url: str, reason: str, instead: str | None) -> None:
    refusal = learned().refuse(url)
    assert refusal is not None
    assert refusal.reason.startswith(reason)
    assert (refusal.instead and refusal.instead.text) == instead


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "http://example.org/a?b=2",
        "http://example.org/gone/deeper/1",
        "http://example.org/deep",
        "http://example.org/cal?m=2020-01",
        "http://example.org:8080/gone/one",
        "https://example.org/gone/one",
        "http://example.com/a?sid=1",
    ],
)
def test_what_is_not(url: str) -> None:
    assert learned().refuse(url) is None


def test_the_parameters_that_change_nothing_are_taken_out() -> None:
    assert learned().without_learned("http://example.org/a?x=1&sid=2&sid") == "http://example.org/a?x=1"
    assert learned().without_learned("http://example.com/a?sid=2") == "http://example.com/a?sid=2"


@pytest.mark.parametrize("number", range(len(LESSONS)))
def test_a_lesson_is_known_once_it_is_learned(number: int) -> None:
    kind, about = LESSONS[number].kind, LESSONS[number].about
    origin, _, subject = about.partition(" ")
    assert learned().is_known(kind, origin, subject)
    assert not LessonsInForce().is_known(kind, origin, subject)


@given(st.text(max_size=20), st.text(max_size=60), st.text(max_size=60))
def test_lessons_of_another_version_do_no_harm(kind: str, about: str, url: str) -> None:
    known = LessonsInForce()
    for each in (kind, "calendar", "parameter", "family"):
        known.take([Lesson("h", each, about, "e", 0.0)])
    known.refuse(f"http://example.org/{url}")
