"""Counts the URLs that lessons have left out."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from goodbot.lesson_values import LeftOut, Lesson
from goodbot.store.merge.storable_text import storable
from goodbot.store.reports.rows import Rows

MAX_COUNTED: Final = 500_000
"""If hosts with lessons have more URLs than this, those left out are not counted. Takes a second or two."""

_KNOWN: Final = """SELECT count(*) FROM (
  SELECT 1 FROM urls WHERE host = (SELECT id FROM hosts WHERE key = :key) LIMIT :most) AS part"""
_REASONS: Final = """SELECT coalesce(refused, why, ''), count(*) FROM urls LEFT JOIN visits ON visits.seq = urls.seq
  WHERE urls.host = (SELECT id FROM hosts WHERE key = :key) AND state = 5 GROUP BY 1"""


def count_left_out(rows: Rows, lessons: Iterable[Lesson]) -> LeftOut:
    """Counts what these lessons have left out. Lessons that left out nothing count only if the URLs cannot be
    counted."""
    by_host: dict[str, list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        by_host[lesson.host].append(lesson)
    rest = MAX_COUNTED
    for host in by_host:
        (known,) = rows.first(_KNOWN, key=host, most=rest + 1) or (0,)
        rest -= known
        if rest < 0:
            return LeftOut(sum(map(len, by_host.values())), len(by_host), None)
    urls: Counter[tuple[str, str]] = Counter()
    for host, learned in by_host.items():
        texts = tuple(dict.fromkeys(storable(lesson.evidence) for lesson in learned))
        for reason, count in rows.all(_REASONS, key=host):
            evidence = reason if reason in texts else next((text for text in texts if text in reason), None)
            if evidence is not None:
                urls[host, evidence] += count
    return LeftOut(len(urls), len({host for host, _ in urls}), urls.total())
