"""The frontier in memory: what was learned about hosts."""

from collections.abc import Iterable

from goodbot.lesson_values import Lesson
from goodbot.store.merge.limits import LESSONS_MOST


class MemoryLessons:
    """Lessons by host, and within it by kind and subject."""

    def __init__(self) -> None:
        self._hosts: dict[str, dict[tuple[str, str], Lesson]] = {}

    def of(self, hosts: Iterable[str]) -> list[Lesson]:
        """Of each host in turn, the oldest first."""
        return [item for host in dict.fromkeys(hosts) for item in _by_age(self._hosts.get(host, {}))]

    def save(self, lessons: Iterable[Lesson]) -> None:
        """In place of those of the same host, kind and subject; of one host the last 1,000 are kept."""
        saved = list(lessons)
        for item in saved:
            self._hosts.setdefault(item.host, {})[item.kind, item.about] = item
        for host in {item.host for item in saved}:
            kept = _by_age(self._hosts[host])[-LESSONS_MOST:]
            self._hosts[host] = {(item.kind, item.about): item for item in kept}

    def drop(self, lessons: Iterable[Lesson]) -> None:
        """As if they had never been learned."""
        for item in lessons:
            self._hosts.get(item.host, {}).pop((item.kind, item.about), None)

    def counts(self) -> tuple[int, int]:
        """Those in force, and those that have lapsed."""
        every = [item.lapsed for lessons in self._hosts.values() for item in lessons.values()]
        return every.count(False), every.count(True)


def _by_age(lessons: dict[tuple[str, str], Lesson]) -> list[Lesson]:
    return sorted(lessons.values(), key=lambda item: (item.at, item.kind, item.about))
