"""Runs one fetch task: the crawler of `goodbot crawl`, over the hosts that it was granted, until they have nothing left
or time is up. It writes a segment: WARC files, changes and pages."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from goodbot.clock import SystemClock, passed_s
from goodbot.cluster.spark.claims import LOOK_S, TaskClaim
from goodbot.cluster.spark.granted_hosts import GrantedHosts
from goodbot.cluster.spark.grants import HostGrant
from goodbot.cluster.spark.plan import (
    CyclePlan,
    SegmentNote,
    claim_path,
    decode_note,
    done_path,
    segment_folder,
    stop_path,
    warc_folder,
)
from goodbot.cluster.spark.scratch_folder import scratch_folder
from goodbot.cluster.spark.segment import Segment
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.config import Settings
from goodbot.errors import DamagedError, RunError
from goodbot.index import prepare
from goodbot.live import HostRequest
from goodbot.ports import Clock
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.scope.scope import Scope
from goodbot.store.warc.deadly_answers import DeadlyPages
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.visit_values import VisitResult

_LOG: Final = logging.getLogger(__name__)

SOFTWARE: Final = f"goodbot/{version('goodbot')}"
WARC_FOLDER: Final = "warc"


class FetchJob(NamedTuple):
    """What all fetch tasks of a cycle are given. `parts`: of the crawl table. `guard`: permits requests to the private
    networks of the seeds."""

    files: StoreFiles
    plan: CyclePlan
    settings: Settings
    scope: Scope
    guard: AddressGuard
    parts: int


def fetch(job: FetchJob, task: int, grants: Iterator[HostGrant]) -> SegmentNote:
    """Runs a fetch task and returns what it has written. A task that was done before is not done again: its grants are
    not read.

    Raises RunError if the store or the disk cannot be written, TaskLostError if another process has taken over."""
    done = done_path(job.plan, task)
    if (note := _load_note(job.files, done)) is not None:
        return note
    claim = TaskClaim(job.files, claim_path(job.plan, task))
    wait_s = claim.take()
    with scratch_folder() as local:
        note = asyncio.run(_Fetching(job, task, claim, local).run(grants, wait_s))
    if job.files.write_if(done, msgspec.json.encode(note), None) is not None:
        return note
    job.files.remove(note.sizes)
    if (note := _load_note(job.files, done)) is None:
        raise RunError(f"{job.files.url}/{done} was removed while the task ran")
    return note


def _load_note(files: StoreFiles, path: str) -> SegmentNote | None:
    """Returns the note of a task that is done; None: it is not. Raises DamagedError if it cannot be read."""
    data = files.read(path)
    try:
        return None if data is None else decode_note(data)
    except msgspec.MsgspecError as error:
        raise DamagedError(
            f"{files.url}/{path} is damaged: remove it, and the next run requests the URLs of this task again"
        ) from error


class _TaskBatch(Batch):
    """A batch that passes on each request, with the time of each page."""

    segment: Segment

    def note(self, request: HostRequest) -> None:
        self.segment.note(request)

    def add(self, result: VisitResult) -> None:
        self.segment.fetched_at = result.outcome.at
        super().add(result)


class _Fetching:
    """The parts of one fetch task. `local`: a folder of its own on this machine."""

    def __init__(self, job: FetchJob, task: int, claim: TaskClaim, local: Path) -> None:
        self._job = job
        self._task = task
        self._claim = claim
        self._local = local
        self._clock: Clock = SystemClock()
        self._began_at = time.time()

    async def run(self, grants: Iterator[HostGrant], wait_s: float | None) -> SegmentNote:
        """Crawls, and uploads what it wrote. Waits `wait_s` first; None: no attempt came before this one."""
        if wait_s:
            _LOG.info("task %d: waits %.0f s for the attempt before this one to end", self._task, wait_s)
            await asyncio.sleep(wait_s)
        job, local = self._job, self._local
        writer = self._claim.attempt.id[:8]
        segment = Segment(str(local / "changes"), str(local / "pages"), job.parts)
        archive = self._archive(writer)
        leases = GrantedHosts(
            grants,
            self._clock,
            host_s=job.plan.host_s,
            ends_at=self._clock.now() + job.plan.fetch_s,
            cut_at=None if wait_s is None else self._clock.now(),
            begin=segment.begin,
            end=segment.end,
        )
        segment.take_leases(leases)
        try:
            await self._crawl(segment, leases, archive)
        finally:
            if archive is not None:
                archive.close()
        segment.close()
        return self._upload(segment, leases, writer)

    def _archive(self, writer: str) -> WarcArchive | None:
        settings = self._job.settings
        if not settings.archive:
            return None
        folder = self._local / WARC_FOLDER
        return WarcArchive(folder, self._clock, SOFTWARE, size_limit_bytes=settings.warc_size, writer=writer)

    async def _crawl(self, segment: Segment, leases: GrantedHosts, archive: WarcArchive | None) -> None:
        settings, plan = self._job.settings, self._job.plan
        index = segment if settings.index else None
        batch = _TaskBatch(segment, segment, archive, index, self._clock, lambda outcome: None)
        batch.segment = segment
        coordinator = Coordinator(
            settings,
            plan.workers,
            setup=self._setup(),
            frontier=leases,
            robots=segment,
            batch=batch,
            clock=self._clock,
            lessons=segment,
            keep_deadly=DeadlyPages(self._local / "deadly", self._clock, SOFTWARE).keep,
        )
        async with self._limited(coordinator):
            await coordinator.run()

    def _setup(self) -> WorkerSetup:
        job = self._job
        return WorkerSetup(
            job.settings,
            identity_of(job.settings, version("goodbot")),
            job.guard,
            job.scope,
            encode_capture if job.settings.archive else None,
            prepare if job.settings.index else None,
            evidence=encode_capture,
            until=self._claim.until,
        )

    @asynccontextmanager
    async def _limited(self, coordinator: Coordinator) -> AsyncIterator[None]:
        """Stops the crawl when time is up, and ends it when another attempt has taken over the task."""

        async def stop() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._job.plan.fetch_s):
                    await self._asked_to_stop()
            coordinator.stop()

        async def confirm() -> None:
            while True:
                coordinator.confirm(self._claim.until)
                await asyncio.sleep(1.0)

        def ended(task: asyncio.Task[None]) -> None:
            if not task.cancelled() and (error := task.exception()) is not None:
                coordinator.fail(error)

        tasks = [asyncio.create_task(each) for each in (stop(), confirm(), self._claim.keep())]
        for task in tasks:
            task.add_done_callback(ended)
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _asked_to_stop(self) -> None:
        """Returns when the driver asks all tasks to end."""
        path = stop_path(self._job.plan.number)
        while True:
            with suppress(RunError):  # the store does not answer: see `TaskClaim`
                if await asyncio.to_thread(self._job.files.read, path) is not None:
                    return
            await asyncio.sleep(LOOK_S)

    def _upload(self, segment: Segment, leases: GrantedHosts, writer: str) -> SegmentNote:
        if passed_s() >= self._claim.until:
            _LOG.warning("task %d: the store did not answer for a while", self._task)
        files, number = self._job.files, self._job.plan.number
        name = f"{segment_folder(number)}/{self._task:05}-{writer}"
        changes, pages = f"{name}.changes.parquet", f"{name}.pages.parquet"
        has_pages = segment.counts.documents > 0
        local = self._local / WARC_FOLDER
        warcs = {path: f"{warc_folder(number)}/{path.name}" for path in sorted(local.glob("*"))}
        uploads = {self._local / "changes": changes, **({self._local / "pages": pages} if has_pages else {}), **warcs}
        sizes = {place: files.upload(path, place) for path, place in uploads.items()}
        return SegmentNote(
            task=self._task,
            changes=changes,
            pages=pages if has_pages else None,
            warcs=tuple(warcs.values()),
            sizes=sizes,
            counts=replace(segment.counts),
            urls_left=leases.urls_left,
            began_at=self._began_at,
            ended_at=time.time(),
        )
