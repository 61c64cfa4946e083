"""What every LessonStore does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodbot.lesson_values import Lesson
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release
from stores import KINDS, Store, Stores

HOST = "example.org"
PARAMETER = Lesson(HOST, "parameter", "sid", "3 pairs of pages were the same but for it", 100.5)
PREFIX = Lesson(HOST, "prefix", "/calendar/", "200 pages, 4 texts ä", 50.0)
OF_ANOTHER = Lesson("[::1]:80", "mirror", "www.example.org", "20 of 20 pages are the same", 10.0)


@pytest.fixture(params=KINDS)
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Store]]:
    """Gives the store; each call gives it closed and opened again, if it is not in memory."""
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores.open
    stores.close()


def test_what_was_saved_is_loaded_the_oldest_first(reopened: Callable[[], Store]) -> None:
    reopened().save_lessons([PARAMETER, OF_ANOTHER, PREFIX])
    assert reopened().load_lessons([HOST]) == [PREFIX, PARAMETER]
    assert reopened().load_lessons(["[::1]:80", HOST, "[::1]:80"]) == [OF_ANOTHER, PREFIX, PARAMETER]


def test_nothing_is_known_of_others(reopened: Callable[[], Store]) -> None:
    reopened().save_lessons([PARAMETER])
    assert reopened().load_lessons(["example.net", "", "org", "www.example.org"]) == []
    assert reopened().load_lessons([]) == []


def test_one_of_the_same_host_kind_and_subject_is_replaced(reopened: Callable[[], Store]) -> None:
    store = reopened()
    store.save_lessons([PARAMETER, PARAMETER._replace(kind="other")])
    store.save_lessons([])
    newer = PARAMETER._replace(evidence="9 pairs", at=200.0)
    store.save_lessons([PARAMETER._replace(at=1e9), newer])
    assert reopened().load_lessons([HOST]) == [PARAMETER._replace(kind="other"), newer]


def test_of_one_host_the_last_thousand_are_kept(reopened: Callable[[], Store]) -> None:
    many = [Lesson(HOST, "prefix", f"/{number}/", "few texts", float(number)) for number in range(1500)]
    store = reopened()
    store.save_lessons([OF_ANOTHER, *many[:900], *many[1000:]])
    store.save_lessons(many[900:1000])
    assert reopened().load_lessons([HOST]) == many[500:]
    assert reopened().load_lessons(["[::1]:80"]) == [OF_ANOTHER]


def test_a_generator_that_fails_changes_nothing(reopened: Callable[[], Store]) -> None:
    def lessons() -> Iterator[Lesson]:
        yield PARAMETER
        raise LookupError

    with pytest.raises(LookupError):
        reopened().save_lessons(lessons())
    assert reopened().load_lessons([HOST]) == []


def test_how_long_a_lesson_holds_is_kept(reopened: Callable[[], Store]) -> None:
    held = PARAMETER._replace(until=604_900.5, times=3)
    over = PREFIX._replace(until=60.0, lapsed=True)
    reopened().save_lessons([held, over])
    assert reopened().load_lessons([HOST]) == [over, held]


def left_out(store: Store) -> None:
    """Four URLs left out, two of them for the parameter: one when it was found, the other when it was leased."""
    home = Url("http://example.org/")
    store.add([Discovery(home, 0), Discovery(Url("http://example.org/waits"), 0)])
    store.lease(1, 9, 0.0)
    because = PARAMETER.evidence
    links = (
        Discovery(Url("http://example.org/?sid=1"), 1, home, because),
        Discovery(Url("http://example.org/far"), 1, home, "too deep"),
        Discovery(Url("http://other.example/?sid=1"), 1, home, because),
    )
    waits = Outcome(Url("http://example.org/waits"), "out-of-scope", 1.0, f"a trap: {because}")
    store.settle([Outcome(home, "visited", 1.0, "status 200", links=links), waits], [Release(HOST, 0.0)])


def ready(store: Store) -> list[str]:
    """Paths of what is ready."""
    return sorted(record.url.target for record in store.records() if record.state == "ready")


def test_what_a_lesson_has_left_out_is_ready_when_it_lapses(reopened: Callable[[], Store]) -> None:
    store = reopened()
    store.save_lessons([PARAMETER])
    left_out(store)
    store.save_lessons([PARAMETER._replace(until=9.0)])
    assert ready(store) == []
    store.save_lessons([PARAMETER._replace(lapsed=True)])
    assert ready(store) == ["/?sid=1", "/waits"]
    assert store.status().states["ready"] == 2
    assert len(store.lease(9, 9, 100.0)[0].urls) == 2


def test_what_a_lesson_has_left_out_is_ready_when_it_is_dropped(reopened: Callable[[], Store]) -> None:
    store = reopened()
    store.save_lessons([PARAMETER, PREFIX])
    left_out(store)
    assert store.drop_lessons([PARAMETER]) == 2
    assert ready(store) == ["/?sid=1", "/waits"]
    assert reopened().load_lessons([HOST]) == [PREFIX]
    assert reopened().drop_lessons([PARAMETER, OF_ANOTHER]) == 0
