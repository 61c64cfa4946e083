"""Pure: when may this host be asked again.

next request = last answer + max(floor, what its robots.txt asks, factor × response time) + what the host's trouble
adds, never inside Retry-After, never outside Visit-time. A public host is asked more slowly than a private one, which
is the user's own.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from goodbot.config import Settings
from goodbot.exclusion.robotstxt.timing import RequestRate, Timing
from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.validity.freshness import retry_after_s
from goodbot.url import Url, is_private_address, is_private_host
from goodbot.values import Capture, Failure, Response

RECORDS_MOST: Final = 100
"""Windows and rates of one robots.txt that are heeded: each is looked at for every answer."""

DIGITS_SHOWN: Final = 20
"""Of a Retry-After."""

NOTHING_ASKED: Final = Timing()

_UNANSWERED: Final = frozenset({"dns", "connect", "timeout", "reset", "tls"})
"""Failures that are the host's. `private-address` is ours, and `protocol` is an answer of a kind."""
_QUICK: Final = frozenset({"dns", "connect", "tls"})
"""Failures that take no time and seldom pass: robots.txt is asked for again four times as soon."""
_PAUSES_MOST: Final = 10
"""Times the pause before robots.txt grows; `Access` bounds it to a day."""


is_private_peer = lru_cache(maxsize=4096)(is_private_address)
"""Asked for every answer, and 4 µs anew."""


class _Defaults(NamedTuple):
    """How a kind of host is treated, where nobody asks for more. Seconds, and factors. A challenge page of a bot wall
    that has another status than 429 and 503 adds no more than `wall_most_s`: often only a part of a site is walled."""

    floor_s: float
    response_factor: float
    backoff_first_s: float
    backoff_most_s: float
    robots_first_s: float
    robots_factor: float
    wall_most_s: float


_PUBLIC: Final = _Defaults(1.0, 1.0, 5.0, 3600.0, 60.0, 5.0, 60.0)
_PRIVATE: Final = _Defaults(0.0, 0.0, 1.0, 60.0, 2.0, 3.0, 1.0)


@dataclass(frozen=True, slots=True)
class Delay:
    """When a host may be asked again, and what its own trouble adds to every gap from now on.

    `reason` says what asks for more than is usual; empty if nothing does. `given_up`: the host has been in trouble as
    often in a row as it may. `too_long`: it asks for more than a crawl waits for, as this says; `ready_at` has the part
    that it would wait for, and `not_before` (Unix seconds) all of it.
    """

    ready_at: float
    backoff_s: float
    reason: str = ""
    given_up: bool = False
    too_long: str = ""
    not_before: float = 0.0


class Politeness:
    """Decides for every host alike; keeps nothing. Times in Unix seconds, gaps in seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        given = (
            settings.delay,
            settings.response_factor,
            settings.backoff_first,
            settings.backoff_most,
            settings.robots_retry_first,
            settings.robots_retry_factor,
            None,
        )
        self._public, self._private = (
            _Defaults(*(usual if said is None else said for usual, said in zip(manner, given, strict=True)))
            for manner in (_PUBLIC, _PRIVATE)
        )

    def gap_s(self, *, private: bool, elapsed_s: float, asked_s: float) -> float:
        """Least time from an answer that took `elapsed_s` to the next request, where robots.txt asks for `asked_s`; the
        host's trouble left out."""
        manner = self._private if private else self._public
        return max(manner.floor_s, asked_s, manner.response_factor * elapsed_s)

    def after(
        self, capture: Capture, timing: Timing, backoff_s: float, backed_off_at: float = 0.0, *, walled: bool = False
    ) -> Delay:
        """The rest a host gets after `capture`, which ended at `fetched_at + elapsed_s`.

        `backed_off_at` is when `backoff_s` was last changed: what was sent before that says nothing new. `walled`: a
        bot wall answered.
        """
        answered_at = capture.fetched_at + capture.elapsed_s
        private = self._is_private(capture)
        manner = self._private if private else self._public
        added_s, given_up = backoff_s, False
        if capture.fetched_at >= backed_off_at:
            added_s, given_up = _backoff(capture, manner, backoff_s, walled=walled)
        usual_s = self.gap_s(private=private, elapsed_s=capture.elapsed_s, asked_s=0.0)
        said_s = _retry_after_s(capture, answered_at)
        if timing == NOTHING_ASKED and not (added_s or said_s):
            return Delay(answered_at + usual_s, 0.0)
        retry_s = min(said_s, self._settings.retry_after_most)
        asked_s = _asked_s(timing, answered_at, usual_s, added_s)
        said = _retry_after_said(capture, said_s)
        too_long = self._too_long_to_wait(said_s, said) or self._too_slow(asked_s)
        not_before = answered_at + max(said_s, asked_s) if too_long else 0.0
        asked_s = 0.0 if self._too_slow(asked_s) else asked_s  # nothing but robots.txt is asked
        rested_at = answered_at + max(max(usual_s, asked_s) + added_s, retry_s)
        ready_at = opens_at(timing, rested_at)
        trouble = _named(capture, walled=walled) if added_s > backoff_s else "its trouble"
        parts = (
            _waited(said, said_s, retry_s) if retry_s else "",
            f"{trouble} adds {added_s:g} s" if added_s else "",
            f"its robots.txt asks for {seconds_text(asked_s)} between two requests" if asked_s > usual_s else "",
            "its Visit-time opens then" if ready_at > rested_at else "",
        )
        reasons = "; ".join(filter(None, parts))
        reason = f"{ready_at - answered_at:.1f} s until the next request to the host: {reasons}" if reasons else ""
        return Delay(ready_at, added_s, reason, given_up, too_long, not_before)

    def too_slow(self, timing: Timing, at: float) -> str:
        """Why a host is not crawled whose robots.txt says `timing`, in one clause; empty if it can be."""
        return self._too_slow(asked_gap_s(timing, at))

    def _too_slow(self, asked_s: float) -> str:
        most_s = self._settings.crawl_delay_most
        if asked_s <= most_s:
            return ""
        asks = f"its robots.txt asks for {seconds_text(asked_s)} between two requests"
        return f"{asks}, more than --crawl-delay-most {most_s:g}"

    def _too_long_to_wait(self, retry_s: float, said: str) -> str:
        most_s = self._settings.retry_after_most
        if retry_s <= most_s:
            return ""
        return f"its Retry-After asks for {said} s, more than retry_after_most {most_s:g} in goodbot.toml"

    def after_cut(self, url: Url, timing: Timing, cut_at: float, kills: int = 0) -> float:
        """When a host may be asked again that another run may have asked until `cut_at`. `kills`: how many robot
        processes died of its pages in this run; each doubles the time, as trouble of a server does."""
        private = is_private_host(url.host)
        usual_s = self.gap_s(private=private, elapsed_s=0.0, asked_s=0.0)
        asked_s = _asked_s(timing, cut_at, usual_s, 0.0)
        manner = self._private if private else self._public
        added_s = min(manner.backoff_first_s * 2.0 ** min(kills - 1, 30), manner.backoff_most_s) if kills else 0.0
        return opens_at(timing, cut_at + max(usual_s, 0.0 if self._too_slow(asked_s) else asked_s) + added_s)

    def robots_pause_s(self, capture: Capture, tries: int) -> float:
        """Seconds until an unreachable robots.txt is asked for again, which has failed `tries` times before."""
        kind = capture.result.kind if isinstance(capture.result, Failure) else None
        return self.pause_s(private=self._is_private(capture), tries=tries) * (0.25 if kind in _QUICK else 1.0)

    def pause_s(self, *, private: bool, tries: int) -> float:
        """The same where nobody was asked in the end."""
        manner = self._private if private else self._public
        return manner.robots_first_s * manner.robots_factor ** min(tries, _PAUSES_MOST)

    def _is_private(self, capture: Capture) -> bool:
        """By the address that answered; behind a proxy, and without an answer, by what the URL says. A name without an
        address troubles no server: it counts as private."""
        if isinstance(capture.result, Failure) and capture.result.kind == "dns":
            return True
        if capture.peer is None or self._settings.proxy:
            return is_private_host(capture.request.url.host)
        return is_private_peer(capture.peer)


# ---- what robots.txt asks -------------------------------------------------------------------------------------------


def heeded(timing: Timing) -> Timing:
    """The same with `RECORDS_MOST` windows and rates at most, of these the slowest, and without what is not read."""
    slowest: dict[object, RequestRate] = {}
    for rate in sorted(timing.rates, key=lambda rate: -rate.gap_s):
        slowest.setdefault(rate.window, rate)
    rates = tuple(slowest.values())[:RECORDS_MOST]
    return Timing(timing.delay_s, rates, tuple(dict.fromkeys(timing.windows))[:RECORDS_MOST])


def asked_gap_s(timing: Timing, at: float) -> float:
    """Seconds between two requests that are asked for at that time; 0 if nothing asks."""
    gap_s = timing.at(at).gap_s if timing.rates else timing.delay_s
    return gap_s or 0.0


def opens_at(timing: Timing, at: float) -> float:
    """`at`, or when the next window of Visit-time opens if none is open then."""
    return timing.at(at).from_at if timing.windows else at


def _asked_s(timing: Timing, answered_at: float, usual_s: float, added_s: float) -> float:
    """The gap that is asked for when the answer came, or that of the time it leads to if this is longer."""
    asked_s = asked_gap_s(timing, answered_at)
    for _ in range(2 if timing.rates else 0):  # a third rate that begins just then is beyond what anyone writes
        then = opens_at(timing, answered_at + max(usual_s, asked_s) + added_s)
        asked_s = max(asked_s, asked_gap_s(timing, then))
    return asked_s


def _retry_after_s(capture: Capture, answered_at: float) -> float:
    if not isinstance(capture.result, Response) or capture.result.header("retry-after") is None:
        return 0.0
    return retry_after_s(capture.result.headers, answered_at) or 0.0


def _retry_after_said(capture: Capture, said_s: float) -> str:
    """The seconds of Retry-After as the header has them, cut to `DIGITS_SHOWN` digits; of a date those from the answer
    to it."""
    value = (capture.result.header("retry-after") or "").strip() if isinstance(capture.result, Response) else ""
    if not (value.isascii() and value.isdigit()):
        return seconds_text(said_s).removesuffix(" s")
    digits = value.lstrip("0") or "0"
    return digits if len(digits) <= DIGITS_SHOWN else f"{digits[:DIGITS_SHOWN]}… ({len(digits)} digits)"


def _waited(said: str, said_s: float, retry_s: float) -> str:
    cut = f", cut to {retry_s:.0f} s (retry_after_most)" if retry_s < said_s else ""
    return f"Retry-After asks for {said} s{cut}"


# ---- the host's trouble ---------------------------------------------------------------------------------------------


def is_overloaded(capture: Capture) -> bool:
    """Whether the server says it has too much to do (RFC 6585 §4, RFC 9110 §15.6.4)."""
    return isinstance(capture.result, Response) and capture.result.status in (429, 503)


def is_trouble(capture: Capture) -> bool:
    """Whether the host is in trouble: it says so, or does not answer."""
    return is_overloaded(capture) or (isinstance(capture.result, Failure) and capture.result.kind in _UNANSWERED)


def _has_its_own_end(capture: Capture) -> bool:
    """Whether the number of tries is limited without a back-off: a name without an address, and robots.txt, whose
    pauses grow by themselves (`Politeness.robots_pause_s`). The back-off of a host is kept for the next run, whose
    first try would wait for it."""
    is_robots_txt = capture.request.url == capture.request.url.robots_txt
    return isinstance(capture.result, Failure) and (capture.result.lasting or is_robots_txt)


def _backoff(capture: Capture, manner: _Defaults, backoff_s: float, *, walled: bool) -> tuple[float, bool]:
    """Doubled by trouble, halved by success; and whether the host is given up."""
    if _has_its_own_end(capture):
        return backoff_s, False
    doubled_s = min(max(manner.backoff_first_s, 2 * backoff_s), manner.backoff_most_s)
    if is_trouble(capture):
        return doubled_s, backoff_s >= manner.backoff_most_s
    if walled:
        return max(backoff_s, min(doubled_s, manner.wall_most_s)), False
    if isinstance(capture.result, Response):
        return (backoff_s / 2 if backoff_s > manner.backoff_first_s else 0.0), False
    return backoff_s, False


def _named(capture: Capture, *, walled: bool) -> str:
    """The trouble of a host in a word or two."""
    if walled:
        return "a bot wall"
    return capture.result.kind if isinstance(capture.result, Failure) else str(capture.result.status)
