"""The filters of a shop combine freely, and each combination is a page whose title names the filters."""

from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl

from goodbot.exam.sites.endless import TrapPage, trap_site, words

FACETS: Final = {
    "colour": ("red", "blue", "green", "black", "white", "brown"),
    "size": tuple(str(size) for size in range(36, 46)),
    "brand": ("acme", "borea", "cirrus", "delphi", "ember", "fjord"),
    "order": ("new", "cheap", "dear", "rated", "sold"),
}
"""They combine to 7 · 11 · 7 · 6 = 3,234 pages, more than a crawler may fetch."""
SHOES: Final = tuple(f"/shoe/{word}" for word in ("heron", "otter", "plover", "tern", "wren", "gull"))


def _url(chosen: Mapping[str, str]) -> str:
    return "/shop?" + "&".join(f"{name}={chosen[name]}" for name in FACETS if name in chosen)


def _shop(target: str, before: int) -> TrapPage | None:
    path, _, query = target.partition("?")
    filters = dict(parse_qsl(query))
    if path != "/shop" or any(value not in FACETS.get(name, ()) for name, value in filters.items()):
        return None
    chosen = {name: filters[name] for name in FACETS if name in filters}
    onward = tuple(
        _url({**chosen, name: value})
        for name, values in FACETS.items()
        for value in values
        if value != chosen.get(name)
    )
    named = ", ".join(f"{name} {value}" for name, value in chosen.items()) or "all"
    count = sum(map(len, words(query, 3)))
    text = f"{count} shoes are on show here: {named}. Delivered from the harbour within two working days."
    return TrapPage(f"Shoes: {named}", text, onward, SHOES[: 2 if chosen else None])


SITE = trap_site(
    "trap-facets",
    "Stop in time when a shop's filters combine to thousands of pages, each with its own title.",
    "Google, Crawling and indexing of faceted navigation URLs",
    _shop,
    entrance="/shop",
    pattern="/shop*",
    real=SHOES,
)
