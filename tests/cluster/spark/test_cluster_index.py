"""`goodbot cluster index`: the shards that it builds, how they are searched and followed, and what it says."""

import asyncio
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from cluster.spark.small_store import Page, SmallStore, document_of, row_of, rows_in_order
from goodbot.cli import main
from goodbot.cli.cluster_index import command
from goodbot.cluster.spark import session
from goodbot.cluster.spark.index_shards import ShardNote, ShardsJob, build_shard, build_shards, shards_job, shards_of
from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.shard_places import ShardPlaces
from goodbot.cluster.spark.table_version import TableVersion
from goodbot.config import Settings
from goodbot.crawl_folder import open_search
from goodbot.demo import EXAMPLE_QUERIES, DemoWeb
from goodbot.errors import DamagedError, GoodbotError, InputError, RunError
from goodbot.index import TantivyIndex, TantivySearch, refresh_links
from goodbot.index.copies import Follower, open_cache
from goodbot.index_care import refresh_index
from goodbot.index_copies import open_source
from goodbot.partitions import part_of
from goodbot.ports import Search
from goodbot.url import Url
from journey.goodbot_process import ended, goodbot, start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Out = pytest.CaptureFixture[str]

HOSTS = [f"site{number}.example" for number in range(8)]
PAGES = [
    Page(
        f"https://{host}/page{number}",
        float(number),
        f"page {number} of {host} is about robots" + " and crawling" * (number % 3) + f" word{number}",
        (f"https://{host}/page{(number + 1) % 5}", f"https://{HOSTS[0]}/page0"),
    )
    for host in HOSTS
    for number in range(5)
]
QUERIES = ["robots", "crawling robots", "word3", "site1", "about page2", "site:site2.example robots"]


@pytest.fixture
def store(tmp_path: Path) -> SmallStore:
    return SmallStore(LocalFiles(tmp_path / "store"), tmp_path, parts=4)


@pytest.fixture
def version(store: SmallStore) -> TableVersion:
    store.add_cycle(PAGES[:17], PAGES[17:])
    return store.write_table(row_of(page.url, page.at) for page in PAGES)


def job_of(store: SmallStore, version: TableVersion, places: ShardPlaces) -> ShardsJob:
    return shards_job(store.files, version, Settings(contact="me@example.org"), places)


def build(store: SmallStore, version: TableVersion, places: ShardPlaces) -> list[ShardNote]:
    """Does what the tasks do, one after the other."""
    job = job_of(store, version, places)
    return [build_shard(job, shard, rows_in_order(job.pages, shard)) for shard in range(places.shards)]


def folders_of(places: ShardPlaces) -> list[Path]:
    folders = [places.folder(shard) for shard in range(places.shards)]
    return [folder for folder in folders if folder is not None]


def urls(search: Search, query: str = "robots") -> set[str]:
    return {hit.url for hit in search.search(query, 1000).hits}


def hits(search: Search, query: str) -> list[tuple[str, str, float]]:
    return [(hit.url, hit.snippet, round(hit.score, 3)) for hit in search.search(query, 100).hits]


# ---- shards ---------------------------------------------------------------------------------------------------------


def test_shards_are_searched_as_one_index(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 4)
    notes = build(store, version, places)
    assert [note.shard for note in notes] == [0, 1, 2, 3]
    assert sum(note.documents for note in notes) == len(PAGES)
    assert sum(note.missing for note in notes) == 0

    whole = TantivyIndex(tmp_path / "whole")
    for page in PAGES:
        whole.add(document_of(page))
    whole.commit()
    whole.close()
    refresh_links(tmp_path / "whole")
    refresh_index(folders_of(places), lambda state: None)  # the links of all shards, as in the one index
    expected, found = TantivySearch(tmp_path / "whole"), open_search(folders_of(places))
    for query in QUERIES:
        assert hits(found, query) == hits(expected, query), query


def test_all_pages_of_a_host_are_in_one_shard(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 2)
    build(store, version, places)
    for shard, folder in enumerate(folders_of(places)):
        expected = {page.url for page in PAGES if part_of(Url(page.url).host_key, 4) % 2 == shard}
        assert urls(open_search(folder)) == expected
        assert expected


def test_link_texts_are_those_of_the_shard(store: SmallStore, tmp_path: Path) -> None:
    store.add_cycle(
        [
            Page("https://site1.example/a", 1.0, "nothing to see", ("https://site1.example/target",)),
            Page("https://site1.example/target", 1.0, "other words"),
        ]
    )
    version = store.write_table([row_of("https://site1.example/a"), row_of("https://site1.example/target")])
    places = ShardPlaces(str(tmp_path / "place"), 1)
    build(store, version, places)
    search = open_search(folders_of(places))
    assert search.search("target", 10).hits[0].url == "https://site1.example/target"
    assert (folders_of(places)[0] / "index" / "links.json").is_file()


def test_a_shard_without_pages_is_searched_too(store: SmallStore, tmp_path: Path) -> None:
    store.add_cycle([PAGES[0]])
    version = store.write_table([row_of(PAGES[0].url)])
    places = ShardPlaces(str(tmp_path / "place"), 4)
    notes = build(store, version, places)
    assert sorted(note.documents for note in notes) == [0, 0, 0, 1]
    assert urls(open_search(folders_of(places))) == {PAGES[0].url}
    empty = next(note.shard for note in notes if note.documents == 0)
    assert urls(open_search(folders_of(places)[empty])) == set()


def test_a_second_run_replaces_the_shards(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 2)
    build(store, version, places)
    search = open_search(folders_of(places))
    assert urls(search) == {page.url for page in PAGES}

    added = Page("https://site3.example/new", 9.0, "new robots")
    changed = PAGES[0]._replace(at=9.0, text="lazy robots")
    store.add_cycle([added, changed])
    gone = PAGES[1].url
    rows = [row_of(page.url, page.at, "gone" if page.url == gone else "visited") for page in (*PAGES, added)]
    version = store.write_table(rows)
    for _ in range(3):
        build(store, version, places)
    assert urls(search) == {added.url, *(page.url for page in PAGES)} - {gone}  # notices it by itself
    assert urls(search, "lazy") == {changed.url}
    for folder in folders_of(places):
        assert len(list((folder / "versions").iterdir())) == 2
        assert len(list((folder / "copies" / "manifests").iterdir())) == 2


def test_pages_without_text_are_counted(store: SmallStore, tmp_path: Path) -> None:
    store.add_cycle(PAGES[:3])
    version = store.write_table(row_of(page.url) for page in PAGES)
    notes = build(store, version, ShardPlaces(str(tmp_path / "place"), 3))
    assert sum(note.documents for note in notes) == 3
    assert sum(note.missing for note in notes) == len(PAGES) - 3


def test_a_failed_run_leaves_the_old_shards(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 1)
    build(store, version, places)
    (path,) = store.add_cycle([PAGES[0]._replace(at=9.0, text="harmed")])
    content = store.files.read(path)
    assert content is not None
    later = store.write_table(row_of(page.url) for page in PAGES)
    store.files.write(path, content[:-20])
    with pytest.raises(DamagedError, match=path):
        build(store, later, places)
    assert urls(open_search(folders_of(places))) == {page.url for page in PAGES}


def test_a_document_that_cannot_be_read_is_named(store: SmallStore, tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    (path,) = store.add_cycle([PAGES[0]])
    version = store.write_table([row_of(PAGES[0].url)])
    table = pq.read_table(store.files.open_input(path))
    with store.files.open_output(path) as out:
        pq.write_table(table.set_column(4, table.field(4), pa.array([b"\x93no document"], pa.binary())), out)
    with pytest.raises(DamagedError, match=f"{path} is damaged: the document of {PAGES[0].url}"):
        build(store, version, ShardPlaces(str(tmp_path / "place"), 1))


@pytest.mark.parametrize("step", ["draft", "link", "snapshot"])
def test_what_a_killed_run_left_does_no_harm(
    store: SmallStore, version: TableVersion, tmp_path: Path, step: str
) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 1)
    build(store, version, places)
    (folder,) = folders_of(places)
    search = open_search(folder)
    if step == "draft":
        shutil.copytree(folder / "index", folder / "versions" / "20261127T105051-23638f00.part" / "index")
    elif step == "link":
        (folder / ".index.part").symlink_to("versions/nowhere")
    else:  # the snapshot was written, and not yet put in place
        before = (folder / "index").readlink()
        build(store, version, places)
        newer = (folder / "index").readlink()
        (folder / "index").unlink()
        (folder / "index").symlink_to(before)
        shutil.rmtree(folder / newer.parent)
    assert urls(open_search(folder)) == urls(search) == {page.url for page in PAGES}
    build(store, version, places)
    build(store, version, places)
    assert urls(open_search(folder)) == urls(search) == {page.url for page in PAGES}
    assert sorted(entry.name for entry in folder.iterdir()) == ["copies", "index", "shard.json", "versions"]
    assert len(list((folder / "versions").iterdir())) == 2


def test_without_hard_links(
    store: SmallStore, version: TableVersion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def link(source: object, target: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", link)
    places = ShardPlaces(str(tmp_path / "place"), 1)
    for _ in range(3):
        build(store, version, places)
        assert urls(open_search(folders_of(places))) == {page.url for page in PAGES}


def test_a_damaged_shard_names_the_remedy(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    places = ShardPlaces(str(tmp_path / "place"), 1)
    build(store, version, places)
    (folder,) = folders_of(places)
    next((folder / "index").glob("*.term")).write_bytes(b"damaged")
    with pytest.raises(DamagedError, match="make the shards again with: goodbot cluster index"):
        open_search(folder)


@pytest.mark.parametrize("form", ["folder", "URL"])
def test_shards_are_followed(store: SmallStore, version: TableVersion, tmp_path: Path, form: str) -> None:
    pytest.importorskip("fsspec")
    place = tmp_path / "place"
    places = ShardPlaces(str(place) if form == "folder" else f"local://{place}", 1)
    build(store, version, places)
    assert (places.folder(0) is None) == (form == "URL")
    source = open_source(places.copies_address(0))
    with open_cache(tmp_path / "cache", source.name) as cache:
        follower = Follower(source, cache, 0.05)
        manifest = follower.start()
        try:
            assert manifest.documents == len(PAGES)
            assert manifest.origin.contact == "me@example.org"
            assert manifest.origin.token == "goodbot"
            while not follower.search.count():
                time.sleep(0.01)
            assert urls(follower.search) == {page.url for page in PAGES}
        finally:
            follower.join()


# ---- what cannot be indexed -----------------------------------------------------------------------------------------


def test_numbers_of_shards(store: SmallStore, version: TableVersion) -> None:
    many = replace_parts(version, 40)
    assert [shards_of(version, None), shards_of(many, None)] == [4, 16]
    assert [shards_of(version, 3), shards_of(many, 40)] == [3, 40]
    with pytest.raises(InputError, match="--shards: the crawl table has 4 parts, so there can be at most 4 shards"):
        shards_of(version, 5)


def replace_parts(version: TableVersion, parts: int) -> TableVersion:
    import msgspec

    return msgspec.structs.replace(version, parts=(None,) * parts)


def test_names_of_shards() -> None:
    assert [ShardPlaces("/srv/index", 3).address(shard) for shard in (0, 2)] == [
        "/srv/index/shard-1-of-3",
        "/srv/index/shard-3-of-3",
    ]
    assert ShardPlaces("s3://bucket/index/", 16).copies_address(4) == "s3://bucket/index/shard-05-of-16/copies"


def run(*arguments: str) -> tuple[int, str]:
    """Runs the command as `goodbot` does. Returns the exit status, and the error."""
    try:
        status = command.main([*arguments], prog_name="goodbot cluster index", standalone_mode=False)
    except GoodbotError as error:
        return error.exit_status, str(error)
    return status or 0, ""


@pytest.fixture
def no_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces what starts Spark: the command must end before it does."""
    stand_in(monkeypatch, None)


def stand_in(monkeypatch: pytest.MonkeyPatch, spark: "SparkSession | None") -> None:
    """Lends the session of the tests to the command, since there can be only one in a process."""

    @contextmanager
    def spark_session(master: str, app_name: str, *, conf: Mapping[str, str] | None = None) -> Iterator[Any]:
        assert spark is not None, "Spark was started"
        yield spark

    monkeypatch.setattr(session, "spark_session", spark_session)


@pytest.mark.usefixtures("no_spark")
def test_what_cannot_be_indexed(store: SmallStore, tmp_path: Path) -> None:
    url, place = store.files.url, str(tmp_path / "place")
    assert run("--store", url, "--to", place) == (
        2,
        f"no crawl in {url}: start one with goodbot cluster cycle SEED --store {url}",
    )
    store.write_table([])
    assert run("--store", url, "--to", place) == (
        2,
        f"the crawl in {url} has no pages yet: run goodbot cluster cycle first",
    )
    store.add_cycle([PAGES[0]])
    store.write_table([row_of(PAGES[0].url)], "index = false\n")
    status, error = run("--store", url, "--to", place)
    assert status == 2
    assert error.startswith(f"the crawl in {url} keeps no text of pages (--no-index)")
    store.write_table([row_of(PAGES[0].url)])
    crawl = tmp_path / "crawl"
    crawl.mkdir()
    (crawl / "frontier.sqlite").touch()
    for options, reason in (
        (["--to", place, "--shards", "5"], "--shards: the crawl table has 4 parts"),
        (["--to", ""], "the name of a folder is empty"),
        (["--to", "https://example.org/"], "a Web server cannot be written to"),
        (["--to", f"{url}/"], f"--to: {url} is in the store: choose a place outside it"),
        (["--to", f"{url}/table"], f"--to: {url}/table is in the store: choose a place outside it"),
        (["--to", str(crawl)], f"--to: there is a crawl or an index in {crawl}: choose another folder"),
    ):
        status, error = run("--store", url, *options)
        assert (status, error[: len(reason)]) == (2, reason)
    assert not (tmp_path / "place").exists()


@pytest.mark.usefixtures("no_spark")
def test_damaged_stores(store: SmallStore, tmp_path: Path) -> None:
    store.add_cycle([PAGES[0]])
    store.write_table([row_of(PAGES[0].url)], "index = 3\n")
    status, error = run("--store", store.files.url, "--to", str(tmp_path / "place"))
    assert status == 3
    assert "the settings of the crawl" in error


# ---- with Spark -----------------------------------------------------------------------------------------------------


@pytest.fixture
def lent(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> "SparkSession":
    stand_in(monkeypatch, spark)
    return spark


@pytest.mark.long
@pytest.mark.usefixtures("lent", "version")
def test_the_command(store: SmallStore, tmp_path: Path, capsys: Out) -> None:
    place = tmp_path / "my place"
    assert run("--store", store.files.url, "--to", str(place)) == (0, "")
    first, *lines = capsys.readouterr().out.splitlines()
    assert first.startswith("40 pages in 4 shards, ")
    assert first.endswith(", as of cycle 1")
    assert lines[0] == "to search them as one index:"
    assert lines[2] == "to serve them:"
    assert lines[3].startswith(f"  goodbot serve --follow '{place}/shard-1-of-4/copies' --follow ")
    words = shlex.split(lines[1])
    assert words[:3] == ["goodbot", "search", "QUERY"]

    assert main(["search", "robots", "--json", "--top", "100", *words[3:]]) == 0
    assert json.loads(capsys.readouterr().out)["total"] == len(PAGES)

    store.add_cycle([PAGES[0]._replace(at=9.0, text="lazy robots")])
    store.write_table([row_of(page.url) for page in (*PAGES, Page("https://site0.example/lost", 1.0, ""))])
    assert run("--store", store.files.url, "--to", str(place), "--shards", "2") == (0, "")
    output = capsys.readouterr().out
    assert "1 page not in the index: the store does not have the text" in output
    assert f"{place} also has another index, one in 4 shards: remove what nobody searches" in output.replace(
        "\n  ", " "
    )


@pytest.mark.long
@pytest.mark.usefixtures("lent", "version")
def test_the_command_for_programs(store: SmallStore, tmp_path: Path, capsys: Out) -> None:
    pytest.importorskip("fsspec")
    root = f"local://{tmp_path}/place"
    assert run("--store", store.files.url, "--to", root, "--shards", "2", "--json") == (0, "")
    found = json.loads(capsys.readouterr().out)
    shards = found.pop("shards")
    assert found.pop("size_bytes") == sum(shard["size_bytes"] for shard in shards) > 0
    assert found == {
        "done": True,
        "cycle": 1,
        "documents": len(PAGES),
        "missing": 0,
        "search": None,
        "serve": f"goodbot serve --follow {root}/shard-1-of-2/copies --follow {root}/shard-2-of-2/copies",
    }
    assert [shard["place"] for shard in shards] == [f"{root}/shard-{number}-of-2" for number in (1, 2)]
    assert sum(shard["documents"] for shard in shards) == len(PAGES)


@pytest.mark.long
def test_failures_on_spark(lent: "SparkSession", store: SmallStore, tmp_path: Path) -> None:
    paths = store.add_cycle(PAGES[:20], PAGES[20:])
    version = store.write_table(row_of(page.url) for page in PAGES)
    place = tmp_path / "place"
    assert run("--store", store.files.url, "--to", str(place)) == (0, "")
    places = ShardPlaces(str(place), 4)

    with places.whole().exclusive():
        status, error = run("--store", store.files.url, "--to", str(place))
    assert (status, error) == (3, f"another snapshot is being written to {place}")

    content = store.files.read(paths[1])
    assert content is not None
    store.files.write(paths[1], content[:100])
    status, error = run("--store", store.files.url, "--to", str(place))
    assert status == 3
    assert error.startswith(f"{store.files.url}/{paths[1]} is damaged: ")
    assert urls(open_search(folders_of(places))) == {page.url for page in PAGES}

    store.write_table([])
    newer = store.write_table([])
    assert newer.number == 2
    with pytest.raises(RunError, match="several cycles of the crawl in "):
        build_shards(lent, job_of(store, version, places), version)


@pytest.mark.long
@pytest.mark.usefixtures("version")
async def test_interrupted_by_ctrl_c(store: SmallStore, tmp_path: Path) -> None:
    """The old shards stay in use, and the next run replaces them."""
    command = ("cluster", "index", "--store", store.files.url, "--to", tmp_path / "place", "--master", "local[2]")
    assert (await goodbot(*command)).status == 0
    text = " ".join(f"word{number}" for number in range(1000))
    many = [Page(f"https://{HOSTS[number % 8]}/{number}", 9.0, f"robots {text}") for number in range(1000)]
    store.add_cycle(many)
    store.write_table(row_of(page.url, page.at) for page in many)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = await start(*command, settings={"TMPDIR": str(temporary)})
    while process.returncode is None and not list(temporary.glob("goodbot-task-*/index/*.store")):  # noqa: ASYNC110
        await asyncio.sleep(0.05)
    process.send_signal(signal.SIGINT)
    stopped = await ended(process)
    assert (stopped.status, stopped.out, stopped.complaint) == (130, "", "goodbot: interrupted")
    folders = folders_of(ShardPlaces(str(tmp_path / "place"), 4))
    assert urls(open_search(folders), "about") <= {page.url for page in PAGES}
    assert (await goodbot(*command)).status == 0
    assert open_search(folders).count() == len(many)


@pytest.mark.long
@pytest.mark.usefixtures("lent")
def test_a_crawl_on_spark_is_found_as_a_crawl_on_one_machine(
    spark: "SparkSession", tmp_path: Path, capsys: Out
) -> None:
    crawl, place, files = tmp_path / "crawl", tmp_path / "place", LocalFiles(tmp_path / "store")
    with DemoWeb() as web:
        seeds = [site.url for site in web.sites]
        assert main(["crawl", *seeds, "--into", str(crawl), "--allow-private", "--delay", "0"]) == 0
        crawl_in_cycles(spark, files, seeds)
    capsys.readouterr()
    assert run("--store", str(tmp_path / "store"), "--to", str(place)) == (0, "")
    folders = folders_of(ShardPlaces(str(place), 4))
    refresh_index(folders, lambda state: None)  # one site may link to another

    expected, found = open_search(crawl), open_search(folders)
    assert found.count() == expected.count() > 30
    assert urls(found, "robots") == urls(expected, "robots")
    for query in (*EXAMPLE_QUERIES, "robots", "link texts", "opening hours", "lantern clock repair"):
        assert hits(found, query) == hits(expected, query), query


def crawl_in_cycles(spark: "SparkSession", files: LocalFiles, seeds: list[str]) -> None:
    """Crawls until nothing is left, in a table of four parts."""
    from goodbot.cluster.spark.driver import CycleLimits, Driver

    settings = Settings(seeds=tuple(seeds), allow_private=True, delay=0.0)
    driver = Driver(files, spark)
    driver.begin(settings, [], parts=4)
    while driver.version is not None and (ready_at := driver.version.ready_at) is not None:
        time.sleep(max(0.0, ready_at - time.time()))
        driver.run_cycle(settings, CycleLimits(tasks=2))


KEEPS_BUILDING = """
import sys
from pathlib import Path
from cluster.spark.small_store import rows_in_order
from goodbot.cluster.spark.index_shards import build_shard, shards_job
from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.shard_places import ShardPlaces
from goodbot.cluster.spark.table_version import load_current
from goodbot.config import Settings
files = LocalFiles(Path(sys.argv[1]))
version = load_current(files).version
job = shards_job(files, version, Settings(), ShardPlaces(sys.argv[2], 1))
while True:
    build_shard(job, 0, rows_in_order(job.pages, 0))
    print("built", flush=True)
"""


@pytest.mark.long
def test_killed_at_any_moment(store: SmallStore, version: TableVersion, tmp_path: Path) -> None:
    place = tmp_path / "place"
    places = ShardPlaces(str(place), 1)
    build(store, version, places)
    search = open_search(folders_of(places))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    path = os.pathsep.join(filter(None, sys.path))
    environment = {**os.environ, "PYTHONPATH": path, "TMPDIR": str(temporary)}
    for number in range(8):
        program = [sys.executable, "-c", KEEPS_BUILDING, store.files.url, str(place)]
        with subprocess.Popen(program, stdout=subprocess.PIPE, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"built\n"
            time.sleep(0.03 * number)
            process.send_signal(signal.SIGKILL)
        assert urls(search) == urls(open_search(folders_of(places))) == {page.url for page in PAGES}
    build(store, version, places)
    (folder,) = folders_of(places)
    assert len(list((folder / "versions").iterdir())) == 2
