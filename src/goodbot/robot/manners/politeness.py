"""Decides when a host may be requested again. Pure.

next request = last answer + max(floor, what its robots.txt asks, factor × response time) + the host's back-off, never
before its Retry-After has passed, never outside its Visit-time. The floor is higher for public hosts than for private
ones, which are the user's own.
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

MAX_RECORDS: Final = 100
"""Windows and rates of one robots.txt that are used, because each is checked for every answer."""

DIGITS_SHOWN: Final = 20
"""Digits of a Retry-After that messages show."""

NOTHING_ASKED: Final = Timing()

_UNANSWERED: Final = frozenset({"dns", "connect", "timeout", "reset", "tls"})
"""Failures of the host. `private-address` is our own refusal, and `protocol` is a kind of answer."""
_QUICK: Final = frozenset({"dns", "connect", "tls"})
"""Failures that show at once and seldom go away. A try costs little, so robots.txt is fetched again after a quarter of
the usual pause."""
_MAX_PAUSES: Final = 10
"""How many times the pause before the next fetch of robots.txt grows; `Access` bounds it to a day."""


is_private_peer = lru_cache(maxsize=1024)(is_private_address)
"""Called for every answer; uncached it takes 4 µs."""


class _Defaults(NamedTuple):
    """How a kind of host is treated unless the settings say otherwise, in seconds and factors. `wall_most_s`: the most
    that a challenge page of a bot wall with a status other than 429 and 503 adds, because often only a part of a site
    is walled."""

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
    """When a host may be requested again, and the back-off that its own trouble adds to every gap from now on.

    `reason`: why the delay is longer than usual; empty if it is not. `given_up`: the host has been in trouble too many
    times in a row. `too_long`: the host asks for a longer wait than a crawl accepts, and this text says so; then
    `ready_at` counts only the part that the crawl accepts, and `not_before` (Unix seconds) all of it.
    """

    ready_at: float
    backoff_s: float
    reason: str = ""
    given_up: bool = False
    too_long: str = ""
    not_before: float = 0.0


class Politeness:
    """Decides by the same rules for every host, and keeps no state. Times in Unix seconds, gaps in seconds."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        custom = (
            settings.delay,
            settings.response_factor,
            settings.backoff_first,
            settings.backoff_most,
            settings.robots_retry_first,
            settings.robots_retry_factor,
            None,
        )
        self._public, self._private = (
            _Defaults(*(usual if own is None else own for usual, own in zip(defaults, custom, strict=True)))
            for defaults in (_PUBLIC, _PRIVATE)
        )

    def gap_s(self, *, private: bool, elapsed_s: float, asked_s: float) -> float:
        """Returns the least time from an answer that took `elapsed_s` to the next request, if robots.txt asks for
        `asked_s`; without the host's back-off."""
        defaults = self._private if private else self._public
        return max(defaults.floor_s, asked_s, defaults.response_factor * elapsed_s)

    def own_delay(self, capture: Capture) -> tuple[float, float]:
        """Returns the delay that the robot keeps without being asked: the least gap in seconds, and the factor of the
        response time."""
        defaults = self._private if self._is_private(capture) else self._public
        return defaults.floor_s, defaults.response_factor

    def after(
        self, capture: Capture, timing: Timing, backoff_s: float, backed_off_at: float = 0.0, *, walled: bool = False
    ) -> Delay:
        """Returns the delay of a host after `capture`, which ended at `fetched_at + elapsed_s`.

        `backed_off_at`: when `backoff_s` last changed; the answer to an older request does not change it again.
        `walled`: a bot wall answered.
        """
        answered_at = capture.fetched_at + capture.elapsed_s
        private = self._is_private(capture)
        defaults = self._private if private else self._public
        added_s, given_up = backoff_s, False
        if capture.fetched_at >= backed_off_at:
            added_s, given_up = _backoff(capture, defaults, backoff_s, walled=walled)
        usual_s = self.gap_s(private=private, elapsed_s=capture.elapsed_s, asked_s=0.0)
        header_wait_s = _retry_after_s(capture, answered_at)
        if timing == NOTHING_ASKED and not (added_s or header_wait_s):
            return Delay(answered_at + usual_s, 0.0)
        retry_s = min(header_wait_s, self._settings.retry_after_most)
        asked_s = _asked_s(timing, answered_at, usual_s, added_s)
        retry_after_text = _retry_after_text(capture, header_wait_s)
        too_long = self._too_long_to_wait(header_wait_s, retry_after_text) or self._too_slow(asked_s)
        not_before = answered_at + max(header_wait_s, asked_s) if too_long else 0.0
        asked_s = 0.0 if self._too_slow(asked_s) else asked_s  # only robots.txt is requested then
        ready_without_window = answered_at + max(max(usual_s, asked_s) + added_s, retry_s)
        ready_at = opens_at(timing, ready_without_window)
        trouble = _trouble_name(capture, walled=walled) if added_s > backoff_s else "its back-off"
        parts = (
            _retry_after_clause(retry_after_text, header_wait_s, retry_s) if retry_s else "",
            f"{trouble} adds {added_s:g} s" if added_s else "",
            f"its robots.txt asks for {seconds_text(asked_s)} between two requests" if asked_s > usual_s else "",
            "its Visit-time begins only then" if ready_at > ready_without_window else "",
        )
        reasons = "; ".join(filter(None, parts))
        reason = f"{ready_at - answered_at:.1f} s until the next request to the host: {reasons}" if reasons else ""
        return Delay(ready_at, added_s, reason, given_up, too_long, not_before)

    def too_slow(self, timing: Timing, at: float) -> str:
        """Returns why a host whose robots.txt has this `timing` is not crawled, in one clause; empty if it can be."""
        return self._too_slow(asked_gap_s(timing, at))

    def _too_slow(self, asked_s: float) -> str:
        most_s = self._settings.crawl_delay_most
        if asked_s <= most_s:
            return ""
        asks = f"its robots.txt asks for {seconds_text(asked_s)} between two requests"
        return f"{asks}, more than --crawl-delay-most {most_s:g}"

    def _too_long_to_wait(self, retry_s: float, retry_after_text: str) -> str:
        most_s = self._settings.retry_after_most
        if retry_s <= most_s:
            return ""
        return f"its Retry-After asks for {retry_after_text} s, more than retry_after_most {most_s:g} in goodbot.toml"

    def after_interruption(self, url: Url, timing: Timing, cut_at: float, kills: int = 0) -> float:
        """Returns when the next request may be sent to a host that another run was possibly still requesting at
        `cut_at`. `kills`: how many worker processes its pages have killed in this run; each doubles the delay, as a
        server's trouble does."""
        private = is_private_host(url.host)
        usual_s = self.gap_s(private=private, elapsed_s=0.0, asked_s=0.0)
        asked_s = _asked_s(timing, cut_at, usual_s, 0.0)
        defaults = self._private if private else self._public
        added_s = min(defaults.backoff_first_s * 2.0 ** min(kills - 1, 30), defaults.backoff_most_s) if kills else 0.0
        return opens_at(timing, cut_at + max(usual_s, 0.0 if self._too_slow(asked_s) else asked_s) + added_s)

    def robots_pause_s(self, capture: Capture, tries: int) -> float:
        """Returns the seconds until an unreachable robots.txt, which has failed `tries` times before, is fetched
        again."""
        kind = capture.result.kind if isinstance(capture.result, Failure) else None
        return self.pause_s(private=self._is_private(capture), tries=tries) * (0.25 if kind in _QUICK else 1.0)

    def pause_s(self, *, private: bool, tries: int) -> float:
        """Returns the pause after a failed try, before the shortening for quick failures (`robots_pause_s`). Called
        directly if no request was sent."""
        defaults = self._private if private else self._public
        return defaults.robots_first_s * defaults.robots_factor ** min(tries, _MAX_PAUSES)

    def _is_private(self, capture: Capture) -> bool:
        """Judges by the address that answered; behind a proxy, and without an answer, by the URL. A name without an
        address counts as private, because requests for it reach no server."""
        if isinstance(capture.result, Failure) and capture.result.kind == "dns":
            return True
        if capture.peer is None or self._settings.proxy:
            return is_private_host(capture.request.url.host)
        return is_private_peer(capture.peer)


# ---- what robots.txt asks -------------------------------------------------------------------------------------------


def bounded_timing(timing: Timing) -> Timing:
    """Returns `timing` with at most `MAX_RECORDS` windows and rates, keeping the slowest rate of each window."""
    slowest: dict[object, RequestRate] = {}
    for rate in sorted(timing.rates, key=lambda rate: -rate.gap_s):
        slowest.setdefault(rate.window, rate)
    rates = tuple(slowest.values())[:MAX_RECORDS]
    return Timing(timing.delay_s, rates, tuple(dict.fromkeys(timing.windows))[:MAX_RECORDS])


def asked_gap_s(timing: Timing, at: float) -> float:
    """Returns the seconds between two requests that robots.txt asks for at that time; 0 if it asks for none."""
    gap_s = timing.at(at).gap_s if timing.rates else timing.delay_s
    return gap_s or 0.0


def opens_at(timing: Timing, at: float) -> float:
    """Returns `at`, or when the next window of Visit-time opens if none is open then."""
    return timing.at(at).from_at if timing.windows else at


def _asked_s(timing: Timing, answered_at: float, usual_s: float, added_s: float) -> float:
    """Returns the longer of two gaps: the one asked for at the time of the answer, and the one asked for at the time
    when the next request would then be sent."""
    asked_s = asked_gap_s(timing, answered_at)
    for _ in range(2 if timing.rates else 0):  # two steps suffice: no known file has a third rate that begins just then
        then = opens_at(timing, answered_at + max(usual_s, asked_s) + added_s)
        asked_s = max(asked_s, asked_gap_s(timing, then))
    return asked_s


def _retry_after_s(capture: Capture, answered_at: float) -> float:
    if not isinstance(capture.result, Response) or capture.result.header("retry-after") is None:
        return 0.0
    return retry_after_s(capture.result.headers, answered_at) or 0.0


def _retry_after_text(capture: Capture, header_wait_s: float) -> str:
    """Returns the seconds of Retry-After as the header has them, cut to `DIGITS_SHOWN` digits; for a date, the seconds
    from the answer to it."""
    value = (capture.result.header("retry-after") or "").strip() if isinstance(capture.result, Response) else ""
    if not (value.isascii() and value.isdigit()):
        return seconds_text(header_wait_s).removesuffix(" s")
    digits = value.lstrip("0") or "0"
    return digits if len(digits) <= DIGITS_SHOWN else f"{digits[:DIGITS_SHOWN]}… ({len(digits)} digits)"


def _retry_after_clause(retry_after_text: str, header_wait_s: float, retry_s: float) -> str:
    cut = f", cut to {retry_s:.0f} s (retry_after_most)" if retry_s < header_wait_s else ""
    return f"Retry-After asks for {retry_after_text} s{cut}"


# ---- the host's trouble ---------------------------------------------------------------------------------------------


def is_overloaded(capture: Capture) -> bool:
    """Returns whether the server says that it is overloaded (RFC 6585 §4, RFC 9110 §15.6.4)."""
    return isinstance(capture.result, Response) and capture.result.status in (429, 503)


def is_trouble(capture: Capture) -> bool:
    """Returns whether the host is in trouble: it says so, or does not answer."""
    return is_overloaded(capture) or (isinstance(capture.result, Failure) and capture.result.kind in _UNANSWERED)


def _has_its_own_end(capture: Capture) -> bool:
    """Returns whether the number of tries is limited without a back-off: for a name without an address, and for
    robots.txt, whose pauses grow by themselves (`Politeness.robots_pause_s`). A host's back-off would be kept for the
    next run, and delay its first try."""
    is_robots_txt = capture.request.url == capture.request.url.robots_txt
    return isinstance(capture.result, Failure) and (capture.result.lasting or is_robots_txt)


def _backoff(capture: Capture, defaults: _Defaults, backoff_s: float, *, walled: bool) -> tuple[float, bool]:
    """Returns the back-off, doubled by trouble and halved by success, and whether the host is given up."""
    if _has_its_own_end(capture):
        return backoff_s, False
    doubled_s = min(max(defaults.backoff_first_s, 2 * backoff_s), defaults.backoff_most_s)
    if is_trouble(capture):
        return doubled_s, backoff_s >= defaults.backoff_most_s
    if walled:
        return max(backoff_s, min(doubled_s, defaults.wall_most_s)), False
    if isinstance(capture.result, Response):
        return (backoff_s / 2 if backoff_s > defaults.backoff_first_s else 0.0), False
    return backoff_s, False


def _trouble_name(capture: Capture, *, walled: bool) -> str:
    """Names the trouble of a host in a word or two."""
    if walled:
        return "a bot wall"
    return capture.result.kind if isinstance(capture.result, Failure) else str(capture.result.status)
