"""Runs the cycles of a crawl on Spark, one step after the other. Each step leaves a file in the store, so a run that
follows a crash goes on after the last one:

plan written → tasks fetch, each leaves a note → changes merged into new files → version written → pointer flipped →
files that are no longer needed removed.
"""

import secrets
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import chain, islice
from typing import Final, Literal, NamedTuple

import msgspec
import pyarrow as pa
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from goodbot.cluster.spark.changes import CHANGE_SCHEMA, Change, change_batch
from goodbot.cluster.spark.choosing import ChoiceRules
from goodbot.cluster.spark.fetch_task import FetchJob
from goodbot.cluster.spark.jobs import CycleJob, fetch_job, merge_job
from goodbot.cluster.spark.merge_task import TABLE_FOLDER, MergeJob, ScopeChange
from goodbot.cluster.spark.parquet_files import open_parquet
from goodbot.cluster.spark.plan import (
    CYCLES_FOLDER,
    CyclePlan,
    SegmentNote,
    cycle_folder,
    decode_plan,
    done_path,
    load_notes,
    notes_path,
    plan_path,
    segment_folder,
    stop_path,
    warc_folder,
)
from goodbot.cluster.spark.store_files import StoreFiles, damage_of
from goodbot.cluster.spark.table_version import (
    FOLDER,
    TableVersion,
    flip,
    listed_seeds,
    load_current,
    load_version,
    settings_of,
    write_version,
)
from goodbot.config import Settings
from goodbot.errors import DamagedError, InputError
from goodbot.exports.parquet_file import parquet_writer
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import Seeding, guard_of, opened_networks, parse_seeds
from goodbot.settings_file import settings_text
from goodbot.url import Url
from goodbot.values import Discovery

Step = Literal["seeded", "planned", "fetched", "merged", "written", "flipped", "cleaned"]

PARTS: Final = 32
"""Parts of a new crawl table, unless the user chooses. Each should have up to some ten million URLs."""

_SEEDS_AT_ONCE: Final = 10_000
_DRAFTS_LEFT_S: Final = 86_400.0
"""What is half-written is removed if nobody has written to it for so many seconds."""
_SEEDS_FOLDER: Final = "seeds"


class CycleLimits(NamedTuple):
    """The limits of one cycle. At most `urls` URLs are chosen (None: no limit), `host_urls` of one host. A host is
    requested for at most `host_s` seconds, a task runs for at most `fetch_s`. `tasks`: the number of fetch tasks;
    `workers`: the worker processes of each. `revisits`: pages that are due again are visited again."""

    urls: int | None = None
    host_urls: int = 500
    host_s: float = 600.0
    fetch_s: float = 3600.0
    tasks: int = 8
    workers: int = 1
    revisits: bool = False


class CycleDone(NamedTuple):
    """What a cycle has done. `segments`: the notes of its tasks."""

    number: int
    segments: tuple[SegmentNote, ...]
    version: TableVersion

    @property
    def outcomes(self) -> int:
        """The number of URLs that have an outcome."""
        return sum(note.counts.outcomes for note in self.segments)

    @property
    def visited(self) -> int:
        """The number of pages visited, repeated visits too."""
        return sum(note.counts.visited for note in self.segments)


class _Bounds(NamedTuple):
    """What a crawl may request. `of`: the settings and the lists of seeds that say so."""

    of: tuple[str, tuple[str, ...]]
    scope: Scope
    guard: AddressGuard


class Driver:
    """The driver of one store. The caller holds its lock (`driver_lock`) and passes `check`, which raises RunError if
    the lock is lost. `watch` is called after each step."""

    def __init__(
        self,
        files: StoreFiles,
        spark: SparkSession,
        *,
        check: Callable[[], object] = lambda: None,
        watch: Callable[[Step], object] = lambda step: None,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._files = files
        self._spark = spark
        self._check = check
        self._watch = watch
        self._now = now
        self._current = load_current(files)
        self._bounds: _Bounds | None = None

    @property
    def version(self) -> TableVersion | None:
        """The current version of the crawl table; None: there is no crawl yet."""
        return None if self._current is None else self._current.version

    # ---- settings and seeds

    def begin(self, settings: Settings, listed: Iterable[Url], parts: int = PARTS) -> CycleDone | None:
        """Makes the crawl, or adds to it: new seeds of the settings, and those of a list. If the settings have changed,
        judges again what was out of scope. Before that, finishes a cycle that was interrupted, and returns it."""
        finished = None
        if self._current is not None:
            self._files.remove_drafts(self._now() - _DRAFTS_LEFT_S)
            if self.unfinished() is not None:
                finished = self.finish_cycle(settings)
        text, known = settings_text(settings), frozenset[Url]()
        if self._current is None:
            before = TableVersion(0, 0, self._now(), text, (None,) * parts)
        else:
            before = self._version()
            known = frozenset(parse_seeds(settings_of(before, self._files.url).seeds))
        new = [seed for seed in parse_seeds(settings.seeds) if seed not in known]
        list_path, changes = self._write_seeds(settings, new, listed, len(before.parts))
        if self._current is not None and changes is None and before.settings == text:
            return finished
        lists = before.seed_lists if list_path is None else (*before.seed_lists, list_path)
        updated = msgspec.structs.replace(before, settings=text, seed_lists=lists)
        scope = self._scope_change(updated, settings, before.settings) if before.settings != text else None
        self._merge([] if changes is None else [changes], before, updated, settings, scope)
        self._watch("seeded")
        return finished

    def _write_seeds(
        self, settings: Settings, seeds: Sequence[Url], listed: Iterable[Url], parts: int
    ) -> tuple[str | None, str | None]:
        """Writes the seeds of a list, and all as changes of the table. Returns the paths; None for what is empty."""
        name = f"{_SEEDS_FOLDER}/{secrets.token_hex(8)}"
        lines = [seed.text for seed in listed]
        everything = [*seeds, *map(Url, lines)]
        if not everything:
            return None, None
        if lines:
            self._files.write(f"{name}.txt", "".join(f"{line}\n" for line in lines).encode())
        guard = _guard(settings, everything)
        scope, at = Scope(settings, everything, guard), self._now()
        found = (
            Change(seed.host_key, seed.text, at, place, Discovery(seed, 0, refused=scope.refuse(seed, 0)))
            for place, seed in enumerate(everything)
        )
        with self._files.open_output(f"{name}.parquet") as out, parquet_writer(out, CHANGE_SCHEMA) as writer:
            while some := list(islice(found, _SEEDS_AT_ONCE)):
                writer.write_batch(change_batch(some, parts))
        return f"{name}.txt" if lines else None, f"{name}.parquet"

    def _bounds_of(self, version: TableVersion, settings: Settings) -> "_Bounds":
        """Returns what the settings and all seeds allow. Lists of seeds can be long: they are read once."""
        key = settings_text(settings), version.seed_lists
        if self._bounds is None or self._bounds.of != key:
            typed, listed = parse_seeds(settings.seeds), partial(listed_seeds, self._files, version)
            guard = _guard(settings, listed())
            self._bounds = _Bounds(key, Scope(settings, chain(typed, listed()), guard), guard)
        return self._bounds

    def _scope_change(self, version: TableVersion, settings: Settings, before: str) -> ScopeChange:
        limits = [line for line in before.splitlines() if line.startswith(("types ", "max_size "))]
        limits_now = [line for line in version.settings.splitlines() if line.startswith(("types ", "max_size "))]
        return ScopeChange(self._bounds_of(version, settings).scope, limits == limits_now)

    # ---- cycles

    def unfinished(self) -> CyclePlan | None:
        """Returns the plan of a cycle that was begun and did not end."""
        number = self._version().cycle + 1
        data = self._files.read(plan_path(number))
        if data is None:
            return None
        try:
            return decode_plan(data)
        except msgspec.MsgspecError as error:
            raise DamagedError(
                f"{self._files.url}/{plan_path(number)} is damaged: remove it, and the next run plans this cycle anew"
            ) from error

    def run_cycle(self, settings: Settings, limits: CycleLimits) -> CycleDone:
        """Runs the next cycle, or what is left of one that was begun; that one keeps its limits."""
        if self.unfinished() is None:
            self._plan(limits)
        return self.finish_cycle(settings)

    def _plan(self, limits: CycleLimits) -> None:
        version = self._version()
        plan = CyclePlan(
            number=version.cycle + 1,
            key=secrets.token_hex(4),
            version=version.number,
            now=self._now(),
            tasks=limits.tasks,
            workers=limits.workers,
            host_urls=limits.host_urls,
            host_s=limits.host_s,
            fetch_s=limits.fetch_s,
            part_urls=None if limits.urls is None else _shared_out(version, limits.urls, revisits=limits.revisits),
            revisits=limits.revisits,
        )
        self._check()
        self._files.write(plan_path(plan.number), msgspec.json.encode(plan))
        self._watch("planned")

    def finish_cycle(self, settings: Settings) -> CycleDone:
        """Runs what is left of the cycle that was begun. Raises InputError if there is none."""
        plan = self.unfinished()
        if plan is None:
            raise InputError(f"no cycle of the crawl in {self._files.url} was begun")
        self._files.remove([stop_path(plan.number)])
        segments = self._fetch(plan, settings)
        self._watch("fetched")
        done = self._merge_segments(plan, settings, segments)
        self.clean()
        self._watch("cleaned")
        return done

    def stop_cycle(self) -> None:
        """Asks the tasks of the cycle that runs to end: pages in flight are finished. May be called by another
        thread."""
        plan = None if self._current is None else self.unfinished()
        if plan is not None:
            self._files.write(stop_path(plan.number), b"")

    def _fetch(self, plan: CyclePlan, settings: Settings) -> tuple[SegmentNote, ...]:
        version = self._version()
        bounds = self._bounds_of(version, settings)
        fetch = FetchJob(self._files, plan, settings, bounds.scope, bounds.guard, len(version.parts))
        rules = ChoiceRules(
            plan.now,
            plan.host_urls,
            host_pages=settings.host_pages,
            host_lists=settings.host_lists,
            revisits=plan.revisits,
        )
        notes = fetch_job(self._spark, CycleJob(fetch, version.parts, rules, plan.part_urls))
        return tuple(sorted(notes, key=lambda note: note.task))

    def _merge_segments(self, plan: CyclePlan, settings: Settings, segments: Sequence[SegmentNote]) -> CycleDone:
        version = self._version()
        if damaged := self._damaged_files(plan.number, segments):
            raise self._left_out(plan, segments, damaged, next(iter(damaged.values())))
        self._files.write(notes_path(plan.number), msgspec.json.encode(segments))
        updated = msgspec.structs.replace(
            version,
            cycle=plan.number,
            bytes=version.bytes + sum(note.counts.bytes for note in segments),
            cycles=(*version.cycles, plan.number) if segments else version.cycles,
        )
        try:
            self._merge([note.changes for note in segments if note.changes], version, updated, settings, None)
        except PySparkException as error:
            unreadable = [note.changes for note in segments if note.changes and not self._can_be_read(note.changes)]
            if not unreadable:
                raise
            clause = f"{self._files.url}/{unreadable[0]} is damaged"
            raise self._left_out(plan, segments, unreadable, clause) from error
        return CycleDone(plan.number, tuple(segments), self._version())

    def _damaged_files(self, number: int, segments: Iterable[SegmentNote]) -> dict[str, str]:
        """Returns the files of a cycle that are missing or have another size, each with a clause that says so."""
        wanted = {path: size for note in segments for path, size in note.sizes.items()}
        folders = (segment_folder(number), warc_folder(number))
        found = {entry.path: entry.size for folder in folders for entry in self._files.list(folder)}
        return dict(damage_of(self._files, wanted, found))

    def _left_out(
        self, plan: CyclePlan, segments: Iterable[SegmentNote], damaged: Collection[str], clause: str
    ) -> DamagedError:
        """Removes the notes of tasks with damaged files, so that the next run fetches their URLs again. Returns the
        error to raise."""
        tasks = [note.task for note in segments if not note.sizes.keys().isdisjoint(damaged)]
        self._files.remove(done_path(plan, task) for task in tasks)
        return DamagedError(
            f"{clause}; so this cycle is not finished: run the command again, which requests the URLs of this task"
            " again"
        )

    def _can_be_read(self, path: str) -> bool:
        try:
            for _ in open_parquet(self._files, path).iter_batches():
                pass
        except (pa.ArrowException, OSError, DamagedError):
            return False
        return True

    def _merge(
        self,
        changes: Sequence[str],
        before: TableVersion,
        updated: TableVersion,
        settings: Settings,
        scope: ScopeChange | None,
    ) -> None:
        """Merges changes into the table of `before`, and makes `updated` with these parts the current version."""
        number, now = before.number + 1, self._now()
        job = MergeJob(self._files, before.parts, number, now, settings.host_pages, scope)
        parts = merge_job(self._spark, job, changes)
        self._watch("merged")
        self._flip(msgspec.structs.replace(updated, number=number, made_at=now, parts=parts))

    def _flip(self, version: TableVersion) -> None:
        path = write_version(self._files, version)
        self._watch("written")
        self._check()
        self._current = flip(self._files, version, path, self._current)
        self._watch("flipped")

    def _version(self) -> TableVersion:
        if self._current is None:
            raise InputError(f"no crawl in {self._files.url}: start one with `goodbot cluster cycle --store URL SEED`")
        return self._current.version

    # ---- files that are no longer needed

    def clean(self) -> None:
        """Removes what neither the current version nor the one before it needs: files of the table, of ended cycles,
        and those of attempts that were given up."""
        version, files = self._version(), self._files
        own = self._current.path if self._current is not None else ""
        older = (entry.path for entry in files.list(FOLDER) if entry.path.partition("-")[0] < own.partition("-")[0])
        before = max(older, default=None)
        kept = {own, *version.files, *(() if before is None else (before, *load_version(files, before).files))}
        old = [entry.path for folder in (FOLDER, TABLE_FOLDER) for entry in files.list(folder)]
        files.remove(path for path in old if path not in kept)
        plans = (entry.path.split("/")[1] for entry in files.list(CYCLES_FOLDER))
        for number in sorted({int(name) for name in plans if name.isdecimal()}):
            if number <= version.cycle:
                self._clean_cycle(number)

    def _clean_cycle(self, number: int) -> None:
        """Removes what an ended cycle needs no longer. The folder of its plan goes last: while it is there, the cycle
        is not clean."""
        files = self._files
        used = {path for note in load_notes(files, number) for path in note.sizes}
        found = [entry.path for folder in (segment_folder(number), warc_folder(number)) for entry in files.list(folder)]
        files.remove(path for path in found if path not in used and path != notes_path(number))
        files.remove(entry.path for entry in files.list(cycle_folder(number)))


def _shared_out(version: TableVersion, urls: int, *, revisits: bool) -> tuple[int, ...]:
    """Returns how many URLs each part may choose: an equal share, and what parts with fewer URLs leave over."""
    states = ("ready", "visited", "gone", "disallowed") if revisits else ("ready",)
    due = [0 if part is None else sum(part.states.get(state, 0) for state in states) for part in version.parts]
    shares = [0] * len(due)
    left = min(urls, sum(due))
    while left > 0:
        open_ = [number for number, count in enumerate(due) if shares[number] < count]
        each = max(left // len(open_), 1)
        for number in open_[:left]:
            more = min(each, due[number] - shares[number], left)
            shares[number] += more
            left -= more
    return tuple(shares)


def _guard(settings: Settings, listed: Iterable[Url]) -> AddressGuard:
    typed = opened_networks(settings, parse_seeds(settings.seeds))
    return guard_of(settings, (*typed, *Seeding(settings).networks(listed)))
