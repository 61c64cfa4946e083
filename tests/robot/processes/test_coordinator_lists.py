"""Long lists in a crawl with two workers in one loop: they end when the crawl stops, and keep no page waiting."""

import asyncio
from collections.abc import Callable, Coroutine
from socket import socketpair

import pytest

from goodbot.live import EndReason
from goodbot.page.list_file import BATCH_ENTRIES
from goodbot.robot.processes.messages import weight_of
from goodbot.robot.processes.worker import GrantedRobots, ReportingSink
from goodbot.testing import FakeClock
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Response
from robot.processes.test_coordinator import PLAIN, Scene, site

XML = (("content-type", "application/xml"),)
LONG = 10 * BATCH_ENTRIES
"""More entries than may wait for their commit."""


def sitemap(host: int, entries: int) -> Response:
    listed = "".join(f"<url><loc>http://h{host}.example/s{number}</loc></url>" for number in range(entries))
    return Response(200, XML, f"<urlset>{listed}</urlset>".encode())


def with_sitemap(scene: Scene, host: int, entries: int) -> None:
    """The host's robots.txt names a sitemap of so many entries."""
    where = f"http://h{host}.example/sitemap.xml"
    robots = Response(200, PLAIN, f"User-agent: *\nDisallow: /no\nSitemap: {where}\n".encode())
    scene.answers.update(site(host, robots))
    scene.answers[where] = sitemap(host, entries)


async def within(clock: FakeClock, seconds: float, run: "asyncio.Task[EndReason]") -> bool:
    """Whether it ends within so many seconds of the fake clock; if not, it is cancelled."""
    timer = asyncio.ensure_future(clock.sleep(seconds))
    await asyncio.wait((run, timer), return_when=asyncio.FIRST_COMPLETED)
    timer.cancel()
    ended = run.done()
    run.cancel()
    await asyncio.gather(run, return_exceptions=True)
    return ended


def is_reading(scene: Scene) -> bool:
    """Whether parts of a list have come and are not committed yet."""
    return any(worker.uncommitted >= weight_of(BATCH_ENTRIES) for worker in scene.coordinator._workers.values())


def interrupt(scene: Scene) -> None:
    scene.coordinator.stop()


def pause_then_stop(scene: Scene) -> None:
    scene.coordinator.pause()
    scene.coordinator.stop()


def forget_then_stop(scene: Scene) -> None:
    for host in range(6):
        scene.coordinator.leave(f"h{host}.example")
    scene.coordinator.stop()


@pytest.mark.parametrize("how", [interrupt, pytest.param(pause_then_stop, marks=pytest.mark.long), forget_then_stop])
async def test_a_crawl_that_is_stopped_while_lists_are_read_reads_them_to_their_end(
    how: Callable[[Scene], None],
) -> None:
    scene = Scene(6)
    for host in range(6):
        with_sitemap(scene, host, LONG)
    run = asyncio.ensure_future(scene.coordinator.run())
    while not is_reading(scene):  # noqa: ASYNC110 - what is waited for has no event
        await asyncio.sleep(0)
    how(scene)
    assert await within(scene.clock, 600.0, run)
    assert run.result() == "interrupted"
    read = [outcome.url for outcome in scene.outcomes if outcome.url.path == "/sitemap.xml"]
    assert read
    states = scene.frontier.status().states
    assert states["ready"] >= len(read) * LONG
    assert not states.get("leased")


async def begun(waits: Coroutine[object, object, None]) -> "asyncio.Task[None]":
    """A task, after its first turn."""
    task = asyncio.create_task(waits)
    await asyncio.sleep(0)
    return task


async def test_parts_of_lists_leave_room_for_pages() -> None:
    ours, theirs = socketpair()
    _, writer = await asyncio.open_connection(sock=ours)
    reports = ReportingSink(writer, GrantedRobots(), FakeClock(), uncommitted_most=50)
    source = Url("http://h0.example/sitemap.xml")
    piece = FoundLinks(
        tuple(Discovery(Url(f"http://h0.example/s{number}"), 1, source) for number in range(BATCH_ENTRIES)), 0.0
    )
    parts = 0
    while (room := await begun(reports.has_room(for_list=True))).done():
        reports.find(piece)
        parts += 1
    assert parts >= 2
    await asyncio.wait_for(reports.has_room(), 10.0)  # of a page: it does not wait
    assert not room.done()
    assert not reports  # what waits for its commit has been sent
    reports.committed(parts * weight_of(BATCH_ENTRIES))
    await room
    writer.close()
    theirs.close()
