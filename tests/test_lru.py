"""The cache that drops the least recently used entries."""

import tracemalloc

from goodbot.lru import LruCache, share_of


def test_the_least_recently_used_entry_is_dropped_first() -> None:
    recent: LruCache[str, int] = LruCache(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    assert recent.get_or("c", lambda: 3) == 3
    assert (recent.get("a"), recent.get("b"), recent.get("c"), len(recent)) == (1, None, 3, 2)
    assert recent.pop("a") == 1
    assert recent.pop("a") is None


def test_a_full_cache_makes_room_for_an_eighth() -> None:
    recent: LruCache[int, int] = LruCache(800)
    for number in range(800):
        recent.put(number, number)
    assert len(recent) == 800
    recent.get(0)
    recent.put(800, 800)
    assert len(recent) == 700
    assert (recent.get(0), recent.get(101), recent.get(102)) == (0, None, 102)


def test_the_sizes_of_entries_are_limited() -> None:
    recent: LruCache[str, str] = LruCache(100, limit_bytes=10, weigh=len)
    for key, value in (("a", "xxxx"), ("b", "xxxx"), ("c", "xxxx")):
        recent.put(key, value)
    assert (recent.get("a"), recent.get("b"), recent.get("c")) == (None, "xxxx", "xxxx")
    recent.put("b", "x")
    recent.put("d", "xxxxx")
    assert (recent.get("b"), recent.get("c"), recent.get("d")) == ("x", "xxxx", "xxxxx")
    recent.put("e", "x" * 99)  # the newest entry is kept, however large
    assert (recent.get("e"), len(recent)) == ("x" * 99, 1)
    recent.pop("e")
    recent.put("f", "xxxx")
    recent.put("g", "xxxxx")
    assert len(recent) == 2


def test_a_long_key_weighs_no_more_than_a_short_one() -> None:
    recent: LruCache[str, bool] = LruCache(1000)
    tracemalloc.start()
    for number in range(1000):
        recent.put(f"{number}" + "x" * 8000, True)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 1_000_000


def test_processes_share_a_limit() -> None:
    assert [share_of(100, processes) for processes in (1, 2, 3, 8, 64)] == [100, 50, 34, 13, 13]
