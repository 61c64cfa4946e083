"""An index that is gone, damaged, older or another one: noticed, said, and made anew from the archive."""

import shutil
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from goodbot.cli.index_progress import IndexProgress
from goodbot.index_opening import Indexing
from journey.goodbot_process import Ended, goodbot
from webserver import Exchange, WebServer, answer

PAGES = 12
PLAIN = [("Content-Type", "text/plain")]
COPY = 5
"""Says that it is page 4."""


async def site(exchange: Exchange) -> None:
    """Pages of a tree. One is a copy of another, one does not let itself be archived, one not be indexed."""
    if exchange.target == "/robots.txt":
        await exchange.send(answer(b"User-agent: *\n", headers=PLAIN))
        return
    number = int(exchange.target.strip("/") or 0)
    links = "".join(f'<a href="/{n}">{n}</a>' for n in (2 * number + 1, 2 * number + 2) if n < PAGES)
    head = {
        COPY: '<link rel="canonical" href="/4">',
        7: '<meta name="robots" content="noarchive">',
        8: '<meta name="robots" content="noindex">',
    }.get(number, "")
    await exchange.send(answer(f"<title>zebra {number}</title>{head}<p>zebra words of {number}</p>{links}".encode()))


INDEXED = {f"/{number}" if number else "/" for number in range(PAGES)} - {f"/{COPY}", "/8"}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(WebServer(fallback=site))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


async def crawl(folder: Path, *more: str) -> Ended:
    """To its end."""
    ended = await goodbot("crawl", *more, "--into", folder, "--allow-private", "--json")
    assert ended.status == 0, ended.err
    return ended


async def found(folder: Path) -> set[str]:
    """The paths of the pages that a search finds, each once."""
    ended = await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")
    assert ended.status == 0, ended.err
    hits = [hit["url"] for hit in ended.json["hits"]]
    assert len(hits) == len(set(hits))
    return {"/" + url.partition("//")[2].partition("/")[2] for url in hits}


def is_removed(folder: Path) -> None:
    shutil.rmtree(folder / "index")


def is_emptied(folder: Path) -> None:
    is_removed(folder)
    (folder / "index").mkdir()


def is_without_meta(folder: Path) -> None:
    (folder / "index" / "meta.json").unlink()


def has_a_torn_segment(folder: Path) -> None:
    for file in (folder / "index").glob("*.idx"):
        file.write_bytes(file.read_bytes()[:-9])


def has_no_version(folder: Path) -> None:
    (folder / "index" / "goodbot.json").write_text("{")


def is_older(folder: Path) -> None:
    is_removed(folder)
    shutil.copytree(folder.with_name("older"), folder / "index")


def is_another(folder: Path) -> None:
    is_removed(folder)
    shutil.copytree(folder.with_name("another") / "index", folder / "index")


def is_a_file(folder: Path) -> None:
    is_removed(folder)
    (folder / "index").write_text("x")


def is_an_older_one_elsewhere(folder: Path) -> None:
    is_removed(folder)
    (folder / "index").symlink_to(folder.with_name("older"))


def is_a_link_to_nothing(folder: Path) -> None:
    is_removed(folder)
    (folder / "index").symlink_to(folder.with_name("not mounted"))


FAULTS: list[tuple[Callable[[Path], None], str]] = [
    (is_removed, "the search index is missing"),
    (is_emptied, "the search index is missing"),
    (is_without_meta, "meta.json is missing"),
    (has_a_torn_segment, ".idx is damaged"),
    (has_no_version, "goodbot.json cannot be read"),
    (is_older, "the search index is an older copy"),
    (is_a_file, "the search index is missing"),
    (is_an_older_one_elsewhere, "the search index is an older copy"),
    (is_a_link_to_nothing, "the search index is missing"),
    (is_another, "the search index is not the one that this crawl wrote"),
]


@pytest.mark.long
@pytest.mark.parametrize(("fault", "said"), FAULTS, ids=[fault.__name__ for fault, _ in FAULTS])
async def test_a_fault_is_said_and_mended(
    folder: Path, server: WebServer, fault: Callable[[Path], None], said: str
) -> None:
    await crawl(folder, server.url("/"), "--max-pages", "5")
    shutil.copytree(folder / "index", folder.with_name("older"))
    await crawl(folder)
    if fault is is_another:
        await crawl(folder.with_name("another"), server.url("/"))
    assert await found(folder) == INDEXED
    fault(folder)
    for command in (("search", "zebra"), ("serve", "--port", "0")):
        refused = await goodbot(*command, "--in", folder)
        assert (refused.status, refused.out) == (3, "")
        assert said in refused.complaint
        assert refused.complaint.endswith(f"goodbot index rebuild --in {folder}")
    asked = len(server.exchanges)
    again = await crawl(folder)
    first, *_ = again.err.splitlines()
    assert said in first
    assert first.endswith("building the index from the archive (10 pages)")
    assert "1 page will be fetched again: archived without the body (noarchive)" in again.err
    assert await found(folder) == INDEXED
    assert server.targets[asked:] == ["/7"]
    assert (await crawl(folder)).err == ""
    assert len(server.exchanges) == asked + 1
    assert {place.name for place in folder.iterdir()} >= {"index", "warc"}
    assert not [*folder.glob("index.*")]


@pytest.mark.long
async def test_an_older_index_of_a_crawl_in_a_database(folder: Path, server: WebServer, postgres_dsn: str) -> None:
    """As in a copy of the folder that was made while the crawl was running."""
    await crawl(folder, server.url("/"), "--frontier", postgres_dsn, "--max-pages", "5")
    shutil.copytree(folder / "index", folder.with_name("older"))
    await crawl(folder)
    is_older(folder)
    refused = await goodbot("search", "zebra", "--in", folder)
    assert refused.status == 3
    assert refused.complaint.endswith(f"is an older copy: rebuild it with: goodbot index rebuild --in {folder}")
    rebuilt = await goodbot("index", "rebuild", "--in", folder)
    assert rebuilt.status == 0, rebuilt.err
    assert await found(folder) == INDEXED - {"/7"}


async def test_a_crawl_without_index_does_not_mind(folder: Path, server: WebServer) -> None:
    await crawl(folder, server.url("/"), "--max-pages", "5")
    is_removed(folder)
    on = await crawl(folder, "--no-index")
    assert on.err == ""
    assert not (folder / "index").exists()
    refused = await goodbot("search", "zebra", "--in", folder)
    assert (refused.status, "is missing" in refused.complaint) == (3, True)


async def test_rebuilt_by_hand(folder: Path, server: WebServer) -> None:
    await crawl(folder, server.url("/"))
    asked = len(server.exchanges)
    rebuilt = await goodbot("index", "rebuild", "--in", folder, "--json")
    assert rebuilt.status == 0, rebuilt.err
    expected = {"not kept": 0, "withheld": 1, "damaged": 0}
    assert rebuilt.json == {"done": True, "documents": 9, "requeued": 1, "requeued_why": expected}
    assert rebuilt.err.splitlines()[0] == "building the search index from the archive (10 pages)"
    assert await found(folder) == INDEXED - {"/7"}
    assert len(server.exchanges) == asked
    again = await goodbot("index", "rebuild", "--in", folder)
    assert (again.status, again.out) == (0, "the index has 9 pages\n")
    assert (await crawl(folder)).err == ""
    assert (await found(folder), server.targets[asked:]) == (INDEXED, ["/7"])


async def test_a_record_that_is_damaged_is_fetched_again(folder: Path, server: WebServer) -> None:
    await crawl(folder, server.url("/"))
    asked = len(server.exchanges)
    (file,) = (folder / "warc").glob("*.warc.gz")
    (line,) = [line for line in file.with_suffix("").with_suffix(".cdxj").read_text().splitlines() if '/9"' in line]
    at = int(line.partition('"offset": "')[2].partition('"')[0]) + 60
    data = bytearray(file.read_bytes())
    data[at] ^= 0xFF
    file.write_bytes(data)
    rebuilt = await goodbot("index", "rebuild", "--in", folder, "--json")
    assert rebuilt.status == 0, rebuilt.err
    assert rebuilt.json["requeued_why"] == {"not kept": 0, "withheld": 1, "damaged": 1}
    await crawl(folder)
    assert sorted(server.targets[asked:]) == ["/7", "/9"]
    assert await found(folder) == INDEXED


async def test_a_crawl_without_archive(folder: Path, server: WebServer) -> None:
    """Nothing can be read back: all pages are fetched again, and that is said."""
    await crawl(folder, server.url("/"), "--no-archive")
    assert await found(folder) == INDEXED
    asked = len(server.exchanges)
    rebuilt = await goodbot("index", "rebuild", "--in", folder, "--json")
    assert (rebuilt.status, rebuilt.json["documents"], rebuilt.json["requeued"]) == (0, 0, 10)
    assert "10 pages will be fetched again: not in the archive (--no-archive" in rebuilt.err
    await crawl(folder)
    assert set(server.targets[asked:]) == INDEXED
    assert await found(folder) == INDEXED


async def test_a_crawl_that_had_no_index_gets_one(folder: Path, server: WebServer) -> None:
    """By hand, or when it goes on with an index; what was fetched meanwhile without one is not forgotten."""
    await crawl(folder, server.url("/"), "--no-index", "--max-pages", "6")
    refused = await goodbot("search", "zebra", "--in", folder)
    assert (refused.status, "--no-index" in refused.complaint) == (2, True)
    assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
    some = await found(folder)
    assert 5 <= len(some) <= 6
    await crawl(folder, "--max-pages", "3")
    assert await found(folder) == some
    asked = len(server.exchanges)
    on = await crawl(folder, "--index")
    assert await found(folder) == INDEXED
    assert len(set(server.targets[asked:])) == len(server.targets[asked:])
    assert "rebuilding" not in on.err


async def test_a_crawl_that_goes_on_without_its_index_says_what_it_lacks(folder: Path, server: WebServer) -> None:
    """An index made by hand, then a crawl that runs with --no-index, then one that does not."""
    await crawl(folder, server.url("/"), "--no-index", "--max-pages", "6")
    rebuilt = await goodbot("index", "rebuild", "--in", folder)
    assert (
        "this crawl runs with --no-index, so pages visited from now on will not be in the index; to change that: "
        in rebuilt.err
    )
    some = await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")
    assert (some.err, some.json.get("not_indexed")) == ("", None)
    on = await crawl(folder)
    lacking = INDEXED - await found(folder)
    assert len(lacking) >= 4
    assert on.lines[-1]["not_indexed"] == len(lacking), "neither the copy nor the page with noindex"
    line = f"{len(lacking)} pages visited are not in the search index; this crawl runs with --no-index"
    line = f"{line}; to bring the index up to date: goodbot index rebuild --in {folder}"
    stale = await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")
    assert (stale.err, stale.json["not_indexed"]) == (line + "\n", len(lacking))
    nothing_more = await goodbot("crawl", "--into", folder)
    assert f"  {line}\n" in nothing_more.out
    last = await crawl(folder, "--index")
    assert "not_indexed" not in last.lines[-1]
    whole = await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")
    assert (whole.err, whole.json.get("not_indexed")) == ("", None)
    assert await found(folder) == INDEXED


@pytest.mark.long
async def test_an_index_that_was_left_behind_is_rebuilt_by_hand(folder: Path, server: WebServer) -> None:
    await crawl(folder, server.url("/"), "--max-pages", "6")
    await crawl(folder, "--no-index")
    assert await found(folder) < INDEXED
    assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
    after = await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")
    assert (after.err, after.json.get("not_indexed")) == ("", None)
    await crawl(folder)
    assert await found(folder) | {"/7"} == INDEXED


async def test_an_index_begun_late(folder: Path, server: WebServer) -> None:
    await crawl(folder, server.url("/"), "--no-index")
    asked = len(server.exchanges)
    on = await crawl(folder, "--index")
    assert on.err.startswith("this crawl has no search index yet: building the index from the archive (")
    assert await found(folder) == INDEXED
    assert set(server.targets[asked:]) <= {"/7"}


@pytest.mark.long
async def test_forgetting_a_host_does_not_make_an_older_index_look_sound(folder: Path) -> None:
    async with WebServer(fallback=site) as one, WebServer(fallback=site) as two:
        await crawl(folder, one.url("/"), two.url("/"), "--max-pages", "5")
        shutil.copytree(folder / "index", folder.with_name("older"))
        await crawl(folder)
        is_older(folder)
        assert (await goodbot("forget", one.origin.removeprefix("http://"), "--in", folder)).status == 0
        refused = await goodbot("search", "zebra", "--in", folder)
        assert (refused.status, "the search index is missing" in refused.complaint) == (3, True)
        assert (await goodbot("index", "rebuild", "--in", folder)).status == 0
        await crawl(folder)
        assert await found(folder) == INDEXED
        hits = (await goodbot("search", "zebra", "--in", folder, "--json", "--top", "100")).json["hits"]
        assert {hit["url"].startswith(two.origin) for hit in hits} == {True}


async def test_nothing_to_rebuild_from(tmp_path: Path) -> None:
    refused = await goodbot("index", "rebuild", "--in", tmp_path)
    assert (refused.status, "no crawl in" in refused.complaint) == (2, True)


def test_the_lines_of_a_long_rebuild() -> None:
    said, times = list[str](), iter([0.0, 0.0, 4.0, 10.0, 12.0, 20.0])
    watch = IndexProgress(said.append, lambda: next(times))
    for read in (0, 4000, 10_000, 12_000):
        watch(Indexing("the search index is missing", 100_000, read))
    watch(Indexing("the search index is missing", 100_000, 100_000, 99_990, Counter({"damaged": 10}), finished=True))
    assert said == [
        "the search index is missing: building the index from the archive (100,000 pages)",
        "indexed 10,000 of 100,000 pages, 1000.0/s, about 1 min 30 s left",
        "the search index is complete: 99,990 pages indexed",
        "10 pages will be fetched again: damaged in the archive, or missing from it",
    ]
