"""The ReadablePlace and Place ports: places where copies of an index are kept."""

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from goodbot.copy_over_http import HttpSource
from goodbot.errors import BusyError, InputError, RunError
from goodbot.index_copies import open_source, open_target
from goodbot.places.folder_place import FolderPlace
from goodbot.places.fsspec_place import FsspecPlace
from goodbot.places.opening import open_place
from goodbot.places.place import Place, TooSlowError
from goodbot.url import parse_url
from webserver import Exchange, Route, WebServer, answer


@pytest.fixture(params=["folder", "file URL", "fsspec memory", "fsspec local"])
def target(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    names = {
        "folder": str(tmp_path / "place"),
        "file URL": f"file://{tmp_path}/a%20place",
        "fsspec memory": f"memory://{uuid4().hex}/place",
        "fsspec local": f"local://{tmp_path}/place",
    }
    place = open_target(names[request.param])
    assert isinstance(place, FolderPlace if request.param in ("folder", "file URL") else FsspecPlace)
    return place


def test_what_is_written_is_read(target: Place) -> None:
    assert target.list("") == {}
    target.write("files/one", [b"0123", b"", b"456789"])
    target.write("latest.json", [b"{}"])
    assert (target.list(""), target.list("files")) == ({"files": 0, "latest.json": 2}, {"one": 10})
    reads = [target.read("files/one", at, length) for at, length in ((0, 100), (0, 4), (4, 3), (8, 100), (10, 5))]
    assert reads == [b"0123456789", b"0123", b"456", b"89", b""]


def test_a_file_is_replaced(target: Place) -> None:
    target.write("latest.json", [b"the first, which is longer"])
    target.write("latest.json", [b"the second"])
    assert target.read("latest.json", 0, 100) == b"the second"


def test_a_link_is_replaced_and_what_is_no_file_refused(tmp_path: Path) -> None:
    place, precious = FolderPlace(tmp_path / "place"), tmp_path / "precious"
    precious.write_bytes(b"mine")
    place.write("files/one", [b"1"])
    for name, target in (("link", precious), ("broken", tmp_path / "none")):
        (tmp_path / "place" / "files" / name).symlink_to(target)
        assert place.list("files")[name] == 0
        place.write(f"files/{name}", [b"new"])
        assert place.read(f"files/{name}", 0, 9) == b"new"
    assert (precious.read_bytes(), (tmp_path / "none").exists()) == (b"mine", False)
    os.mkfifo(tmp_path / "place" / "files" / "pipe")
    (tmp_path / "place" / "files" / "folder").mkdir()
    for name in ("pipe", "folder"):
        assert place.list("files")[name] == 0
        with pytest.raises(InputError, match=rf"{name} is not a file: remove it"):
            place.write(f"files/{name}", [b"new"])
        with pytest.raises(RunError, match=rf"{name} is not a file"):
            place.read(f"files/{name}", 0, 9)


def test_an_empty_file(target: Place) -> None:
    target.write("files/none", [])
    assert (target.list("files"), target.read("files/none", 0, 10)) == ({"none": 0}, b"")


def test_what_is_missing(target: Place) -> None:
    assert (target.read("latest.json", 0, 10), target.read("files/none", 5, 10), target.list("files")) == (
        None,
        None,
        {},
    )
    target.remove("files/none")
    target.write("files/one", [b"1"])
    target.remove("files/one")
    target.remove("files/one")
    assert (target.read("files/one", 0, 10), target.list("files")) == (None, {})


def test_the_block_of_a_snapshot(target: Place) -> None:
    with target.exclusive():
        target.write("files/one", [b"1"])
    with target.exclusive():
        assert target.read("files/one", 0, 10) == b"1"
    target.close()


def test_a_folder_has_a_lock(tmp_path: Path) -> None:
    first, second = FolderPlace(tmp_path), FolderPlace(tmp_path)
    with first.exclusive(), pytest.raises(BusyError, match="another snapshot"), second.exclusive():
        pass
    with second.exclusive():
        pass


def test_a_place_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for name in (str(tmp_path / "file"), f"local://{tmp_path}/file"):
        place = open_target(name)
        assert place.read("latest.json", 0, 10) is None
        with pytest.raises((RunError, InputError)):
            place.write("files/one", [b"1"])


BAD = {
    "": "the name of a folder is empty",
    "http://example.org/copies": "a Web server cannot be written to",
    "nonsense://bucket/copies": "Protocol not known",
    "hdfs:///copies": "cannot use hdfs:///copies",
}


@pytest.mark.parametrize(("name", "reason"), BAD.items(), ids=range(len(BAD)))
def test_a_name_that_cannot_be_used(name: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        open_target(name)


# ---- a Web server, which is only read --------------------------------------------------------------------------------

BODY = bytes(range(256)) * 4


async def ranged(exchange: Exchange) -> None:
    """Answers range requests as static servers do."""
    first, _, last = (exchange.header("range") or "").removeprefix("bytes=").partition("-")
    part = BODY[int(first) : int(last) + 1]
    where = ("Content-Range", f"bytes {first}-{int(first) + len(part) - 1}/{len(BODY)}")
    await exchange.send(answer(part, 206 if part else 416, [where]))


ROUTES: dict[str, Route] = {
    "/copies/files/ranged": ranged,
    "/copies/files/whole": answer(BODY),
    "/copies/files/empty": answer(b""),
    "/copies/files/another": answer(BODY[:10], 206, [("Content-Range", "bytes 7-16/1024")]),
    "/copies/files/coded": answer(BODY[:10], 206, [("Content-Range", "bytes 0-9/9"), ("Content-Encoding", "gzip")]),
    "/copies/files/unnamed": answer(BODY[:10], 206),
    "/copies/files/misnamed": answer(BODY[:10], 206, [("Content-Range", "0-9")]),
    "/copies/files/more": answer(BODY[:15], 206, [("Content-Range", "bytes 0-9/1024")]),
    "/copies/files/less": answer(BODY[:5], 206, [("Content-Range", "bytes 0-9/1024")]),
    "/copies/files/beyond": answer(b"", 416, [("Content-Range", "bytes */1024")]),
    "/copies/files/before": answer(b"", 416, [("Content-Range", "bytes */0")]),
    "/copies/files/moved": answer(b"", 301, [("Location", "/elsewhere")]),
    "/copies/files/folder": answer(b"", 301, [("Location", "https://new.example/copies/files/folder")]),
    "/copies/files/asked": answer(b"", 301, [("Location", "https://new.example/?to=/files/asked")]),
    "/copies/files/itself": answer(b"", 302, [("Location", "/copies/files/itself")]),
    "/copies/files/cookie": answer(b"", 302, [("Location", "/copies/files/cookie?seen=1")]),
    "/copies/files/closed": answer(b"", 403),
    "/copies/files/gone": answer(b"", 410),
}


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(ROUTES) as server:
        yield server


async def read(server: WebServer, name: str, start: int, length: int) -> bytes | None:
    source = open_source(server.url("/copies"))
    try:
        return await asyncio.to_thread(source.read, f"files/{name}", start, length)
    finally:
        await asyncio.to_thread(source.close)


SERVED: list[tuple[str, int, int, bytes | None]] = [
    ("ranged", 0, 100, BODY[:100]),
    ("ranged", 1000, 100, BODY[1000:]),
    ("whole", 0, 100, BODY[:100]),
    ("whole", 1000, 100, BODY[1000:]),
    ("empty", 0, 100, b""),
    ("missing", 0, 100, None),
    ("gone", 0, 100, None),
    ("before", 0, 100, b""),
]


@pytest.mark.parametrize(("name", "start", "length", "expected"), SERVED)
async def test_a_web_server(name: str, start: int, length: int, expected: bytes | None, server: WebServer) -> None:
    assert await read(server, name, start, length) == expected


UNUSABLE = {
    "another": "another part than the one requested, bytes 0-9: it has bytes 7-16$",
    "coded": "another part than the one requested, bytes 0-9: it is compressed .gzip.$",
    "unnamed": "another part than the one requested, bytes 0-9: it has no Content-Range$",
    "misnamed": "another part than the one requested, bytes 0-9: its Content-Range is '0-9'$",
    "more": "another part than the one requested, .* it has 15 bytes, and says that they are bytes 0-9$",
    "less": "another part than the one requested, .* it has 5 bytes, and says that they are bytes 0-9$",
    "beyond": "status 416$",
    "moved": "status 301 and leads to /elsewhere: give the URL of the folder itself",
    "folder": r"leads to another place: give https://new\.example/copies/$",
    "asked": "give the URL of the folder itself",
    "itself": "status 302 and leads to itself: redirects are not followed",
    "cookie": "status 302 and leads to itself: redirects are not followed",
    "closed": "status 403",
}


@pytest.mark.parametrize(("name", "reason"), UNUSABLE.items(), ids=UNUSABLE)
async def test_an_answer_that_cannot_be_used(name: str, reason: str, server: WebServer) -> None:
    with pytest.raises(RunError, match=reason):
        await read(server, name, 0, 10)


async def test_a_server_without_ranges_has_a_limit(server: WebServer) -> None:
    server.routes["/copies/files/large"] = answer(bytes(11 << 20))
    assert await read(server, "large", 0, 4 << 20) == bytes(4 << 20)
    with pytest.raises(RunError, match="does not answer range requests"):
        await read(server, "large", 8 << 20, 3 << 20)


@pytest.mark.parametrize("status", [200, 206])
async def test_an_endless_file_is_read_no_further_than_its_part_needs(status: int, server: WebServer) -> None:
    """What the server can send beyond the limit are the buffers of both sockets, which it keeps small here."""
    sent = 0

    async def endless(exchange: Exchange) -> None:
        nonlocal sent
        exchange.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65_536)
        where = "Content-Range: bytes 0-65536/70000\r\n" if status == 206 else ""
        await exchange.send(f"HTTP/1.1 {status} OK\r\n{where}\r\n".encode())
        while True:
            await exchange.send(bytes(65_536))
            sent += 65_536

    server.routes["/copies/files/endless"] = endless
    if status == 200:
        assert await read(server, "endless", 0, 65_537) == bytes(65_537)
    else:
        with pytest.raises(RunError, match=r"bytes 0-65536: it has more than 524,288 bytes"):
            await read(server, "endless", 0, 65_537)
    await server.deserted()
    assert sent < 8 << 20


async def test_a_server_without_ranges_sends_a_file_once(server: WebServer) -> None:
    source = open_source(server.url("/copies"))
    parts = [await asyncio.to_thread(source.read, "files/whole", at, 100) for at in range(0, len(BODY), 100)]
    assert b"".join(filter(None, parts)) == BODY
    assert [exchange.target for exchange in server.exchanges] == ["/copies/files/whole"]
    assert await asyncio.to_thread(source.read, "files/empty", 0, 100) == b""
    assert await asyncio.to_thread(source.read, "files/whole", 0, 4) == BODY[:4]
    await asyncio.to_thread(source.close)


def test_an_fsspec_place_that_is_away() -> None:
    for place in (open_target("ftp://127.0.0.1:9/copies"), open_source("ftp://127.0.0.1:9/copies")):
        with pytest.raises(RunError, match=r"cannot reach ftp://127\.0\.0\.1:9/copies"):
            place.read("latest.json", 0, 10)
        place.close()


async def test_a_part_that_does_not_arrive_in_time(server: WebServer) -> None:
    async def stall(exchange: Exchange) -> None:
        await asyncio.sleep(60)

    server.routes["/copies/files/slow"] = stall
    url = parse_url(server.url("/copies"))
    assert url is not None
    source = HttpSource(url, 0.1)
    with pytest.raises(TooSlowError, match="cannot fetch"):
        await asyncio.to_thread(source.read, "files/slow", 0, 10)
    await asyncio.to_thread(source.close)


async def test_a_server_that_is_away(server: WebServer) -> None:
    url = server.url("/copies")
    await server.__aexit__(None, None, None)
    source = open_source(url)
    with pytest.raises(RunError, match="connection refused"):
        await asyncio.to_thread(source.read, "latest.json", 0, 10)
    await asyncio.to_thread(source.close)


# ---- connections that break ------------------------------------------------------------------------------------------


class BreakingFileSystem(MemoryFileSystem):  # type: ignore[misc]  # fsspec ships no types
    """Files in memory behind connections that a server closes: `close_all` breaks those that are open now."""

    protocol = "breaking"
    opened = 0
    closed = 0

    def __init__(self) -> None:
        super().__init__()
        BreakingFileSystem.opened += 1
        self._number = BreakingFileSystem.opened

    @classmethod
    def close_all(cls) -> None:
        cls.closed = cls.opened

    def check(self) -> None:
        if self._number <= BreakingFileSystem.closed:
            raise EOFError

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: object) -> bytes:
        self.check()
        return bytes(super().cat_file(path, start, end, **options))

    def ls(self, path: str, detail: bool = True, **options: object) -> list[dict[str, object]]:
        self.check()
        return list(super().ls(path, detail, **options))


def test_a_connection_that_broke_is_opened_anew() -> None:
    fsspec.register_implementation("breaking", BreakingFileSystem, clobber=True)
    place = open_target(f"breaking://{uuid4().hex}/place")
    place.write("one", [b"1234"])
    BreakingFileSystem.close_all()
    assert place.read("one", 1, 2) == b"23"
    BreakingFileSystem.close_all()
    assert place.list("") == {"one": 4}
    fresh = open_target(place.name)
    BreakingFileSystem.close_all()
    with pytest.raises(RunError, match=r"cannot read one at breaking://.*: EOFError"):
        fresh.read("one", 0, 9)
    assert fresh.read("one", 0, 9) == b"1234"


# ---- folders on this computer ----------------------------------------------------------------------------------------


def test_a_place_knows_its_folder(tmp_path: Path) -> None:
    urls = f"file://{tmp_path}", f"FILE://{tmp_path}/", f"local://{tmp_path}", f"simplecache::file://{tmp_path}/"
    assert [open_place(url).folder for url in urls] == [tmp_path] * 4
    assert FolderPlace(Path("relative")).folder == Path("relative").absolute()
    assert open_place("file:///").folder == open_place("local:///").folder == Path("/")
    assert open_place("memory://bucket/folder").folder is None


@pytest.mark.parametrize("rest", ["", "relative/folder", "localhost/folder", "/folder#1", "/folder?", "/folder%00"])
def test_a_folder_whose_path_is_not_clear(rest: str) -> None:
    with pytest.raises(InputError):
        open_place(f"file://{rest}")


@pytest.mark.parametrize("url", ["file:/folder", "file:folder", "local://folder", "simplecache::file://folder"])
def test_a_path_that_is_not_absolute(url: str) -> None:
    with pytest.raises(InputError, match=r"must be (file|local):///ABSOLUTE/PATH"):
        open_place(url)
