"""Asks several search services at once, and merges what they answer in time."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeVar

from goodbot.federate.asked_service import AskedService, Attempt, late
from goodbot.federate.fetching import Permit, Trouble
from goodbot.federate.naming import ServiceFacts, different_names
from goodbot.federate.plain_text import one_line
from goodbot.federate.rounds import OWN, Merged, Source, SourceReport, merged_sources, rounds_for
from goodbot.federate.sources import NamedService
from goodbot.federate.template import HITS_PER_ROUND, Question
from goodbot.ports import Clock, Transport
from goodbot.search_values import Hit

DEADLINE_S: Final = 2.0

OwnHits = Callable[[int], Awaitable[Sequence[Hit]]]
"""Returns the next ten hits of the own index, given how many came before."""
OpenTransport = Callable[[], AbstractAsyncContextManager[Transport]]
Result = TypeVar("Result")


class ServicePlace(NamedTuple):
    """A service for people: its name, which is different for each, and the host that receives the queries."""

    name: str
    host: str


class Federation:
    """The services that were named, each once. `deadline_s` limits each search, and the fetch of the descriptions; a
    service that has not answered by then is left out.

    Use it as an asynchronous context manager, in one event loop. Otherwise the first search opens the transport, and
    `close` closes it.
    """

    def __init__(
        self,
        named: Iterable[NamedService],
        open_transport: OpenTransport,
        permit: Permit,
        clock: Clock,
        deadline_s: float = DEADLINE_S,
    ) -> None:
        self._services = [AskedService(each, permit, clock, self._is_own) for each in dict.fromkeys(named)]
        self._open_transport = open_transport
        self._clock = clock
        self._deadline_s = deadline_s
        self._opened = AsyncExitStack()
        self._opening = asyncio.Lock()
        self._transport: Transport | None = None
        self._own_urls: tuple[str, ...] = ()

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _open(self) -> Transport:
        async with self._opening:
            if self._transport is None:
                self._transport = await self._opened.enter_async_context(self._open_transport())
            return self._transport

    async def close(self) -> None:
        """Closes the transport; requests in flight are cancelled."""
        self._transport = None
        await self._opened.aclose()

    def never_asks(self, own_urls: Iterable[str]) -> None:
        """Leaves out services whose URLs begin with one of these: they are the service that asks."""
        self._own_urls = tuple(own_urls)

    def _is_own(self, template: str) -> bool:
        return template.startswith(self._own_urls) if self._own_urls else False

    def places(self) -> tuple[ServicePlace, ...]:
        """Returns the services that are asked: all that are not left out."""
        names = self._names()
        return tuple(ServicePlace(names[each], each.place) for each in self._services if not each.is_left_out)

    def receivers(self, without: Iterable[SourceReport] = ()) -> tuple[str, ...]:
        """Returns the hosts to which a search sends the query, each once. Their services may redirect it to other hosts
        of the same registrable domain."""
        absent = {each.url for each in without}
        return tuple(dict.fromkeys(each.place for each in self._services if each.named.text not in absent))

    def _names(self) -> dict[AskedService, str]:
        facts = [ServiceFacts(each.name, each.place, each.named.url) for each in self._services]
        return dict(zip(self._services, different_names(facts), strict=True))

    async def describe(self) -> tuple[SourceReport, ...]:
        """Fetches all descriptions within the deadline, and returns the services without one. One that is no search is
        left out from now on; a search tries the others again."""
        transport, began_at = await self._open(), self._clock.now()
        sources = {each: Source("", each.named.text) for each in self._services}
        ended = await self._within(
            {each: self._describe(each, source, transport) for each, source in sources.items()}, self._deadline_s
        )
        names = self._names()
        for service, source in sources.items():
            source.name = names[service]
            if service not in ended:
                source.end(Trouble(late(self._deadline_s)), "late")
                source.took_ms = self._ms_since(began_at)
        return tuple(source.report(0) for source in sources.values() if source.why)

    async def _describe(self, service: AskedService, source: Source, transport: Transport) -> None:
        began_at = self._clock.now()
        trouble = await service.describe(transport, service.attempt())
        if trouble is not None:
            service.is_left_out = trouble.is_lasting
            source.add_answer(trouble, self._ms_since(began_at))

    async def search(
        self, query: str, own: OwnHits | None = None, needed: int = 10, without: Collection[SourceReport] = ()
    ) -> Merged:
        """Returns at least `needed` hits if the sources have as many, in an order that stays the same if more are
        needed later. Services get nothing but the query, on one line and without control characters, and the place in
        the results. Services in `without` are not asked.

        Errors of `own` are raised before a service is asked.
        """
        count, query = rounds_for(needed), one_line(query, len(query) + 1)
        mine = [await self._own_source(own, count)] if own is not None else []
        transport, began_at = await self._open(), self._clock.now()
        absent = {each.url: Source.of(each) for each in without}
        listed = {each: absent.get(each.named.text) for each in self._services if not each.is_left_out}
        sources = {each: known or Source(str(at), each.named.text) for at, (each, known) in enumerate(listed.items())}
        attempts = {each: each.attempt() for each, known in listed.items() if known is None}
        asking = {
            service: self._ask(service, attempt, sources[service], transport, query, count)
            for service, attempt in attempts.items()
        }
        ended = await self._within(asking, self._deadline_s)
        for service, attempt in attempts.items():
            if service not in ended:
                sources[service].end(service.came_late(attempt, self._deadline_s), "late")
                sources[service].took_ms = self._ms_since(began_at)
        names = self._names()
        for service, source in sources.items():
            source.name = names[service]
        return merged_sources([*mine, *sources.values()], count)

    async def _ask(
        self, service: AskedService, attempt: Attempt, source: Source, transport: Transport, query: str, count: int
    ) -> None:
        """Asks a service for its hits, until they are enough for `count` rounds."""
        needed = count * HITS_PER_ROUND
        while source.listed < needed and not source.is_done:
            began_at = self._clock.now()
            question = Question(query, source.requests + 1, source.listed, needed)
            source.add_answer(await service.ask(transport, attempt, question), self._ms_since(began_at))

    async def _own_source(self, own: OwnHits, count: int) -> Source:
        source = Source(OWN)
        while source.listed < count * HITS_PER_ROUND and not source.is_done:
            began_at = self._clock.now()
            source.add_own(await own(source.listed), self._ms_since(began_at))
        return source

    def _ms_since(self, began_at: float) -> float:
        return max(0.0, self._clock.now() - began_at) * 1000

    async def _within(
        self, asked: Mapping[AskedService, Coroutine[None, None, Result]], seconds: float
    ) -> dict[AskedService, Result]:
        """Returns the results that come within some seconds; cancels the others."""
        tasks = {asyncio.ensure_future(each): service for service, each in asked.items()}
        timer = asyncio.ensure_future(self._clock.sleep(seconds))
        waiting = set(tasks)
        try:
            while waiting and not timer.done():
                done, _ = await asyncio.wait({*waiting, timer}, return_when=asyncio.FIRST_COMPLETED)
                waiting -= done
        finally:
            for task in (*waiting, timer):
                task.cancel()
            await asyncio.gather(*waiting, timer, return_exceptions=True)
        return {service: task.result() for task, service in tasks.items() if task.done() and not task.cancelled()}
