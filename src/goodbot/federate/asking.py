"""Asks several search services at once, and merges what they answer in time."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from types import TracebackType
from typing import Final, NamedTuple, Self, TypeVar

from goodbot.federate.asked_service import AskedService
from goodbot.federate.fetching import Permit, Trouble
from goodbot.federate.plain_text import one_line
from goodbot.federate.rounds import OWN, Merged, Source, SourceReport, merged_sources, rounds_for
from goodbot.federate.sources import NamedService
from goodbot.federate.template import Question
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
    """The services that were named. `deadline_s` limits each search; a service that has not answered by then is left
    out.

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
        self._services = [AskedService(each, permit, clock, self._is_own) for each in named]
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
        """Returns the services that are asked: all but those known to be no search, or the service that asks."""
        return tuple(self._place(service) for service in self._services if not service.is_unusable)

    def _place(self, service: AskedService) -> ServicePlace:
        """Names a service. A name that another service has as well, or our own index, gets its host added."""
        taken = [OWN, *(each.name.casefold() for each in self._services)]
        is_unique = taken.count(service.name.casefold()) == 1
        return ServicePlace(service.name if is_unique else f"{service.name} ({service.place})", service.place)

    async def describe(self) -> tuple[SourceReport, ...]:
        """Fetches all descriptions within the deadline, and returns the services without one. A search tries again."""
        transport = await self._open()
        found = await self._within(
            {service: service.describe(transport) for service in self._services}, self._deadline_s
        )
        late = Trouble(f"it did not answer within {self._deadline_s:g} s")
        return tuple(
            _left_out(self._place(service).name, service.named.url.text, trouble)
            for service in self._services
            if (trouble := found.get(service, late)) is not None
        )

    async def search(self, query: str, own: OwnHits | None = None, needed: int = 10) -> Merged:
        """Returns at least `needed` hits if the sources have as many, in an order that stays the same if more are
        needed later. Services get nothing but the query, as typed, and the place in the results.

        Errors of `own` are raised before a service is asked.
        """
        count, query = rounds_for(needed), one_line(query, len(query) + 1)
        mine = [await _own_source(own, count)] if own is not None else []
        asked = {each: Source(str(number), each.named.url.text) for number, each in enumerate(self._services)}
        asked = {service: source for service, source in asked.items() if not service.is_own}
        transport = await self._open()
        asking = {each: self._ask(each, source, transport, query, count) for each, source in asked.items()}
        ended = await self._within(asking, self._deadline_s)
        for service, source in asked.items():
            if service not in ended:
                source.end(service.came_late(self._deadline_s), "late")
            source.rename(self._place(service).name)
        return merged_sources([*mine, *asked.values()], count)

    async def _ask(self, service: AskedService, source: Source, transport: Transport, query: str, count: int) -> None:
        """Asks a service for its hits, one round after the other."""
        for number in range(1, count + 1):
            began_at = self._clock.now()
            answer = await service.ask(transport, Question(query, number, source.count))
            source.add_answer(answer, (self._clock.now() - began_at) * 1000)
            if source.is_done:
                return

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


async def _own_source(own: OwnHits, count: int) -> Source:
    source = Source(OWN)
    while len(source.rounds) < count and not source.is_done:
        source.add(await own(source.count))
    return source


def _left_out(name: str, url: str, trouble: Trouble) -> SourceReport:
    return SourceReport(name, url, "failed", why=trouble.why, is_lasting=trouble.is_lasting)
