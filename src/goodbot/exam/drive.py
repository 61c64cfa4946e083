"""Drives a crawler through the web of hard sites: runs, measures and judges it."""

import asyncio
import re
import shlex
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.errors import RunError
from goodbot.exam.authority import Authority
from goodbot.exam.card import ScoreCard, judge_site, skipped_site
from goodbot.exam.conduct import ExamVisit, judge_drive
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.listener import unread_s
from goodbot.exam.process_tree import SAMPLE_S, ExaminedCrawler, Output, ProcessTree
from goodbot.exam.proxy import ExamProxy
from goodbot.exam.site_server import NAMES_HINT, ExamWeb
from goodbot.ports import Clock

_PLACEHOLDER = re.compile(r"\{(seeds|seed-file|ca-file|proxy|dir)\}")
_PLAIN = re.compile(r"[\w@%+=:,./{}-]+")
_SETTLE_MS: Final = 1000


@dataclass(frozen=True, slots=True)
class DrivePlan:
    """What to run: a command with placeholders, how often, for how long in all, and where to log its output."""

    command: tuple[str, ...]
    visits: int = 1
    limit_s: float = 600.0
    log: Path | None = None
    name: str | None = None

    @property
    def placeholders(self) -> frozenset[str]:
        """The placeholders that the command uses."""
        return frozenset(name for argument in self.command for name in _PLACEHOLDER.findall(argument))


@dataclass(frozen=True, slots=True)
class DriveProgress:
    """The progress of a drive. `memory_bytes` is the memory in use now."""

    elapsed_s: float
    left_s: float
    visit: int
    requests: int
    reached: int
    sites: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Driven:
    """The result of a drive. `tail` is the end of the crawler's own output."""

    card: ScoreCard
    visits: tuple[ExamVisit, ...]
    tail: str


class DriveGround:
    """Where a crawler is driven: the sites, their certificates and, if the sites have names, the proxy."""

    def __init__(self, sites: Sequence[ExamSite], web: ExamWeb, seed_file: Path, ca_file: Path | None) -> None:
        self.sites = sites
        self.web = web
        self.seed_file = seed_file
        self.ca_file = ca_file
        self.proxy: str | None = None
        self.listeners = [web.listener]
        self.began_at = web.clock.now()

    def count(self) -> tuple[int, int]:
        """Returns the number of requests, and of the sites that got any."""
        counts = [len(request) for request in self.web.requests.values()]
        return sum(counts), sum(count > 0 for count in counts)

    async def settle(self) -> None:
        """Waits up to a second for requests in progress: the server may notice late that a client has left."""
        for _ in range(_SETTLE_MS):
            if not self.web.busy:
                break
            await asyncio.sleep(0.001)

    def card(self, name: str, visits: Sequence[ExamVisit] = (), tree: ProcessTree | None = None) -> ScoreCard:
        """Returns the score card as of now, with the drive as a whole as the last of the sites."""
        skipped = self.web.skipped
        cards = [
            skipped_site(site, skipped[site.name]) if site.name in skipped else judge_site(site, self.web.seen(site))
            for site in self.sites
        ]
        seen = {site.name: self.web.seen(site) for site in self.web.sites}
        peak = (tree.peak_bytes or None) if tree else None
        return ScoreCard(
            name,
            (*cards, judge_drive(seen, visits, peak)),
            peak_memory_bytes=peak,
            cpu_s=round(tree.cpu_s, 3) if tree else None,
            elapsed_s=round(self.web.clock.now() - self.began_at, 3),
            began_at=self.began_at,
            refused_connections=sum(listener.refused for listener in self.listeners),
        )


@asynccontextmanager
async def open_ground(
    sites: Sequence[ExamSite],
    clock: Clock,
    folder: Path,
    *,
    by_name: bool = False,
    trusts: bool = True,
    base_port: int | None = None,
    names_hint: str = NAMES_HINT,
) -> AsyncIterator[DriveGround]:
    """Serves the sites while the block lasts, and writes the seed file and the certificate into `folder`.

    `by_name` serves them behind a proxy; `names_hint` says how the user can get that. `trusts` means that the crawler
    can be given our certificate. Raises RunError if a port is taken.
    """
    authority = Authority.create(folder) if trusts or any(site.tls for site in sites) else None
    absent = frozenset[str]() if trusts else frozenset({"ca-file"})
    contexts = authority.contexts() if authority else {}
    async with AsyncExitStack() as stack:
        web = ExamWeb(
            sites,
            clock,
            base_port=base_port,
            by_name=by_name,
            names_hint=names_hint,
            contexts=contexts,
            absent=absent,
            unread_s=unread_s,
        )
        await stack.enter_async_context(web)
        ground = DriveGround(sites, web, folder / "seeds.txt", authority.file if authority else None)
        ground.seed_file.write_text("".join(f"{seed}\n" for seed in web.seeds()), encoding="ascii")
        if by_name:
            proxy = await stack.enter_async_context(ExamProxy(web))
            ground.proxy = proxy.url
            ground.listeners.append(proxy.listener)
        yield ground


async def drive(
    ground: DriveGround, plan: DrivePlan, folder: Path, watch: Callable[[DriveProgress], None] | None = None
) -> Driven:
    """Runs the command as often as planned, with the same `folder`, and calls `watch` ten times a second.

    Whatever happens, no process of the command is left. Raises InputError if the command cannot be run, RunError if its
    log cannot be written.
    """
    fill = {
        "seeds": ground.web.seeds(),
        "seed-file": [str(ground.seed_file)],
        "ca-file": [str(ground.ca_file or "")],
        "proxy": [ground.proxy or ""],
        "dir": [str(folder)],
    }
    run = _DriveRun(ground, plan, ProcessTree(), Output(plan.log), watch or (lambda progress: None))
    try:
        visits = await run.visit_all(list(expand(plan.command, fill)))
    finally:
        run.output.close()
    if run.output.fault:
        raise RunError(f"cannot write {plan.log}: {run.output.fault}")
    await ground.settle()
    card = ground.card(plan.name or as_typed(plan.command), visits, run.tree)
    return Driven(card, tuple(visits), run.output.tail)


def expand(command: Sequence[str], fill: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yields the command with its placeholders replaced. A placeholder that is a whole argument may become several."""
    for argument in command:
        alone = _PLACEHOLDER.fullmatch(argument)
        if alone:
            yield from fill[alone[1]]
        else:
            yield _PLACEHOLDER.sub(lambda found: " ".join(fill[found[1]]), argument)


def as_typed(command: Sequence[str]) -> str:
    """Returns the command as a user would type it, placeholders without quotes."""
    return " ".join(each if _PLAIN.fullmatch(each) else shlex.quote(each) for each in command)


@dataclass(slots=True)
class _DriveRun:
    """A drive in progress."""

    ground: DriveGround
    plan: DrivePlan
    tree: ProcessTree
    output: Output
    watch: Callable[[DriveProgress], None]

    async def visit_all(self, command: Sequence[str]) -> list[ExamVisit]:
        """Runs all visits, or those up to the first that does not end well."""
        self.ground.began_at = self.ground.web.clock.now()
        visits: list[ExamVisit] = []
        for number in range(1, self.plan.visits + 1):
            self.ground.web.visit = number
            visits.append(await self._visit(command))
            if not visits[-1].judgement.passed:
                break
        return visits

    async def _visit(self, command: Sequence[str]) -> ExamVisit:
        clock = self.ground.web.clock
        began, before = clock.now(), self.ground.count()[0]
        stopped = False
        crawler = ExaminedCrawler.start(command, self.tree, self.output)
        try:
            while crawler.sample():
                progress = self._progress()
                self.watch(progress)
                stopped = progress.left_s <= 0
                if stopped:
                    break
                await clock.sleep(SAMPLE_S if clock.now() > began + 1 else SAMPLE_S / 5)  # many processes end soon
            took_s = clock.now() - began
        finally:
            await crawler.stop(clock)
        return ExamVisit(crawler.status, took_s, self.ground.count()[0] - before, stopped)

    def _progress(self) -> DriveProgress:
        elapsed_s = self.ground.web.clock.now() - self.ground.began_at
        requests, reached = self.ground.count()
        return DriveProgress(
            elapsed_s=elapsed_s,
            left_s=self.plan.limit_s - elapsed_s,
            visit=self.ground.web.visit,
            requests=requests,
            reached=reached,
            sites=len(self.ground.web.sites),
            memory_bytes=self.tree.memory_bytes,
        )
