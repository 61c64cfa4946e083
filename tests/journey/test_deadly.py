"""What is kept of a page that kills its readers, how it is found, and how it goes."""

from collections.abc import AsyncIterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from goodbot.cli.crawl_progress import LineProgress
from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import Identity
from goodbot.robot.processes.coordinator import Coordinator
from goodbot.robot.scope.scope import Scope
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.deadly_answers import MAX_BYTES, MAX_PAGES, DeadlyPages
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.url import Url
from goodbot.values import Discovery
from journey.goodbot_process import goodbot
from robot.processes.deadly import prepare_or_die
from webserver import Exchange, WebServer, answer

BODY = b"<title>deadly</title><p>" + b"words and " * 20_000
HASTY = {"backoff_first": 0.01, "backoff_most": 0.01, "retry_first": 0.01}


async def page(exchange: Exchange) -> None:
    headers = [("X-Robots-Tag", "noarchive")] if "private" in exchange.target else []
    body = BODY if "deadly" in exchange.target else b"<title>harmless</title>"
    await exchange.send(answer(body, headers=[("Content-Type", "text/html"), *headers]))


@pytest.fixture
async def server(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[WebServer]:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    async with WebServer(fallback=page) as server:
        yield server


async def crawl(folder: CrawlFolder, seeds: list[str], *, archived: bool = False, tries: int = 3) -> None:
    """With two processes. Pages that are called deadly kill the one that reads them."""
    folder.create()
    settings = Settings(seeds=tuple(seeds), archive=archived, tries=tries, **HASTY)  # type: ignore[arg-type]
    clock, guard, urls = SystemClock(), AddressGuard([ip_network("127.0.0.0/8")]), parse_seeds(seeds)
    archive = WarcArchive(folder.warc, clock, "test") if archived else None
    with SqliteFrontier.open(folder.frontier, create=True) as frontier:
        frontier.add(Discovery(url, 0) for url in urls)
        named = settings, Identity("goodbot", "goodbot", None), guard, Scope(settings, urls, guard)
        encode = encode_capture if archived else None
        setup = WorkerSetup(*named, encode, prepare_or_die, evidence=encode_capture)
        batch = Batch(frontier, frontier, archive, None, clock, LineProgress().observe)
        given = {"frontier": frontier, "robots": frontier, "lessons": frontier, "batch": batch, "clock": clock}
        owner = Coordinator(settings, 2, setup=setup, keep_deadly=folder.deadly.keep, **given)  # type: ignore[arg-type]
        assert await owner.run() == "finished"
    if archive is not None:
        archive.close()


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "deadly").glob("*"))


def responses(file: Path) -> list[tuple[str, bytes]]:
    """URL and body of the responses in a file, as another program reads them."""
    with file.open("rb") as stream:
        return [
            (record.rec_headers.get_header("WARC-Target-URI"), record.content_stream().read())
            for record in ArchiveIterator(stream)
            if record.rec_type == "response"
        ]


@pytest.mark.long
@pytest.mark.parametrize(("archived", "tries"), [(True, 3), (False, 3), (False, 1)])
async def test_its_answer_is_kept_and_goes_with_its_host(
    server: WebServer, tmp_path: Path, capsys: pytest.CaptureFixture[str], archived: bool, tries: int
) -> None:
    deadly = server.url("/deadly")
    await crawl(CrawlFolder(tmp_path), [deadly, server.url("/1")], archived=archived, tries=tries)
    (file,) = kept(tmp_path)
    assert responses(file) == [(deadly, BODY)]
    where = f"its answer is kept in deadly/{file.name}"
    why = await goodbot("why", deadly, "--in", tmp_path)
    first, *_ = why.out.splitlines()
    assert first.endswith(where)
    assert "failed, " in first
    if tries > 1:
        assert "kills the reader: " in first
        assert capsys.readouterr().err == f"{first.replace(': failed, ', ': ', 1)}\n"
    forgotten = await goodbot("forget", server.origin, "--in", tmp_path, "--json")
    assert (forgotten.status, forgotten.json["records"]) == (0, 3 if archived else 1), forgotten
    assert kept(tmp_path) == []


async def test_without_its_body_if_a_header_forbids_archiving(server: WebServer, tmp_path: Path) -> None:
    deadly = server.url("/deadly/private")
    await crawl(CrawlFolder(tmp_path), [deadly])
    assert [responses(file) for file in kept(tmp_path)] == [[(deadly, b"")]]


def test_no_more_pages_and_bytes_than_there_is_room_for(tmp_path: Path) -> None:
    pages = DeadlyPages(tmp_path / "deadly", SystemClock(), "test")
    for number in range(MAX_PAGES):
        assert "kept in" in pages.keep(Url(f"http://{number % 2}.example/{number}"), b"x")
    assert pages.keep(Url("http://0.example/more"), b"x") == (
        "its answer is not kept: deadly/ is full (32 pages, 64 MiB); delete files there to make room"
    )
    assert "kept in" in pages.keep(Url("http://0.example/0"), b"y")  # in place of the older one
    assert pages.forget("0.example") == MAX_PAGES // 2
    assert len(kept(tmp_path)) == MAX_PAGES // 2
    assert "not kept" in pages.keep(Url("http://0.example/long"), b"x" * MAX_BYTES)
    assert "kept in" in pages.keep(Url("http://0.example/more"), b"x")


def test_a_disk_that_refuses_is_said(tmp_path: Path) -> None:
    (tmp_path / "deadly").write_text("no folder")
    pages = DeadlyPages(tmp_path / "deadly", SystemClock(), "test")
    assert pages.keep(Url("http://h.example/"), b"x").startswith("its answer could not be kept: ")
