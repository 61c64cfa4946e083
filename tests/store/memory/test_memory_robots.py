"""Tests that robots.txt files in memory stay within the limit."""

from goodbot.exclusion import Access
from goodbot.store.memory.memory_robots import MemoryRobots

NOW = 1_800_000_000.0


def test_those_asked_for_longest_ago_are_forgotten_first() -> None:
    store = MemoryRobots(limit_bytes=10_000)
    access = Access.from_response(200, [], b"#" * 1000, NOW)
    for number in range(4):
        store.save_robots(f"https://h{number}.example", access)
    store.load_robots("https://h0.example")
    store.save_robots("https://h4.example", access)
    kept = [number for number in range(5) if store.load_robots(f"https://h{number}.example")]
    assert kept == [0, 2, 3, 4]


def test_one_that_is_larger_than_the_bound_is_kept_alone() -> None:
    store = MemoryRobots(limit_bytes=10_000)
    store.save_robots("https://a.example", Access.from_response(404, [], b"", NOW))
    store.save_robots("https://b.example", Access.from_response(200, [], b"#" * 100_000, NOW))
    store.save_robots("https://b.example", Access.from_response(200, [], b"#" * 200_000, NOW))
    assert store.load_robots("https://a.example") is None
    assert store.load_robots("https://b.example") is not None


def test_the_rules_of_a_file_are_not_kept_with_it() -> None:
    """Read, they weigh up to 50 times as much as the file."""
    memory = MemoryRobots()
    access = Access.from_response(200, [], b"User-agent: *\nDisallow: /a\n", 0.0)
    memory.save_robots("http://h.example", access)
    for _ in range(2):
        loaded = memory.load_robots("http://h.example")
        assert loaded == access
        assert "rules" not in vars(loaded)
        assert not loaded.verdict("http://h.example/a", "goodbot").allowed
