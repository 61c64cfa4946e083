"""`goodbot status`: a crawl in numbers."""

import time
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.crawl_progress import away_line, error_line, summary
from goodbot.cli.message_text import when_due_again
from goodbot.cli.options import in_option
from goodbot.cli.printing import folded, say, write_json
from goodbot.crawl_admin import look_at
from goodbot.crawl_folder import open_ledger
from goodbot.human import counted, human_bytes, human_time, in_shell
from goodbot.live import CrawlMemory, LiveStatus
from goodbot.robot.crawl.remote_control import CrawlView
from goodbot.store.control.live_file import live_json
from goodbot.values import STATES

MEANING = {
    "ready": "known, waiting to be fetched",
    "leased": "being fetched",
    "visited": "fetched",
    "disallowed": "robots.txt forbids it",
    "out-of-scope": "not part of this crawl",
    "failed": "no usable answer",
    "gone": "the server has no such page",
}


@click.command(name="status", cls=Command, examples="goodbot status --in crawl")
@in_option
def command(folder: Path, as_json: bool) -> None:
    """Show the progress of a crawl: its URLs by state, pages and bytes fetched, when the next URL is due, and, while it
    runs, its rates, errors and memory. If machines share the crawl, URLs, pages and bytes are those of all machines;
    rates, errors and memory are those of the machine that crawls in DIR.

    The memory is the sum over the crawl's processes, in which shared memory counts once (PSS). Processes that read PDFs
    or render pages are not included. --json also shows how many entries the caches and queues of each process hold.

    Exit status: 0: done; 2: there is no crawl in DIR; 3: DIR is damaged, or its database does not
    answer.
    """
    view = look_at(folder)
    with open_ledger(folder) as ledger:
        due_again_at, lessons = ledger.due_again_at(), ledger.lesson_counts()
    if as_json:
        write_json(_json(view, due_again_at, lessons))
        return
    for text in _lines(view, due_again_at, lessons, folder):
        for line in folded(text, rest=" " * 14 if text.startswith(" ") else "  "):
            say(*line)


def _json(view: CrawlView, due_again_at: float | None, lessons: tuple[int, int]) -> dict[str, object]:
    status = view.status
    return {
        "finished": status.finished,
        "states": {state: status.states[state] for state in STATES},
        "pages": status.pages,
        "bytes": status.bytes,
        "hosts": status.hosts,
        "next_ready_at": status.next_ready_at,
        "due_again_at": due_again_at,
        "lessons": {"in_force": lessons[0], "lapsed": lessons[1]},
        "running": view.running,
        "live": live_json(view.live) if view.live is not None else None,
    }


def _lines(view: CrawlView, due_again_at: float | None, lessons: tuple[int, int], folder: Path) -> Iterator[str]:
    status = view.status
    done = "finished" if status.finished else "not finished"
    yield f"{done}: {counted(status.pages, 'page')}, {human_bytes(status.bytes)}, {counted(status.hosts, 'host')}"
    yield from (f"  {status.states[state]:>10,}  {state:<13} {MEANING[state]}" for state in STATES)
    if status.next_ready_at is not None and status.next_ready_at > time.time():
        yield f"the next URL is due at {human_time(status.next_ready_at)}"
    if due_again_at is not None:
        yield when_due_again(due_again_at, time.time())
    if lessons[0]:
        about = f"{counted(lessons[0], 'lesson')} about traps, parameters and mirrors in force"
        yield f"{about} (goodbot lessons list --in {in_shell(folder)})"
    if not view.running:
        yield "not running"
    elif view.live is None:
        yield "running; no figures yet"
    else:
        yield from _running(view.live)


def _running(live: LiveStatus) -> Iterator[str]:
    now = "" if live.pace == "running" else f", {live.pace} now"
    workers = f", {live.workers} robot processes" if live.workers > 1 else ""
    yield f"running since {human_time(live.started_at)}{now} (process {live.pid}{workers}); in this run:"
    yield f"  {summary(live)}"
    if errors := error_line(live):
        yield f"  {errors}"
    if away := away_line(live):
        yield f"  {away}"
    if live.memory is not None and (memory := memory_line(live.memory)):
        yield f"  {memory}"


def memory_line(memory: CrawlMemory) -> str:
    """Returns a line such as `memory: 181.2 MB (coordinator 80.4 MB, workers 50.1 MB + 50.7 MB), peak 190.3 MB`, or
    an empty text if the system does not report memory."""
    if memory.bytes is None or memory.peak_bytes is None:
        return ""
    by_role: dict[str, list[str]] = {}
    for process in memory.processes:
        by_role.setdefault(process.role, []).append(human_bytes(process.pss_bytes or 0))
    each = (f"{role if len(sizes) == 1 else f'{role}s'} {' + '.join(sizes)}" for role, sizes in by_role.items())
    of = f" ({', '.join(each)})" if len(memory.processes) > 1 else ""
    return f"memory: {human_bytes(memory.bytes)}{of}, peak {human_bytes(memory.peak_bytes)}"
