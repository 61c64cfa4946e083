"""What every RobotsStore does."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from goodbot.exclusion import Access
from goodbot.ports import RobotsStore
from goodbot.store.memory.memory_robots import MemoryRobots
from stores import KINDS, Stores

NOW = 1_800_000_000.25
ORIGIN = "https://example.org"
READ = Access.from_response(200, [("Cache-Control", "max-age=60")], b"User-agent: *\nDisallow: /\xff\x00\n", NOW)
ABSENT = Access.from_response(404, [], b"", NOW)
TROUBLE = Access.from_response(503, [("Retry-After", "120")], b"", NOW + 86_400, last_good=READ)
SILENCE = Access.from_failure("dns", NOW + 90_000, "google", TROUBLE, site_answers=True)


@pytest.fixture(params=["bounded", *KINDS])
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], RobotsStore]]:
    """Gives the store; each call gives it closed and opened again, if it is not in memory."""
    if request.param == "bounded":
        bounded = MemoryRobots()
        yield lambda: bounded
        return
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield stores.open
    stores.close()


@pytest.mark.parametrize("access", [READ, ABSENT, TROUBLE, SILENCE], ids=["read", "absent", "trouble", "silence"])
def test_what_was_saved_is_loaded(reopened: Callable[[], RobotsStore], access: Access) -> None:
    reopened().save_robots(ORIGIN, access)
    loaded = reopened().load_robots(ORIGIN)
    assert loaded == access
    assert (loaded.in_force, loaded.site_answers) == (access.in_force, access.site_answers)


def test_an_origin_never_asked_has_none(reopened: Callable[[], RobotsStore]) -> None:
    store = reopened()
    store.save_robots(ORIGIN, READ)
    assert store.load_robots("http://example.org") is None
    assert store.load_robots(f"{ORIGIN}:8443") is None


def test_the_last_one_saved_counts(reopened: Callable[[], RobotsStore]) -> None:
    store = reopened()
    for access in (READ, ABSENT, TROUBLE):
        store.save_robots(ORIGIN, access)
    assert reopened().load_robots(ORIGIN) == TROUBLE


def test_the_files_of_many_origins_are_loaded_in_one_call(reopened: Callable[[], RobotsStore]) -> None:
    store, other = reopened(), "http://other.example"
    store.save_robots(ORIGIN, READ)
    store.save_robots(other, ABSENT)
    assert store.load_all_robots([other, "http://unknown.example", ORIGIN, other]) == {ORIGIN: READ, other: ABSENT}
    assert store.load_all_robots([]) == {}
