"""Finds parameters whose values change nothing: several values of them give the same page. Bounded memory."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from goodbot.lru import LruCache, share_of
from goodbot.robot.lessons.cleaning import parameters, without

VALUES: Final = 4
PATHS: Final = 2
"""How many values must give the same page, and on how many paths, before a parameter counts as meaningless."""

_LOOKED_AT: Final = 6
"""Parameters of one URL that are examined."""

MAX_PLACES: Final = 8192
MAX_NAMES: Final = 4096
"""Bounds for all hosts of a crawl; 0.5 kB and 0.3 kB each: 5 MB."""


@dataclass(slots=True)
class _Place:
    """One page, whatever the value of one parameter: its text and links, and the values it was seen with."""

    content_hash: int
    values: set[int] = field(default_factory=set)


@dataclass(slots=True)
class _Name:
    """One parameter of an origin: the paths on which it changed nothing; `matters`: it changed some page."""

    matters: bool = False
    paths: dict[str, str] = field(default_factory=dict)


class Parameters:
    """What is known of the parameters of all origins."""

    def __init__(self, processes: int = 1) -> None:
        self._places: LruCache[tuple[str, str], _Place] = LruCache(share_of(MAX_PLACES, processes))
        self._names: LruCache[tuple[str, str], _Name] = LruCache(share_of(MAX_NAMES, processes))

    def undecided(self, text: str, origin: str) -> list[tuple[str, str]]:
        """Returns the parameters of a URL, with their values, that are not known to matter."""
        return [
            (name, value)
            for name, value in parameters(text, _LOOKED_AT)
            if (known := self._names.get((origin, name))) is None or not known.matters
        ]

    def visited(self, text: str, origin: str, name: str, value: str, content_hash: int) -> str | None:
        """Records the page that one value of a parameter gave; returns the evidence once there is enough that the
        parameter changes nothing.

        `content_hash`: a hash of the page's text and its links, the latter without that parameter.
        """
        others = without(text, name)
        place = self._places.get((others, name))
        if place is None:
            self._places.put((others, name), _Place(content_hash, {hash(value)}))
            return None
        if place.content_hash != content_hash:
            if hash(value) not in place.values:  # the same URL, visited again, may have changed
                self._names.get_or((origin, name), _Name).matters = True
            self._places.pop((others, name))
            return None
        if len(place.values) < VALUES:
            place.values.add(hash(value))
        if len(place.values) < VALUES:
            return None
        known = self._names.get_or((origin, name), _Name)
        known.paths[others.partition("?")[0]] = others
        if len(known.paths) < PATHS:
            return None
        first, second = list(known.paths.values())[:2]
        return (
            f"the parameter {name} changes nothing: {VALUES} values of it gave the same page at {first} and at {second}"
        )


def links_without(links: Iterable[str], name: str) -> int:
    """Returns a hash of the links of a page without one parameter; their order does not matter."""
    mark = f"{name}="
    return hash(frozenset(without(link, name) if mark in link else link for link in links))
