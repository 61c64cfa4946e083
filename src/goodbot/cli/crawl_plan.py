"""`goodbot crawl --dry-run`: what would be fetched first, how fast, how long it would take at least."""

import time
from collections.abc import Iterator
from pathlib import Path

from goodbot.cli.printing import folded, say, write_json
from goodbot.config import Settings
from goodbot.crawl_admin import rehearse
from goodbot.human import counted, human_duration, human_time
from goodbot.report_values import MAX_COUNT, MAX_HOSTS
from goodbot.robot.manners.plan import CrawlPlan, PlannedHost
from goodbot.store.control.seed_file import SeedSpool

HOSTS_SHOWN = 10
URLS_SHOWN = 5


def plan_crawl(folder: Path, settings: Settings, max_pages: int | None, listed: SeedSpool, *, as_json: bool) -> int:
    """Prints the plan of a crawl, without fetching anything or changing `folder`. Returns the exit status."""
    plan = rehearse(folder, settings, listed, max_pages=max_pages, urls_per_host=URLS_SHOWN)
    if as_json:
        write_json(_json(plan))
    else:
        for line in _lines(plan):
            text = line.lstrip()
            indent = line[: len(line) - len(text)]
            for parts in folded(text, indent, indent + "  "):
                say(*parts)
    return 0


def _json(plan: CrawlPlan) -> dict[str, object]:
    return {
        "pages": plan.pages,
        "least_s": plan.least_s,
        "hosts": [
            {
                "host": host.host,
                "ready": host.ready,
                "starts_at": host.starts_at,
                "gap_s": host.gap_s,
                "robots_txt": "known" if host.robots_known else "not known yet",
                "urls": [url.text for url in host.urls],
                "disallowed": [url.text for url in host.disallowed],
            }
            for host in plan.hosts
        ],
    }


def _lines(plan: CrawlPlan) -> Iterator[str]:
    if not plan.hosts:
        yield "nothing would be fetched: no URL is ready"
        return
    yield "would fetch from these hosts at the same time:"
    now = time.time()
    for host in plan.hosts[:HOSTS_SHOWN]:
        yield from _host(host, now)
    if len(plan.hosts) > HOSTS_SHOWN:
        more = " or more" if len(plan.hosts) >= MAX_HOSTS else ""
        yield f"  … and {counted(len(plan.hosts) - HOSTS_SHOWN, 'host')}{more}"
    took = f"{human_duration(plan.least_s)} at least" if plan.least_s >= 1 else "as long as the servers need to answer"
    yield f"{counted(plan.pages, 'known page')} would take {took}; pages found on the way take more"
    yield "nothing was fetched or written"


def _host(host: PlannedHost, now: float) -> Iterator[str]:
    count = f"{host.ready:,}" + (" or more" if host.ready >= MAX_COUNT else "")
    when = f", from {human_time(host.starts_at)}" if host.starts_at > now + 1 else ""
    asks = (
        ""
        if host.robots_known
        else "; its robots.txt is not known yet: it is fetched first, and may ask for longer pauses"
    )
    yield f"  {host.host}: {count} ready, {_gap(host.gap_s)}{when}{asks}"
    yield from (f"    {url}" for url in host.urls)
    yield from (f"    {url} (its robots.txt disallows it)" for url in host.disallowed)
    if host.ready > len(host.urls) + len(host.disallowed):
        yield f"    … and {counted(host.ready - len(host.urls) - len(host.disallowed), 'URL')}"


def _gap(seconds: float) -> str:
    return f"{seconds:g} s between requests" if seconds else "no pause between requests"
