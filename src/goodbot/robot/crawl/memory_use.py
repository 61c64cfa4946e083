"""Measures the memory of the processes of a crawl every few seconds, for its live status."""

import os
from collections.abc import Callable, Mapping
from typing import Final

from goodbot.live import CrawlMemory, Holding, ProcessMemory, ProcessRole
from goodbot.process_memory import Memory, memory_of

MEMORY_INTERVAL_S: Final = 5.0
"""The time between two measurements. Measuring three processes takes 5 ms, so this costs 0.1 % of a core."""


class MemoryUse:
    """Keeps the latest measurement and the peak. `role` is that of this process. `holdings` returns what the caches and
    queues of each process of the crawl hold, by process id. `measure` reads the memory of a process."""

    def __init__(
        self,
        role: ProcessRole,
        holdings: Callable[[], Mapping[int, tuple[Holding, ...]]],
        measure: Callable[[int], Memory | None] = memory_of,
    ) -> None:
        self._role = role
        self._holdings = holdings
        self._measure = measure
        self._due_at = float("-inf")
        self._latest = CrawlMemory(())

    def latest(self, now: float) -> CrawlMemory:
        """Returns the latest measurement. Measures again if that is older than `MEMORY_INTERVAL_S`, or if the crawl has
        other processes now. `now`: a monotonic time."""
        holdings = self._holdings()
        if now >= self._due_at or {process.pid for process in self._latest.processes} != holdings.keys():
            self._due_at = now + MEMORY_INTERVAL_S
            memory = CrawlMemory(tuple(self._process(pid, held) for pid, held in holdings.items()))
            sizes = [size for size in (memory.bytes, self._latest.peak_bytes) if size is not None]
            self._latest = memory._replace(peak_bytes=max(sizes, default=None))
        return self._latest

    def _process(self, pid: int, held: tuple[Holding, ...]) -> ProcessMemory:
        size = self._measure(pid)
        role = self._role if pid == os.getpid() else "worker"
        return ProcessMemory(role, pid, size and size.pss, size and size.rss, held)
