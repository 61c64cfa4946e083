"""Pure: when may this host be asked again.

next request = last answer + max(floor, Crawl-delay, k × response time) + what the host's trouble adds, never inside
Retry-After. k is 1 for public hosts, so that a slow host is asked slowly, and 0 for private ones, which are the user's
own.
"""

from dataclasses import dataclass

from goodbot.config import Settings
from goodbot.exclusion.freshness import retry_after_s
from goodbot.url import Url, is_private_address, is_private_host
from goodbot.values import Capture, Response

PUBLIC_FLOOR_S = 1.0
RETRY_AFTER_MOST_S = 30 * 86400.0
"""A Retry-After beyond this is read as this: a number of 400 digits is no promise to come back."""


@dataclass(frozen=True, slots=True)
class Rest:
    """When a host may be asked again, and what its own trouble adds to every gap from now on."""

    ready_at: float
    backoff_s: float


class Politeness:
    """Decides for every host alike; keeps nothing. Times in Unix seconds, gaps in seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def gap_s(self, *, private: bool, elapsed_s: float, asked_delay_s: float | None) -> float:
        """Least time from an answer that took `elapsed_s` to the next request, the host's trouble left out."""
        floor = self._settings.delay if self._settings.delay is not None else (0.0 if private else PUBLIC_FLOOR_S)
        return max(floor, asked_delay_s or 0.0, 0.0 if private else elapsed_s)

    def after(self, capture: Capture, asked_delay_s: float | None, backoff_s: float) -> Rest:
        """The rest a host gets after `capture`, which ended at `fetched_at + elapsed_s`."""
        answered_at = capture.fetched_at + capture.elapsed_s
        private = self._is_private(capture)
        gap = self.gap_s(private=private, elapsed_s=capture.elapsed_s, asked_delay_s=asked_delay_s)
        if is_overloaded(capture):
            backoff_s = min(max(self._settings.backoff_first, 2 * backoff_s), self._settings.backoff_most)
        elif isinstance(capture.result, Response):
            backoff_s = backoff_s / 2 if backoff_s > self._settings.backoff_first else 0.0
        asked = 0.0
        if isinstance(capture.result, Response):
            asked = min(retry_after_s(capture.result.headers, answered_at) or 0.0, RETRY_AFTER_MOST_S)
        return Rest(answered_at + max(gap + backoff_s, asked), backoff_s)

    def after_cut(self, url: Url, asked_delay_s: float | None, cut_at: float) -> float:
        """When a host may be asked again that another run may have asked until `cut_at`."""
        private = is_private_host(url.host)
        return cut_at + self.gap_s(private=private, elapsed_s=0.0, asked_delay_s=asked_delay_s)

    def _is_private(self, capture: Capture) -> bool:
        """By the address that answered; behind a proxy, and without an answer, by what the URL says."""
        if capture.peer is None or self._settings.proxy:
            return is_private_host(capture.request.url.host)
        return is_private_address(capture.peer)


def is_overloaded(capture: Capture) -> bool:
    """Whether the server says it has too much to do (RFC 6585 §4, RFC 9110 §15.6.4)."""
    return isinstance(capture.result, Response) and capture.result.status in (429, 503)
