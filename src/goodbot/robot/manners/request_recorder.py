"""Records the requests that each host received, and adds them up host by host.

A gap is measured as the robot sees it: from the end of an answer to the start of the next request. The server sees the
answer end earlier and the next request arrive later, so the gaps that it sees are no shorter.
"""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any, Final

from goodbot.exclusion.text.decimals import seconds_text
from goodbot.exclusion.validity.freshness import retry_after_s
from goodbot.live import Courtesy, HostRequest
from goodbot.ports import Clock, CourtesyStore, Transport
from goodbot.robot.manners.politeness import Politeness
from goodbot.url import Url
from goodbot.values import Capture, Request, Response

CLOCK_ERROR_S: Final = 0.001
"""Two readings of a clock and a timer may differ by this much."""
_COUNTED: Final = {429: "status_429", 503: "status_503", None: "unanswered"}
_AGENT_FIELD: Final = b"\r\nUser-Agent: "


class RequestRecorder:
    """A Transport that reports to `note` every request that reached its host. Costs 3 µs a request. `politeness` has
    the delays that the robot keeps without being asked."""

    def __init__(
        self, transport: Transport, clock: Clock, note: Callable[[HostRequest], None], politeness: Politeness
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._note = note
        self._politeness = politeness

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        began_at = self._clock.now()
        try:
            capture = await self._transport.send(request)
        except BaseException:  # cancelled: the host may have received the request
            self._note(
                HostRequest(request.url.host_key, began_at, self._clock.now(), robots_txt=_is_robots_txt(request.url))
            )
            raise
        if isinstance(capture.result, Response) or capture.request_head:
            self._note(host_request_of(capture, self._politeness))
        return capture

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


def host_request_of(capture: Capture, politeness: Politeness) -> HostRequest:
    """Returns what the host saw of a request that was sent, and the robot's own delay before it."""
    request, result = capture.request, capture.result
    until = capture.fetched_at + capture.elapsed_s
    status = not_before = None
    if isinstance(result, Response):
        status = result.status
        asked_s = retry_after_s(result.headers, until) if result.header("retry-after") else None
        not_before = None if asked_s is None else until + asked_s
    return HostRequest(
        request.url.host_key,
        capture.fetched_at,
        until,
        status,
        _is_robots_txt(request.url),
        request.verdict.delay_s,
        not_before,
        _agent(capture.request_head),
        *politeness.own_delay(capture),
    )


def longest_retry_after(asked_s: float, most_s: float) -> str:
    """Returns a clause about the longest Retry-After of a host, and says if a crawl would not wait that long."""
    asked_s = round(asked_s, 3)
    asks = f"the longest asks for {seconds_text(asked_s)}"
    return asks if asked_s <= most_s else f"{asks}, more than retry_after_most {most_s:g} in goodbot.toml"


def add_requests(store: CourtesyStore, requests: Iterable[HostRequest]) -> None:
    """Adds these requests to the record of their hosts in `store`."""
    in_order = sorted(requests, key=attrgetter("host", "at"))
    by_host = {host: list(some) for host, some in groupby(in_order, attrgetter("host"))}
    known = store.load_courtesies(by_host)
    store.save_courtesies(add_up(known.get(host, Courtesy(host)), some) for host, some in by_host.items())


def add_up(known: Courtesy, requests: Sequence[HostRequest]) -> Courtesy:
    """Returns `known` with these requests to the same host added. They must be in the order in which they began."""
    for item in requests:
        known = _after(known, item)
    return known


def _after(known: Courtesy, item: HostRequest) -> Courtesy:
    """Adds one request. Collects all changes first, because each change copies a tuple of 22 values."""
    changes: dict[str, Any] = {"requests": known.requests + 1, "agent": item.agent or known.agent}
    changes["first_at"] = item.at if known.first_at is None else min(known.first_at, item.at)
    changes["last_at"] = item.at if known.last_at is None else max(known.last_at, item.at)
    if item.robots_txt:
        changes["robots_txt"] = known.robots_txt + 1
    else:
        changes["asked_gap_s"] = item.gap_s
    if (name := _COUNTED.get(item.status)) is not None:
        changes[name] = getattr(known, name) + 1
    if known.held_from <= item.at < known.held_until - CLOCK_ERROR_S:
        changes["inside"] = known.inside + 1
    if known.requests:
        _take_gap(changes, known, item)
    if item.not_before is not None:
        _take_retry_after(changes, known, item.until, item.not_before)
    _take_time(changes, known, item)
    return known._replace(**changes)


def _take_gap(changes: dict[str, Any], known: Courtesy, item: HostRequest) -> None:
    """Adds the gap between this request and the busy period before or after it. Requests of parallel lanes, and those
    reported by several processes, may come in any order."""
    gap_s = max(item.at - known.busy_until, known.busy_from - item.until, 0.0)
    if known.least_gap_s is None or gap_s < known.least_gap_s:
        changes["least_gap_s"], changes["least_gap_at"] = gap_s, item.at
    asked_s = 0.0 if item.gap_s is None else item.gap_s
    if gap_s < asked_s - CLOCK_ERROR_S:
        changes["sooner"] = known.sooner + 1
    required_s = min(gap_s, max(asked_s, known.held_until - known.busy_until))
    own_s = max(item.own_gap_s, item.response_factor * (known.busy_until - known.busy_from))
    if required_s > own_s:
        changes["waited_s"] = known.waited_s + required_s - own_s


def _take_retry_after(changes: dict[str, Any], known: Courtesy, answered_at: float, not_before: float) -> None:
    changes["retry_afters"] = known.retry_afters + 1
    changes["longest_retry_after_s"] = max(known.longest_retry_after_s, not_before - answered_at)
    if not_before > known.held_until:
        changes["held_from"], changes["held_until"] = answered_at, not_before


def _take_time(changes: dict[str, Any], known: Courtesy, item: HostRequest) -> None:
    """Updates the last busy period of the host, which overlapping requests make longer."""
    if item.until < known.busy_from:
        return
    alone = item.at > known.busy_until or not known.requests
    changes["busy_from"] = item.at if alone else min(known.busy_from, item.at)
    changes["busy_until"] = item.until if alone else max(known.busy_until, item.until)
    changes["last_status"] = item.status


def _is_robots_txt(url: Url) -> bool:
    return url.text.endswith("/robots.txt") and url.target == "/robots.txt"


def _agent(head: bytes) -> str:
    start = head.find(_AGENT_FIELD)
    if start < 0:
        return ""
    start += len(_AGENT_FIELD)
    return head[start : head.find(b"\r\n", start)].decode("latin-1")
