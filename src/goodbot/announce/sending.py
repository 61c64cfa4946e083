"""Sends batches to services: to all services at the same time, to each one batch after another, with retries."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Protocol

from goodbot.announce.announce_values import GAP_S, Batch, BatchReport, Service, ServiceReport
from goodbot.announce.answers import Judgement, judge
from goodbot.announce.batches import body_of
from goodbot.human import human_duration
from goodbot.ports import Clock, Transport
from goodbot.url import Url, is_private_host
from goodbot.values import Headers, Request

JSON: Final[Headers] = (("Content-Type", "application/json; charset=utf-8"),)


class MakePost(Protocol):
    """Makes a POST request to a service that the user named."""

    def __call__(self, url: Url, *, headers: Headers, body: bytes) -> Request: ...


@dataclass(frozen=True, slots=True)
class Patience:
    """How often a batch is sent (`tries`), and how long to wait in between: as long as Retry-After says, or else
    `first_wait_s`, then twice as long each time, up to `most_wait_s`. If Retry-After says more than `most_asked_s`, the
    service gets no other request."""

    tries: int = 5
    first_wait_s: float = 5.0
    most_wait_s: float = 120.0
    most_asked_s: float = 600.0


_YEAR_S: Final = 366 * 86_400.0

Accept = Callable[[Service, Batch], None]
"""Called for each batch that a service accepted, before the next is sent."""

Progress = Callable[[int], None]
"""Called with the number of pages of each batch that is finished."""


class Sender:
    """Sends batches and reports what became of them. Nothing that a service answers makes it raise."""

    def __init__(
        self,
        transport: Transport,
        clock: Clock,
        make_post: MakePost,
        accept: Accept,
        progress: Progress,
        patience: Patience = Patience(),
    ) -> None:
        self._transport = transport
        self._clock = clock
        self._make_post = make_post
        self._accept = accept
        self._progress = progress
        self._patience = patience
        self._sent: dict[Service, list[BatchReport]] = {}

    async def send_all(self, plan: Mapping[Service, Iterable[Batch]]) -> list[ServiceReport]:
        """Sends the batches of each service. Raises what `Accept` raises."""
        tasks = [asyncio.ensure_future(self._send_to(service, found)) for service, found in plan.items()]
        try:
            return await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()

    def reports(self) -> list[ServiceReport]:
        """Returns what became of the batches until now."""
        return [ServiceReport(service, tuple(batches)) for service, batches in self._sent.items()]

    async def _send_to(self, service: Service, found: Iterable[Batch]) -> ServiceReport:
        reports = self._sent.setdefault(service, [])
        refused_hosts: set[str] = set()
        stopped = False
        for batch in found:
            if stopped or batch.host in refused_hosts:
                why = "the service was given up" if stopped else "the service refused this host"
                report = _report(batch, Judgement("refuse batch", None, f"not sent: {why}"), 0)
            else:
                if reports and not is_private_host(service.url.host):
                    await self._clock.sleep(GAP_S)
                judgement, tries = await self._send(service, batch)
                report = _report(batch, judgement, tries)
                stopped = judgement.action in ("give up", "try again")
                if judgement.action == "refuse host":
                    refused_hosts.add(batch.host)
                if report.is_accepted:
                    self._accept(service, batch)
            reports.append(report)
            self._progress(report.urls)
            await asyncio.sleep(0)
        return ServiceReport(service, tuple(reports))

    async def _send(self, service: Service, batch: Batch) -> tuple[Judgement, int]:
        """Returns the last judgement, and how often the batch was sent."""
        request = self._make_post(service.url, headers=JSON, body=body_of(batch))
        tries, waits = 0, _waits(self._patience)
        while True:
            capture = await self._transport.send(request)
            tries += 1
            judgement = judge(capture, self._clock.now())
            if judgement.action != "try again" or tries >= self._patience.tries:
                return judgement, tries
            asked_s, wait_s = judgement.wait_s, next(waits)
            if asked_s is not None and asked_s > self._patience.most_asked_s:
                wait = human_duration(asked_s) if asked_s <= _YEAR_S else "more than a year"
                meaning = f"{judgement.meaning}, and asks to wait {wait}; announce again after that"
                return judgement._replace(meaning=meaning), tries
            await self._clock.sleep(wait_s if asked_s is None else max(asked_s, GAP_S))


def _waits(patience: Patience) -> Iterator[float]:
    wait_s = patience.first_wait_s
    while True:
        yield wait_s
        wait_s = min(wait_s * 2, patience.most_wait_s)


def _report(batch: Batch, judgement: Judgement, tries: int) -> BatchReport:
    return BatchReport(
        batch.host,
        len(batch.changes),
        judgement.action == "accepted",
        judgement.status,
        tries,
        judgement.answer,
        judgement.meaning,
    )


def plan_report(plan: Mapping[Service, Iterable[Batch]]) -> list[ServiceReport]:
    """Returns what would be sent to whom, in the form of a report."""
    unsent = Judgement("refuse batch", None, "not sent: --dry-run")
    return [
        ServiceReport(service, tuple(_report(batch, unsent, 0) for batch in found)) for service, found in plan.items()
    ]
