"""Keeps what the frontier in memory has learned about hosts."""

from collections.abc import Iterable

from goodbot.lesson_values import Lesson
from goodbot.store.merge.limits import MAX_LESSONS


class MemoryLessons:
    """The lessons of each host, by kind and subject."""

    def __init__(self) -> None:
        self._hosts: dict[str, dict[tuple[str, str], Lesson]] = {}

    def of(self, hosts: Iterable[str]) -> list[Lesson]:
        """Returns the lessons of each host in turn, the oldest first."""
        return [item for host in dict.fromkeys(hosts) for item in _by_age(self._hosts.get(host, {}))]

    def save(self, lessons: Iterable[Lesson]) -> None:
        """Replaces lessons of the same host, kind and subject; keeps the last 1,000 of one host."""
        saved = list(lessons)
        for item in saved:
            self._hosts.setdefault(item.host, {})[item.kind, item.about] = item
        for host in {item.host for item in saved}:
            kept = _by_age(self._hosts[host])[-MAX_LESSONS:]
            self._hosts[host] = {(item.kind, item.about): item for item in kept}

    def drop(self, lessons: Iterable[Lesson]) -> None:
        """Deletes lessons as if they had never been learned."""
        for item in lessons:
            self._hosts.get(item.host, {}).pop((item.kind, item.about), None)

    def counts(self) -> tuple[int, int]:
        """Returns how many are in force, and how many have lapsed."""
        every = [item.lapsed for lessons in self._hosts.values() for item in lessons.values()]
        return every.count(False), every.count(True)


def _by_age(lessons: dict[tuple[str, str], Lesson]) -> list[Lesson]:
    return sorted(lessons.values(), key=lambda item: (item.at, item.kind, item.about))
