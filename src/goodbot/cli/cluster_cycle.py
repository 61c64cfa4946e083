"""`goodbot cluster cycle`: crawls in cycles on Spark."""

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from math import inf
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.cluster_export import show_count, wipe_count
from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.master_option import master_option
from goodbot.cli.number_range import NumberRange
from goodbot.cli.options import base_settings
from goodbot.cli.printing import flush, say, say_folded, write_json
from goodbot.cli.seed_files import SEEDS_HELP, read_seed_files
from goodbot.cli.settings_options import settings_options
from goodbot.cli.spark_work import LOOK_S, failed, show_progress, wipe_progress
from goodbot.cli.store_option import store_option
from goodbot.errors import InputError, SettingError, option_of
from goodbot.human import counted, human_bytes, human_duration, human_time
from goodbot.interrupts import STATUS
from goodbot.robot.scope.seeding import Seeding

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from goodbot.cluster.spark.crawl_import import Imported
    from goodbot.cluster.spark.driver import CycleDone, CycleLimits, Driver, Step
    from goodbot.cluster.spark.table_version import TableVersion
    from goodbot.config import Settings

MOST_WAIT_S: Final = 600.0
"""If nothing is due within this time, the command ends before the last cycle."""

_SETTINGS: Final = {
    "What to crawl": (
        *("seed_files", "scope", "depth", "host_pages", "include", "exclude", "types", "max_size"),
        *("follow_rel", "sitemaps", "keep_fresh"),
    ),
    "How much in one cycle": ("urls", "host_urls", "host_minutes", "minutes"),
    "How fast": ("delay", "crawl_delay_most", "tasks", "workers", "concurrency", "per_host"),
    "Who you are": ("agent", "contact", "sign", "signature_agent", "signature_agent_form"),
    "What to keep": ("store", "source", "parts", "index", "archive", "duplicates"),
    "How pages and rules are read": ("clean_urls", "traps", "dialect"),
    "Network": ("allow_private", "ca_file", "resolve", "proxy"),
}


def _options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The settings of a crawl: the store keeps frontier and archive, tasks run no browser, and the number of worker
    processes is an option of its own."""
    return settings_options(function, without=("frontier", "archive_to", "render", "workers"))


@click.command(
    name="cycle",
    cls=Command,
    short_help="Crawl in cycles on Spark",
    output=False,
    sections=_SETTINGS,
    examples="""
    goodbot cluster cycle https://example.org/ --store /mnt/crawl --contact me@example.org
    goodbot cluster cycle --store /mnt/crawl --cycles 10
    goodbot cluster cycle --store s3://bucket/crawl --cycles 10 --master spark://head:7077
    """,
)
@click.argument("seeds", nargs=-1, metavar="[SEED]...")
@store_option
@click.option(
    "--cycles", type=click.IntRange(1), default=1, show_default=True, metavar="N", help="How many cycles to run."
)
@master_option
@click.option(
    "--seeds",
    "seed_files",
    multiple=True,
    metavar="FILE",
    help=f"{SEEDS_HELP} A seed from a file allows a private address (--allow-private) only if its host is an IP "
    "address or localhost.",
)
@click.option(
    "--import",
    "source",
    type=NamedPath(path_type=Path),
    metavar="DIR",
    help="Begin with the crawl of one machine in DIR: its URLs, hosts, archive and settings are copied into the store.",
)
@click.option(
    "--parts",
    type=click.IntRange(1, 100_000),
    metavar="N",
    help="Number of parts of the crawl table. Allow one for each ten million URLs that you expect: it cannot be "
    "changed later. [default: 32]",
)
@click.option(
    "--tasks", type=click.IntRange(1, 1024), metavar="N", help="Number of fetch tasks of a cycle. [default: 2 per core]"
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    default=1,
    show_default=True,
    metavar="N",
    help="Worker processes of each task that fetch and read.",
)
@click.option(
    "--cycle-urls", "urls", type=click.IntRange(1), metavar="N", help="Maximum number of URLs to visit in one cycle."
)
@click.option(
    "--host-urls",
    type=click.IntRange(1, 100_000),
    default=500,
    show_default=True,
    metavar="N",
    help="Maximum number of URLs of one host to visit in one cycle.",
)
@click.option(
    "--host-minutes",
    type=NumberRange(0.01, 10_000),
    default=10.0,
    show_default=True,
    metavar="MINUTES",
    help="Maximum number of minutes spent on one host in one cycle. What is left stays for the next.",
)
@click.option(
    "--minutes",
    type=NumberRange(0.01, 10_000),
    default=60.0,
    show_default=True,
    metavar="MINUTES",
    help="Maximum number of minutes that a fetch task runs.",
)
@click.option("--keep-fresh", is_flag=True, help="Also request visited pages again when they are due.")
@_options
def command(
    seeds: tuple[str, ...],
    store: str,
    cycles: int,
    master: str,
    seed_files: tuple[str, ...],
    source: Path | None,
    parts: int | None,
    tasks: int | None,
    workers: int,
    urls: int | None,
    host_urls: int,
    host_minutes: float,
    minutes: float,
    keep_fresh: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Crawl in cycles on Spark, for crawls that are too large for one database.

    A cycle chooses URLs that are due, fetches them in tasks on all machines of Spark, and writes a new version of the
    crawl table, which has a row for each URL. Everything is kept in the store: table, WARC files, pages for the index.
    A cycle that was interrupted, or killed at any moment, is finished by the next run; a version that is half written
    is never seen. Only one driver, the process of this command, can work on a store.

    goodbot must be installed on all machines, in the same version. Seeds and options are kept for later runs, except
    these: --cycles, --master, --keep-fresh, --tasks, --workers, --cycle-urls, --host-urls, --host-minutes, --minutes.

    goodbot always obeys robots.txt, META robots, X-Robots-Tag and rel=nofollow. Ctrl-C once finishes the pages in
    flight and ends the cycle; twice stops at once.

    Exit status: 0: done; 2: bad input, such as no seed, no Java, or a store without conditional writes; 3: another
    driver works on the store, the store cannot be read or written, or a task failed; 130: interrupted.
    """
    from goodbot.cluster.spark.session import check_requirements  # noqa: PLC0415  (few commands use Spark)

    check_requirements()
    from goodbot.cluster.spark.driver import PARTS, CycleLimits, Driver  # noqa: PLC0415  (loads pyspark)
    from goodbot.cluster.spark.driver_lock import driver_lock  # noqa: PLC0415
    from goodbot.cluster.spark.opening import open_files  # noqa: PLC0415
    from goodbot.cluster.spark.session import spark_session  # noqa: PLC0415
    from goodbot.cluster.spark.table_version import check_unused, load_current  # noqa: PLC0415
    from goodbot.crawl_transfer import check_source, import_folder  # noqa: PLC0415

    files = open_files(store)
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    current = load_current(files)
    before = None if current is None else current.version
    if parts is not None and before is not None and parts != len(before.parts):
        raise InputError(f"--parts: the crawl in {files.url} has {len(before.parts)} parts, which cannot be changed")
    if before is None:
        check_unused(files)
    base, folder = base_settings(), None
    if source is not None:
        if before is not None:
            raise InputError(
                f"--import begins a crawl, and there is one in {files.url}: leave out --import to go on with it, or use"
                " another store"
            )
        folder = check_source(source)
        base = folder.settings(base, given)
    settings = _settings(before, base, given, seeds, files.url, listed=bool(seed_files or folder))
    if before is None:
        files.check_conditional()
    with (
        read_seed_files(seed_files, Seeding(settings).check) as listed,
        driver_lock(files, "goodbot cluster cycle", partial(say, err=True)) as lock,
    ):
        if folder is not None:
            own = _settings(None, folder.settings(base_settings()), {}, (), files.url, listed=True)
            _show_imported(import_folder(files, folder, own, parts or PARTS, show_count), as_json=as_json)
        with spark_session(master, "goodbot cluster cycle") as spark:
            limits = CycleLimits(
                urls=urls,
                host_urls=host_urls,
                host_s=host_minutes * 60,
                fetch_s=minutes * 60,
                tasks=tasks or min(2 * spark.sparkContext.defaultParallelism, 1024),
                workers=workers,
                revisits=keep_fresh,
            )
            run = _Run(spark, as_json=as_json)
            driver = Driver(files, spark, check=lock.check, watch=run.passed)
            begin = partial(driver.begin, settings, listed or (), parts or PARTS)
            return run.all(driver, settings, limits, cycles, begin)


def _show_imported(done: "Imported", *, as_json: bool) -> None:
    wipe_count()
    if as_json:
        write_json({"event": "import", **done._asdict()})
        flush()
        return
    again = f"; {counted(done.again, 'page')} to request again, which the archive does not have" if done.again else ""
    what = (counted(done.urls, "URL"), counted(done.hosts, "host"), counted(done.documents, "page"))
    say_folded(f"copied into the store: {', '.join(what)}, {counted(done.warcs, 'archive file')}{again}")


def _settings(
    before: "TableVersion | None",
    base: "Settings",
    given: dict[str, Any],
    seeds: tuple[str, ...],
    url: str,
    *,
    listed: bool,
) -> "Settings":
    from goodbot.cluster.spark.crawl_settings import crawl_settings  # noqa: PLC0415  (loads msgspec and the stores)

    try:
        return crawl_settings(before, base, given, seeds, listed=listed, url=url)
    except SettingError as error:
        raise InputError(error.naming(f"--{option_of(error.name)}")) from error


class _Run:
    """Runs the driver in a thread, and shows what it does. Ctrl-C ends a cycle early, a second one at once."""

    def __init__(self, spark: "SparkSession", *, as_json: bool) -> None:
        self._spark = spark
        self._as_json = as_json
        self._driver: Driver
        self._pressed = 0
        self._stopping = False
        self._woken = Event()
        self._step: Step | None = None

    def passed(self, step: "Step") -> None:
        """Takes note of a step of the driver."""
        self._step = step

    def all(
        self,
        driver: "Driver",
        settings: "Settings",
        limits: "CycleLimits",
        cycles: int,
        begin: "Callable[[], CycleDone | None]",
    ) -> int:
        """Runs all cycles, and returns the exit status."""
        self._driver = driver
        with self._interrupts():
            if (finished := self._do(begin)) is not None:
                self._show(finished)
            reason = "cycles"
            for _ in range(cycles):
                reason = self._reason_to_end(driver, limits) or "cycles"
                if reason != "cycles":
                    break
                done = self._do(partial(driver.run_cycle, settings, limits))
                if done is not None:
                    self._show(done)
            self._show_end(driver, reason if not self._pressed else "interrupted")
        return STATUS if self._pressed else 0

    def _reason_to_end(self, driver: "Driver", limits: "CycleLimits") -> str | None:
        """Returns why no other cycle is run; None: one is. Waits until something is due."""
        if self._pressed:
            return "interrupted"
        if driver.unfinished() is not None:
            return None
        version = driver.version
        times = [] if version is None else [version.ready_at, version.again_at if limits.revisits else None]
        due = min((at for at in times if at is not None), default=None)
        if due is None:
            return "finished"
        wait_s = due - time.time()
        if wait_s > MOST_WAIT_S:
            return "nothing due"
        if wait_s > 0:
            self._say(f"waiting {human_duration(wait_s)}, until the next URL is due")
            self._woken.wait(wait_s)
        return "interrupted" if self._pressed else None

    def _do(self, work: "Callable[[], CycleDone | object]") -> Any:
        """Runs a part of the work in a thread; returns its result. None if Ctrl-C has ended it."""
        result: list[Any] = []

        def act() -> None:
            try:
                result.append(work())
            except Exception as error:  # noqa: BLE001  (raised again below)
                result.append(error)
            finally:
                ended.set()

        ended, began = Event(), time.monotonic()
        thread = Thread(target=act, daemon=True)
        thread.start()
        while not ended.wait(LOOK_S):
            what = {"planned": "fetching", "fetched": "merging"}.get(self._step or "", "writing the crawl table")
            show_progress(self._spark, what, time.monotonic() - began)
            if self._pressed and not self._stopping:
                self._stopping = True
                self._say("stopping: pages in flight are finished, and the cycle is ended (Ctrl-C again stops at once)")
                Thread(target=self._driver.stop_cycle, daemon=True).start()
            if self._pressed > 1:
                self._spark.sparkContext.cancelAllJobs()
                ended.wait(10)
                break
        wipe_progress()
        if result and isinstance(result[0], Exception):
            if self._pressed > 1:
                return None
            raise failed(result[0]) from result[0]
        return result[0] if result else None

    @contextmanager
    def _interrupts(self) -> Iterator[None]:
        def press(number: int, frame: FrameType | None) -> None:
            self._pressed += 1
            self._woken.set()

        before = {number: signal.signal(number, press) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    # ---- what is shown

    def _say(self, text: str) -> None:
        wipe_progress()
        say_folded(f"goodbot: {text}", err=True)

    def _show(self, done: "CycleDone") -> None:
        seconds = covered_s((note.began_at, note.ended_at) for note in done.segments)
        size = sum(note.counts.bytes for note in done.segments)
        status = done.version.status()
        if self._as_json:
            write_json(
                {
                    "event": "cycle",
                    "cycle": done.number,
                    "urls": done.outcomes,
                    "pages": done.visited,
                    "bytes": size,
                    "seconds": round(seconds, 3),
                    "states": status.states,
                }
            )
            flush()
            return
        say_folded(
            f"cycle {done.number}: {counted(done.outcomes, 'URL')} done, {counted(done.visited, 'page')} visited,"
            f" {human_bytes(size)} in {human_duration(seconds)}; {status.states['ready']:,} left to request"
        )

    def _show_end(self, driver: "Driver", reason: str) -> None:
        version = driver.version
        if version is None:
            return
        status = version.status()
        if self._as_json:
            write_json(
                {
                    "event": "end",
                    "reason": reason,
                    "cycle": version.cycle,
                    "states": status.states,
                    "pages": status.pages,
                    "bytes": status.bytes,
                    "hosts": status.hosts,
                }
            )
            return
        words = {"cycles": "stopped after the last cycle", "nothing due": "nothing is due yet"}.get(reason, reason)
        say(f"{words}: {counted(status.pages, 'page')}, {human_bytes(status.bytes)}, {counted(status.hosts, 'host')}")
        if waiting := status.states["ready"]:
            due = version.ready_at
            when = f"; the next is due at {human_time(due)}" if due and due > time.time() else ""
            say_folded(f"{counted(waiting, 'URL')} to request{when}")
        elif reason == "nothing due" and version.again_at is not None:
            say_folded(f"the next page is due again at {human_time(version.again_at)}")


def covered_s(spans: Iterable[tuple[float, float]]) -> float:
    """Returns how many seconds lie in one of the spans of time at least. The time between an interrupted run and the
    one that finished its cycle is in none."""
    covered, until = 0.0, -inf
    for began, ended in sorted(spans):
        covered += max(ended - max(began, until), 0.0)
        until = max(until, ended)
    return covered
