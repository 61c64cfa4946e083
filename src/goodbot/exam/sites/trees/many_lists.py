"""A sitemap index names forty indexes of fifty sitemaps each. Links alone lead to five stories, one after the other:
five levels deep, which is wget's default depth."""

import re
from typing import Final

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Reply, page, robots
from goodbot.exam.expectations import AtMostEach, Fetches
from goodbot.exam.sites.listing import index, sitemap

INDEXES: Final = 40
LISTS: Final = 50
"""The number of sitemaps in each index."""
STORIES: Final = tuple(f"/story/{number}" for number in range(1, 6))
LISTED: Final = ("/listed/first", "/listed/last")
WITHIN: Final = 1000
"""The crawler has to fetch the stories within so many requests; all sitemaps together take 2,041."""
_LIST = re.compile(r"/tree/([0-9]{1,2})(?:/([0-9]{1,2}))?\.xml")


def _lists(target: str) -> Reply:
    found = _LIST.fullmatch(target)
    if found is None:
        return NOT_FOUND
    branch = int(found[1])
    if branch >= INDEXES:
        return NOT_FOUND
    if found[2] is None:
        return index(*(f"@@/tree/{branch}/{leaf}.xml" for leaf in range(LISTS)))
    leaf = int(found[2])
    if leaf >= LISTS:
        return NOT_FOUND
    named = {(0, 0): LISTED[0], (INDEXES - 1, LISTS - 1): LISTED[1]}.get((branch, leaf), "/")
    return sitemap(f"@@{named}")


async def _tree(exchange: Exchange) -> None:
    await exchange.reply(_lists(exchange.request.target))


SITE = ExamSite(
    name="sitemap-many-lists",
    teaches="Fetch linked pages early, even if robots.txt leads to two thousand sitemaps.",
    source="sitemaps.org protocol (an index names sitemaps; some name indexes)",
    pages={
        "/robots.txt": robots("User-agent: *\nDisallow:\n\nSitemap: @@/sitemaps.xml\n"),
        "/": page(STORIES[0], title="Start"),
        "/sitemaps.xml": index(*(f"@@/tree/{branch}.xml" for branch in range(INDEXES))),
        **{
            path: page(*STORIES[number : number + 1], title=f"Story {number}", text=f"The story of number {number}.")
            for number, path in enumerate(STORIES, 1)
        },
        **{path: page(title=path, text="Named by a sitemap only.") for path in LISTED},
        "*": _tree,
    },
    expects=(
        Fetches(("/", *STORIES), within=WITHIN),
        AtMostEach(3, "*.xml", rule="trap"),
        Fetches(LISTED[:1], rule="sitemap"),
    ),
)
