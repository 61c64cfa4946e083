"""What all endless traps have in common. Beside each of them are a few real pages."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from html import escape
from typing import Final
from zlib import crc32

from goodbot.exam.exam_values import NOT_FOUND, ExamSite, Exchange, Expectation, Handler, Reply, Route, page, robots
from goodbot.exam.expectations import AtMost, Finds

ALLOWED: Final = 3000
"""Requests for pages of a trap that are no fault: a crawler without any rule for traps, but with a limit of a thousand
or two thousand pages for each host, stays below."""
ENDS: Final = 3300
"""New addresses after which pages of a trap have no links any more, so that every drive comes to an end."""

REAL: Final = {
    "/about": page("/about/people", title="About the harbour", text="The harbour has had a lighthouse since 1871."),
    "/about/people": page("/about/people/anna", title="The people", text="Five people work in the harbour office."),
    "/about/people/anna": page(title="Anna", text="Anna keeps the lighthouse and answers the telephone."),
    "/contact": page(title="Contact", text="The office is open on weekdays from nine to four."),
}
"""Beside each trap, three links from the start page at most."""


@dataclass(frozen=True, slots=True)
class View:
    """A page of a trap: where it leads on, and `real`: where it leads to pages that are worth it."""

    title: str
    text: str
    onward: tuple[str, ...]
    real: tuple[str, ...] = ()


Look = Callable[[str, int], View | None]
"""By the target and the number of requests before this one; None: there is no such page."""


def endless(look: Look, branches: int = 1) -> Handler:
    """Answers with what `look` gives, with links onward until about ENDS addresses were given out in this visit: by
    each page `branches` that are new."""

    async def handler(exchange: Exchange) -> None:
        before = exchange.before()
        view = look(exchange.asked.target, before)
        if view is None:
            await exchange.reply(NOT_FOUND)
        else:
            links = (*(view.onward if before * branches < ENDS else ()), *view.real)
            await exchange.reply(page(*map(escape, links), title=escape(view.title), text=escape(view.text)))

    return handler


def trap_site(
    name: str,
    teaches: str,
    source: str,
    look: Look,
    *,
    door: str,
    pattern: str,
    real: Iterable[str] = (),
    expects: tuple[Expectation, ...] = (),
    branches: int = 1,
) -> ExamSite:
    """A start page with links to `door`, where the trap begins, and to pages beside it. `pattern` is what counts as the
    trap; `real` are pages that it leads to, `branches` how many links of each of its pages are new."""
    beside: dict[str, Route] = {**REAL, **{path: page(title=_name(path), text=_story(path)) for path in real}}
    start: Reply = page("/about", door, "/contact", title="The harbour")
    return ExamSite(
        name=name,
        teaches=teaches,
        source=source,
        pages={"/robots.txt": robots("User-agent: *\nDisallow:\n"), "/": start, **beside, "*": endless(look, branches)},
        expects=(Finds(("/", *beside)), *expects, AtMost(ALLOWED, pattern)),
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
    """So many words, always the same for the same seed."""
    return [_WORDS[crc32(f"{number} {seed}".encode()) % len(_WORDS)] for number in range(count)]


def is_word(text: str) -> bool:
    """Whether `words` may give it."""
    return text in _WORDS


def number_in(pattern: re.Pattern[str], target: str) -> tuple[int, ...] | None:
    """The groups of a pattern that matches the whole target, as numbers."""
    found = pattern.fullmatch(target)
    return tuple(int(group) for group in found.groups()) if found else None


def _name(path: str) -> str:
    return path.strip("/").replace("/", " ").replace("-", " ").capitalize()


def _story(path: str) -> str:
    return f"This page is about {' and '.join(words(path, 12))}."
