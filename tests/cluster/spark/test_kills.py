"""Kills the driver between any two steps, and executors in mid-cycle: nothing is lost, no URL has two rows, and few
pages are requested twice."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final, get_args

import psutil
import pytest
from pyspark.sql import SparkSession

from cluster.sites import CountingSites, sites_meanwhile
from counting_sites import repeated, too_soon
from goodbot.cluster.spark.driver import CycleLimits, Driver, Step
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.parquet_files import open_parquet
from goodbot.cluster.spark.table_columns import url_rows
from goodbot.cluster.spark.table_version import load_current
from goodbot.config import Settings
from goodbot.store.merge.coding import CODED
from goodbot.store.merge.crawl_rows import UrlRow

pytestmark = pytest.mark.long

SITES: Final = 6
PAGES: Final = 12
TASKS: Final = 3
HOST_URLS: Final = 6

_DRIVER: Final = """
import os, sys
from goodbot.cluster.spark.driver import CycleLimits, Driver
from goodbot.cluster.spark.driver_lock import driver_lock
from goodbot.cluster.spark.opening import open_files
from goodbot.config import Settings
from pyspark.sql import SparkSession

store, master, tasks, host_urls, *seeds = sys.argv[1:]
builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
builder = builder.config("spark.sql.adaptive.enabled", "false").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
spark = builder.getOrCreate()
settings = Settings(seeds=tuple(seeds), allow_private=True, scope="all")
limits = CycleLimits(tasks=int(tasks), host_urls=int(host_urls), fetch_s=120.0, host_s=120.0)
files = open_files(store)

with driver_lock(files, "test", print) as lock:
    driver = Driver(files, spark, check=lock.check)
    driver.begin(settings, (), parts=2)
    while driver.unfinished() is not None or driver.version.ready_at is not None:
        driver.run_cycle(settings, limits)
spark.stop()
"""


@contextmanager
def driver_process(store: Path, master: str, seeds: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A driver in a process of its own. What it has started ends with it, whatever the test does."""
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    with subprocess.Popen(
        [sys.executable, "-c", _DRIVER, str(store), master, str(TASKS), str(HOST_URLS), *seeds],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            end_session(process.pid)


def end_session(session: int) -> None:
    for each in psutil.process_iter():
        with suppress(psutil.NoSuchProcess, ProcessLookupError):
            if os.getsid(each.pid) == session:
                each.kill()


def rows_in(store: Path) -> list[UrlRow]:
    files = open_files(str(store))
    current = load_current(files)
    assert current is not None
    return [
        row
        for part in current.version.parts
        if part is not None
        for batch in open_parquet(files, part.urls).iter_batches()
        for row in url_rows(batch)
    ]


def check(store: Path, sites: CountingSites, crawled: int, most_repeated: int) -> None:
    """Every page is visited and has one row; the sites were asked as seldom as they want."""
    rows = rows_in(store)
    assert len(rows) == len({row.url for row in rows})
    assert sum(CODED[row.state] == "visited" for row in rows) == crawled * PAGES
    requests = sites.requests
    assert list(too_soon(requests)) == []
    assert repeated(requests) <= most_repeated


class KilledError(BaseException):
    """Ends a driver at a step: all that remains of it is in the store."""


KILLS: Final = ("merged", "written", "flipped", *get_args(Step)[1:])
"""The steps of a crawl that begins, then those of cycles."""


def test_the_next_run_goes_on_from_the_last_step(spark: SparkSession, tmp_path: Path) -> None:
    """Each run is killed one step later than the one before it."""
    files, passed = open_files(str(tmp_path / "store")), list[str]()

    def killed_at(name: str) -> Callable[[Step], None]:
        def watch(step: Step) -> None:
            passed.append(step)
            if step == name:
                raise KilledError

        return watch

    def run(name: str) -> None:
        driver = Driver(files, spark, watch=killed_at(name))
        driver.begin(settings, (), parts=2)
        driver.run_cycle(settings, limits)

    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = Settings(seeds=tuple(sites.start_page(site) for site in range(SITES)), allow_private=True)
        limits = CycleLimits(tasks=TASKS, host_urls=HOST_URLS, fetch_s=120.0, host_s=120.0)
        for name in KILLS:
            passed.clear()
            with pytest.raises(KilledError):
                run(name)
            assert passed[-1] == name
        last = Driver(files, spark)
        last.begin(settings, ())
        while last.version is not None and last.version.ready_at is not None:
            last.run_cycle(settings, limits)
        check(tmp_path / "store", sites, SITES, most_repeated=0)
    assert {entry.path.split("/")[0] for entry in files.list()} & {"cycles"} == set()


def executors_that_fetch(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The executors of a driver that have started Python processes."""
    found = []
    for each in psutil.Process(process.pid).children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # a zombie counts as gone, too
            if "CoarseGrainedExecutorBackend" in " ".join(each.cmdline()) and each.children():
                found.append(each)
    return found


def test_a_cycle_goes_on_after_an_executor_and_then_the_driver_were_killed(tmp_path: Path) -> None:
    """A driver that was killed leaves executors that are still fetching: they end by themselves."""
    store, master = tmp_path / "store", "local-cluster[2,1,1024]"
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites, ExitStack() as processes:
        seeds = [sites.start_page(site) for site in range(SITES)]
        process = processes.enter_context(driver_process(store, master, seeds))
        wait_for_requests(process, sites, 2 * SITES)
        executors = executors_that_fetch(process)
        assert executors, "no executor fetches"
        executors[0].kill()
        wait_for_requests(process, sites, len(sites.requests) + 2 * SITES)
        process.kill()
        process.communicate()
        again = processes.enter_context(driver_process(store, master, seeds))
        _, err = again.communicate(timeout=600)
        assert again.returncode == 0, err
        check(store, sites, SITES, most_repeated=2 * SITES * HOST_URLS)


def wait_for_requests(process: subprocess.Popen[str], sites: CountingSites, requests: int) -> None:
    deadline = time.monotonic() + 300
    while len(sites.requests) < requests and time.monotonic() < deadline:
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    assert len(sites.requests) >= requests, f"{len(sites.requests)} requests in 300 s"
