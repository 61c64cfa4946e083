"""Ctrl-C at any moment: one line, exit status 130, and nothing left behind. A terminal sends it to every process."""

import asyncio
import fcntl
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from goodbot.cli.crawl_interrupts import Interrupts
from goodbot.interrupts import kept_from_children, whole
from journey.goodbot_process import Ended, ended, goodbot, start
from journey.test_workers import workers_of
from webserver import Exchange, WebServer, answer

PROGRAM = """
import atexit, os, signal, sys
from goodbot.__main__ import run
from goodbot.interrupts import leave_at_once

def press():
    os.kill(os.getpid(), signal.SIGINT)

class Import:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == when:
            press()

when = sys.argv.pop(1)
if when == "exit":
    atexit.register(press)
if when == "loop":
    import asyncio.events
    made = asyncio.events.new_event_loop
    asyncio.events.new_event_loop = lambda: (press(), made(), press())[1]
if when == "begun":
    leave_at_once()
    print(flush=True)
sys.meta_path.insert(0, Import)
raise SystemExit(run())
"""
"""`goodbot`, which presses Ctrl-C itself when a module is imported, while its event loop is made,
or at its exit; or says when it has begun."""


async def program(when: str, *arguments: str | Path, folder: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-W", "error", "-c", PROGRAM, when, *map(str, arguments)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    )


@pytest.mark.parametrize("when", ["goodbot.cli", "goodbot.cli.commands", "click.core", "goodbot.cli.who", "exit"])
async def test_while_modules_are_loaded_and_at_the_exit(when: str, tmp_path: Path) -> None:
    result = await ended(await program(when, "who", "--list", folder=tmp_path))
    assert (result.status, result.err) == (130, "goodbot: interrupted\n")


async def test_a_signal_that_is_ignored_stays_so(tmp_path: Path) -> None:
    """As in the background of a script."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = await program("goodbot.cli", "who", "Googlebot", folder=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    result = await ended(process)
    assert (result.status, result.err) == (0, "")


async def test_while_robot_processes_start(tmp_path: Path) -> None:
    async with WebServer() as one, WebServer() as other:
        process = await start(
            *("crawl", one.url("/"), other.url("/"), "--into", tmp_path, "--allow-private", "--workers", "2"),
            group=True,
        )
        while not workers_of(process.pid):  # noqa: ASYNC110 - another process starts them
            await asyncio.sleep(0.01)
        os.killpg(process.pid, signal.SIGINT)
        result = await ended(process)
    assert (result.status, result.err.splitlines()) == (
        *(130, ["stopping: the pages in flight finish first (Ctrl-C again stops at once)"]),
    )


async def test_a_process_that_gets_none_from_its_first_moment_on() -> None:
    with kept_from_children():
        child = await asyncio.create_subprocess_exec("cat", stdin=asyncio.subprocess.PIPE)
    child.send_signal(signal.SIGINT)
    child.send_signal(signal.SIGTERM)
    await child.communicate(b"")
    assert child.returncode == 0
    assert not {signal.SIGINT, signal.SIGTERM} & signal.pthread_sigmask(signal.SIG_BLOCK, ())


SLOW = b"<title>slow</title><p>hello<script src=/app.js></script>"


@pytest.mark.long
async def test_while_a_page_is_rendered(tmp_path: Path) -> None:
    """It is finished, as any page in flight."""
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def script(exchange: Exchange) -> None:
        asked.set()
        await go_on.wait()
        await exchange.send(answer(b"document.title = 'made'", headers=[("Content-Type", "text/javascript")]))

    async with WebServer({"/": answer(SLOW), "/app.js": script}) as server:
        process = await start(
            *("crawl", server.url("/"), "--into", tmp_path, "--allow-private", "--render", "--json"), group=True
        )
        await asked.wait()
        os.killpg(process.pid, signal.SIGINT)
        assert process.stderr is not None
        assert b"stopping" in await process.stderr.readline()
        go_on.set()
        result = await ended(process)
    assert (result.status, result.err) == (130, "")
    assert [line["title"] for line in result.lines if line["event"] == "page"] == ["made"]


# ---- what is in hand ------------------------------------------------------------------------------------------------


class Made:
    """A thing that is interrupted while it is made and while it is removed."""

    def __init__(self) -> None:
        self.steps: list[str] = []

    def __enter__(self) -> str:
        os.kill(os.getpid(), signal.SIGINT)
        self.steps.append("made")
        return "made"

    def __exit__(self, *raised: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        self.steps.append("removed")


def test_what_is_made_is_removed() -> None:
    made = Made()
    with pytest.raises(KeyboardInterrupt), whole(lambda: made):
        made.steps.append("used")
    assert made.steps == ["made", "removed"]


async def test_the_last_moment_counts() -> None:
    """The loop ends before it hears of it."""
    with Interrupts() as interrupts:
        interrupts.act_by(lambda: None)
        os.kill(os.getpid(), signal.SIGINT)
    assert interrupts.pressed == 1


async def test_a_crawl_that_is_being_opened_is_given_up() -> None:
    async def opening() -> int:
        with Interrupts() as interrupts:
            os.kill(os.getpid(), signal.SIGTERM)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return interrupts.pressed
        return 0

    assert await asyncio.create_task(opening()) == 1


async def test_while_the_event_loop_is_made(tmp_path: Path) -> None:
    result = await ended(await program("loop", "index", "rebuild", "--in", tmp_path, folder=tmp_path))
    assert (result.status, result.err) == (130, "goodbot: interrupted\n")


# ---- the demo -------------------------------------------------------------------------------------------------------


async def test_a_demo_whose_port_is_taken_does_not_crawl(tmp_path: Path) -> None:
    async with WebServer() as server:
        result = await goodbot("demo", "--port", str(server.port), folder=tmp_path)
    assert (result.status, result.out) == (3, "")
    assert result.complaint == f"goodbot: port {server.port} is in use on 127.0.0.1: choose another with --port"


async def test_a_demo_that_is_interrupted_advises_no_folder(tmp_path: Path) -> None:
    process = await program("begun", "demo", "--once", folder=tmp_path)
    while not workers_of(process.pid):  # noqa: ASYNC110 - another process starts them
        await asyncio.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)
    _is_clean(process.pid, await ended(process), tmp_path)


# ---- at any moment --------------------------------------------------------------------------------------------------

MOMENTS = [0.01 + 0.07 * number for number in range(40)]


async def _pressed_at(moment_s: float, *arguments: str | Path, folder: Path) -> None:
    process = await program("begun", *arguments, folder=folder)
    assert process.stdout is not None
    await process.stdout.readline()
    await asyncio.sleep(moment_s)
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGINT)
    result = await ended(process)
    if result.status != 0 or result.err:  # not over before
        _is_clean(process.pid, result, folder)


def _is_clean(session: int, result: Ended, folder: Path) -> None:
    assert (result.status, len(result.err.splitlines())) == (130, 1), result.err
    assert "goodbot-demo" not in result.out
    assert [process for process in psutil.process_iter() if _session(process.pid) == session] == []
    assert list(folder.iterdir()) == []


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except ProcessLookupError:  # it has just ended
        return 0


@pytest.mark.long
async def test_a_demo_interrupted_at_any_moment(tmp_path: Path) -> None:
    for moment_s in MOMENTS:
        await _pressed_at(moment_s, "demo", "--once", folder=tmp_path)


@pytest.mark.long
async def test_a_crawl_interrupted_at_any_moment(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("crawls")
    async with WebServer() as one, WebServer() as other:
        for number, moment_s in enumerate(MOMENTS[:20]):
            seeds = one.url("/"), other.url("/")
            into = folder / str(number)
            options = "--into", into, "--allow-private", "--workers", "2", "--delay", "5"
            await _pressed_at(moment_s, "crawl", *seeds, *options, folder=tmp_path)
            assert not (into / "live.json").exists()
            if (into / "control" / "lock").exists():
                with (into / "control" / "lock").open() as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
