"""Plans a crawl: what it would fetch first, how fast, and how long the known URLs would take at least. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from goodbot.exclusion import Access
from goodbot.robot.manners.politeness import Politeness, asked_gap_s, bounded_timing, opens_at
from goodbot.url import Url, is_private_host
from goodbot.values import Lease


@dataclass(frozen=True, slots=True)
class PlannedHost:
    """A host in the order of the crawl. `gap_s`: least seconds from an answer to the next request, as far as known.
    `robots_known` False: its robots.txt is fetched first, and may ask for a longer gap or disallow the URLs."""

    host: str
    ready: int
    starts_at: float
    gap_s: float
    robots_known: bool
    urls: tuple[Url, ...]
    disallowed: tuple[Url, ...]


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """`pages`: how many of the URLs known now would be fetched. `least_s`: how long that takes at least, with all hosts
    in parallel and servers that answer at once."""

    hosts: tuple[PlannedHost, ...]
    pages: int
    least_s: float


def plan_host(
    lease: Lease, ready: int, starts_at: float, robots: Mapping[str, Access], politeness: Politeness, token: str
) -> PlannedHost:
    """Returns the plan for the host of a lease; `robots` has the known robots.txt of its origins."""
    urls = tuple(leased.url for leased in lease.urls)
    verdicts = {url: robots[url.origin].verdict(url.text, token) for url in urls if url.origin in robots}
    timings = [bounded_timing(robots[origin].rules.timing(token)) for origin in {url.origin for url in verdicts}]
    starts_at = max((opens_at(timing, starts_at) for timing in timings), default=starts_at)
    asked_s = max((asked_gap_s(timing, starts_at) for timing in timings), default=0.0)
    private = all(is_private_host(url.host) for url in urls)
    return PlannedHost(
        host=lease.host,
        ready=ready,
        starts_at=starts_at,
        gap_s=politeness.gap_s(private=private, elapsed_s=0.0, asked_s=asked_s) + lease.backoff_s,
        robots_known=len(verdicts) == len(urls),
        urls=tuple(url for url in urls if url not in verdicts or verdicts[url].allowed),
        disallowed=tuple(url for url, verdict in verdicts.items() if not verdict.allowed),
    )


def plan(hosts: Iterable[PlannedHost], now: float, max_pages: int | None) -> CrawlPlan:
    """Returns the plan for these hosts, crawled in parallel."""
    hosts = tuple(hosts)
    known = sum(host.ready for host in hosts)
    pages = known if max_pages is None else min(known, max_pages)
    low, high = 0.0, max((_seconds(host, now, host.ready) for host in hosts), default=0.0)
    if pages == known:
        return CrawlPlan(hosts, pages, high)
    for _ in range(60):  # bisection: the number of pages that can have been fetched only grows with time
        middle = (low + high) / 2
        if sum(_fetched(host, now, middle) for host in hosts) >= pages:
            high = middle
        else:
            low = middle
    return CrawlPlan(hosts, pages, high)


def _seconds(host: PlannedHost, now: float, pages: int) -> float:
    """Returns the seconds until the last of so many pages is requested."""
    return max(host.starts_at - now, 0.0) + (pages - host.robots_known) * host.gap_s


def _fetched(host: PlannedHost, now: float, seconds: float) -> float:
    """Returns how many pages can have been requested after so many seconds."""
    left_s = seconds - max(host.starts_at - now, 0.0)
    if left_s < 0:
        return 0
    return host.ready if host.gap_s <= 0 else min(host.ready, left_s // host.gap_s + host.robots_known)
