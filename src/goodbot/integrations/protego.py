"""A drop-in replacement for Protego that follows RFC 9309.

Names, arguments and types are those of Protego 0.7. docs/how-to/protego.md lists the answers that differ, and why.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import time
from typing import Any, NamedTuple, Self

from goodbot.exclusion.robotstxt.timing import Window
from goodbot.integrations.adapted import agent_of, read_text, slowest, url_of

__all__ = ["Protego", "RequestRate", "VisitTime"]


class RequestRate(NamedTuple):
    """At most `requests` in `seconds`, from `start_time` to `end_time` (UTC; None: at any time)."""

    requests: int
    seconds: int
    start_time: time | None
    end_time: time | None


class VisitTime(NamedTuple):
    """The hours in which a robot may crawl (UTC)."""

    start_time: time
    end_time: time


class Protego:
    """A robots.txt, made by `parse`. An object made without `parse` allows everything."""

    def __init__(self) -> None:
        self._access = read_text("")

    @classmethod
    def parse(cls, content: str | bytes) -> Self:
        """Parses a robots.txt (text or, unlike Protego, bytes), at most its first 500 KiB (RFC 9309 §2.5).

        Never raises on content; raises TypeError for anything but text and bytes.
        """
        parsed = cls()
        parsed._access = read_text(content)
        return parsed

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Whether this robot may fetch this URL of the site."""
        return self._access.rules.allows(url_of(url), agent_of(user_agent))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Returns the seconds between two requests: the longest Crawl-delay, None if there is none."""
        return self._access.rules.crawl_delay(agent_of(user_agent))

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """Returns the slowest Request-rate, None if there is none."""
        rate = slowest(self._access.rules.request_rates(agent_of(user_agent)))
        if rate is None:
            return None
        return RequestRate(rate.documents, int(rate.seconds), *(_times(rate.window) if rate.window else (None, None)))

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """Returns the last Visit-time, None if the robot may crawl at any time."""
        windows = self._access.rules.visit_times(agent_of(user_agent))
        return VisitTime(*_times(windows[-1])) if windows else None

    @property
    def sitemaps(self) -> Iterator[str]:
        """The values of the Sitemap records, in order."""
        return iter(self._access.rules.sitemaps)

    @property
    def preferred_host(self) -> str | None:
        """The value of the first Host record, None if there is none."""
        return self._access.rules.host

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: leaves out compiled rules, which are compiled again when needed."""
        return {**self.__dict__, "_access": replace(self._access)}


def _times(window: Window) -> tuple[time, time]:
    first, last = window
    return time(*divmod(first, 60)), time(*divmod(last, 60))
