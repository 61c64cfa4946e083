"""Kills the driver between any two steps, and executors in mid-cycle: nothing is lost, no URL has two rows, and few
pages are requested twice."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, get_args

import psutil
import pytest

from cluster.sites import CountingSites, sites_with_pages
from counting_sites import repeated, too_soon
from goodbot.cluster.spark.driver import Step
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.part_files import open_part
from goodbot.cluster.spark.table_columns import url_rows
from goodbot.cluster.spark.table_version import load_current
from goodbot.store.merge.coding import CODED
from goodbot.store.merge.crawl_rows import UrlRow

pytestmark = pytest.mark.long

SITES: Final = 6
PAGES: Final = 12
TASKS: Final = 3
HOST_URLS: Final = 6

_DRIVER: Final = """
import os, signal, sys
from pathlib import Path
from goodbot.cluster.spark.driver import CycleLimits, Driver
from goodbot.cluster.spark.driver_lock import driver_lock
from goodbot.cluster.spark.opening import open_files
from goodbot.config import Settings
from goodbot.robot.scope.seeding import parse_seeds
from pyspark.sql import SparkSession

store, master, killed_at, tasks, host_urls, *seeds = sys.argv[1:]
builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
builder = builder.config("spark.sql.adaptive.enabled", "false").config("spark.driver.host", "127.0.0.1")
builder = builder.config("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
spark = builder.getOrCreate()
settings = Settings(seeds=tuple(seeds), allow_private=True, scope="all")
limits = CycleLimits(tasks=int(tasks), host_urls=int(host_urls), fetch_s=120.0, host_s=120.0)
files = open_files(store)

is_begun = killed_at == "seeded"

def passed(step):
    print(step, flush=True)
    if step == killed_at and is_begun:  # in a cycle, if the step occurs there
        os.kill(os.getpid(), signal.SIGKILL)

with driver_lock(files, "test", print) as lock:
    driver = Driver(files, spark, check=lock.check, watch=passed)
    driver.begin(settings, parse_seeds(settings.seeds), (), parts=2)
    is_begun = True
    while driver.unfinished() is not None or driver.version.ready_at is not None:
        driver.run_cycle(settings, limits)
spark.stop()
"""


@contextmanager
def counting(folder: Path) -> Iterator[CountingSites]:
    loop = asyncio.new_event_loop()
    context = sites_with_pages(SITES, PAGES, folder)
    try:
        yield loop.run_until_complete(context.__aenter__())
    finally:
        loop.run_until_complete(context.__aexit__(None, None, None))
        loop.close()


def start_driver(store: Path, master: str, seeds: list[str], killed_at: str = "") -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
    }
    return subprocess.Popen(
        [sys.executable, "-c", _DRIVER, str(store), master, killed_at, str(TASKS), str(HOST_URLS), *seeds],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        start_new_session=True,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=600)
    return process.returncode, out, err


def end_session_of(process: subprocess.Popen[str]) -> None:
    """Ends what a killed driver has left in its session: its Java process."""
    for each in psutil.process_iter():
        try:
            if os.getsid(each.pid) == process.pid:
                each.kill()
        except (psutil.NoSuchProcess, ProcessLookupError):
            pass


def rows_in(store: Path) -> list[UrlRow]:
    files = open_files(str(store))
    current = load_current(files)
    assert current is not None
    return [
        row
        for part in current.version.parts
        if part is not None
        for batch in open_part(files, part.urls).iter_batches()
        for row in url_rows(batch)
    ]


def check(store: Path, sites: CountingSites, most_repeated: int) -> None:
    """Every page is visited and has one row; the sites were asked as seldom as they want."""
    rows = rows_in(store)
    assert len(rows) == len({row.url for row in rows})
    assert sum(CODED[row.state] == "visited" for row in rows) == SITES * PAGES
    requests = sites.requests
    assert list(too_soon(requests)) == []
    assert repeated(requests) <= most_repeated


@pytest.mark.parametrize("step", get_args(Step))
def test_the_next_run_goes_on_after_the_driver_was_killed(tmp_path: Path, step: str) -> None:
    store = tmp_path / "store"
    with counting(tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        killed = start_driver(store, "local[2]", seeds, step)
        status, out, err = finish(killed)
        end_session_of(killed)
        assert status == -signal.SIGKILL, err
        assert out.split()[-1] == step
        status, out, err = finish(start_driver(store, "local[2]", seeds))
        assert status == 0, err
        check(store, sites, most_repeated=SITES * HOST_URLS if step == "planned" else 0)
    if step == "fetched":
        assert out.split()[:2] == ["fetched", "merged"], "the tasks of the cycle are not run again"


def executors_of(process: subprocess.Popen[str]) -> list[psutil.Process]:
    children = psutil.Process(process.pid).children(recursive=True)
    return [each for each in children if "CoarseGrainedExecutorBackend" in " ".join(each.cmdline())]


def test_a_cycle_goes_on_after_an_executor_was_killed(tmp_path: Path) -> None:
    store = tmp_path / "store"
    with counting(tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        process = start_driver(store, "local-cluster[2,1,1024]", seeds)
        deadline = time.monotonic() + 300
        while len(sites.requests) < 2 * SITES and time.monotonic() < deadline:
            assert process.poll() is None, process.communicate()
            time.sleep(0.1)
        running = [each for each in executors_of(process) if each.children()]
        assert running, "no executor fetches"
        running[0].kill()
        status, _, err = finish(process)
        assert status == 0, err
        check(store, sites, most_repeated=SITES * HOST_URLS)
