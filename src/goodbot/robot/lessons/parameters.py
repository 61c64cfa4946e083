"""Parameters whose values change nothing: learned where the same page comes under several of them. Bounded memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from goodbot.lru import LruCache, share_of
from goodbot.robot.lessons.cleaning import parameters, without

VALUES: Final = 4
PATHS: Final = 2
"""Values under which a page is the same, and paths on which that is so, before a parameter is taken to mean nothing."""

_LOOKED_AT: Final = 6
"""Parameters of one URL."""

PLACES_MOST: Final = 8192
NAMES_MOST: Final = 4096
"""Of all hosts of a crawl; 0.5 kB and 0.3 kB each: 5 MB."""


@dataclass(slots=True)
class _Place:
    """One page but for the value of one parameter: what it says and links to, and the values it was seen with."""

    says: int
    values: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Name:
    """One parameter of an origin: the paths on which it changed nothing; `matters`: somewhere it did."""

    matters: bool = False
    paths: dict[str, str] = field(default_factory=dict)


class Parameters:
    """What was seen of the parameters of all origins."""

    def __init__(self, processes: int = 1) -> None:
        self._places: LruCache[tuple[str, str], _Place] = LruCache(share_of(PLACES_MOST, processes))
        self._names: LruCache[tuple[str, str], _Name] = LruCache(share_of(NAMES_MOST, processes))

    def undecided(self, text: str, origin: str) -> list[tuple[str, str]]:
        """Parameters of a URL, with their values, of which it is not known whether they matter."""
        return [
            (name, value)
            for name, value in parameters(text, _LOOKED_AT)
            if (known := self._names.get((origin, name))) is None or not known.matters
        ]

    def visited(self, text: str, origin: str, name: str, value: str, says: int) -> str | None:
        """Takes a page under one value of a parameter; the evidence once it is plain that it changes nothing.

        `says` is what the page says and what it links to, that parameter left out of the links.
        """
        rest = without(text, name)
        place = self._places.get((rest, name))
        if place is None:
            self._places.put((rest, name), _Place(says, {hash(value)}))
            return None
        if place.says != says:
            if hash(value) not in place.values:  # the same URL, visited again, may have changed
                self._names.get_or((origin, name), _Name).matters = True
            self._places.pop((rest, name))
            return None
        if len(place.values) < VALUES:
            place.values.add(hash(value))
        if len(place.values) < VALUES:
            return None
        known = self._names.get_or((origin, name), _Name)
        known.paths[rest.partition("?")[0]] = rest
        if len(known.paths) < PATHS:
            return None
        first, second = list(known.paths.values())[:2]
        return (
            f"the parameter {name} changes nothing: {VALUES} values of it gave the same page at {first} and at {second}"
        )


def links_without(links: Iterable[str], name: str) -> int:
    """What a page links to, whatever the value of one parameter is there; order does not matter."""
    mark = f"{name}="
    return hash(frozenset(without(link, name) if mark in link else link for link in links))
