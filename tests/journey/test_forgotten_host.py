"""A host that `goodbot forget` bars is asked nothing, by whatever way a crawl comes to it."""

from pathlib import Path

import pytest

from journey.goodbot_process import HASTY, goodbot
from webserver import Route, WebServer, answer

PLAIN = [("Content-Type", "text/plain")]
CHROMIUM = Path("/usr/bin/chromium")


def moved(url: str) -> bytes:
    return answer(b"", 302, [("Location", url)])


def ways(barred: str) -> dict[str, dict[str, Route]]:
    """Sites that lead to the barred host, by the way they do."""
    return {
        "robots.txt redirects": {"/robots.txt": moved(f"{barred}/robots.txt"), "/": answer(b"<p>x")},
        "robots.txt redirects to a page": {"/robots.txt": moved(f"{barred}/rules"), "/": answer(b"<p>x")},
        "a page redirects": {"/": moved(f"{barred}/a")},
        "a link": {"/": answer(f'<a href="{barred}/a">a</a>'.encode())},
        "a sitemap": {"/robots.txt": answer(f"Sitemap: {barred}/s.xml\n".encode(), headers=PLAIN), "/": answer(b"x")},
    }


@pytest.mark.parametrize(
    ("way", "workers"),
    [
        pytest.param(way, workers, marks=[pytest.mark.long] * (workers == "2" and way != "a link"))
        for way in ways("")
        for workers in ("1", "2")
    ],
)
async def test_nothing_is_asked(tmp_path: Path, way: str, workers: str) -> None:
    async with WebServer() as barred, WebServer() as site, WebServer({"/": answer(b"<p>here")}) as first:
        site.routes.update(ways(barred.origin)[way])
        (tmp_path / "goodbot.toml").write_text(HASTY)
        options = ("--into", tmp_path, "--allow-private", "--scope", "all", "--workers", workers)
        assert (await goodbot("crawl", first.url("/"), *options)).status == 0
        forgotten = await goodbot("forget", barred.origin, "--in", tmp_path)
        assert forgotten.status == 0, forgotten.err
        await goodbot("crawl", site.url("/"), *options)
        assert site.targets[0] == "/robots.txt"
        assert barred.targets == []


async def test_a_crawl_of_nothing_else_says_how_to_allow_it_again(tmp_path: Path) -> None:
    async with WebServer({"/": answer(b"<p>here")}) as barred:
        host, seed = f"127.0.0.1:{barred.port}", barred.url("/")
        options = ("--into", tmp_path, "--allow-private")
        assert (await goodbot("crawl", seed, *options)).status == 0
        assert (await goodbot("forget", host, "--in", tmp_path)).status == 0
        asked = len(barred.targets)
        result = await goodbot("crawl", seed, *options)
        assert (result.status, len(barred.targets)) == (3, asked)
        assert result.err.splitlines() == [
            f"{host} is forgotten and gets no request; to allow it again: goodbot forget {host} --undo --in {tmp_path}",
            f"goodbot: no seed could be fetched: {seed}: {host} is forgotten",
        ]
        assert (await goodbot("forget", host, "--undo", "--in", tmp_path)).status == 0
        assert (await goodbot("crawl", seed, *options)).status == 0
        assert len(barred.targets) > asked


@pytest.mark.long
@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}: apt install chromium")
async def test_nothing_is_asked_for_a_page_that_is_rendered(tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text("render_time = 120\n")
    async with WebServer() as barred, WebServer() as site, WebServer({"/": answer(b"<p>here")}) as first:
        site.routes["/"] = answer(
            f'<script src="{barred.origin}/a.js"></script><script src="/moved.js"></script>'.encode()
        )
        site.routes["/moved.js"] = moved(f"{barred.origin}/b.js")
        options = ("--into", tmp_path, "--allow-private", "--render")
        assert (await goodbot("crawl", first.url("/"), *options)).status == 0
        assert (await goodbot("forget", barred.origin, "--in", tmp_path)).status == 0
        await goodbot("crawl", site.url("/"), *options)
        assert "/moved.js" in site.targets
        assert barred.targets == []
