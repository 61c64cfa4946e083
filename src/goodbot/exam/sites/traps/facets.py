"""A shop whose filters can be combined: each combination is a page, with a title that names the filters."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from goodbot.exam.sites.endless import View, trap_site, words

FACETS: Final = {
    "colour": ("red", "blue", "green", "black", "white", "brown"),
    "size": tuple(str(size) for size in range(36, 46)),
    "brand": ("acme", "borea", "cirrus", "delphi", "ember", "fjord"),
    "order": ("new", "cheap", "dear", "rated", "sold"),
}
"""7 · 11 · 7 · 6 = 3,234 pages, more than are allowed."""
SHOES: Final = tuple(f"/shoe/{word}" for word in ("heron", "otter", "plover", "tern", "wren", "gull"))


def _address(chosen: Mapping[str, str]) -> str:
    return "/shop?" + "&".join(f"{name}={chosen[name]}" for name in FACETS if name in chosen)


def _shop(target: str, before: int) -> View | None:
    path, _, query = target.partition("?")
    asked = dict(parse_qsl(query))
    if path != "/shop" or any(value not in FACETS.get(name, ()) for name, value in asked.items()):
        return None
    chosen = {name: asked[name] for name in FACETS if name in asked}
    onward = tuple(
        _address({**chosen, name: value})
        for name, values in FACETS.items()
        for value in values
        if value != chosen.get(name)
    )
    named = ", ".join(f"{name} {value}" for name, value in chosen.items()) or "all"
    count = sum(map(len, words(query, 3)))
    text = f"{count} shoes are on show here: {named}. Delivered from the harbour within two working days."
    return View(f"Shoes: {named}", text, onward, SHOES[: 2 if chosen else None])


SITE = trap_site(
    "trap-facets",
    "The filters of a shop combine to thousands of pages, each with its own title: a crawler stops in time.",
    "Google, Crawling and indexing of faceted navigation URLs",
    _shop,
    door="/shop",
    pattern="/shop*",
    real=SHOES,
)
