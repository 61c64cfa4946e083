"""A robot that signs, from its key to the site that verifies: by the command line, over real HTTP."""

import asyncio
import gzip
import json
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from journey.goodbot_process import ended, goodbot, start
from signatures import WELL_KNOWN, Asked, asked, fetched, keys_at, verified, verified_directory
from webserver import Route, WebServer, answer, kept_port

SITE: dict[str, Route] = {
    "/robots.txt": answer(b"User-agent: *\n", headers=[("Content-Type", "text/plain")]),
    "/": answer(b'<title>Home</title><a href="/a">A</a> <a href="/moved?x=1">M</a>'),
    "/a": answer(b"<title>A</title>"),
    "/b": answer(b"<title>B</title>"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "crawl"


@pytest.fixture
def port() -> Iterator[int]:
    """One on which nobody listens yet."""
    with kept_port() as port:
        yield port


async def made(folder: Path) -> tuple[Path, str]:
    """A new key and its id, as `goodbot key new` tells it."""
    file = folder / "bot.jwk"
    new = await goodbot("key", "new", "--out", file)
    assert new.status == 0, new.err
    (line,) = [line for line in new.out.splitlines() if line.startswith("key id: ")]
    return file, line.removeprefix("key id: ")


@asynccontextmanager
async def serving(folder: Path, port: int) -> AsyncIterator[str]:
    """`goodbot serve`; gives what it said."""
    process = await start("serve", "--in", folder, "--port", str(port))
    assert process.stderr is not None
    said = [(await process.stderr.readline()).decode() for _ in range(3)]
    try:
        yield "".join(said)
    finally:
        process.send_signal(signal.SIGINT)
        assert (await ended(process)).status == 0


def secret(file: Path) -> bytes:
    """The private half as it stands in its file."""
    value = json.loads(file.read_text())["d"]
    assert len(value) == 43
    return value.encode()  # type: ignore[no-any-return]


@pytest.mark.parametrize("form", ["october", "august", "string"])
async def test_from_the_key_to_the_site_that_verifies(tmp_path: Path, folder: Path, port: int, form: str) -> None:
    file, key_id = await made(tmp_path)
    async with WebServer(SITE, host="127.0.0.2") as other, WebServer(SITE) as server:
        server.routes["/moved?x=1"] = answer(b"", 302, [("Location", other.url("/b"))])
        crawl = await goodbot(
            *("crawl", server.url("/"), "--into", folder, "--allow-private", "--scope", "all", "--json"),
            *("--sign", file.name, "--signature-agent", f"http://127.0.0.1:{port}", "--signature-agent-form", form),
            folder=tmp_path,
        )
        assert crawl.status == 0, crawl.err
        assert server.targets[0] == "/robots.txt"
        assert {"/", "/a", "/moved?x=1"} <= set(server.targets)
        assert other.targets == ["/robots.txt", "/b"]
        requests = [asked(exchange.head) for exchange in (*server.exchanges, *other.exchanges)]

    async with serving(folder, port) as said:
        assert f"key directory on http://127.0.0.1:{port}{WELL_KNOWN}" in said
        results = await asyncio.to_thread(lambda: [verified(request) for request in requests])
        proof = await asyncio.to_thread(lambda: verified_directory(fetched(f"http://127.0.0.1:{port}{WELL_KNOWN}")))
    assert {result.parameters["keyid"] for result in (*results, proof)} == {key_id}
    assert len({result.nonce for result in results}) == len(requests)

    private = secret(file)
    assert private not in (crawl.out + crawl.err + said).encode()
    kept = [path for path in folder.rglob("*") if path.is_file()]
    assert f'sign = "{file}"'.encode() in (folder / "goodbot.toml").read_bytes()
    assert [path for path in kept if private in path.read_bytes()] == []
    archive = await goodbot("export", "--in", folder, "--what", "pages")
    assert archive.status == 0
    assert private not in b"".join(await asyncio.to_thread(unpacked, folder))


def unpacked(folder: Path) -> Iterator[bytes]:
    """What the archive holds, which must be the requests with their signatures."""
    for path in sorted((folder / "warc").glob("*.warc.gz")):
        data = gzip.decompress(path.read_bytes())
        assert b"Signature-Input: sig1=" in data
        yield data


async def test_robot_processes_sign_too(tmp_path: Path, folder: Path, port: int) -> None:
    file, key_id = await made(tmp_path)
    async with WebServer(SITE) as one, WebServer(SITE) as two:
        crawl = await goodbot(
            *("crawl", one.url("/"), two.url("/"), "--into", folder, "--allow-private", "--workers", "2"),
            *("--sign", file, "--signature-agent", f"http://127.0.0.1:{port}"),
        )
        assert crawl.status == 0, crawl.err
        requests = [asked(exchange.head) for exchange in (*one.exchanges, *two.exchanges)]
    async with serving(folder, port):
        keys = await asyncio.to_thread(keys_at, f"http://127.0.0.1:{port}{WELL_KNOWN}")
    assert len(requests) >= 6
    assert {verified(request, keys=keys).parameters["keyid"] for request in requests} == {key_id}


async def test_an_unsigned_crawl_sends_and_serves_nothing_of_it(folder: Path, port: int) -> None:
    async with WebServer(SITE) as server:
        crawl = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
        assert crawl.status == 0, crawl.err
        requests: list[Asked] = [asked(exchange.head) for exchange in server.exchanges]
    assert [name for request in requests for name in request.headers if name.startswith("signature")] == []


async def test_new_and_show(tmp_path: Path) -> None:
    file, key_id = await made(tmp_path)
    again = await goodbot("key", "new", "--out", file)
    assert again.status == 2
    assert "exists already" in again.complaint
    shown = await goodbot("key", "show", file)
    assert shown.status == 0
    assert f"key id: {key_id}\n" in shown.out
    as_json = await goodbot("key", "show", file, "--json")
    (key,) = as_json.json["keys"]
    assert set(key) == {"kty", "crv", "kid", "x", "use"}
    assert key["kid"] == key_id
    assert secret(file).decode() not in shown.out + as_json.out


async def test_where_a_key_is_if_nothing_is_said(tmp_path: Path) -> None:
    assert (await goodbot("key", "new", folder=tmp_path)).status == 0
    assert (tmp_path / "goodbot-key.jwk").stat().st_mode & 0o777 == 0o600
    assert (await goodbot("key", "show", folder=tmp_path)).status == 0


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--sign", "bot.jwk"], "--sign needs --signature-agent"),
        (["--signature-agent", "https://bot.example"], "give --sign FILE too"),
        (["--sign", "missing.jwk", "--signature-agent", "https://bot.example"], "cannot read the key"),
        (["--sign", "open.jwk", "--signature-agent", "https://bot.example"], "others can read or write"),
        (["--sign", "text.jwk", "--signature-agent", "https://bot.example"], "holds no Ed25519 private key"),
        (["--sign", "bot.jwk", "--signature-agent", "http://bot.example"], "must be https"),
        (
            ["--sign", "bot.jwk", "--signature-agent", "https://b.example", "--signature-agent-form", "x"],
            "is not one of",
        ),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["crawl", "dry run"])
async def test_what_cannot_be_used_is_one_line_and_leaves_nothing(
    tmp_path: Path, folder: Path, options: list[str], line: str, dry: list[str]
) -> None:
    file, _ = await made(tmp_path)
    for name, mode, text in (("open.jwk", 0o644, file.read_text()), ("text.jwk", 0o600, "none")):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(mode)
    crawl = await goodbot(
        "crawl", "http://127.0.0.1:9/", "--into", folder, "--allow-private", *options, *dry, folder=tmp_path
    )
    assert crawl.status == 2
    assert line in crawl.complaint
    assert not folder.exists()


async def test_serving_a_crawl_whose_key_is_gone(tmp_path: Path, folder: Path) -> None:
    file, _ = await made(tmp_path)
    async with WebServer(SITE) as server:
        await goodbot(
            *("crawl", server.url("/"), "--into", folder, "--allow-private"),
            *("--sign", file, "--signature-agent", "https://bot.example"),
        )
    file.unlink()
    served = await goodbot("serve", "--in", folder, "--port", "0")
    assert served.status == 2
    assert "cannot read the key" in served.complaint
