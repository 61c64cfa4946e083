"""Searches an index and other search services together, for `goodbot search --with`."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, Final

from goodbot.cli.printing import say_folded
from goodbot.clock import SystemClock
from goodbot.errors import InputError
from goodbot.federate import (
    DEADLINE_S,
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
from goodbot.ports import Search, Transport
from goodbot.search_values import Hit, Results
from goodbot.values import Capture, Request

SPARE_S: Final = 1.0
"""A request may take this much longer than the deadline, so that a service that is late is called late."""


@dataclass(frozen=True, slots=True)
class OwnIndex:
    """An index of this machine: where it is, for people to read, and the reader's languages."""

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


def search_services(
    query: str, services: Sequence[str], own: OwnIndex | None, deadline_s: float | None, top: int
) -> Found:
    """Sends the query to services, and merges their hits with those of an index. Before a host gets the query, it is
    named on standard error.

    Raises InputError for a service that is none, before any gets the query.
    """
    if not query.strip():
        raise InputError("the query is empty: type a word to search for")
    named = [_read(text) for text in services]
    began_at = time.monotonic()
    merged, first = asyncio.run(_search(query, named, own, deadline_s or DEADLINE_S, top))
    took_ms = (time.monotonic() - began_at) * 1000
    hits = merged.hits[:top]
    found = first or Results(query, 0, 0.0, searched_for=query)
    total = max(found.total, len(merged.hits))
    sources = tuple(
        replace(each, url=own.folder) if own is not None and each.name == OWN else each for each in merged.sources
    )
    return Found(replace(found, hits=scored(hits), total=total, took_ms=took_ms), hits, sources)


def _read(text: str) -> NamedService:
    try:
        return read_named(text)
    except InputError as error:
        raise InputError(f"--with: {error}") from error


class AnnouncedTransport:
    """A transport that names on standard error which hosts get the query, before they do."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._next: tuple[str, ...] | None = None
        self._named: set[str] = set()

    def begin(self, receivers: Iterable[str]) -> None:
        """From now on, requests have the query. The first of them names all `receivers`."""
        self._next = tuple(receivers)

    async def send(self, request: Request) -> Capture:
        """Sends a request; names its host if that is not named yet, as after a redirect."""
        if self._next is not None:
            hosts = [host for host in dict.fromkeys((*self._next, request.url.authority)) if host not in self._named]
            if hosts:
                say_folded(f"sending the query to {', '.join(hosts)}", err=True)
            self._named.update(hosts)
            self._next = ()
        return await self._transport.send(request)

    async def close(self) -> None:
        """Closes the transport."""
        await self._transport.close()


async def _search(
    query: str, named: Sequence[NamedService], own: OwnIndex | None, deadline_s: float, top: int
) -> tuple[Merged, Results | None]:
    """Returns the merged hits, and the first results of our index. First it fetches all descriptions."""
    found: list[Results] = []

    def of(index: OwnIndex) -> OwnHits:
        async def own_hits(before: int) -> Sequence[Hit]:
            found.append(index.search.search(query, offset=before, languages=index.languages))
            return found[-1].hits

        return own_hits

    async with service_transport([each.url for each in named], deadline_s + SPARE_S) as transport:
        announced = AnnouncedTransport(transport)

        @asynccontextmanager
        async def opened() -> AsyncIterator[Transport]:
            yield announced

        async with Federation(named, opened, service_request, SystemClock(), deadline_s) as federation:
            absent = await federation.describe()
            for each in absent:
                if each.is_lasting:
                    raise InputError(f"--with {each.url}: {each.why}")
            announced.begin(federation.receivers(absent))
            merged = await federation.search(query, of(own) if own is not None else None, top, absent)
    return merged, found[0] if found else None
