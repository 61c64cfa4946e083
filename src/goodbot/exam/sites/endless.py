"""Builds endless traps: sites that make up pages without end, next to a few real pages."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Final
from zlib import crc32

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Expectation, Handler, Reply, Route, page, robots
from goodbot.exam.expectations import AtMost, Fetches

ALLOWED_REQUESTS: Final = 3000
"""The number of requests for pages of a trap that a crawler may send. One without rules for traps, but with a limit of
one or two thousand pages for each host, stays below it."""
ENDS_AFTER: Final = 3300
"""After about so many new URLs the pages of a trap have no more links, so that every drive ends."""

REAL: Final = {
    "/about": page("/about/people", title="About the harbour", text="The harbour has had a lighthouse since 1871."),
    "/about/people": page("/about/people/anna", title="The people", text="Five people work in the harbour office."),
    "/about/people/anna": page(title="Anna", text="Anna keeps the lighthouse and answers the telephone."),
    "/contact": page(title="Contact", text="The office is open on weekdays from nine to four."),
}
"""The real pages next to each trap, at most three links from the start page."""


@dataclass(frozen=True, slots=True)
class TrapPage:
    """A page of a trap: `onward` are links to more pages of the trap, `real` links to real pages."""

    title: str
    text: str
    onward: tuple[str, ...]
    real: tuple[str, ...] = ()


MakePage = Callable[[str, int], TrapPage | None]
"""Makes a page from the target and the number of requests before this one; None if there is no such page."""


def endless(make_page: MakePage, branches: int = 1) -> Handler:
    """Answers with the pages of `make_page`. They have onward links until about `ENDS_AFTER` URLs were handed out in
    this visit; each page adds `branches` new ones."""

    async def handler(exchange: Exchange) -> None:
        before = exchange.before()
        made = make_page(exchange.request.target, before)
        if made is None:
            await exchange.reply(NOT_FOUND)
        else:
            links = (*(made.onward if before * branches < ENDS_AFTER else ()), *made.real)
            await exchange.reply(page(*map(escape, links), title=escape(made.title), text=escape(made.text)))

    return handler


def trap_site(
    name: str,
    teaches: str,
    source: str,
    make_page: MakePage,
    *,
    entrance: str,
    pattern: str,
    real: Iterable[str] = (),
    expects: tuple[Expectation, ...] = (),
    branches: int = 1,
) -> ExamSite:
    """Builds a site whose start page links to `entrance`, where the trap begins, and to real pages. URLs that match
    `pattern` belong to the trap; `real` are pages that it links to; each of its pages has `branches` new links."""
    beside: dict[str, Route] = {**REAL, **{path: page(title=_name(path), text=_story(path)) for path in real}}
    start: Reply = page("/about", entrance, "/contact", title="The harbour")
    return ExamSite(
        name=name,
        teaches=teaches,
        source=source,
        pages={
            "/robots.txt": robots("User-agent: *\nDisallow:\n"),
            "/": start,
            **beside,
            "*": endless(make_page, branches),
        },
        expects=(Fetches(("/", *beside)), *expects, AtMost(ALLOWED_REQUESTS, pattern)),
    )


_WORDS: Final = (
    *(
        "amber",
        "anchor",
        "barley",
        "basin",
        "beacon",
        "bramble",
        "canvas",
        "cedar",
        "cliff",
        "copper",
        "coral",
        "delta",
    ),
    *("ember", "fathom", "ferry", "flint", "garnet", "granite", "gull", "harbour", "hazel", "heron", "indigo", "ivory"),
    *("juniper", "keel", "lagoon", "lantern", "linen", "marble", "meadow", "mussel", "nettle", "oak", "ochre", "otter"),
    *("pebble", "pier", "plover", "quarry", "quartz", "reed", "rudder", "saffron", "sail", "slate", "sparrow", "tern"),
    *(
        "thistle",
        "tide",
        "timber",
        "umber",
        "valley",
        "velvet",
        "walnut",
        "warbler",
        "willow",
        "wren",
        "yarrow",
        "zinc",
    ),
)


def words(seed: str, count: int) -> list[str]:
    """Returns `count` words, always the same for the same seed."""
    return [_WORDS[crc32(f"{number} {seed}".encode()) % len(_WORDS)] for number in range(count)]


def is_word(text: str) -> bool:
    """Whether `words` may return this word."""
    return text in _WORDS


def number_in(pattern: re.Pattern[str], target: str) -> tuple[int, ...] | None:
    """Returns the groups of a pattern as numbers, if it matches the whole target."""
    found = pattern.fullmatch(target)
    return tuple(int(group) for group in found.groups()) if found else None


def _name(path: str) -> str:
    return path.strip("/").replace("/", " ").replace("-", " ").capitalize()


def _story(path: str) -> str:
    return f"This page is about {' and '.join(words(path, 12))}."
