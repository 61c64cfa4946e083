"""Copies of an index as users make and serve them: `goodbot index snapshot`, then `goodbot serve --follow`."""

import asyncio
import functools
import json
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from goodbot.cli.index_progress import CopyProgress
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder, open_search
from goodbot.index import TantivySearch, explanation_json, results_json
from goodbot.index.copies.published import load_manifest, load_pointer
from goodbot.index_copies import open_copies, open_source, origin_of, snapshot_index
from goodbot.places.folder_place import FolderPlace
from goodbot.store.control.control_files import ControlFolder
from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url
from goodbot.visitor_values import Removal
from journey.goodbot_process import ended, goodbot, start
from journey.reverse_proxy import NGINX, nginx
from journey.test_serve import ask, started
from webserver import Exchange, WebServer, answer

TEXT = "Old clocks are wound weekly, and each of them shows a time of its own to all who pass by. " * 3
SITE = {
    "/": f"<title>Clocks</title><p>{TEXT}<a href=/care>care</a> <a href=/de/uhr>Uhr</a> <a href=/copy>copy</a> "
    "<a href=/ended>ended</a> <a href=/gone>gone</a> <a href=/quiet>quiet</a> <a href=/more>more clocks</a>",
    "/care": "<title>Care of clocks</title><h2 id=oil>Oil for clocks</h2><p>Clocks need a drop of oil.",
    "/de/uhr": "<html lang=de><title>Uhren</title><link rel=alternate hreflang=en href=/care><p>Uhren und die Zeit, "
    "die nicht stehen bleibt, und das ist ein Satz auf Deutsch.",
    "/copy": f"<title>Clocks again</title><p>{TEXT}",
    "/ended": "<title>Clock fair</title><meta name=robots content='unavailable_after: 2020-01-01'><p>A fair of clocks.",
    "/gone": "<title>Removed clocks</title><p>The owner of these clocks had this page removed.",
    "/quiet": "<title>Quiet clocks</title><meta name=robots content=nosnippet><p>Clocks that do not tick.",
}
QUERIES = [
    "clocks",
    "oil",
    "clokcs",
    "Uhren",
    "care of clocks",
    "site:127.0.0.1",
    "fair",
    "removed",
    "tick",
    "k8s",
    "intitle:care",
]


async def _site(exchange: Exchange) -> None:
    page = SITE.get(exchange.target)
    number = exchange.target.removeprefix("/more")
    if page is None and exchange.target.startswith("/more"):
        page = f"<title>More clocks {number}</title><p>A clock, number {number}."
    await exchange.send(answer(page.encode()) if page is not None else answer(b"", 404))


@pytest.fixture
async def site() -> AsyncIterator[WebServer]:
    async with WebServer(fallback=_site) as server:
        yield server


@pytest.fixture
async def crawl(site: WebServer, tmp_path: Path) -> Path:
    folder = tmp_path / "crawl"
    done = await goodbot("crawl", site.url("/"), "--into", folder, "--allow-private", "--contact", "me@example.org")
    assert done.status == 0, done.err
    (folder / "synonyms.txt").write_text("k8s => clocks\n")
    RemovalFile(folder).add(Removal("1", 1.0, "page", "told so", Url(site.url("/gone"))))
    return folder


async def snapshot(crawl: Path, to: Path, *more: str) -> Any:
    done = await goodbot("index", "snapshot", "--in", crawl, "--to", to, "--json", *more)
    assert done.status == 0, done.err
    return done.json


@contextmanager
def web_server(folder: Path) -> Iterator[str]:
    """A static Web server, which answers no range requests."""
    folder.mkdir(exist_ok=True)

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
    thread = Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


async def health(url: str) -> Any:
    status, text = await ask(url, "/healthz")
    return json.loads(text) if status == 200 else None


async def until(url: str, condition: Callable[[Any], bool]) -> Any:
    """Returns the state of a copy once it is so; the time limit of the test ends this."""
    while True:
        found = await health(url)
        if found is not None and condition(found["copy"]):
            return found
        await asyncio.sleep(0.02)


# ---- equal answers --------------------------------------------------------------------------------------------------


def answers(search: TantivySearch, query: str) -> object:
    results = search.search(query)
    found = results_json(results) | {"took_ms": 0, "as_of": results.as_of}
    explained = [explanation_json(query, why) for hit in results.hits if (why := search.explain(query, hit.url))]
    return found, explained, search.suggest(query[:3]), search.choices(), search.count()


def copied(crawl: Path, place: Path, cache: Path) -> list[object]:
    """The answers of a copy."""
    source = open_source(str(place))
    manifest = snapshot_index(crawl, FolderPlace(place), 3, origin_of(crawl, Settings(), None)).manifest
    with open_copies(cache, source) as copies:
        copies.fetch(source, manifest, lambda copying: None)
        copy = copies.put_in_place(manifest).open()
        return [answers(copy, query) for query in QUERIES]


async def test_a_copy_of_a_crawl_answers_like_it(crawl: Path, site: WebServer, tmp_path: Path) -> None:
    """The site has translations, copies of pages, a page whose time has ended and one whose owner had it removed."""
    search = open_search(crawl)
    own = [answers(search, query) for query in QUERIES]
    assert copied(crawl, tmp_path / "place", tmp_path / "cache") == own
    totals = {query: search.search(query).total for query in QUERIES}
    assert (totals["fair"], totals["removed"]) == (0, 0)
    assert min(totals["clocks"], totals["k8s"], totals["tick"], totals["oil"], totals["Uhren"]) > 0


async def test_the_index_that_answers_is_copied_during_a_rebuild(crawl: Path, tmp_path: Path) -> None:
    own = [answers(open_search(crawl), query) for query in QUERIES]
    shutil.copytree(crawl / "index", crawl / "index.new")
    (crawl / "index.new" / "meta.json").write_text("{")
    assert copied(crawl, tmp_path / "place", tmp_path / "cache") == own


# ---- a whole way ----------------------------------------------------------------------------------------------------


async def test_a_web_server_between_a_crawl_and_its_follower(crawl: Path, site: WebServer, tmp_path: Path) -> None:
    """Requests keep coming while the crawl changes and new snapshots are swapped in; then the Web server goes away."""
    first = await snapshot(crawl, tmp_path / "place")
    assert first["copied_files"] == len(list((tmp_path / "place" / "files").iterdir()))
    statuses, is_over = list[int](), asyncio.Event()
    with web_server(tmp_path / "place") as source:
        process, urls = await started("--follow", source, "--into", tmp_path / "copy", "--follow-every", "1s")
        url = urls["url"]
        await until(url, lambda copy: bool(copy["version"] == first["version"]))

        async def keep_asking() -> None:
            while not is_over.is_set():
                statuses.append((await ask(url, "/api/search?q=clocks"))[0])

        asking = asyncio.create_task(keep_asking())
        done = await goodbot("crawl", site.url("/more2"), "--into", crawl, "--allow-private")
        assert done.status == 0, done.err
        second = await snapshot(crawl, tmp_path / "place", "--keep", "1")
        assert 0 < second["copied_files"] < second["files"]
        assert second["documents"] == first["documents"] + 1
        found = await until(url, lambda copy: bool(copy["version"] == second["version"]))
        is_over.set()
        await asking
        assert found["copy"]["followed"] is True
        assert json.loads((await ask(url, "/api/search?q=number+2"))[1])["total"] >= 1
    assert set(statuses) == {200}
    found = await until(url, lambda copy: not copy["followed"])
    assert found["copy"]["age_s"] > 0
    assert (await ask(url, "/api/search?q=clocks"))[0] == 200
    process.send_signal(signal.SIGTERM)
    end = await ended(process)
    assert end.status == 0
    assert "connection refused" in end.err
    assert "goes on answering" in end.err


async def test_the_pages_of_a_copy(crawl: Path, tmp_path: Path) -> None:
    """The robot is that of the crawl. There is nothing to submit, to remove or to control, and no link to it."""
    settings = (crawl / "goodbot.toml").read_text()
    (crawl / "goodbot.toml").write_text(f'{settings}\n[serve]\npublic_url = "https://search.example/"\n')
    await snapshot(crawl, tmp_path / "place")
    process, urls = await started("--follow", tmp_path / "place", "--into", tmp_path / "copy")
    url = urls["url"]
    assert not urls["crawl_url"]
    pages = {path: (await ask(url, path))[1] for path in ("/", "/about", "/search?q=clocks", "/help")}
    assert 'href="https://search.example/"' in pages["/"]
    assert 'href="https://search.example/"' in pages["/about"]
    assert "me@example.org" in pages["/about"]
    assert "has no cached copies" in pages["/about"]
    assert "A copy of the index" in pages["/about"]
    for page in pages.values():
        assert not [name for name in ("/submit", "/removal", "/why", "/cached", "/crawl") if f'"{name}' in page]
    for path in ("/submit", "/removal", "/why", "/cached?url=x", "/crawl"):
        status, text = await ask(url, path)
        assert status == 404
        assert "The crawl is on another machine" in text
        assert 'href="https://search.example/"' in text
    assert "Исходный поиск" in (await ask(url, "/removal?hl=ru"))[1]
    for path in ("/api/why?url=x", "/cached/document?url=x"):
        assert (await ask(url, path))[0] == 404
    assert any(hit.has_copy for hit in open_search(crawl).search("clocks").hits)
    hits = json.loads((await ask(url, "/api/search?q=clocks"))[1])["hits"]
    assert hits
    assert not [hit for hit in hits if hit.get("has_copy")]
    assert "/removal" not in (await ask(url, "/sitemap.xml"))[1]
    assert "копии индекса" in (await ask(url, "/about?hl=ru"))[1]
    process.terminate()
    end = await ended(process)
    assert end.status == 0
    assert "no contact is set" not in end.err
    assert "serving the snapshot of" in end.err


async def test_a_server_that_starts_again(folders: dict[str, Path], tmp_path: Path) -> None:
    """The source is an FTP server, which is away now. The synonyms were damaged meanwhile."""
    await snapshot(folders["crawl"], tmp_path / "place")
    source, away = str(tmp_path / "place"), "ftp://127.0.0.1:9/copies"
    with open_copies(tmp_path / "copy", open_source(source)) as copies:
        pointer = load_pointer(FolderPlace(tmp_path / "place"))
        assert pointer is not None
        manifest = load_manifest(FolderPlace(tmp_path / "place"), pointer)
        copies.fetch(FolderPlace(tmp_path / "place"), manifest, lambda copying: None)
        copies.put_in_place(manifest)
    (tmp_path / "copy" / "source").write_text(f"{away}\n")
    process, urls = await started("--follow", away, "--into", tmp_path / "copy")
    found = await until(urls["url"], lambda copy: bool(copy["version"]))
    assert (found["documents"], found["copy"]["followed"], found["copy"]["checked_at"]) == (1, False, None)
    process.terminate()
    end = await ended(process)
    assert end.status == 0
    assert "serving the snapshot of" in end.err
    assert "cannot reach ftp://127.0.0.1:9/copies" in end.err


async def test_a_server_that_waits_ends_as_its_help_says(tmp_path: Path) -> None:
    """The source never answers, so there is no first version. SIGTERM ends the wait."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        source = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        process = await start("serve", "--follow", source, "--into", tmp_path / "copy", "--port", "0")
        assert process.stderr is not None
        assert await process.stderr.readline() == f"waiting for {source}\n".encode()
        process.send_signal(signal.SIGTERM)
        end = await ended(process)
    assert (end.status, end.out, end.err) == (0, "", "")
    assert not (tmp_path / "copy" / "source").exists()


async def test_every(crawl: Path, tmp_path: Path) -> None:
    """A snapshot that fails is reported, also as JSON, and tried again. SIGTERM ends the command like Ctrl-C."""
    place = tmp_path / "place"
    process = await start("index", "snapshot", "--in", crawl, "--to", place, "--every", "1s", "--json")
    assert process.stdout is not None
    assert process.stderr is not None
    first = json.loads(await process.stdout.readline())
    shutil.rmtree(place)
    place.write_bytes(b"in the way")
    assert b"is a file, not a folder" in await process.stderr.readline()
    failed = json.loads(await process.stdout.readline())
    place.unlink()
    assert failed == {"done": False, "error": f"{place} is a file, not a folder"}
    while not (later := json.loads(await process.stdout.readline()))["done"]:
        pass
    assert later["version"] > first["version"]
    process.send_signal(signal.SIGTERM)
    end = await ended(process)
    assert (end.status, end.err.splitlines()[-1:]) == (130, ["goodbot: interrupted"])


async def test_every_goes_on_if_the_first_one_fails(folders: dict[str, Path], tmp_path: Path) -> None:
    place = FolderPlace(tmp_path / "place")
    with place.exclusive():
        process = await start("index", "snapshot", "--in", folders["crawl"], "--to", place.name, "--every", "1s")
        assert process.stderr is not None
        assert process.stdout is not None
        assert b"another snapshot is being written" in await process.stderr.readline()
    while b"wrote version" not in await process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).status == 130


async def test_verify(folders: dict[str, Path], tmp_path: Path) -> None:
    """A bit of a file was flipped: its size is as it was."""
    whole = await snapshot(folders["crawl"], tmp_path / "place")
    file = max((tmp_path / "place" / "files").iterdir(), key=lambda file: file.stat().st_size)
    content = file.read_bytes()
    file.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    plain = await snapshot(folders["crawl"], tmp_path / "place")
    assert (plain["copied_files"], "verified_files" in plain, file.read_bytes() == content) == (0, False, False)
    verifying = ("index", "snapshot", "--in", folders["crawl"], "--to", tmp_path / "place", "--verify")
    done = await goodbot(*verifying)
    assert (done.status, done.err) == (0, "")
    assert f"{whole['copied_files']} files" in done.out
    assert "1 damaged, written again\n" in done.out
    assert file.read_bytes() == content
    assert (await snapshot(folders["crawl"], tmp_path / "place", "--verify"))["damaged_files"] == 0
    assert "nothing is damaged\n" in (await goodbot(*verifying)).out


async def test_hidden_pages_are_not_counted(crawl: Path, tmp_path: Path) -> None:
    """One page is over, and the owner of another one had it removed."""
    assert (await snapshot(crawl, tmp_path / "place"))["documents"] == open_search(crawl).count()


def test_progress_has_a_rate_and_the_time_left() -> None:
    times, lines = iter([0.0, 1.0, 2.0, 5.0, 12.0, 20.0, 23.0, 30.0]), list[str]()
    progress = CopyProgress(lines.append, "copied", lambda: next(times))
    for done in (0, 500_000, 1_000_000, 2_000_000, 6_000_000):
        progress(done, 10_000_000)
    progress(100, 1_000, begins=True)  # of another copy
    progress(550, 1_000)
    progress(1_000, 1_000)
    assert lines == [
        "copied 1.0 MB of 10.0 MB, 500.0 kB/s, about 18 s left",
        "copied 6.0 MB of 10.0 MB, 500.0 kB/s, about 8 s left",
        "copied 550 bytes of 1.0 kB, 150 bytes/s, about 3 s left",
    ]


def test_progress_of_a_copy_that_continues_and_then_stands_still() -> None:
    times, lines = iter([0.0, 100.0, 103.0, 200.0, 300.0]), list[str]()
    progress = CopyProgress(lines.append, "fetched", lambda: next(times))
    progress(500, 1_000, begins=True)
    progress(500, 1_000, begins=True)  # the same one, after an interruption
    progress(800, 1_000)
    progress(800, 1_000, begins=True)
    progress(800, 1_000)
    assert lines == ["fetched 800 bytes of 1.0 kB, 100 bytes/s, about 2 s left", "fetched 800 bytes of 1.0 kB"]


# ---- bad input ------------------------------------------------------------------------------------------------------

# arguments ({crawl}, {empty}, {place}, {full} are folders) → status, what the line says
BAD = [
    ("serve --follow {place} --in {crawl}", 2, "--follow serves the copy of an index, and --in a crawl"),
    ("serve --into {empty}", 2, "--into needs --follow"),
    ("serve --follow-every 5s", 2, "--follow-every needs --follow"),
    ("serve --follow {empty} --into {empty}/copy", 3, "there is no snapshot of an index at"),
    ("serve --follow http://127.0.0.1:9/ --into {empty}/copy", 3, "connection refused"),
    ("serve --follow {place} --into {full}", 2, "has other files"),
    ("serve --follow ftp://127.0.0.1:9/ --into {empty}", 3, "cannot reach ftp://127.0.0.1:9/"),
    ("serve --follow {place} --into {crawl}", 2, "has an index of its own"),
    ("serve --follow {place} --into {empty} --follow-every 0s", 2, "--follow-every must be a time from 1s"),
    ("serve --follow {place} --into {empty} --watch access.log", 2, "--watch needs --in DIR"),
    ("serve --follow http://example.org/?a=b --into {empty}", 2, "not the URL of a folder of snapshots"),
    ("serve --follow https://me:secret@example.org/ --into {empty}", 2, "cannot have a name or password"),
    ("index snapshot --in {crawl} --to {full}", 2, "has other files, such as mine"),
    ("index snapshot --in {crawl} --to {crawl}", 2, "has other files"),
    ("index snapshot --in {crawl} --to {full}/mine", 2, "is a file, not a folder"),
    ("index snapshot --in {crawl} --to http://example.org/", 2, "a Web server cannot be written to"),
    ("index snapshot --in {full} --to {empty} --every 1s", 2, "no crawl in"),
    ("index snapshot --in {crawl} --to {empty} -o {crawl}/index/meta.json", 2, "--output would write into"),
    ("index snapshot --in {crawl} --to {place} -o {place}/latest.json", 2, "--output would write into"),
    ("index stats --in {crawl} --json -o {crawl}/index/meta.json", 2, "--output would write into"),
    ("index refresh --in {crawl} -o {crawl}/index/new.json", 2, "--output would write into"),
    ("index snapshot --in {empty} --to {empty}", 2, "no such folder"),
    ("index snapshot --in {crawl} --to {empty} --keep 0", 2, "--keep"),
    ("index snapshot --in {crawl} --to {empty} --every 0s", 2, "--every must be a time from 1s"),
    ("index snapshot --in {no-index} --to {empty}", 2, "has no index (it was crawled with --no-index)"),
    ("index snapshot --in {damaged} --to {empty}", 3, "is damaged"),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("folders")

    async def make() -> None:
        async with WebServer(fallback=_site) as site:
            await goodbot("crawl", site.url("/care"), "--into", base / "crawl", "--allow-private")
            await goodbot("crawl", site.url("/care"), "--into", base / "no-index", "--allow-private", "--no-index")
        await snapshot(base / "crawl", base / "place")

    asyncio.run(make())
    shutil.copytree(base / "crawl", base / "damaged")
    store = next((base / "damaged" / "index").glob("*.store"))
    store.write_bytes(b"\0" + store.read_bytes()[1:])
    (base / "full").mkdir()
    (base / "full" / "mine").write_bytes(b"")
    return {path.name: path for path in base.iterdir()}


@pytest.mark.parametrize(("arguments", "status", "says"), BAD, ids=[case[0] for case in BAD])
async def test_bad_input(arguments: str, status: int, says: str, folders: dict[str, Path], tmp_path: Path) -> None:
    places = {**folders, "empty": tmp_path / "empty"}
    end = await goodbot(*[word.format(**places) for word in arguments.split()])
    assert (end.status, end.out) == (status, "")
    assert says in end.complaint
    assert sorted(path.name for path in folders["full"].iterdir()) == ["mine"]


async def test_a_crawl_that_is_running_is_copied(folders: dict[str, Path], tmp_path: Path) -> None:
    running = ControlFolder(folders["crawl"])
    running.attend()
    try:
        assert (await snapshot(folders["crawl"], tmp_path / "place"))["documents"] == 1
    finally:
        running.close()
    assert not CrawlFolder(folders["crawl"]).index_draft.exists()


# ---- nginx ----------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(NGINX is None, reason="nginx is not installed")
@pytest.mark.long
async def test_nginx_serves_large_files_in_parts(tmp_path: Path) -> None:
    texts = (" ".join(os.urandom(40).hex() for _ in range(100)) for _ in range(2_000))
    lines = [json.dumps({"id": number, "text": text}) for number, text in enumerate(texts)]
    (tmp_path / "documents.jsonl").write_text("\n".join(lines))
    done = await goodbot("index", "import", tmp_path / "documents.jsonl", "--into", tmp_path / "library")
    assert done.status == 0, done.err
    made = await snapshot(tmp_path / "library", tmp_path / "place")
    assert max(file.stat().st_size for file in (tmp_path / "place" / "files").iterdir()) > 4 << 20
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        block = f"server {{ listen 127.0.0.1:{port}; root {tmp_path}/place; gzip on; gzip_types *; }}"
        with nginx(tmp_path / "nginx", listener, block):
            place = f"http://127.0.0.1:{port}"
            process, urls = await started("--follow", place, "--into", tmp_path / "copy")
            await until(urls["url"], lambda copy: bool(copy["version"] == made["version"]))
            assert (await health(urls["url"]))["documents"] == 2_000
            process.terminate()
            assert (await ended(process)).status == 0
