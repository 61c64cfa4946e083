"""Other programs take our WACZ files: pywb replays them, also in a browser, and py-wacz finds nothing wrong."""

import asyncio
import json
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest
from playwright.sync_api import expect

from journey.goodbot_process import goodbot
from programs import ROOT
from web.browser import chromium
from webserver import Exchange, WebServer, answer, kept_port

PROGRAMS = ROOT / ".peers" / "replay" / "bin"
needs_programs = pytest.mark.skipif(
    not (PROGRAMS / "wayback").exists(), reason="pywb is not installed: make .peers/replay/installed"
)


async def site(exchange: Exchange) -> None:
    """A page with a script and a link, and a page of text in another encoding."""
    match exchange.target:
        case "/":
            script = "<h2></h2><script>document.querySelector('h2').textContent = 'Set by a script'</script>"
            body = f"<title>First</title><h1>Zebras live here</h1>{script}<a href='/second'>second</a>".encode()
            await exchange.send(answer(body))
        case "/second":
            body = "<title>Second</title><h1>Zebras have gone \u2013 na\u00efvely</h1>".encode("cp1252")
            await exchange.send(answer(body, headers=[("Content-Type", "text/html; charset=windows-1252")]))
        case _:
            await exchange.send(answer(b"", headers=[("Content-Type", "text/plain")]))


async def run(*command: str | Path, folder: Path) -> str:
    process = await asyncio.create_subprocess_exec(
        *map(str, command), cwd=folder, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode()


@asynccontextmanager
async def replaying(folder: Path) -> AsyncIterator[str]:
    """Runs pywb with the collections in `folder`; gives its URL."""
    with kept_port() as port:
        process = await asyncio.create_subprocess_exec(
            *(str(PROGRAMS / "wayback"), "-p", str(port), "-b", "127.0.0.1"),
            cwd=folder,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
    try:
        for _ in range(600):
            try:
                await asyncio.to_thread(fetched, f"http://127.0.0.1:{port}/")
                break
            except URLError:
                assert process.returncode is None
                await asyncio.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


def fetched(url: str) -> str:
    with urlopen(url, timeout=30) as response:
        return str(response.read().decode("utf-8", "replace"))


async def exported(tmp_path: Path) -> tuple[Path, str]:
    """A WACZ file of a crawl, and the URL of its site."""
    async with WebServer(fallback=site) as server:
        crawled = await goodbot("crawl", server.url("/"), "--into", tmp_path / "crawl", "--allow-private")
        assert crawled.status == 0, crawled.err
        wacz = tmp_path / "crawl.wacz"
        result = await goodbot("archive", "export", "--wacz", "-o", wacz, "--in", tmp_path / "crawl", "--json")
        assert result.status == 0, result.err
        assert (result.json["pages"], result.json["damaged"]) == (2, [])
        return wacz, server.url("/")


@needs_programs
@pytest.mark.long
async def test_pywb_replays_an_export(tmp_path: Path) -> None:
    wacz, url = await exported(tmp_path)
    await run(PROGRAMS / "wb-manager", "init", "ours", folder=tmp_path)
    await run(PROGRAMS / "wb-manager", "add", "--unpack-wacz", "ours", wacz, folder=tmp_path)
    async with replaying(tmp_path) as replay:
        assert "Zebras live here" in await asyncio.to_thread(fetched, f"{replay}/ours/mp_/{url}")
        assert "Zebras have gone" in await asyncio.to_thread(fetched, f"{replay}/ours/mp_/{url}second")
        await asyncio.to_thread(see_in_browser, f"{replay}/ours/{url}")


def see_in_browser(url: str) -> None:
    """Opens a replayed page, whose script must run, and follows its link."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(url)
        replayed = page.frame_locator("iframe")
        expect(replayed.locator("h1")).to_have_text("Zebras live here")
        expect(replayed.locator("h2")).to_have_text("Set by a script")
        replayed.locator("a").click()
        expect(replayed.locator("h1")).to_have_text("Zebras have gone \u2013 na\u00efvely")


@needs_programs
@pytest.mark.long
async def test_py_wacz_validates_an_export(tmp_path: Path) -> None:
    wacz, _ = await exported(tmp_path)
    out = await run(PROGRAMS / "wacz", "validate", "-f", wacz, folder=tmp_path)
    assert "the passed WACZ is valid" in out


@needs_programs
@pytest.mark.long
async def test_a_file_of_py_wacz_is_imported(tmp_path: Path) -> None:
    await exported(tmp_path)
    (warc,) = (tmp_path / "crawl" / "warc").glob("*.warc.gz")
    theirs = tmp_path / "theirs.wacz"
    await run(PROGRAMS / "wacz", "create", "-o", theirs, "--detect-pages", warc, folder=tmp_path)
    result = await goodbot("archive", "import", theirs, "--into", tmp_path / "library", "--json")
    assert result.status == 0, result.err
    assert (result.json["pages"], result.json["robots_txt"], result.json["damage_count"]) == (2, 1, 0)


async def test_an_export_is_a_wacz_file_with_the_pages_of_the_crawl(tmp_path: Path) -> None:
    wacz, url = await exported(tmp_path)
    with zipfile.ZipFile(wacz) as archive:
        head, *lines = archive.read("pages/pages.jsonl").decode().splitlines()
        (warc,) = [name for name in archive.namelist() if name.startswith("archive/")]
    assert json.loads(head)["format"] == "json-pages-1.0"
    listed = {(page["url"], page["title"]) for page in map(json.loads, lines)}
    assert listed == {(url, "First"), (f"{url}second", "Second")}
    assert warc.endswith(".warc.gz")
    again = await goodbot("archive", "import", wacz, "--into", tmp_path / "copy", "--json")
    assert (again.status, again.json["pages"], again.json["robots_txt"]) == (0, 2, 1)


async def test_a_damaged_archive_is_exported_as_far_as_it_can_be_read(tmp_path: Path) -> None:
    await exported(tmp_path)
    (warc,) = (tmp_path / "crawl" / "warc").glob("*.warc.gz")
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 0x55
    warc.write_bytes(data)
    wacz = tmp_path / "damaged.wacz"
    result = await goodbot("archive", "export", "--wacz", "-o", wacz, "--in", tmp_path / "crawl", "--json")
    assert result.status == 3
    assert len(result.json["damaged"]) == 1
    assert "damaged" in result.complaint
    again = await goodbot("archive", "import", wacz, "--into", tmp_path / "copy", "--json")
    assert (again.status, again.json["damage_count"]) == (0, 0)
    assert again.json["captures"] == result.json["captures"]


async def test_an_export_goes_nowhere_else(tmp_path: Path) -> None:
    await exported(tmp_path)
    crawl = tmp_path / "crawl"
    inside = await goodbot("archive", "export", "--wacz", "-o", crawl / "x.wacz", "--in", crawl)
    nowhere = await goodbot("archive", "export", "--wacz", "-o", tmp_path / "none" / "x.wacz", "--in", crawl)
    for result, what in [(inside, "only goodbot may write"), (nowhere, "cannot write")]:
        assert (result.status, result.out) == (2, "")
        assert what in result.complaint
