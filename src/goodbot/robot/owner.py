"""The process that owns a crawl with several workers: frontier, archive and index are its alone.

Each host belongs to one worker (rendezvous hash), so politeness and permission are kept where the host is asked. The
owner hands out leases, takes reports, and commits as a crawl without workers does. A worker that dies is replaced, and
the hosts it held rest as after any kill.
"""

import asyncio
import os
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from socket import socketpair
from typing import Final

from goodbot.config import Settings
from goodbot.errors import RunError
from goodbot.ports import Clock, Frontier, LessonStore, RobotsStore
from goodbot.robot.batch import BATCH_MOST, Batch
from goodbot.robot.messages import Committed, Grant, Leave, Pause, Report, Setup, Stop, receive, send, unpack
from goodbot.robot.politeness import NOTHING_ASKED, Politeness, heeded
from goodbot.robot.reading import Reading
from goodbot.robot.revisit import Revisits
from goodbot.robot.rounds import EndReason, Rounds
from goodbot.url import Url
from goodbot.values import Event, Lease, LeasedUrl, Lesson, Outcome, Release, Said

WAITING_MOST: Final = 4
"""Leases that may wait for each place of a worker that is full, while the others get theirs."""

ORIGINS_MOST: Final = 50_000
"""Of which it is remembered that a worker knows their robots.txt."""

DEATHS_MOST: Final = 20
"""Workers that may die in one run before it is given up: something else than a page is wrong then."""

_GIVES_BACK: Final = {"MALLOC_MMAP_THRESHOLD_": "262144", "MALLOC_TRIM_THRESHOLD_": "1048576"}
"""For glibc: large pages leave no hole in a worker's memory when they are read."""


@dataclass(slots=True)
class _Held:
    """A lease in a worker's hands, and its URLs without an outcome yet."""

    lease: Lease
    urls: dict[Url, LeasedUrl]


@dataclass(slots=True)
class _Worker:
    """One robot process, the leases it holds by host, those that wait. `deaf`: messages of a pause not heard yet."""

    number: int
    process: asyncio.subprocess.Process
    writer: asyncio.StreamWriter
    places: int
    held: dict[str, _Held] = field(default_factory=dict)
    waiting: deque[Lease] = field(default_factory=deque)
    origins: set[str] = field(default_factory=set)
    hosts: set[str] = field(default_factory=set)
    in_flight: int = 0
    uncommitted: int = 0
    deaf: int = 0
    has_begun: bool = False
    told_to_stop: bool = False

    @property
    def room(self) -> int:
        return self.places - len(self.held)

    @property
    def may_be_in_flight(self) -> int:
        """As last reported; to each host that it holds one, as long as it may not have heard of a pause."""
        return max(self.in_flight, len(self.held)) if self.deaf else self.in_flight

    def tell_pause(self, on: bool) -> None:
        self.deaf += 1
        send(self.writer, Pause(on))


class Owner(Rounds):
    """Runs a crawl with `workers` robot processes. The same to its caller as a `Crawler`."""

    def __init__(
        self,
        settings: Settings,
        workers: int,
        *,
        setup: Setup,
        frontier: Frontier,
        robots: RobotsStore,
        batch: Batch,
        clock: Clock,
        lessons: LessonStore | None = None,
    ) -> None:
        super().__init__(frontier, batch, clock)
        self._settings = settings
        self._setup = replace(setup, uncommitted_most=max(BATCH_MOST // workers, 1))
        self._frontier = frontier
        self._robots = robots
        self._batch = batch
        self._lessons = lessons
        self._politeness = Politeness(settings)
        self._revisits = Revisits(settings, keeps=setup.encode is not None)
        self._count = workers
        self._workers: dict[int, _Worker] = {}
        self._listening: set[asyncio.Task[None]] = set()
        self._deaths = 0
        self._left: set[str] = set()

    @property
    def in_flight(self) -> int:
        """Pages under way, as last reported; after `pause` 0 only if none is."""
        return sum(worker.may_be_in_flight for worker in self._workers.values())

    @property
    def processes(self) -> list[int]:
        """The workers' process ids."""
        return [worker.process.pid for worker in self._workers.values()]

    def leave(self, host: str) -> None:
        """What is in flight to the host finishes, and nothing more is asked of it in this run."""
        self._left.add(host)
        for worker in self._workers.values():
            send(worker.writer, Leave(host))

    def pause(self) -> None:
        """See `Rounds.pause`."""
        super().pause()
        self._tell_pause()

    def resume(self) -> None:
        """See `Rounds.resume`."""
        super().resume()
        self._tell_pause()

    def _tell_pause(self) -> None:
        for worker in self._workers.values():
            worker.tell_pause(self._paused)

    async def run(self, max_pages: int | None = None) -> EndReason:
        """Gives why it ended. What was visited is committed, however it ends."""
        if max_pages is not None:
            self._pages_left = max_pages
        try:
            for number in range(self._count):
                await self._hire(number)
            reason = await self._rounds()
            await self._dismiss()
            return reason
        finally:
            await self._end()
            self._batch.commit_all()

    def _begin(self) -> None:
        if not self._batch:
            self._acknowledge()
        self._grant()

    def _is_busy(self) -> bool:
        return any(worker.held or worker.waiting for worker in self._workers.values())

    def _is_full(self) -> bool:
        return not self._room()

    # ---- leases -----------------------------------------------------------------------------------------------------

    def _room(self) -> int:
        """How many hosts may be leased: as many as have a place, and some that wait for one."""
        free = sum(max(worker.room, 0) for worker in self._workers.values())
        waiting = sum(len(worker.waiting) for worker in self._workers.values())
        places = sum(worker.places for worker in self._workers.values())
        return min(free, WAITING_MOST * places - waiting) if free else 0

    def _grant(self) -> None:
        if self._stopping or self._paused or self._pages_left <= 0:
            self._take_back()
            return
        room = self._room()
        if room > 0 and self._pages_left > self._outstanding():
            self._batch.give_back()
            for lease in self._frontier.lease(room, self._settings.max_lease_urls, self._clock.now()):
                self._workers[_home(lease.host, self._count)].waiting.append(lease)
        for worker in self._workers.values():
            self._send_leases(worker)

    def _outstanding(self) -> int:
        """URLs in the hands of workers: each may become one more page."""
        return sum(len(held.urls) for worker in self._workers.values() for held in worker.held.values())

    def _send_leases(self, worker: _Worker) -> None:
        leases: list[Lease] = []
        while worker.waiting and worker.room > 0:
            left = self._pages_left - self._outstanding()
            if left <= 0:
                return self._hand_over(worker, leases)
            lease = worker.waiting.popleft()
            if len(lease.urls) > left:  # the others are ready again when the lease ends
                lease = replace(lease, urls=lease.urls[: int(left)])
            worker.held[lease.host] = _Held(lease, {leased.url: leased for leased in lease.urls})
            leases.append(lease)
        return self._hand_over(worker, leases)

    def _hand_over(self, worker: _Worker, leases: Sequence[Lease]) -> None:
        if not leases:
            return
        origins = {leased.url.origin for lease in leases for leased in lease.urls} - worker.origins
        if len(worker.origins) > ORIGINS_MOST:
            worker.origins.clear()  # what a worker is told twice does no harm
        worker.origins |= origins
        known = ((origin, self._robots.load_robots(origin)) for origin in origins)
        robots = tuple((origin, access) for origin, access in known if access)
        lessons, said = self._learned_of(worker, leases)
        send(worker.writer, Grant(tuple(leases), robots, tuple(lessons), tuple(said)))

    def _learned_of(self, worker: _Worker, leases: Sequence[Lease]) -> tuple[Sequence[Lesson], Sequence[Said]]:
        """What was learned about hosts that this worker has not had yet, and what their pages said."""
        hosts = {lease.host for lease in leases} - worker.hosts
        if not hosts or self._lessons is None:
            return (), ()
        if len(worker.hosts) > ORIGINS_MOST:
            worker.hosts.clear()
        worker.hosts |= hosts
        return self._lessons.load_lessons(sorted(hosts)), self._lessons.load_said(sorted(hosts))

    def _take_back(self) -> None:
        """Leases nobody began."""
        now = self._clock.now()
        for worker in self._workers.values():
            for lease in worker.waiting:
                self._batch.release(Release(lease.host, now, lease.backoff_s, lease.cut_at))
            worker.waiting.clear()
            if self._stopping:
                self._tell_to_stop(worker)

    def _tell_to_stop(self, worker: _Worker) -> None:
        if not worker.told_to_stop:
            worker.told_to_stop = True
            send(worker.writer, Stop())

    # ---- workers ----------------------------------------------------------------------------------------------------

    async def _hire(self, number: int) -> None:
        ours, theirs = socketpair()
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", "goodbot.robot.worker", str(theirs.fileno())),
                pass_fds=(theirs.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                env={**_GIVES_BACK, **os.environ},
            )
        except OSError as error:
            ours.close()
            raise RunError(f"cannot start a robot process: {error.strerror}") from error
        finally:
            theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours)
        places = max(self._settings.concurrency // self._count, 1)
        worker = _Worker(number, process, writer, places)
        before = self._workers.get(number)
        if before is not None:
            worker.waiting = before.waiting
        self._workers[number] = worker
        settings = replace(self._setup.settings, concurrency=places)
        send(writer, replace(self._setup, settings=settings))
        for host in self._left:
            send(writer, Leave(host))
        if self._paused:
            worker.tell_pause(True)
        task = asyncio.create_task(self._listen(worker, reader))
        self._listening.add(task)
        task.add_done_callback(self._heard)

    def _heard(self, task: asyncio.Task[None]) -> None:
        self._listening.discard(task)
        self._ended(task)

    async def _listen(self, worker: _Worker, reader: asyncio.StreamReader) -> None:
        """Takes the reports of one worker to its end."""
        while (message := await receive(reader)) is not None:
            if isinstance(message, Report):
                self._take(worker, message)
        worker.places = 0  # it gets no more leases; the one in its place does
        await worker.process.wait()
        worker.writer.close()
        if worker.told_to_stop:
            self._give_back(worker)
        else:
            await self._replace(worker)

    def _give_back(self, worker: _Worker) -> None:
        """Leases that were on their way when it was told to stop, or that it held when it died then."""
        now, died = self._clock.now(), worker.process.returncode != 0
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            rested_at = self._rested_at(first.url, now) if died and first is not None else now
            cut_at = now if died else held.lease.cut_at
            self._batch.release(Release(host, rested_at, held.lease.backoff_s, cut_at))
        worker.held.clear()

    def _take(self, worker: _Worker, report: Report) -> None:
        worker.has_begun = True
        worker.in_flight = report.in_flight
        worker.deaf -= report.pauses
        for origin, access in report.robots:
            self._robots.save_robots(origin, access)
        if report.lessons and self._lessons is not None:
            self._lessons.save_lessons(report.lessons)
        for encoded in report.kept:
            self._batch.keep(encoded)
        for asked in report.asked:
            self._batch.note(asked)
        for packed in report.readings:
            reading = unpack(packed)
            outcome = reading.outcome
            held = worker.held.get(outcome.url.host_key)
            if held is not None:
                held.urls.pop(outcome.url, None)
            if outcome.state == "visited":
                self.visited += 1
                self._pages_left -= 1
            self._batch.add(reading)
        for release in report.releases:
            worker.held.pop(release.host, None)
            self._batch.release(release)
        worker.uncommitted += len(report.readings)
        if worker.uncommitted >= self._setup.uncommitted_most // 2:
            self._batch.commit()
            self._acknowledge()
        self._wake.set()

    def _acknowledge(self) -> None:
        """Everything taken is committed: the workers may go on."""
        for worker in self._workers.values():
            if worker.uncommitted:
                send(worker.writer, Committed(worker.uncommitted))
                worker.uncommitted = 0

    async def _replace(self, worker: _Worker) -> None:
        """The hosts it held may have been asked until now; a page it died of is tried no oftener than any other."""
        self._deaths += 1
        status = worker.process.returncode
        if self._deaths > DEATHS_MOST:
            raise RunError(f"{self._deaths} robot processes died, the last with status {status}: giving up")
        now = self._clock.now()
        for host, held in worker.held.items():
            first = next(iter(held.urls.values()), None)
            rested_at = now
            if first is not None and worker.has_begun:
                rested_at = self._rested_at(first.url, now)
                self._batch.add(Reading(self._victim(first, status, rested_at)))
            cut_at = now if worker.has_begun else held.lease.cut_at
            self._batch.release(Release(host, rested_at, held.lease.backoff_s, cut_at))
        worker.held.clear()
        await self._hire(worker.number)

    def _rested_at(self, url: Url, now: float) -> float:
        access = self._robots.load_robots(url.origin)
        timing = access.rules.timing(self._setup.identity.token) if access else NOTHING_ASKED
        return self._politeness.after_cut(url, heeded(timing), now)

    def _victim(self, leased: LeasedUrl, status: int | None, now: float) -> Outcome:
        """The URL the worker was visiting, as it visits them in order."""
        why, tries = f"the robot process ended while visiting it (status {status})", leased.tries + 1
        event = Event(now, "fetch", "lost", why)
        outcome: Outcome = Outcome(leased.url, "failed", now, why, tries=tries, events=(event,))
        if tries < self._settings.tries:
            outcome = replace(outcome, state="ready", ready_at=now)
        return self._revisits.settle(leased, outcome)

    async def _dismiss(self) -> None:
        """All is reported: they may go."""
        for worker in self._workers.values():
            self._tell_to_stop(worker)
        while self._listening:
            await asyncio.wait(self._listening)
        if self._error is not None:
            raise self._error

    async def _end(self) -> None:
        """After an error, or when `run` is cancelled: workers whose owner is gone end by themselves, at once."""
        for task in list(self._listening):
            task.cancel()
        await asyncio.gather(*self._listening, return_exceptions=True)
        for worker in self._workers.values():
            worker.writer.close()
            if worker.process.returncode is None:
                worker.process.kill()
            await worker.process.wait()


@lru_cache(maxsize=1 << 16)
def _home(host: str, workers: int) -> int:
    """The worker of a host: a worker more or less moves no other host than it must."""
    return max(range(workers), key=lambda number: blake2b(f"{number} {host}".encode(), digest_size=8).digest())
