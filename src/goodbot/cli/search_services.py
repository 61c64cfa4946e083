"""Searches an index and other search services together, for `goodbot search --with`."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from goodbot.cli.printing import say_folded
from goodbot.clock import SystemClock
from goodbot.errors import InputError, RunError
from goodbot.federate import (
    OWN,
    Federation,
    Merged,
    MergedHit,
    NamedService,
    OwnHits,
    SourceReport,
    left_out,
    read_named,
    scored,
)
from goodbot.federate import with_sources as json_with_sources
from goodbot.index import results_json
from goodbot.one_shot import service_request, service_transport
from goodbot.ports import Search
from goodbot.search_values import Hit, Results

SPARE_S: Final = 1.0
"""A request may take this much longer than the deadline, so that a service that is late is called late."""


@dataclass(frozen=True, slots=True)
class OwnIndex:
    """An index of this machine: where it is, and the reader's languages."""

    search: Search
    folder: str
    languages: Sequence[str]


@dataclass(frozen=True, slots=True)
class Found:
    """The hits of all sources. `results` has them with their merged scores; `hits` are the same with their sources."""

    results: Results
    hits: tuple[MergedHit, ...]
    sources: tuple[SourceReport, ...]

    @property
    def answered(self) -> int:
        """The number of sources that answered."""
        return sum(each.state == "answered" for each in self.sources)

    @property
    def left_out(self) -> tuple[SourceReport, ...]:
        """The services that did not answer, or not to every request."""
        return left_out(self.sources)

    def as_json(self) -> dict[str, Any]:
        """Returns the JSON of the search."""
        return json_with_sources(results_json(self.results), self.hits, self.sources)


def search_services(query: str, services: Sequence[str], own: OwnIndex | None, deadline_s: float, top: int) -> Found:
    """Sends the query to services, and merges their hits with those of an index. First it says who gets the query.

    Raises InputError for a service that is none, RunError if no source answers.
    """
    if not query.strip():
        raise InputError("the query is empty: type a word to search for")
    named = [read_named(text) for text in dict.fromkeys(services)]
    say_folded(f"sending the query to {', '.join(each.url.authority for each in named)}", err=True)
    began_at = time.monotonic()
    merged, first = asyncio.run(_search(query, named, own, deadline_s, top))
    took_ms = (time.monotonic() - began_at) * 1000
    _check(merged)
    hits = merged.hits[:top]
    found = first or Results(query, 0, 0.0, searched_for=query)
    total = max(found.total, len(merged.hits))
    sources = tuple(
        replace(each, url=own.folder) if own is not None and each.name == OWN else each for each in merged.sources
    )
    return Found(replace(found, hits=scored(hits), total=total, took_ms=took_ms), hits, sources)


async def _search(
    query: str, named: Sequence[NamedService], own: OwnIndex | None, deadline_s: float, top: int
) -> tuple[Merged, Results | None]:
    """Returns the merged hits, and the first results of our index."""
    found: list[Results] = []

    def of(index: OwnIndex) -> OwnHits:
        async def own_hits(before: int) -> Sequence[Hit]:
            found.append(index.search.search(query, offset=before, languages=index.languages))
            return found[-1].hits

        return own_hits

    transport = partial(service_transport, [each.url for each in named], deadline_s + SPARE_S)
    async with Federation(named, transport, service_request, SystemClock(), deadline_s) as federation:
        merged = await federation.search(query, of(own) if own is not None else None, top)
    return merged, found[0] if found else None


def _check(merged: Merged) -> None:
    """Raises an error for a service that is no search, and if no source has answered."""
    for each in merged.sources:
        if each.is_lasting:
            raise InputError(f"--with {each.url}: {each.why}")
    if not any(each.state == "answered" for each in merged.sources):
        raise RunError("no service answered: " + "; ".join(f"{each.name}: {each.why}" for each in merged.sources))
