"""Tests cycles as a whole: Spark in this process, crawlers as worker processes, sites that note every request."""

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from pyspark.sql import SparkSession

from cluster.sites import sites_meanwhile
from counting_sites import DELAYS_S, repeated, too_soon
from goodbot.cluster.spark.driver import CycleLimits, Driver, Step
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.parquet_files import open_parquet
from goodbot.cluster.spark.session import clear_errors
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_columns import host_rows, url_rows
from goodbot.cluster.spark.table_version import load_current
from goodbot.config import Settings
from goodbot.errors import DamagedError, RunError
from goodbot.store.merge.coding import CODED
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.url import Url
from journey.goodbot_process import goodbot
from s3_server import S3Server

pytestmark = pytest.mark.long

SITES: Final = 4
PAGES: Final = 12
LIMITS: Final = CycleLimits(tasks=3, host_urls=100, fetch_s=120.0, host_s=120.0)


def settings_for(*seeds: str, **more: Any) -> Settings:
    return Settings(seeds=seeds, allow_private=True, scope="all", **more)


def rows_of(files: StoreFiles, driver: Driver) -> tuple[list[UrlRow], list[HostRow]]:
    version = driver.version
    assert version is not None
    urls: list[UrlRow] = []
    hosts: list[HostRow] = []
    for part in version.parts:
        if part is not None:
            urls += (row for batch in open_parquet(files, part.urls).iter_batches() for row in url_rows(batch))
            hosts += (row for batch in open_parquet(files, part.hosts).iter_batches() for row in host_rows(batch))
    return urls, hosts


def run_all(driver: Driver, settings: Settings, limits: CycleLimits = LIMITS, most: int = 20) -> int:
    """Runs cycles until nothing is ready; returns their number."""
    for number in range(most):
        version = driver.version
        assert version is not None
        if version.ready_at is None:
            return number
        driver.run_cycle(settings, limits)
    raise AssertionError("the crawl does not finish")


async def crawled(folder: Path, *seeds: str) -> dict[str, str]:
    """Crawls with one machine; returns the states of the URLs."""
    done = await goodbot("crawl", *seeds, "--into", folder, "--allow-private", "--scope", "all")
    assert done.status == 0, done.err
    printed = await goodbot("export", "--in", folder, "--what", "urls")
    return {line["url"]: line["state"] for line in printed.lines}


def test_cycles_visit_what_one_machine_visits(spark: SparkSession, tmp_path: Path) -> None:
    """Each URL has one row, each host one; no site is asked sooner than it wants, and no page twice."""
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = settings_for(sites.start_page(0))
        driver = Driver(files, spark)
        driver.begin(settings, (), parts=3)
        run_all(driver, settings)
        requests = sites.requests
        expected = asyncio.run(crawled(tmp_path / "one", *settings.seeds))
    urls, hosts = rows_of(files, driver)
    assert list(too_soon(requests)) == []
    assert repeated(requests) == 0
    assert len(urls) == len({row.url for row in urls})
    assert {row.url: CODED[row.state] for row in urls} == expected
    assert sum(state == "visited" for state in expected.values()) == SITES * PAGES
    assert {row.host: row.pages for row in hosts} == {
        Url(sites.start_page(site)).host_key: PAGES for site in range(SITES)
    }
    assert all(row.courtesy is not None and row.courtesy.sooner == 0 for row in hosts)
    status = driver.version.status() if driver.version else None
    assert status is not None
    assert (status.pages, status.hosts, status.finished) == (SITES * PAGES, SITES, True)


def test_a_store_in_s3_keeps_a_crawl_as_a_folder_does(
    spark: SparkSession, tmp_path: Path, s3: S3Server, s3_url: str
) -> None:
    spark.sparkContext.environment.update(s3.environment)  # the Python workers of Spark may run already
    files = open_files(s3_url)
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = replace(settings_for(sites.start_page(0), sites.start_page(1)), scope="host")
        driver = Driver(files, spark)
        driver.begin(settings, (), parts=2)
        run_all(driver, settings)
    urls, _ = rows_of(files, driver)
    assert sum(CODED[row.state] == "visited" for row in urls) == 2 * PAGES
    assert Driver(files, spark).version == driver.version


def test_a_machine_of_spark_without_credentials_is_named(spark: SparkSession, s3: S3Server, s3_url: str) -> None:
    """The driver has them, and the store stays empty."""
    files = open_files(s3_url)
    nowhere = {name: "" for name in s3.environment if "KEY" in name}
    spark.sparkContext.environment.update(s3.environment | nowhere | {"AWS_EC2_METADATA_DISABLED": "true"})
    try:
        settings = settings_for("http://127.0.0.1:9/")
        with pytest.raises(RunError, match=r"^no credentials for s3://\S+ on \S+: set AWS_"), clear_errors():
            Driver(files, spark).begin(settings, ())
    finally:
        spark.sparkContext.environment.update(s3.environment)
    assert load_current(files) is None


def test_limits_of_a_cycle_leave_the_rest_for_the_next(spark: SparkSession, tmp_path: Path) -> None:
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = settings_for(*(sites.start_page(site) for site in range(SITES)))
        driver = Driver(files, spark)
        driver.begin(settings, (), parts=3)
        few = driver.run_cycle(settings, LIMITS._replace(urls=2))
        assert few.outcomes == 2
        time.sleep(max(DELAYS_S))  # a cycle leaves out hosts that are not due when it is planned
        assert driver.run_cycle(settings, LIMITS._replace(host_urls=1)).outcomes == SITES
        time.sleep(max(DELAYS_S))
        none = driver.run_cycle(settings, LIMITS._replace(host_s=0.001, host_urls=5))
        assert 0 < none.outcomes < 5 * SITES
        assert sum(note.urls_left for note in none.segments) > 0
        assert list(too_soon(sites.requests)) == []


def test_new_settings_and_seeds_change_the_crawl(spark: SparkSession, tmp_path: Path) -> None:
    """What was out of scope becomes ready; the limit of pages closes hosts, and a higher one opens them again."""
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        first = replace(settings_for(sites.start_page(0)), scope="host", host_pages=5)
        driver = Driver(files, spark)
        driver.begin(first, (), parts=2)
        run_all(driver, first)
        version = driver.version
        assert version is not None
        assert version.status().states["visited"] == 5
        wider = replace(first, host_pages=None, scope="host", seeds=(*first.seeds, sites.start_page(2)))
        again = Driver(files, spark)
        again.begin(wider, [Url(sites.start_page(3))])
        run_all(again, wider)
    urls, _ = rows_of(files, again)
    visited = [Url(row.url).host for row in urls if CODED[row.state] == "visited"]
    assert len(visited) == 3 * PAGES
    assert len(set(visited)) == 3


def test_the_same_seeds_change_nothing(spark: SparkSession, tmp_path: Path) -> None:
    files = open_files(str(tmp_path / "store"))
    settings = settings_for("http://127.0.0.1:9/a", "http://127.0.0.1:9/b")
    first = Driver(files, spark)
    first.begin(settings, ())
    again = Driver(files, spark)
    again.begin(settings, ())
    assert again.version == first.version
    again.begin(settings_for(*settings.seeds, "http://127.0.0.1:9/c"), ())
    assert again.version is not None
    assert again.version.status().states["ready"] == 3


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _overwritten(path: Path) -> None:
    """The size stays."""
    content = bytearray(path.read_bytes())
    content[40:56] = b"\xff" * 16
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("kind", "damage", "said"),
    [
        ("segments/*/*.changes.parquet", _cut, "is damaged: it has "),
        ("segments/*/*.changes.parquet", _overwritten, "is damaged; "),
        ("segments/*/*.pages.parquet", _cut, "is damaged: it has "),
        ("warc/*/*.warc.gz", Path.unlink, "is missing; "),
    ],
)
def test_a_damaged_segment_is_named_and_fetched_again(
    spark: SparkSession, tmp_path: Path, kind: str, damage: Callable[[Path], object], said: str
) -> None:
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = replace(settings_for(sites.start_page(0)), scope="host")

        def watch(step: str) -> None:
            if step == "fetched" and not damaged:
                (path,) = (tmp_path / "store").glob(kind)
                damage(path)
                damaged.append(str(path))

        damaged: list[str] = []
        driver = Driver(files, spark, watch=watch)
        driver.begin(settings, (), parts=2)
        with pytest.raises(DamagedError, match="requests the URLs of this task again") as raised:
            driver.run_cycle(settings, LIMITS)
        assert str(raised.value).startswith(f"{damaged[0]} {said}")
        before = driver.version
        again = Driver(files, spark)
        assert again.version == before
        assert again.run_cycle(settings, LIMITS).visited == 1
        run_all(again, settings)
    urls, _ = rows_of(files, again)
    assert sum(CODED[row.state] == "visited" for row in urls) == PAGES


class _KilledError(Exception):
    """The driver has ended at a step."""


def _die(at: Step) -> Callable[[Step], None]:
    def watch(step: Step) -> None:
        if step == at:
            raise _KilledError

    return watch


def test_a_damaged_note_of_a_task_is_named(spark: SparkSession, tmp_path: Path) -> None:
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = settings_for(sites.start_page(0))
        driver = Driver(files, spark, watch=_die("fetched"))
        driver.begin(settings, (), parts=2)
        with pytest.raises(_KilledError):
            driver.run_cycle(settings, LIMITS)
        (note,) = (tmp_path / "store" / "cycles").glob("*/done-*.json")
        note.write_bytes(note.read_bytes()[:20])
        with pytest.raises(RunError, match=f"^{note} is damaged: remove it, ") as raised, clear_errors():
            Driver(files, spark).run_cycle(settings, LIMITS)
        assert "\n" not in str(raised.value)
        note.unlink()
        assert Driver(files, spark).run_cycle(settings, LIMITS).visited == 1


def test_the_notes_of_a_plan_that_was_removed_do_not_count(spark: SparkSession, tmp_path: Path) -> None:
    """Else the hosts of a task would be taken for visited that another plan gives to another task."""
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = settings_for(*(sites.start_page(site) for site in range(SITES)))
        driver = Driver(files, spark, watch=_die("fetched"))
        driver.begin(settings, (), parts=2)
        with pytest.raises(_KilledError):
            driver.run_cycle(settings, LIMITS._replace(tasks=1))
        (plan,) = (tmp_path / "store" / "cycles").glob("*/plan.json")
        plan.unlink()
        again = Driver(files, spark)
        assert again.run_cycle(settings, LIMITS._replace(tasks=3)).visited == SITES
    assert files.list("cycles") == []


def test_what_is_not_needed_any_more_is_removed(spark: SparkSession, tmp_path: Path) -> None:
    files = open_files(str(tmp_path / "store"))
    with sites_meanwhile(SITES, PAGES, tmp_path) as sites:
        settings = settings_for(sites.start_page(0))
        driver = Driver(files, spark)
        driver.begin(settings, (), parts=2)
        for _ in range(4):
            driver.run_cycle(settings, LIMITS._replace(urls=1))
        old, new = (tmp_path / "store" / "warc" / f".goodbot-{name}.part" for name in ("old", "new"))
        for draft in (old, new):
            draft.parent.mkdir(exist_ok=True)
            draft.write_bytes(b"half")
        os.utime(old, (0, 0))
        driver.begin(settings, ())
        assert not old.exists()
        assert new.exists()
    version = driver.version
    assert version is not None
    kept = {entry.path for entry in files.list("table")}
    assert set(version.files) <= kept
    assert len(kept) <= 2 * 2 * 2, "those of two versions"
    assert files.list("cycles") == []
    assert len(files.list("versions")) == 2
