"""What every LessonStore does."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodbot.ports import LessonStore
from goodbot.store.frontier import SqliteFrontier
from goodbot.store.memory import MemoryFrontier
from goodbot.values import Lesson

HOST = "example.org"
PARAMETER = Lesson(HOST, "parameter", "sid", "3 pairs of pages were the same but for it", 100.5)
PREFIX = Lesson(HOST, "prefix", "/calendar/", "200 pages, 4 texts \x00 ä", 50.0)
OF_ANOTHER = Lesson("[::1]:80", "mirror", "www.example.org", "20 of 20 pages are the same", 10.0)


@pytest.fixture(params=["memory", "sqlite"])
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], LessonStore]]:
    """Gives the store; each call gives it closed and opened again, where it is kept in a file."""
    if request.param == "memory":
        memory = MemoryFrontier()
        yield lambda: memory
        return
    stores: list[SqliteFrontier] = []

    def reopen() -> LessonStore:
        for store in stores:
            store.close()
        stores.append(SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True))
        return stores[-1]

    yield reopen
    stores[-1].close()


def test_what_was_saved_is_loaded_the_oldest_first(reopened: Callable[[], LessonStore]) -> None:
    reopened().save_lessons([PARAMETER, OF_ANOTHER, PREFIX])
    assert reopened().load_lessons([HOST]) == [PREFIX, PARAMETER]
    assert reopened().load_lessons(["[::1]:80", HOST, "[::1]:80"]) == [OF_ANOTHER, PREFIX, PARAMETER]


def test_nothing_is_known_of_others(reopened: Callable[[], LessonStore]) -> None:
    reopened().save_lessons([PARAMETER])
    assert reopened().load_lessons(["example.net", "", "org", "www.example.org"]) == []
    assert reopened().load_lessons([]) == []


def test_one_of_the_same_host_kind_and_subject_is_replaced(reopened: Callable[[], LessonStore]) -> None:
    store = reopened()
    store.save_lessons([PARAMETER, PARAMETER._replace(kind="other")])
    store.save_lessons([])
    newer = PARAMETER._replace(evidence="9 pairs", at=200.0)
    store.save_lessons([PARAMETER._replace(at=1e9), newer])
    assert reopened().load_lessons([HOST]) == [PARAMETER._replace(kind="other"), newer]


def test_of_one_host_the_last_thousand_are_kept(reopened: Callable[[], LessonStore]) -> None:
    many = [Lesson(HOST, "prefix", f"/{number}/", "few texts", float(number)) for number in range(1500)]
    store = reopened()
    store.save_lessons([OF_ANOTHER, *many[:900], *many[1000:]])
    store.save_lessons(many[900:1000])
    assert reopened().load_lessons([HOST]) == many[500:]
    assert reopened().load_lessons(["[::1]:80"]) == [OF_ANOTHER]


def test_a_generator_that_fails_changes_nothing(reopened: Callable[[], LessonStore]) -> None:
    def lessons() -> Iterator[Lesson]:
        yield PARAMETER
        raise LookupError

    with pytest.raises(LookupError):
        reopened().save_lessons(lessons())
    assert reopened().load_lessons([HOST]) == []
