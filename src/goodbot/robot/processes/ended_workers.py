"""Settles what a worker process held when it ended: releases its leases, and charges a page for its death."""

from collections.abc import Callable
from dataclasses import replace

from goodbot.config import Settings
from goodbot.ports import Clock
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.crawl.revisit import Revisits
from goodbot.robot.manners.politeness import NOTHING_ASKED, Politeness, bounded_timing
from goodbot.robot.processes.worker_deaths import WorkerDeaths
from goodbot.robot.processes.worker_records import HeldLease, WorkerRecord
from goodbot.url import Url
from goodbot.values import LeasedUrl, Outcome, Release
from goodbot.visit_values import VisitResult


class EndedWorkers:
    """Settles the ends of the workers of one run."""

    def __init__(
        self,
        settings: Settings,
        setup: WorkerSetup,
        batch: Batch,
        clock: Clock,
        keep_deadly: Callable[[Url, bytes], str] | None,
    ) -> None:
        """`keep_deadly`: see `Coordinator`."""
        self._batch = batch
        self._clock = clock
        self._keep_deadly = keep_deadly
        self._token = setup.identity.token
        self._politeness = Politeness(settings)
        self._revisits = Revisits(settings, keeps=setup.encode is not None)
        self._deaths = WorkerDeaths(settings)

    def stopped(self, worker: WorkerRecord) -> None:
        """Releases the leases that were on their way to the worker when it was stopped, or that it held when it died
        after that."""
        now, died = self._clock.now(), worker.process.returncode != 0
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            ready_at = self._ready_after_cut(held, first.url, now) if died and first is not None else now
            cut_at = now if died else held.lease.cut_at
            self._batch.release(Release(host, ready_at, held.lease.backoff_s, cut_at, token=held.lease.token))
        worker.held.clear()

    def died(self, worker: WorkerRecord, visited: int) -> None:
        """Releases the hosts of a worker that died after the crawl had visited `visited` pages in this run. A host may
        have received requests until now, so its delay begins now. For the page that is charged, see `worker_deaths`.
        Raises RunError if too many workers died."""
        now, status = self._clock.now(), worker.process.returncode
        self._deaths.count(now, visited, status, has_begun=worker.has_begun)
        killer = next((leased for leased in worker.leased_urls() if worker.mark.is_on(leased.url)), None)
        worker.log_death(killer)
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            ready_at, charged = now, None
            if killer is not None and killer.url.host_key == host:
                ready_at = self._ready_after_cut(held, killer.url, now, self._deaths.host_kills(host))
                charged = self._with_evidence(worker, self._deaths.killed(killer, status, now, ready_at))
            elif first is not None and worker.has_begun:
                ready_at = self._ready_after_cut(held, first.url, now)
                charged = self._deaths.died_otherwise(first, status, now, ready_at) if killer is None else None
            if charged is not None:
                self._settle_page(held.urls[charged.url], replace(charged, token=held.lease.token))
            cut_at = now if worker.has_begun else held.lease.cut_at
            self._batch.release(Release(host, ready_at, held.lease.backoff_s, cut_at, token=held.lease.token))
        worker.held.clear()

    def _with_evidence(self, worker: WorkerRecord, outcome: Outcome) -> Outcome:
        """Stores the answer of a page that is not read again. The outcome returned says where it is."""
        answer = worker.mark.answer()
        if self._keep_deadly is None or not answer or outcome.state != "failed":
            return outcome
        return replace(outcome, why=f"{outcome.why}; {self._keep_deadly(outcome.url, answer)}")

    def _settle_page(self, leased: LeasedUrl, outcome: Outcome) -> None:
        self._batch.add(VisitResult(self._revisits.settle(leased, outcome)))

    def _ready_after_cut(self, held: HeldLease, url: Url, now: float, kills: int = 0) -> float:
        access = held.robots.get(url.origin)
        timing = access.rules.timing(self._token) if access else NOTHING_ASKED
        return self._politeness.after_interruption(url, bounded_timing(timing), now, kills)
