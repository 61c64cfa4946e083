"""Decides which failures are tried again, how often and when. Pure."""

from dataclasses import replace
from typing import Final

from goodbot.config import Settings
from goodbot.robot.manners.politeness import is_overloaded
from goodbot.values import Capture, Failure, LeasedUrl, Outcome

BROKEN_OFF_TRIES: Final = 2
"""An answer that breaks off is requested once more; then the partial answer is kept, because some servers always break
off."""
ONCE_MORE: Final = (408, 421, 425)
"""Statuses of a request that came too slowly, on the wrong connection, or too early. On a new connection it may succeed
(RFC 9110 §15.5.9 and §15.5.20, RFC 8470 §5.2)."""
ONCE_MORE_TRIES: Final = 2


class Retries:
    """Applies the same rules to every URL and keeps no state."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def after(self, outcome: Outcome, leased: LeasedUrl, capture: Capture) -> Outcome:
        """Returns `outcome` (a failure), or one more try if the trouble may be temporary."""
        most = self._tries_most(capture)
        return self.once_more(outcome, leased, most) if most else outcome

    def once_more(self, outcome: Outcome, leased: LeasedUrl, tries_most: int) -> Outcome:
        """Schedules one more try, each time later, up to `tries_most` tries."""
        tries = leased.tries + 1
        if tries >= tries_most:
            return replace(outcome, why=f"{outcome.why} ({tries} tries)", tries=tries)
        ready_at = outcome.at + self._settings.retry_first * 2.0**leased.tries
        return replace(outcome, state="ready", tries=tries, ready_at=ready_at)

    def _tries_most(self, capture: Capture) -> int:
        if isinstance(capture.result, Failure):
            return self._settings.tries
        if is_overloaded(capture):
            return self._settings.busy_tries
        if capture.result.status in ONCE_MORE:
            return ONCE_MORE_TRIES
        return self._settings.tries if capture.result.status >= 500 else 0
