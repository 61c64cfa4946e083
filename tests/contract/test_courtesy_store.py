"""What every CourtesyStore does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodbot.live import Courtesy
from goodbot.ports import CourtesyStore
from stores import KINDS, Stores

ASKED = Courtesy("example.org", 3, 1, 1, 0, 0, 1, 30.5, 0, 0, 31.25, 0.5, 1.7e9, 2.0, 1.6e9, 1.7e9, agent="Rex/1.0")


@pytest.fixture(params=KINDS)
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], CourtesyStore]]:
    """Gives the store; each call gives it closed and opened again, if it is not in memory."""
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores.open
    stores.close()


def test_what_was_saved_is_loaded(reopened: Callable[[], CourtesyStore]) -> None:
    reopened().save_courtesies([ASKED, Courtesy("[::1]:80")])
    assert reopened().load_courtesies(["[::1]:80", "example.org", "example.net"]) == {
        "example.org": ASKED,
        "[::1]:80": Courtesy("[::1]:80"),
    }


def test_the_last_one_saved_counts(reopened: Callable[[], CourtesyStore]) -> None:
    store = reopened()
    store.save_courtesies([Courtesy("example.org"), ASKED])
    assert store.load_courtesies(["example.org"]) == {"example.org": ASKED}


def test_nothing_is_known_of_others(reopened: Callable[[], CourtesyStore]) -> None:
    assert reopened().load_courtesies(["example.org", ""]) == {}
    assert reopened().load_courtesies([]) == {}
