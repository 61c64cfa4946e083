"""A drop-in for Protego that answers by RFC 9309.

The names, arguments and results are those of Protego 0.7. docs/how-to/protego.md lists what is answered otherwise,
and why.
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
    """From when to when a robot may come (UTC)."""

    start_time: time
    end_time: time


class Protego:
    """One robots.txt, made by `parse`; made without it, it allows everything."""

    def __init__(self) -> None:
        self._access = read_text("")

    @classmethod
    def parse(cls, content: str | bytes) -> Self:
        """Reads the text of a robots.txt (here bytes will do too): of more than 500 KiB the first (RFC 9309 §2.5).

        Never raises on what it says; raises TypeError for anything but text and bytes.
        """
        made = cls()
        made._access = read_text(content)
        return made

    def can_fetch(self, url: str, user_agent: str) -> bool:
        """Whether this robot may fetch this URL of the site."""
        return self._access.rules.allows(url_of(url), agent_of(user_agent))

    def crawl_delay(self, user_agent: str) -> float | None:
        """Seconds between two requests: the longest Crawl-delay, None if nothing is asked."""
        return self._access.rules.crawl_delay(agent_of(user_agent))

    def request_rate(self, user_agent: str) -> RequestRate | None:
        """The slowest Request-rate, None if nothing is asked."""
        rate = slowest(self._access.rules.request_rates(agent_of(user_agent)))
        if rate is None:
            return None
        return RequestRate(rate.documents, int(rate.seconds), *(_times(rate.window) if rate.window else (None, None)))

    def visit_time(self, user_agent: str) -> VisitTime | None:
        """The last Visit-time, None if the robot may come at any time."""
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
        """For pickle and copy: without what was compiled, which is made again."""
        return {**self.__dict__, "_access": replace(self._access)}


def _times(window: Window) -> tuple[time, time]:
    first, last = window
    return time(*divmod(first, 60)), time(*divmod(last, 60))
