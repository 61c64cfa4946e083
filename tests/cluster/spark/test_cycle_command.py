"""Tests `goodbot cluster cycle` and `goodbot cluster status --store` as a user has them."""

import asyncio
import signal
from pathlib import Path

import msgspec
import pytest

from cluster.sites import sites_with_pages
from counting_sites import too_soon
from goodbot.cli.cluster_cycle import covered_s
from goodbot.cluster.spark.driver_lock import driver_lock
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_version import FORMAT, TableVersion, flip, write_version
from journey.goodbot_process import ended, goodbot, start
from s3_server import S3Server

SITES, PAGES = 2, 8
LOCAL = "http://127.0.0.1:9/"


def empty_store(folder: Path, parts: int = 4, *, seeds: str = "", number: int = 0) -> StoreFiles:
    """A store with a crawl that has no URL yet."""
    files = open_files(str(folder))
    settings = f'allow_private = true\nseeds = ["{seeds or LOCAL}"]\n'
    version = TableVersion(number, 0, 1e9, settings, (None,) * parts)
    flip(files, version, write_version(files, version), None)
    return files


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--store", "{store}"), "no seed given, and no crawl in {store} to continue"),
        (("https://example.org/", "--store", "{store}"), "--contact"),
        (("http://127.0.0.1/", "--store", "{store}"), "--allow-private"),
        (("example.org", "--store", "{store}"), "did you mean https://example.org/"),
        (("", "--store", "{store}"), "'' is not a URL"),
        (("https://example.org/", "--store", "ftp://host/x"), "s3:"),
        (("https://example.org/", "--store", "{store}", "--master", "here"), "the Spark master must be"),
        (("https://example.org/", "--store", "{store}", "--sign", "/nowhere"), "--sign"),
    ],
)
async def test_bad_input_is_refused_in_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    store = str(tmp_path / "store")
    given = [each.format(store=store) for each in arguments]
    more = () if "contact" in said else ("--contact", "me@example.org")
    refused = await goodbot("cluster", "cycle", *given, *more)
    assert refused.status == 2
    assert said.format(store=store) in refused.complaint
    assert not (tmp_path / "store" / "current.json").exists()


@pytest.mark.parametrize("option", ["--host-minutes", "--minutes"])
async def test_not_a_number(tmp_path: Path, option: str) -> None:
    refused = await goodbot("cluster", "cycle", LOCAL, "--store", tmp_path / "store", option, "nan")
    assert (refused.status, "'nan' is not a number" in refused.err) == (2, True)


async def test_a_crawl_without_its_pointer_is_not_begun_anew(tmp_path: Path) -> None:
    empty_store(tmp_path / "store", number=4)
    (tmp_path / "store" / "current.json").unlink()
    for seeds in ((LOCAL, "--allow-private"), ()):
        refused = await goodbot("cluster", "cycle", *seeds, "--store", tmp_path / "store")
        assert refused.status == 2
        assert "restore that file (the newest version is versions/00000004-" in refused.complaint
    assert len(list((tmp_path / "store" / "versions").iterdir())) == 1


@pytest.mark.parametrize(
    ("spans", "covered"),
    [
        ([], 0.0),
        ([(1.0, 3.0), (2.0, 5.0)], 4.0),
        ([(100.0, 110.0), (1.0, 3.0), (2.0, 2.5)], 12.0),
    ],
)
def test_the_time_between_two_runs_does_not_count(spans: list[tuple[float, float]], covered: float) -> None:
    assert covered_s(spans) == covered


async def test_the_number_of_parts_cannot_be_changed(tmp_path: Path) -> None:
    empty_store(tmp_path / "store")
    refused = await goodbot("cluster", "cycle", "--store", tmp_path / "store", "--parts", "5")
    assert (refused.status, "has 4 parts, which cannot be changed" in refused.complaint) == (2, True)


async def test_a_second_driver_is_refused(tmp_path: Path) -> None:
    files = empty_store(tmp_path / "store")
    with driver_lock(files, "the first one", lambda text: None):
        refused = await goodbot("cluster", "cycle", "--store", tmp_path / "store")
    assert refused.status == 3
    assert "another driver works on" in refused.complaint


async def test_a_store_that_does_not_write_conditionally_is_refused(s3: S3Server, s3_url: str) -> None:
    s3.ignores_conditions = True
    refused = await goodbot("cluster", "cycle", LOCAL, "--allow-private", "--store", s3_url, settings=s3.environment)
    assert (refused.status, "does not support conditional writes" in refused.complaint) == (2, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is damaged"),
        (b'{"version": 1, "path": "versions/gone.json"}', "is missing"),
        (b'{"version": 1, "path": "../../etc/passwd"}', "not the path of a file"),
    ],
)
async def test_a_damaged_store_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    empty_store(tmp_path / "store")
    (tmp_path / "store" / "current.json").write_bytes(content)
    for command in (("cycle",), ("status", "--json")):
        refused = await goodbot("cluster", *command, "--store", tmp_path / "store")
        assert (refused.status, said in refused.complaint) == (3, True), refused.err


async def test_the_store_of_a_newer_goodbot_is_left_alone(tmp_path: Path) -> None:
    files = open_files(str(tmp_path / "store"))
    version = TableVersion(0, 0, 1e9, "", (None,), format=FORMAT + 1)
    flip(files, version, write_version(files, version), None)
    refused = await goodbot("cluster", "cycle", "--store", tmp_path / "store")
    assert (refused.status, "update goodbot" in refused.complaint) == (3, True)


async def test_status_shows_a_store(tmp_path: Path) -> None:
    empty_store(tmp_path / "store")
    shown = await goodbot("cluster", "status", "--store", tmp_path / "store")
    assert shown.status == 0
    assert "version 0 of the table, after cycle 0" in shown.out
    as_json = await goodbot("cluster", "status", "--store", tmp_path / "store", "--json")
    assert as_json.json["store"]["parts"] == 4
    assert as_json.json["finished"] is True
    nothing = await goodbot("cluster", "status", "--store", tmp_path / "nothing")
    assert (nothing.status, "goodbot cluster cycle SEED --store" in nothing.complaint) == (2, True)


@pytest.mark.long
async def test_cycles_run_until_the_crawl_is_finished(tmp_path: Path) -> None:
    """The first command ends after its cycles, the second goes on with the settings and seeds of the first."""
    store = tmp_path / "store"
    async with sites_with_pages(SITES, PAGES, tmp_path) as sites:
        options = ("--master", "local[2]", "--tasks", "2")
        first = await goodbot(
            *("cluster", "cycle", sites.start_page(0), "--store", store, "--allow-private", "--scope", "all"),
            *("--parts", "2", "--cycles", "2", *options),
        )
        assert (first.status, first.err) == (0, "")
        assert first.out.startswith("cycle 1: 1 URL done, 1 page visited")
        assert "stopped after the last cycle" in first.out
        second = await goodbot("cluster", "cycle", "--store", store, "--cycles", "20", "--json", *options)
        assert (second.status, second.err) == (0, "")
        assert list(too_soon(sites.requests)) == []
    *cycles, end = second.lines
    assert [line["event"] for line in cycles] == ["cycle"] * len(cycles)
    assert (end["event"], end["reason"], end["pages"], end["states"]["ready"]) == ("end", "finished", SITES * PAGES, 0)
    status = await goodbot("cluster", "status", "--store", store, "--json")
    assert status.json["finished"]
    assert status.json["states"]["visited"] == SITES * PAGES


@pytest.mark.long
async def test_ctrl_c_ends_a_cycle_and_a_second_one_ends_at_once(tmp_path: Path) -> None:
    store = tmp_path / "store"
    async with sites_with_pages(SITES, 80, tmp_path) as sites:
        seeds = [sites.start_page(site) for site in range(SITES)]
        options = ("--store", store, "--master", "local[2]", "--tasks", "1", "--cycles", "9", "--parts", "2")
        process = await start("cluster", "cycle", *seeds, *options, "--allow-private")
        await sites.has_had(30)
        process.send_signal(signal.SIGINT)
        stopped = await ended(process)
        assert stopped.status == 130
        assert "pages in flight are finished" in stopped.err
        status = await goodbot("cluster", "status", "--store", store, "--json")
        assert status.json["store"]["unfinished_cycle"] is None
        assert status.json["pages"] >= 20
        process = await start("cluster", "cycle", *options[:-2])
        await sites.has_had(len(sites.requests) + 30)
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            await asyncio.sleep(0.5)
        stopped = await ended(process)
        assert stopped.status == 130
        assert "Traceback" not in stopped.err
        again = await goodbot("cluster", "status", "--store", store, "--json")
        assert msgspec.json.encode(again.json["states"]) == msgspec.json.encode(status.json["states"])
        number = again.json["store"]["unfinished_cycle"]
        last = await goodbot("cluster", "cycle", *options[:-2], "--cycles", "1", "--cycle-urls", "1")
        assert (last.status, last.err) == (0, "")
        assert last.out.startswith(f"cycle {number}: ")
