"""Writes a lesson as text."""

from math import inf

from goodbot.human import counted, human_time
from goodbot.lesson_values import LeftOut, Lesson


def held(lesson: Lesson, now: float) -> str:
    """When a lesson was learned, and when the crawl examines it again."""
    learned = f"learned on {human_time(lesson.at)}"
    times = "" if lesson.times < 2 else f", for the {_ordinal(lesson.times)} time"
    if lesson.lapsed or lesson.until <= now:
        return f"{learned}{times}; it has lapsed, and the crawl fetches some of its pages again"
    again = f"{times}; the crawl examines it again on {human_time(lesson.until)}" if lesson.until < inf else ""
    return f"{learned}{again}"


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
    return f"{number}{ending}"


def left_out_line(left_out: LeftOut) -> str:
    """`3,201 URLs of 12 hosts were left out as traps or copies (14 lessons)`."""
    about, hosts = counted(left_out.lessons, "lesson"), counted(left_out.hosts, "host")
    if left_out.urls is None:
        return f"URLs of {hosts} were left out as traps or copies ({about}; too many URLs to count)"
    verb = "was" if left_out.urls == 1 else "were"
    return f"{counted(left_out.urls, 'URL')} of {hosts} {verb} left out as traps or copies ({about})"
