"""What was learned is shown, and can be dropped, while a crawl rests and while it runs."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from journey.goodbot_process import ended, goodbot, start
from webserver import Exchange, WebServer, answer

DOCUMENTS = 70


def html(title: str, text: str, *links: str) -> bytes:
    """A page."""
    anchors = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
    return answer(f"<!doctype html><title>{title}</title><body><p>{text}{anchors}".encode())


class Site:
    """Documents that are all one page as long as the site is maintained, and a list of numbers without end."""

    def __init__(self) -> None:
        self.is_maintained = True

    async def __call__(self, exchange: Exchange) -> None:
        target = exchange.target
        if target == "/":
            await exchange.send(html("All", "All.", *(f"/docs/{number}" for number in range(DOCUMENTS)), "/number/0"))
        elif target.startswith("/number/"):
            number = int(target.rpartition("/")[2])
            word = "".join("abcdefghij"[int(digit)] for digit in str(number))
            await asyncio.sleep(0.01)  # no faster than a test that looks on
            await exchange.send(html(f"Number {word}", f"This is {word}.", f"/number/{number + 1}"))
        elif self.is_maintained:
            await exchange.send(html("Maintenance", "We will be back soon."))
        else:
            await exchange.send(html(f"Document {target}", f"What {target} says."))


@pytest.fixture
def site() -> Site:
    """The site."""
    return Site()


@pytest.fixture
async def server(site: Site) -> AsyncIterator[WebServer]:
    """It, served."""
    async with WebServer(fallback=site) as served:
        yield served


async def lessons(folder: Path, *options: str) -> list[dict[str, Any]]:
    """What was learned."""
    told = await goodbot("lessons", "list", "--in", folder, "--json", *options)
    assert told.status == 0, told.err
    listed: list[dict[str, Any]] = told.json["lessons"]
    return listed


def documents(server: WebServer) -> set[str]:
    """Those asked for."""
    return {target for target in server.targets if target.startswith("/docs/")}


async def test_a_lesson_is_shown_and_dropped(site: Site, server: WebServer, tmp_path: Path) -> None:
    crawl = ("crawl", server.url("/"), "--into", tmp_path, "--allow-private", "--exclude", "*/number/*", "--no-index")
    ended = await goodbot(*crawl)
    assert ended.status == 0
    assert len(documents(server)) == 40
    assert (
        f"  30 URLs of 1 host were left out as traps or copies (1 lesson): goodbot lessons list --in {tmp_path}\n"
        in ended.out
    )
    (lesson,) = await lessons(tmp_path)
    host = server.url("/").split("/")[2]
    assert (lesson["host"], lesson["kind"], lesson["times"], lesson["in_force"]) == (host, "family", 1, True)
    assert lesson["examined_at"] - lesson["learned_at"] == pytest.approx(7 * 86400)
    assert await lessons(tmp_path, "--host", host) == [lesson]
    assert await lessons(tmp_path, "--host", "example.org") == []
    assert (await goodbot("status", "--in", tmp_path, "--json")).json["lessons"] == {"in_force": 1, "lapsed": 0}
    assert "1 lesson about traps" in (await goodbot("status", "--in", tmp_path)).out
    left_out = next(url for number in range(DOCUMENTS) if (url := f"/docs/{number}") not in documents(server))
    why = await goodbot("why", server.url(left_out), "--in", tmp_path, "--json")
    assert why.json["lesson"] == lesson
    told = (await goodbot("why", server.url(left_out), "--in", tmp_path)).out
    assert f"lesson {lesson['id']}: learned on " in told
    assert "; the crawl examines it again on " in told
    assert (await goodbot("courtesy", "--in", tmp_path, "--json")).json[0]["lessons"] == [lesson]
    assert "learned       a trap: " in (await goodbot("courtesy", "--in", tmp_path)).out
    assert "What the robot learned" in (await goodbot("courtesy", "--in", tmp_path, "--format", "html")).out

    site.is_maintained = False
    ended = await goodbot(*crawl, "--json")
    assert ended.status == 0
    assert ended.lines[-1]["left_out"] == {"lessons": 1, "hosts": 1, "urls": DOCUMENTS - 40}
    assert len(documents(server)) == 40
    dropped = await goodbot("lessons", "drop", lesson["id"], "--in", tmp_path, "--json")
    assert (dropped.status, dropped.json) == (0, {"done": True, "dropped": [lesson["id"]]})
    assert await lessons(tmp_path) == []
    status = (await goodbot("status", "--in", tmp_path, "--json")).json
    assert status["states"]["ready"] == DOCUMENTS - 40
    ended = await goodbot(*crawl)
    assert ended.status == 0
    assert "left out" not in ended.out
    assert len(documents(server)) == DOCUMENTS
    assert (await goodbot("why", server.url(left_out), "--in", tmp_path, "--json")).json["lesson"] is None


@pytest.mark.long
@pytest.mark.parametrize("workers", [1, 2])
async def test_a_running_crawl_drops_a_lesson_at_once(
    site: Site, server: WebServer, tmp_path: Path, workers: int
) -> None:
    async with WebServer(fallback=Site()) as other:
        seeds = [server.url("/"), other.url("/")]
        options = ("--into", tmp_path, "--allow-private", "--no-index", "--no-archive", "--workers", str(workers))
        process = await start("crawl", *seeds, *options)
        async with asyncio.timeout(120):
            await server.received(1)  # the crawl has made its folder
            while len(learned := await lessons(tmp_path)) < 2:
                await server.received(len(server.exchanges) + 1)
            site.is_maintained = False
            ours = next(item for item in learned if item["host"] in server.url("/"))
            assert (await goodbot("lessons", "drop", ours["id"], "--in", tmp_path)).out == "1 lesson dropped\n"
            while len(documents(server)) < DOCUMENTS:
                await server.received(len(server.exchanges) + 1)
        assert len(documents(other)) == 40
        assert (await goodbot("stop", "--in", tmp_path)).status == 0
        result = await ended(process)
    assert "1 lesson dropped" in result.err


async def test_what_is_not_known_is_not_dropped(server: WebServer, tmp_path: Path) -> None:
    await goodbot("crawl", server.url("/docs/1"), "--into", tmp_path, "--allow-private", "--no-index")
    assert (await goodbot("lessons", "list", "--in", tmp_path)).out == "no lessons yet\n"
    told = await goodbot("lessons", "drop", "0123456789", "--in", tmp_path)
    assert told.status == 2
    assert "no lesson 0123456789" in told.complaint
    assert (await goodbot("lessons", "list", "--in", tmp_path / "none")).status == 2
    assert (await goodbot("lessons", "drop", "--in", tmp_path)).status == 2
