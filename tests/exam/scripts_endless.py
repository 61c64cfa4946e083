"""Drivers for endless traps, walls, trees of sitemaps and answers that invite to ask again."""

import asyncio
from collections.abc import Iterator

from exam.breadth_first import breadth_first
from exam.scripted import Driver, Script, Step, gets
from goodbot.exam.sites.robots.one_target import FILE, HOUSES
from goodbot.exam.sites.trees.many_lists import INDEXES, LISTED, LISTS, STORIES
from goodbot.exam.sites.trees.packed import OPEN

MODEST: list[Step] = [breadth_first(500)]
"""It knows no rule for traps: only a limit of pages for each host."""
TIRELESS: list[Step] = [breadth_first()]

TRAPS = (
    *("trap-facets", "trap-relative-links", "trap-session-in-path", "trap-path-parameters", "trap-bare-numbers"),
    *("trap-path-in-title", "trap-thin-pages", "trap-timestamps", "trap-day-of-year", "trap-month-names"),
    *("trap-labyrinth", "trap-title-is-path"),
)


async def all_robots_at_once(driver: Driver) -> None:
    """Nine hosts, nine fetches of the one file."""
    with driver.clock.held_until(lambda: driver.web.busy == 1 + len(HOUSES)):
        await asyncio.gather(*(driver.get("/robots.txt", house) for house in ("", *HOUSES)))
    for _ in range(1 + len(HOUSES)):
        await driver.get(FILE, "rules")


def _climbs(*targets: str) -> list[Step]:
    """Fills in the form of the wall."""
    return [*gets("/robots.txt", *targets), "POST /.wall/answer"]


def _slowly(*targets: str) -> Iterator[Step]:
    for target in targets:
        yield "wait 1"
        yield from gets(target)


def _again() -> Script:
    return Script(
        good=gets("/robots.txt", "/", "/a", "/slow", "/b", "/slow"),
        bad=gets("/robots.txt", "/", "/a", *["/slow"] * 11, "/b"),
        reason="11 requests for /slow",
    )


_LISTS = [f"/tree/{branch}/{leaf}.xml" for branch in range(INDEXES) for leaf in range(LISTS)]
_BUSY: list[Step] = [f"GET rules:{FILE}", "wait 3", f"GET rules:{FILE}"]

SCRIPTS: dict[str, Script] = {
    **{name: Script(MODEST, TIRELESS, " requests") for name in TRAPS},
    "trap-maintenance": Script(
        good=[breadth_first(500), "visit", breadth_first(500)],
        bad=[breadth_first(500), "visit", *gets("/robots.txt", "/", "/about")],
        reason="did not fetch /item/1, /item/2",
    ),
    # ---- walls ----
    "wall-robots-202": Script(
        good=[*gets("/robots.txt"), "wait 60", *gets("/robots.txt")],
        bad=gets(*["/robots.txt"] * 11),
        reason="11 requests for /robots.txt",
    ),
    "wall-robots-200": Script(
        good=[*gets("/robots.txt"), "wait 60", *gets("/robots.txt")],
        bad=_climbs("/"),
        reason="answered the challenge: POST /.wall/answer",
    ),
    "wall-robots-403": Script(
        good=[*gets("/robots.txt"), "wait 60", *gets("/robots.txt"), "wait 60", *gets("/robots.txt", "/", "/a")],
        bad=_climbs("/", "/a"),
        reason="answered the challenge: POST /.wall/answer",
    ),
    "wall-robots-402": Script(
        good=[*gets("/robots.txt"), "wait 60", *gets("/robots.txt")],
        bad=gets(*["/robots.txt"] * 11),
        reason="11 requests for /robots.txt",
    ),
    "wall-robots-429": Script(
        good=[*gets("/robots.txt"), "wait 2", *gets("/robots.txt")],
        bad=gets("/robots.txt", "/robots.txt"),
        reason="sent the next request after 0.0 s",
    ),
    "wall-robots-503": Script(
        good=[*gets("/robots.txt"), "wait 60", *gets("/robots.txt")],
        bad=gets("/robots.txt", "/"),
        reason="fetched /",
    ),
    **{
        f"wall-{status}": Script(
            good=MODEST,
            bad=gets("/robots.txt", "/", "/a", "/b", *["/shop/2"] * 4),
            reason="4 requests for /shop/2",
        )
        for status in (200, 202, 402)
    },
    "wall-403": Script(
        good=[*gets("/robots.txt", "/", "/a", "/b"), *_slowly(*(f"/shop/{number}" for number in range(1, 13)))],
        bad=gets("/robots.txt", "/", "/a", "/b", *["/shop/7"] * 4),
        reason="4 requests for /shop/7",
    ),
    "wall-429": Script(
        good=MODEST,
        bad=gets("/robots.txt", "/", "/a", "/shop/1", "/b"),
        reason="sent the next request after 0.0 s",
    ),
    "wall-503": Script(
        good=MODEST,
        bad=[*gets("/robots.txt", "/", "/a", "/b"), "GET /shop/1 Cookie: x=1; wall-pass=42"],
        reason="sent the cookie wall-pass",
    ),
    "wall-that-opens": Script(
        good=MODEST,
        bad=[*gets("/robots.txt", "/"), "wait 1", *gets("/"), "wait 2", *gets("/", "/a", "/b")],
        reason="sent the next request after 1.0 s",
    ),
    "wall-try-again": Script(good=MODEST, bad=TIRELESS, reason=" requests"),
    # ---- robots.txt ----
    "robots-one-target": Script(
        good=[*gets("/robots.txt"), *_BUSY, *gets("/", "/a")],
        bad=[all_robots_at_once, *gets("/", "/a")],
        reason="9 requests within 1 s (rules origin); sent the next request after 0.0 s",
    ),
    "robots-crawl-delay-endless": Script(
        good=gets("/robots.txt", "/"),
        bad=[*gets("/robots.txt", "/"), "wait 60", *gets("/a")],
        reason="its shortest wait was 60.0 s",
    ),
    # ---- what passes by itself ----
    "again-408": _again(),
    "again-421": _again(),
    "again-425": _again(),
    # ---- sitemaps ----
    "sitemap-many-lists": Script(
        good=[*gets("/robots.txt", "/", "/sitemaps.xml", "/tree/0.xml", "/tree/0/0.xml"), *gets(*STORIES, *LISTED)],
        bad=gets("/robots.txt", "/", "/sitemaps.xml", *_LISTS[:995], *STORIES),
        reason="did not fetch /story/3, /story/4, /story/5 among the first 1000 requests",
    ),
    "sitemap-names-itself": Script(
        good=[breadth_first(500, sitemaps=True)],
        bad=gets("/robots.txt", "/", "/a", *["/sitemaps.xml"] * 11, "/listed"),
        reason="11 requests",
    ),
    "sitemap-two-indexes": Script(
        good=[breadth_first(500, sitemaps=True)],
        bad=[breadth_first(sitemaps=True)],
        reason=" requests",
    ),
    "sitemap-other-hosts": Script(
        good=[breadth_first(500, sitemaps=True)],
        bad=gets("/robots.txt", "/", "/a", "/sitemap.xml", "other:/page/0"),
        reason="fetched /page/0 (other origin)",
    ),
    "sitemap-packed": Script(
        good=gets("/robots.txt", "/", "/a", "/sitemap.xml.gz", *OPEN.values()),
        bad=gets("/robots.txt", "/", "/a", "/sitemap.xml.gz", "/archive/1"),
        reason="fetched /archive/1",
    ),
    "sitemap-redirected": Script(
        good=[breadth_first(500, sitemaps=True)],
        bad=gets("/robots.txt", "/", "/sitemap.xml", "/maps/", "/maps/2026.xml", "/listed"),
        reason="did not fetch /a",
    ),
}
