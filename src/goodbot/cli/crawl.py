"""`goodbot crawl`: crawls politely from seed URLs, and keeps the pages."""

import asyncio
import sys
import time
from functools import partial
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any, Final

import click

from goodbot.cli.command_class import Command, log_settings
from goodbot.cli.crawl_interrupts import Interrupts
from goodbot.cli.crawl_plan import plan_crawl
from goodbot.cli.crawl_progress import Form, Progress, progress_for
from goodbot.cli.file_types import NamedPath
from goodbot.cli.index_progress import CopyProgress, IndexProgress, RefreshProgress
from goodbot.cli.lesson_text import left_out_line
from goodbot.cli.message_text import (
    barred_line,
    damage_line,
    forgotten_line,
    removed_damage_line,
    replayed_line,
    when_due_again,
)
from goodbot.cli.options import base_settings
from goodbot.cli.printing import drop, end_when_unread, say, say_folded, write_json
from goodbot.cli.seed_files import SEEDS_HELP, read_seed_files
from goodbot.cli.settings_options import settings_options
from goodbot.config import (
    Settings,
)
from goodbot.crawl_folder import CrawlFolder, index_lag
from goodbot.crawl_preparation import check_listed, new_settings, workers_of
from goodbot.errors import InputError, RunError, SettingError, StoreAwayError, option_of
from goodbot.human import counted, human_bytes, human_duration, in_shell
from goodbot.interrupts import INTERRUPTED, STATUS, run_async, whole
from goodbot.live import EndReason, LiveStatus
from goodbot.process_memory import return_freed_memory
from goodbot.robot.processes.forking import forked_workers
from goodbot.robot.processes.spawning import Start, start_process
from goodbot.robot.scope.seeding import Seeding, parse_seeds
from goodbot.store.control.seed_file import SeedSpool
from goodbot.values import STATES, Outcome
from goodbot.wiring import Crawl, open_crawl

_SECTIONS: Final = {
    "What to crawl": (
        *("seed_files", "scope", "depth", "max_pages", "host_pages", "include", "exclude", "types", "max_size"),
        *("follow_rel", "sitemaps", "keep_fresh", "once", "dry_run"),
    ),
    "How fast": ("delay", "crawl_delay_most", "workers", "concurrency", "per_host"),
    "Who you are": ("agent", "contact", "sign", "signature_agent", "signature_agent_form"),
    "What to keep": ("folder", "index", "archive", "archive_to", "duplicates"),
    "Several machines": ("frontier",),
    "How pages and rules are read": ("render", "clean_urls", "traps", "dialect"),
    "Network": ("allow_private", "ca_file", "resolve", "proxy"),
}
"""Headings of the help → names of options."""

MACHINES_SHOWN: Final = 5
"""Names of other machines that are printed when one joins."""

_END_WORDS: Final[dict[EndReason, str]] = {
    "finished": "finished",
    "max-pages": "reached --max-pages",
    "interrupted": "interrupted",
}


@click.command(
    name="crawl",
    cls=Command,
    output=False,
    sections=_SECTIONS,
    examples="""
    goodbot crawl https://example.org/ --into crawl --contact me@example.org
    goodbot crawl --into crawl    # resume
    goodbot crawl --into crawl --keep-fresh    # re-crawl pages that are due
    goodbot crawl http://127.0.0.1:8000/ --into crawl --allow-private
    """,
)
@click.argument("seeds", nargs=-1, metavar="[SEED]...")
@click.option(
    "--seeds",
    "seed_files",
    multiple=True,
    metavar="FILE",
    help=f"{SEEDS_HELP} A seed from a file allows a private address (--allow-private) only if its host is an IP "
    "address or localhost.",
)
@click.option(
    "--into", "folder", required=True, type=NamedPath(path_type=Path), metavar="DIR", help="Folder of the crawl."
)
@click.option("--max-pages", type=click.IntRange(1), metavar="N", help="Maximum number of pages to visit in this run.")
@settings_options
@click.option(
    "--dry-run",
    is_flag=True,
    help="Fetch and write nothing: show what would be fetched first, how fast, and how long it would take at least.",
)
@click.option(
    "--keep-fresh",
    is_flag=True,
    help="Re-crawl pages when they are due, until you stop it. The option is not saved; give it on each run.",
)
@click.option(
    "--once", is_flag=True, help="With --keep-fresh: only pages that are due now, and new pages they lead to."
)
def command(
    seeds: tuple[str, ...],
    seed_files: tuple[str, ...],
    folder: Path,
    max_pages: int | None,
    dry_run: bool,
    keep_fresh: bool,
    once: bool,
    as_json: bool,
    **options: Any,
) -> int:
    """Crawl from SEEDs into DIR: fetch pages politely, keep them in WARC files, index them.

    Run it again with the same DIR, with or without seeds, to resume. Even a kill loses nothing: only pages that were
    being fetched then, and those of the quarter second before, are fetched again. DIR keeps seeds and options for later
    runs, except --max-pages, --dry-run, --keep-fresh, --once and the options of every command.

    goodbot always obeys robots.txt, META robots, X-Robots-Tag and rel=nofollow. Ctrl-C once finishes the pages in
    flight (a minute or two if many long sitemaps are being read); twice stops at once.

    Exit status: 0: finished, or --max-pages is reached; 2: bad input, such as no seed; 3: every seed failed or is of a
    forgotten host, another crawl is running in DIR, DIR is damaged or cannot be written, or the database does not
    answer; 130: interrupted, or stopped with `goodbot stop`.
    """
    if once and not keep_fresh:
        raise InputError("--once goes with --keep-fresh: a crawl without it visits every page once anyway")
    if dry_run and keep_fresh:
        raise InputError("--dry-run shows what is not visited yet; it does not go with --keep-fresh")
    if as_json:
        end_when_unread()
    revisit_until = (time.time() if once else inf) if keep_fresh else None
    crawl_folder = CrawlFolder(folder)
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    base = base_settings()
    if dry_run and (given.get("frontier") or crawl_folder.database or base.frontier):
        raise InputError("--dry-run works only with a frontier in the folder, not with one in a database")
    try:
        settings = new_settings(crawl_folder, base, given, seeds, listed=bool(seed_files), say=partial(say, err=True))
    except SettingError as error:
        raise InputError(error.naming(f"--{option_of(error.name)}")) from error
    with read_seed_files(seed_files, Seeding(settings).check) as listed:
        if dry_run:
            return plan_crawl(folder, settings, max_pages, listed, as_json=as_json)
        if seed_files:
            check_listed(crawl_folder, settings, listed)
        workers = workers_of(settings, chain(parse_seeds(settings.seeds), crawl_folder.seeds, listed or ()))
        with whole(lambda: forked_workers(workers if workers > 1 else 0)) as start:
            return_freed_memory()
            return run_async(
                lambda: run_crawl(
                    *(folder, settings, max_pages, "json" if as_json else "text"),
                    listed=listed,
                    revisit_until=revisit_until,
                    start=start,
                )
            )


async def run_crawl(
    folder: Path,
    settings: Settings,
    max_pages: int | None,
    form: Form,
    *,
    listed: SeedSpool | None = None,
    revisit_until: float | None = None,
    lasts: bool = True,
    start: Start = start_process,
) -> int:
    """Runs one crawl to its end, shows its progress, and returns the exit status. `listed`: more seeds.
    `revisit_until`, `start`: see `open_crawl`. `lasts`: the folder is kept, so that the crawl can be resumed."""
    progress = progress_for(form, page_event, parse_seeds(settings.seeds))
    advised = folder if lasts else None
    with Interrupts() as interrupts:
        try:
            async with open_crawl(
                *(folder, settings, progress.observe, listed, revisit_until),
                watch=IndexProgress(progress.say),
                logs=log_settings(),
                start=start,
            ) as crawl:
                status = await _run(crawl, max_pages, progress, interrupts, advised, form)
        except asyncio.CancelledError:
            if not interrupts.pressed:
                raise
            status = STATUS
        except StoreAwayError as error:
            if not interrupts.pressed:
                raise
            progress.say(f"{error}: what is not committed is fetched again")
            status = STATUS
    if interrupts.pressed and not progress.stopping:
        progress.say(INTERRUPTED)
    return STATUS if interrupts.pressed else status


async def _run(
    crawl: Crawl,
    max_pages: int | None,
    progress: Progress,
    interrupts: Interrupts,
    folder: Path | None,
    form: Form,
) -> int:
    """Runs an opened crawl to its end. `folder`: the folder named in advice; None: no advice is printed."""
    _report_start(crawl, progress, folder)
    with progress.watching():
        try:
            reason = await _until_end(crawl, max_pages, progress, interrupts)
        except BrokenPipeError as error:  # raised by `JsonProgress`
            drop(sys.stdout)
            advice = f"; resume with: goodbot crawl --into {in_shell(folder)}" if folder else ""
            raise RunError(f"no program reads the output any more: the crawl is not finished{advice}") from error
    seconds, failed = progress.seconds, crawl.failed_seed()
    for gone in crawl.remove_forgotten(lambda host: progress.say(f"removing what is kept of {host}")):
        progress.say(forgotten_line(gone.host, {"URL": gone.urls, "record": gone.captures}))
        if gone.damaged_bytes and folder:
            progress.say(removed_damage_line(gone.host, gone.damaged_bytes, folder))
    if reason != "interrupted":
        crawl.refresh(RefreshProgress(progress.say, lambda: interrupts.pressed > 0))
    _move_rest(crawl, progress, interrupts)
    if form == "json":
        _write_end(crawl, reason)
    elif form == "text":
        word = _END_WORDS[reason] if failed is None or reason == "interrupted" else "failed"
        _print_end(crawl, word, progress.bytes, seconds, folder)
    if reason == "interrupted":
        return STATUS
    if failed is not None:
        raise RunError(f"no seed could be fetched: {failed.url}: {failed.why}")
    return 0


def _move_rest(crawl: Crawl, progress: Progress, interrupts: Interrupts) -> None:
    """Moves what is left of the archive, if it is moved; Ctrl-C ends that."""
    if crawl.archive is None:
        return
    left = crawl.archive.move_rest(CopyProgress(progress.say, "moved"), lambda: interrupts.pressed > 0)
    if left is not None:
        progress.say(left)


def _report_start(crawl: Crawl, progress: Progress, folder: Path | None) -> None:
    """Prints what the user should know before the crawl goes on: other machines, damage, pages indexed late, forgotten
    seeds."""
    if crawl.others:
        names = ", ".join(crawl.others[:MACHINES_SHOWN])
        more = ", …" if len(crawl.others) > MACHINES_SHOWN else ""
        progress.say(f"this machine joins the crawl of {counted(len(crawl.others), 'other machine')}: {names}{more}")
    if crawl.damage and folder:
        progress.say(damage_line(crawl.damage, folder))
    if crawl.replayed:
        progress.say(replayed_line(crawl.replayed))
    if folder:
        for host in sorted(crawl.forgotten & {seed.host_key for seed in parse_seeds(crawl.settings.seeds)}):
            progress.say(barred_line(host, folder))


async def _until_end(crawl: Crawl, max_pages: int | None, progress: Progress, interrupts: Interrupts) -> EndReason:
    """Runs the crawl until it ends. The first Ctrl-C or SIGTERM lets the pages in flight finish, as `goodbot stop`
    does; the second stops at once."""

    def tick(live: LiveStatus) -> None:
        progress.tick(live)
        if crawl.archive is not None and crawl.archive.mover is not None:
            for notice in crawl.archive.mover.notices():
                progress.say(notice)

    run = asyncio.ensure_future(crawl.supervisor.run(max_pages, progress.say, tick))

    def interrupt() -> None:
        if progress.stopping:
            run.cancel()
        else:
            progress.stop()
            crawl.supervisor.stop()

    interrupts.act_by(interrupt)
    try:
        reason = await run
    except asyncio.CancelledError:
        if interrupts.pressed < 2:
            raise
        return "interrupted"
    finally:
        interrupts.act_by(lambda: None)
    return "interrupted" if interrupts.pressed else reason


def _write_end(crawl: Crawl, reason: EndReason) -> None:
    left_out, lacking = crawl.left_out(), crawl.not_indexed()
    lessons = {"left_out": left_out._asdict()} if left_out.lessons else {}
    lag = {"not_indexed": lacking} if lacking else {}
    write_json({"event": "end", "reason": reason, "visited": crawl.crawler.visited, **lessons, **lag})


def _print_end(crawl: Crawl, word: str, size: int, seconds: float, folder: Path | None) -> None:
    """Prints the end of a crawl, in a `word`, that has received `size` bytes, and how to resume it in `folder`."""
    status, visited, left_out = crawl.status(), crawl.crawler.visited, crawl.left_out()
    say_folded(
        f"{word}: {counted(visited, 'page')} visited in {human_duration(seconds)} "
        f"({visited / max(seconds, 0.001):.1f} pages/s, {human_bytes(size)})"
    )
    if counts := [f"{status.states[state]} {state}" for state in STATES if status.states[state]]:
        _advise(", ".join(counts))
    if folder is None:
        return
    if not status.finished:
        _advise(f"resume with: goodbot crawl --into {in_shell(folder)}")
    elif not visited and (due_again_at := crawl.ledger.due_again_at()) is not None:
        _advise(when_due_again(due_again_at, time.time()))
    if left_out.lessons:
        _advise(f"{left_out_line(left_out)}: goodbot lessons list --in {in_shell(folder)}")
    if not crawl.settings.index and (why := index_lag(folder, crawl.settings.frontier).why):
        _advise(why)


def _advise(text: str) -> None:
    say_folded(text, "  ", "    ")


def page_event(outcome: Outcome) -> dict[str, object]:
    """The JSON line of one outcome. Its event is `retry` if the URL will be requested again."""
    return {
        "event": "page" if outcome.state != "ready" else "retry",
        "url": outcome.url.text,
        "status": outcome.status,
        "state": outcome.state,
        "bytes": outcome.size_bytes,
        "title": outcome.title,
        "why": outcome.why,
        "revisit": outcome.revisit,
        "unchanged": outcome.unchanged,
    }
