"""`goodbot crawl`: gather pages from seeds, politely, and keep them."""

import asyncio
import os
import signal
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, get_args

import click

from goodbot.cli.options import json_option, write_json
from goodbot.cli.progress import Progress, progress_for
from goodbot.cli.text import human_bytes, human_duration
from goodbot.config import FILE_NAME, ScopeKind, Settings, from_environment, load_settings
from goodbot.errors import RunError
from goodbot.robot.crawler import EndReason
from goodbot.values import STATES, Outcome
from goodbot.wiring import Crawl, CrawlFolder, new_settings, open_crawl

_TYPES: dict[str, Any] = {
    "scope": click.Choice(get_args(ScopeKind)),
    "depth": click.IntRange(0),
    "concurrency": click.IntRange(1, 10_000),
    "per_host": click.IntRange(1, 1000),
    "delay": click.FloatRange(0),
    "ca_file": click.Path(exists=True, dir_okay=False),
}
_METAVARS = {"depth": "N", "concurrency": "N", "per_host": "N", "delay": "S", "agent": "TOKEN", "contact": "C"}


def _settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """One option for each setting that is not internal, with its help and reason from the setting's own record."""
    for item in reversed([item for item in fields(Settings) if not item.metadata["internal"]]):
        name = item.name.replace("_", "-")
        text = item.metadata["help"] + (f" ({item.metadata['reason']})" if item.metadata["reason"] else "") + "."
        if item.default is True:
            option = click.option(f"--{name}/--no-{name}", default=None, help=text)
        elif item.default is False:
            option = click.option(f"--{name}", is_flag=True, default=None, help=text)
        elif item.name == "resolve":
            option = click.option("--resolve", multiple=True, metavar="HOST:PORT:ADDRESS", help=text)
        else:
            shown = None if item.default is None else f" [default: {item.default}]"
            option = click.option(
                f"--{name}", type=_TYPES.get(item.name), metavar=_METAVARS.get(item.name), help=text + (shown or "")
            )
        command = option(command)
    return command


@click.command(name="crawl")
@click.argument("seeds", nargs=-1, metavar="SEED...")
@click.option(
    "--into", "folder", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Where to keep it all."
)
@click.option("--max-pages", type=click.IntRange(1), metavar="N", help="Pages to visit in this run at most.")
@_settings_options
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help=f"Settings to start from instead of ./{FILE_NAME}.",
)
@json_option
def command(
    seeds: tuple[str, ...], folder: Path, max_pages: int | None, config: Path | None, as_json: bool, **options: Any
) -> int:
    """Gather pages from SEEDs into DIR: fetch them politely, keep them in WARC files, index them.

    The same DIR again, with or without seeds, resumes: nothing is lost, nothing fetched twice. robots.txt is always
    obeyed, and so are META robots, X-Robots-Tag and rel=nofollow. Ctrl-C once lets the pages in flight finish; twice
    stops.

    \b
    goodbot crawl https://example.org/ --into crawl --contact me@example.org
    goodbot crawl --into crawl                              (goes on)
    goodbot crawl http://127.0.0.1:8000/ --into crawl --allow-private
    """
    crawl_folder = CrawlFolder(folder)
    given = {name: value for name, value in options.items() if value is not None and value != ()}
    settings = new_settings(crawl_folder, _base(config), given, seeds)
    return asyncio.run(run_crawl(folder, settings, max_pages, as_json=as_json))


def _base(config: Path | None) -> Settings:
    """Defaults, then goodbot.toml (the one named, else the working folder's, else the user's), then the environment."""
    places = [config] if config else [Path(FILE_NAME), _user_folder() / FILE_NAME]
    file = next((place for place in places if config or place.is_file()), None)
    settings = load_settings(file, Settings()) if file else Settings()
    return from_environment(settings, os.environ)


def _user_folder() -> Path:
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "goodbot"


async def run_crawl(folder: Path, settings: Settings, max_pages: int | None, *, as_json: bool) -> int:
    """Runs one crawl to its end, shows how it goes, gives the exit status."""
    progress = progress_for(page_event if as_json else None)
    async with open_crawl(folder, settings, progress.observe) as crawl:
        if crawl.replayed:
            progress.say(f"{crawl.replayed} pages of the last run were not in the index yet; they are now")
        with progress.watching(crawl, max_pages):
            reason = await _until_end(crawl, max_pages, progress)
        return _report(crawl, reason, progress, folder, as_json=as_json)


async def _until_end(crawl: Crawl, max_pages: int | None, progress: Progress) -> EndReason:
    """Ctrl-C once: pages in flight finish; twice: stops. SIGTERM is a Ctrl-C."""
    loop = asyncio.get_running_loop()
    run = asyncio.ensure_future(crawl.crawler.run(max_pages))
    pressed = 0

    def interrupt() -> None:
        nonlocal pressed
        pressed += 1
        if pressed == 1:
            progress.say("stopping: the pages in flight finish first (Ctrl-C again stops at once)")
            crawl.crawler.stop()
        else:
            run.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, interrupt)
    try:
        return await run
    except asyncio.CancelledError:
        if pressed < 2:
            raise
        return "interrupted"
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _report(crawl: Crawl, reason: EndReason, progress: Progress, folder: Path, *, as_json: bool) -> int:
    """The end of a crawl, told; gives the exit status."""
    visited = crawl.crawler.visited
    if as_json:
        write_json({"event": "end", "reason": reason, "visited": visited})
    else:
        _print_end(crawl, reason, progress, folder)
    if reason == "interrupted":
        return 130
    records = crawl.seed_records()
    if records and all(record.state == "failed" for record in records):
        raise RunError(f"no seed could be fetched: {records[0].url}: {records[0].why}")
    return 0


def _print_end(crawl: Crawl, reason: EndReason, progress: Progress, folder: Path) -> None:
    status, seconds, visited = crawl.status(), progress.seconds, crawl.crawler.visited
    what = {"finished": "finished", "max-pages": "reached --max-pages", "interrupted": "interrupted"}[reason]
    click.echo(
        f"{what}: {visited} pages visited in {human_duration(seconds)} "
        f"({visited / max(seconds, 0.001):.1f} pages/s, {human_bytes(progress.bytes)})"
    )
    click.echo("  " + ", ".join(f"{status.states[state]} {state}" for state in STATES if status.states[state]))
    if not status.finished:
        click.echo(f"  go on with: goodbot crawl --into {folder}")


def page_event(outcome: Outcome) -> dict[str, object]:
    """The JSON line of one outcome; `ready` is one more try later."""
    return {
        "event": "page" if outcome.state != "ready" else "retry",
        "url": outcome.url.text,
        "status": outcome.status,
        "state": outcome.state,
        "bytes": outcome.size_bytes,
        "title": outcome.title,
        "why": outcome.why,
    }
