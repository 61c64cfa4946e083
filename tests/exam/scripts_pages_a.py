"""Drivers for the sites about directives, redirects, waiting, traps, copies and sitemaps."""

import asyncio

from exam.scripted import Driver, Script, Step, gets
from goodbot.exam.sites.pages.near_duplicates import COPIES, REAL
from goodbot.exam.sites.pages.sitemap_huge import OPEN
from goodbot.exam.sites.pages.ten_names import OTHERS

START: list[Step] = gets("/robots.txt", "/")
PAGES = [f"/page/{n}" for n in range(1, 13)]


def _start(*targets: str) -> list[Step]:
    return [*START, *gets(*targets)]


def _months(count: int) -> list[str]:
    return [f"/calendar?month={2026 + n // 12}-{n % 12 + 1:02d}" for n in range(count)]


def _sessions(count: int) -> list[str]:
    return [f"/page/{n % 8 + 1}?sid={n:06d}" for n in range(count)]


async def all_names_at_once(driver: Driver) -> None:
    labels = ("", *OTHERS)
    with driver.clock.held_until(lambda: driver.web.busy == len(labels)):
        await asyncio.gather(*(driver.get("/", label) for label in labels))


SCRIPTS: dict[str, Script] = {
    "meta-nofollow": Script(
        good=_start("/open", "/closed"),
        bad=_start("/open", "/closed", "/only-from-closed"),
        reason="fetched /only-from-closed",
    ),
    "meta-noindex": Script(
        good=_start("/open", "/unlisted", "/only-from-unlisted"),
        bad=_start("/open", "/unlisted"),
        reason="did not fetch /only-from-unlisted",
    ),
    "meta-none": Script(
        good=_start("/open", "/closed"),
        bad=_start("/open", "/closed", "/only-from-closed"),
        reason="fetched /only-from-closed",
    ),
    "meta-one-robot": Script(
        good=_start("/mine", "/theirs", "/from-theirs"),
        bad=_start("/mine", "/only-from-mine", "/theirs", "/from-theirs"),
        reason="fetched /only-from-mine",
    ),
    "x-robots-tag": Script(
        good=_start("/closed", "/twice", "/theirs", "/from-theirs"),
        bad=_start("/closed", "/twice", "/only-from-twice", "/theirs", "/from-theirs"),
        reason="fetched /only-from-twice",
    ),
    "rel-nofollow": Script(
        good=_start("/open", "/other-words"),
        bad=_start("/open", "/other-words", "/closed/3"),
        reason="fetched /closed/3",
    ),
    "canonical-mirror": Script(
        good=[*_start(*PAGES), *gets("mirror:/robots.txt", "mirror:/", "mirror:/page/1", "mirror:/page/2")],
        bad=_start("mirror:/robots.txt", "mirror:/", *(f"mirror:{path}" for path in PAGES)),
        reason="did not fetch /page/1",
    ),
    "redirect-loop": Script(
        good=_start("/a", "/loop/1", "/loop/2", "/b"),
        bad=_start("/a", "/b", *["/loop/1", "/loop/2"] * 13),
        reason="26 requests",
    ),
    "redirect-chain": Script(
        good=_start("/a", "/b", *(f"/hop/{n}" for n in range(1, 21))),
        bad=_start("/a", "/b", *(f"/hop/{n}" for n in range(1, 52))),
        reason="51 requests",
    ),
    "redirect-disallowed": Script(
        good=_start("/moved/1", "/moved/2", "/moved/3", "/public"),
        bad=_start("/moved/1", "/moved/2", "/private/2", "/moved/3", "/public"),
        reason="fetched /private/2",
    ),
    "redirect-private": Script(
        good=_start("/a", "/moved"),
        bad=_start("/a", "/moved", "redirected:/robots.txt"),
        reason="fetched /robots.txt",
    ),
    "retry-after-seconds": Script(
        good=[*_start("/a", "/busy"), "wait 3", *gets("/b", "/busy", "/c")],
        bad=[*_start("/a", "/busy"), "wait 1", *gets("/b", "/c", "/busy")],
        reason="sent the next request after 1.0 s",
    ),
    "retry-after-date": Script(
        good=[*_start("/out"), "wait 4", *gets("/out", "/a", "/b", "/c")],
        bad=[*_start("/a", "/b", "/c", "/out"), "wait 2", *gets("/out")],
        reason="sent the next request after 2.0 s",
    ),
    "trap-session-ids": Script(
        good=_start("/a", *_sessions(16)),
        bad=_start("/a", *_sessions(121)),
        reason="121 requests",
    ),
    "trap-calendar": Script(
        good=_start("/a", "/b", *_months(24)),
        bad=_start("/a", "/b", *_months(151)),
        reason="151 requests",
    ),
    "trap-repeating-path": Script(
        good=_start("/a", "/b", *("/shop/" + "a/b/" * n for n in range(4))),
        bad=_start("/a", "/b", *("/shop/" + "a/b/" * n for n in range(51))),
        reason="51 requests",
    ),
    "soft-404": Script(
        good=_start("/a", "/b", *(f"/gone/{n}" for n in range(8))),
        bad=_start("/a", "/b", *(f"/gone/{n}" for n in range(101))),
        reason="101 requests",
    ),
    "near-duplicates": Script(
        good=_start(*REAL, *COPIES[:20]),
        bad=_start(*COPIES, *REAL[:4]),
        reason="did not fetch /story/5",
    ),
    "second-visit": Script(
        good=[
            *_start("/tagged", "/dated"),
            "visit",
            'GET / If-None-Match: "v1"',
            'GET /tagged If-None-Match: "v1"',
            "GET /dated If-Modified-Since: Tue, 03 Mar 2026 09:00:00 GMT",
        ],
        bad=[*_start("/tagged"), "visit", *_start("/tagged", "/dated")],
        reason="did not fetch /dated",
    ),
    "sitemap-index": Script(
        good=_start("/a", "/sitemaps.xml", "/plain.xml", "/packed.xml.gz", "/in-plain?a=1&b=2", "/in-packed"),
        bad=_start("/sitemaps.xml", "/plain.xml"),
        reason="did not fetch /a",
    ),
    "sitemap-huge": Script(
        good=_start("/a", "/sitemap.xml", *OPEN.values()),
        bad=_start("/a", "/sitemap.xml", "/archive/1"),
        reason="fetched /archive/1",
    ),
    "sitemap-broken": Script(
        good=_start("/a", "/cut.xml", "/relative.xml", "/page.xml", "/before-the-cut", "/relative"),
        bad=_start("/cut.xml"),
        reason="did not fetch /a",
    ),
    "ten-names": Script(
        good=_start("/a", *(f"{label}:/" for label in OTHERS)),
        bad=[*gets("/robots.txt"), all_names_at_once],
        reason="did not fetch /a",
    ),
}
