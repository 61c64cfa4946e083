"""What every RulesStore does."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from goodbot.exclusion.access.access import Access
from goodbot.exclusion.access.robot_rules import MemoryRulesStore, RobotRules, RulesStore, Visits
from goodbot.store.sqlite.robot_rules_file import SqliteRulesStore

NOW = 1_800_000_000.25
ORIGIN = "https://example.org"
HOST = "example.org:443"
READ = Access.from_response(200, [("Cache-Control", "max-age=60")], b"User-agent: *\nDisallow: /\xff\x00\n", NOW)
ABSENT = Access.from_response(404, [], b"", NOW)
TROUBLE = Access.from_response(503, [("Retry-After", "120")], b"", NOW + 86_400, last_good=READ, site_answers=True)
SILENT = Access.from_failure("dns", NOW, "google")


@pytest.fixture(params=["memory", "sqlite"])
def reopened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], RulesStore]]:
    """Gives the store; each call gives it closed and opened again, where it is kept in a file."""
    if request.param == "memory":
        memory = MemoryRulesStore()
        yield lambda: memory
        return
    stores: list[SqliteRulesStore] = []

    def reopen() -> RulesStore:
        for store in stores:
            store.close()
        stores.append(SqliteRulesStore.open(tmp_path / "rules.sqlite"))
        return stores[-1]

    yield reopen
    stores[-1].close()


@pytest.mark.parametrize("access", [READ, ABSENT, TROUBLE, SILENT], ids=["read", "absent", "trouble", "silent"])
def test_what_was_saved_is_loaded(reopened: Callable[[], RulesStore], access: Access) -> None:
    reopened().save_robots(ORIGIN, access)
    loaded = reopened().load_robots(ORIGIN)
    assert loaded == access
    assert repr(loaded) == repr(access)


@pytest.mark.parametrize("valid_until", [math.inf, -math.inf, -5.0, 0.0, 1e300])
def test_times_of_any_size_are_kept(reopened: Callable[[], RulesStore], valid_until: float) -> None:
    rules = RobotRules("me", lambda: NOW, reopened())
    rules.parse(ORIGIN, b"", valid_until)
    assert RobotRules("me", lambda: NOW, reopened()).fresh_until(ORIGIN) == valid_until


def test_an_origin_never_asked_has_none(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    store.save_robots(ORIGIN, READ)
    assert store.load_robots("http://example.org") is None
    assert store.load_robots(f"{ORIGIN}:8443") is None


def test_the_last_one_saved_counts(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    for access in (READ, ABSENT, TROUBLE):
        store.save_robots(ORIGIN, access)
    assert reopened().load_robots(ORIGIN) == TROUBLE


def test_what_is_loaded_holds_nothing_parsed(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    parsed = Access.from_response(200, [], READ.body, NOW)
    assert parsed.rules.groups
    store.save_robots(ORIGIN, parsed)
    loaded = store.load_robots(ORIGIN)
    assert loaded == parsed
    assert "rules" not in vars(loaded)


def test_visits_add_up_and_the_latest_time_stays(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    assert store.load_visits("me", HOST) == Visits(0, None)
    for at, total, last_at in ((NOW, 1, NOW), (NOW + 5, 2, NOW + 5), (-7.0, 3, NOW + 5)):
        store.add_visit("me", HOST, at)
        assert store.load_visits("me", HOST) == Visits(total, last_at)
    assert reopened().load_visits("me", HOST) == Visits(3, NOW + 5)


def test_a_time_before_1970_is_one(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    store.add_visit("me", HOST, -7.0)
    assert store.load_visits("me", HOST) == Visits(1, -7.0)


def test_visits_are_those_of_one_robot_and_one_host(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    store.add_visit("me", HOST, NOW)
    for token, host in (("you", HOST), ("", HOST), ("me", "example.org:80"), ("me", "EXAMPLE.org:443")):
        assert store.load_visits(token, host) == Visits(0, None)


def test_robot_rules_answer_by_what_another_one_learnt(reopened: Callable[[], RulesStore]) -> None:
    store = reopened()
    one, other = RobotRules("me", lambda: NOW, store), RobotRules("you", lambda: NOW, store)
    one.parse(ORIGIN, "")
    assert (one.allowed(f"{ORIGIN}/x"), other.allowed(f"{ORIGIN}/x")) == (True, True)
    other.parse(ORIGIN, "User-agent: *\nDisallow: /")
    assert (one.allowed(f"{ORIGIN}/x"), other.allowed(f"{ORIGIN}/x")) == (False, False)


URLS = st.one_of(st.text(max_size=30), st.text(max_size=10).map("https://{}/x".format))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(url=URLS, content=st.binary(max_size=50) | st.text(max_size=50), agent=st.text(max_size=10), at=st.floats())
def test_robot_rules_never_raise(
    reopened: Callable[[], RulesStore], url: str, content: bytes | str, agent: str, at: float
) -> None:
    rules = RobotRules(agent, lambda: NOW, reopened())
    before = rules.visits(url)
    kept = rules.parse(url, content, at)
    rules.visit(url, at)
    assert rules.visits(url) == before + int(kept)
    assert (rules.fresh_until(url) is not None) is kept
    assert rules.allowed(url) in (True, False, None)
