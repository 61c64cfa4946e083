"""Runs `goodbot exam`: examines a crawler, or serves the sites, and prints the score card."""

import asyncio
import shlex
import signal
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rich.live import Live

from goodbot.cli.command_class import logs_to_terminal
from goodbot.cli.printing import can_rewrite, complain, is_quiet, put, say, styled, write_json
from goodbot.cli.rich_tables import cell, console
from goodbot.clock import SystemClock
from goodbot.exam.card import ScoreCard
from goodbot.exam.card_report import COLOURS, html_card, text_card
from goodbot.exam.drive import DriveGround, Driven, DrivePlan, DriveProgress, drive, open_ground
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.live_page import live_card
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import make_folder, write_whole
from goodbot.human import counted, human_bytes, human_duration
from goodbot.interrupts import run_async

LINE_EVERY_S = 10.0
TAIL_LINES = 10
TAIL_CHARS = 160

CardForm = Literal["text", "json", "html"]
Watch = Callable[[DriveProgress], None]


@dataclass(frozen=True, slots=True)
class ExamOrder:
    """What the options ask for."""

    plan: DrivePlan
    sites: tuple[ExamSite, ...]
    kept_folder: Path | None
    port: int | None
    form: CardForm
    html_file: Path | None


def run_exam(order: ExamOrder, *, serves: bool) -> int:
    """Examines a crawler, or only serves the sites; returns the exit status. All files it makes are removed at the end,
    except those in `order.kept_folder`."""
    with tempfile.TemporaryDirectory(prefix="goodbot-exam-", ignore_cleanup_errors=True) as name:
        run = _serve if serves else _drive
        return run_async(lambda: _until_interrupted(run(order, Path(name)), quiet=serves))


# ---- driving --------------------------------------------------------------------------------------------------------


async def _drive(order: ExamOrder, workspace: Path) -> int:
    folder = _folder(order.kept_folder or workspace / "kept")
    used = order.plan.placeholders
    async with open_ground(
        order.sites,
        SystemClock(),
        _folder(workspace / "ground"),
        by_name="proxy" in used,
        trusts="ca-file" in used,
        base_port=order.port,
    ) as ground:
        with _progress(is_text=order.form == "text") as watch:
            driven = await drive(ground, order.plan, folder, watch)
    _print_tail(driven)
    _put_out(driven.card, order)
    return 0 if driven.card.passed else 1


def _folder(path: Path) -> Path:
    make_folder(path)
    return path.resolve()


def _put_out(card: ScoreCard, order: ExamOrder) -> None:
    if order.form == "json":
        write_json(card.as_json())
    elif order.form == "html":
        put(html_card(card).encode(errors="replace"))
    else:
        for line in text_card(card):
            word, space, rest = line.partition(" ")
            say(styled(word, fg=COLOURS[word]) if word in COLOURS else word, space, rest)
    if order.html_file:
        write_whole(order.html_file, html_card(card).encode(errors="replace"))


def _print_tail(driven: Driven) -> None:
    """Prints the last lines of a crawler that did not end well, by our judgement or by its exit status."""
    ended_well = all(visit.judgement.passed for visit in driven.visits)
    if ended_well and not any(visit.status for visit in driven.visits):
        return
    lines = driven.tail.strip().splitlines()
    if lines:
        say("the crawler's last lines:", err=True)
    elif not ended_well:
        say("the crawler printed nothing", err=True)
    for line in lines[-TAIL_LINES:]:
        say(f"  {shown(line, TAIL_CHARS)}", err=True)


@contextmanager
def _progress(*, is_text: bool) -> Iterator[Watch]:
    """Shows the progress: one line that is rewritten in a terminal; in a log a line every ten seconds; nothing with
    --quiet, or beside a score card that is not text."""
    if is_quiet():
        yield lambda glance: None
    elif can_rewrite() and not logs_to_terminal():
        with Live(console=console(err=True), auto_refresh=False, transient=True) as live:
            yield _now_and_then(0.25, lambda glance: live.update(cell(_said(glance)), refresh=True))
    elif not is_text:
        yield lambda glance: None
    else:
        yield _now_and_then(LINE_EVERY_S, lambda glance: say(_said(glance), err=True), first_s=LINE_EVERY_S)


def _now_and_then(every_s: float, show: Watch, first_s: float = 0.0) -> Watch:
    due_s = first_s

    def watch(glance: DriveProgress) -> None:
        nonlocal due_s
        if glance.elapsed_s >= due_s:
            due_s = glance.elapsed_s + every_s
            show(glance)

    return watch


def _said(glance: DriveProgress) -> str:
    visit = f"visit {glance.visit}, " if glance.visit > 1 else ""
    return (
        f"{visit}{human_duration(glance.elapsed_s)}, at most {human_duration(max(glance.left_s, 0))} to go: "
        f"{counted(glance.requests, 'request')}, {glance.reached} of {glance.sites} sites reached, "
        f"{human_bytes(glance.memory_bytes)} of memory"
    )


# ---- serving --------------------------------------------------------------------------------------------------------


async def _serve(order: ExamOrder, workspace: Path) -> int:
    """Serves the sites until it is cancelled, then writes the score card."""
    clock = SystemClock()
    first = None if order.port is None else order.port + 1
    async with open_ground(order.sites, clock, _folder(workspace / "ground"), base_port=first) as ground:

        def card() -> ScoreCard:
            return ground.card("visiting crawlers")

        async with live_card(card, clock, order.port) as url:
            _print_ground(ground, url)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                _put_out(card(), order)
    return 0


def _print_ground(ground: DriveGround, card_url: str) -> None:
    say(f"score card on {card_url} (Ctrl-C ends it)", err=True)
    say(f"certificate of the authority: {shlex.quote(str(ground.ca_file))}", err=True)
    say(f"seeds, also in {shlex.quote(str(ground.seed_file))}:", err=True)
    for seed in ground.web.seeds():
        say(f"  {seed}", err=True)
    for name, why in ground.web.skipped.items():
        say(f"not served: {name} ({why})", err=True)


async def _until_interrupted(work: Awaitable[int], *, quiet: bool) -> int:
    """Ctrl-C, SIGTERM and the end of the terminal cancel the work, which stops what it started; the status is then 130,
    unless the work gives its own."""
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(work)
    heeded = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup has it
        heeded.append(signal.SIGHUP)
    for number in heeded:
        loop.add_signal_handler(number, task.cancel)
    try:
        return await task
    except asyncio.CancelledError:
        if not quiet:
            complain("interrupted: the crawler and the sites are stopped")
        return 130
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
