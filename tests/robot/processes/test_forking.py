"""Workers forked from a process that has imported everything; in programs of one thread, since pytest has more."""

import json
import subprocess
import sys
from textwrap import dedent, indent
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux only")

PROGRAM = """
import asyncio, json, os, signal, sys, tempfile, threading
from pathlib import Path
from socket import socketpair

import psutil

from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.processes.forking import ForkedProcess, forked_workers
from goodbot.robot.processes.worker import PROCESS_NAME


def children():
    return {child.pid: child for child in psutil.Process().children()}


async def started(start):
    ours, theirs = socketpair()
    with theirs:
        return ours, await start(theirs, PageMark.new())


def files_of(process):
    return [os.readlink(file) for file in Path(f"/proc/{process}/fd").iterdir() if file.name != "2" and file.exists()]


async def until(true):
    while not true():
        await asyncio.sleep(0.01)


async def crawl(start, waiting):
BODY

file = tempfile.TemporaryFile()
BEFORE
with forked_workers(2) as start:
    result = asyncio.run(crawl(start, children()))
print(json.dumps([result, len(children())]))
"""


def run(body: str, before: str = "") -> Any:
    """Runs `crawl`, whose arguments are the function that starts workers and the processes that wait, after
    the lines `before`. Returns its result, if no process is left in the end."""
    program = PROGRAM.replace("BODY", indent(dedent(body), "    ")).replace("BEFORE", before)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    result, left = json.loads(ended.stdout)
    assert left == 0
    return result


def test_a_worker_ends_with_its_connection() -> None:
    assert run("""
        ours, process = await started(start)
        await until(lambda: waiting[process.pid].name() == PROCESS_NAME)
        ours.close()
        return [process.pid in waiting, await process.wait(), process.returncode]
    """) == [True, 0, 0]


def test_a_killed_worker() -> None:
    assert run("""
        _, process = await started(start)
        before = process.returncode
        process.kill()
        status = await process.wait()
        process.kill()
        return [before, status, process.returncode]
    """) == [None, -9, -9]


def test_a_worker_has_none_of_the_files_of_its_parent() -> None:
    ours, theirs = run("""
        before = files_of("self")
        ours, process = await started(start)
        await until(lambda: waiting[process.pid].name() == PROCESS_NAME)
        files = files_of(process.pid)
        ours.close()
        await process.wait()
        return [before, files]
    """)
    assert any(file.endswith("(deleted)") for file in ours)
    assert set(ours) & set(theirs) <= {"/dev/null", "anon_inode:[eventpoll]"}


def test_a_file_with_a_number_above_the_limit() -> None:
    """A shell may leave one open when `ulimit -n` lowers the limit."""
    above = "import resource; os.dup2(file.fileno(), 200); resource.setrlimit(resource.RLIMIT_NOFILE, (100, 1000))"
    assert run(
        """
        ours, process = await started(start)
        await until(lambda: waiting[process.pid].name() == PROCESS_NAME)
        files = [os.path.exists(f"/proc/{process}/fd/200") for process in ("self", process.pid)]
        ours.close()
        return [files, await process.wait()]
    """,
        above,
    ) == [[True, False], 0]


def test_signals_are_for_the_coordinator() -> None:
    assert (
        run("""
        ours, process = await started(start)
        for number in (signal.SIGINT, signal.SIGTERM):
            for pid in waiting:
                os.kill(pid, number)
        ours.close()
        return await process.wait()
    """)
        == 0
    )


def test_those_that_died_while_they_waited_are_skipped_and_more_are_started_as_programs() -> None:
    assert run("""
        dead = next(iter(waiting.values()))
        dead.kill()
        await until(lambda: dead.status() == psutil.STATUS_ZOMBIE)
        (one, forked), (two, program) = await started(start), await started(start)
        one.close()
        two.close()
        statuses = [await forked.wait(), await program.wait()]
        return [forked.pid in waiting, forked.pid != dead.pid, program.pid in waiting, statuses]
    """) == [True, True, False, [0, 0]]


def test_a_process_with_threads_does_not_fork() -> None:
    thread = "done = threading.Event(); threading.Thread(target=done.wait, daemon=True).start()"
    assert run("return len(waiting)", thread) == 0
