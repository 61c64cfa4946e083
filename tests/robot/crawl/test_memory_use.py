"""Tests the memory figures of a running crawl: roles, sums, the peak, and how often they are measured."""

import os

from goodbot.live import Holding
from goodbot.process_memory import Memory
from goodbot.robot.crawl.memory_use import MEMORY_INTERVAL_S, MemoryUse

OWN = os.getpid()
HELD = (Holding("robots_txt", 3, 4000),)


def test_roles_sums_and_the_peak() -> None:
    sizes = {OWN: Memory(50, 80), 1: Memory(20, 30), 2: Memory(30, 40)}
    use = MemoryUse("coordinator", lambda: {OWN: (), 1: HELD, 2: ()}, sizes.get)
    first = use.latest(0.0)
    assert [process.role for process in first.processes] == ["coordinator", "worker", "worker"]
    assert [process.holdings for process in first.processes] == [(), HELD, ()]
    assert (first.bytes, first.peak_bytes) == (100, 100)
    sizes[1] = Memory(10, 30)
    assert use.latest(MEMORY_INTERVAL_S - 1) is first
    later = use.latest(MEMORY_INTERVAL_S)
    assert (later.bytes, later.peak_bytes) == (90, 100)


def test_a_process_that_has_just_ended_keeps_the_peak() -> None:
    sizes = {OWN: Memory(50, 80), 1: Memory(20, 30)}
    use = MemoryUse("coordinator", lambda: {OWN: (), 1: ()}, sizes.get)
    use.latest(0.0)
    del sizes[1]
    later = use.latest(MEMORY_INTERVAL_S)
    assert (later.bytes, later.peak_bytes, later.processes[1].pss_bytes) == (None, 70, None)


def test_where_the_system_does_not_say() -> None:
    memory = MemoryUse("crawler", lambda: {OWN: HELD}, lambda process: None).latest(0.0)
    assert (memory.bytes, memory.peak_bytes) == (None, None)
    assert [(process.role, process.holdings) for process in memory.processes] == [("crawler", HELD)]


def test_a_process_that_starts_is_measured_at_once() -> None:
    held: dict[int, tuple[Holding, ...]] = {OWN: ()}
    use = MemoryUse("coordinator", lambda: held, lambda process: Memory(5, 6))
    assert use.latest(0.0).bytes == 5
    held[1] = ()
    assert use.latest(0.5).bytes == 10
