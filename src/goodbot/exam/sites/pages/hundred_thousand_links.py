"""One page has 100,000 links to thirty pages."""

from functools import cache

from goodbot.exam.exam_values import ExamSite, Exchange, Reply, page
from goodbot.exam.expectations import AtMost, Fetches

LINKS = 100_000
NAMES = tuple(str(number) for number in range(1, 31))
"""The names are short to keep the page under 2 MB: some crawlers read no further."""


@cache
def _many() -> Reply:
    *often, last = NAMES
    links = [f"<a href={often[n % 29]}#{n % 4096:x}>x</a>" for n in range(LINKS - 1)]
    return Reply("".join(["<!doctype html><title>Many</title><p>", *links, f"<a href={last}>x</a>"]).encode())


async def _start(exchange: Exchange) -> None:
    await exchange.reply(_many())


SITE = ExamSite(
    name="hundred-thousand-links",
    teaches="Find the thirty targets of 100,000 links on one page, even that of the last link, and fetch each once.",
    source="HTML 4.6.2; RFC 3986 3.5 (a fragment is not part of a request)",
    pages={"/": _start, **{f"/{name}": page(title=name) for name in NAMES}},
    expects=(Fetches(("/", *(f"/{name}" for name in NAMES))), AtMost(60)),
)
