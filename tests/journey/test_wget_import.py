"""A WARC file of wget is imported: a real program that stores answers as they came, chunks included."""

import asyncio
import shutil
from pathlib import Path

import pytest

from journey.goodbot_process import goodbot
from webserver import Exchange, WebServer, answer

CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1b\r\n<title>Chunked</title>zebra\r\n9\r\n in parts\r\n0\r\n\r\n"
)


async def site(exchange: Exchange) -> None:
    match exchange.target:
        case "/":
            links = b"<a href=/chunked>c</a> <a href=/moved>m</a> <a href=/none>n</a>"
            await exchange.send(answer(b"<title>Front</title><p>zebra " + links))
        case "/chunked":
            await exchange.send(CHUNKED)
        case "/moved":
            await exchange.send(answer(b"", status=301, headers=[("Location", "/end")]))
        case "/end":
            await exchange.send(answer(b"<title>End</title><p>zebra at the end"))
        case "/robots.txt":
            await exchange.send(answer(b"", headers=[("Content-Type", "text/plain")]))
        case _:
            await exchange.send(answer(b"nothing here", status=404))


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
@pytest.mark.parametrize("compressed", [True, False], ids=["gzip", "plain"])
async def test_a_crawl_of_wget_is_imported(tmp_path: Path, *, compressed: bool) -> None:
    async with WebServer(fallback=site) as server:
        form = [] if compressed else ["--no-warc-compression"]
        process = await asyncio.create_subprocess_exec(
            *("wget", "-q", "-r", "-l2", "--delete-after", "--warc-file=theirs", *form, server.url("/")),
            cwd=tmp_path,
        )
        await process.wait()
        front = server.url("/")
    warc = tmp_path / ("theirs.warc.gz" if compressed else "theirs.warc")
    result = await goodbot("archive", "import", warc, "--into", tmp_path / "crawl", "--json")
    assert (result.status, result.json["damage_count"]) == (0, 0), result.err + result.out
    lines = (await goodbot("export", "--in", tmp_path / "crawl", "--what", "urls")).lines
    states = {line["url"].removeprefix(front): (line["state"], line["status"], line["title"]) for line in lines}
    assert states == {
        "": ("visited", 200, "Front"),
        "chunked": ("visited", 200, "Chunked"),
        "moved": ("visited", 301, None),
        "end": ("visited", 200, "End"),
        "none": ("gone", 404, None),
    }
    pages = (await goodbot("export", "--in", tmp_path / "crawl", "--what", "pages")).lines
    assert {page["title"]: page["text"] for page in pages}["Chunked"] == "zebra in parts"
    checked = await goodbot("archive", "check", "--in", tmp_path / "crawl", "--json")
    assert checked.json["sound"]
