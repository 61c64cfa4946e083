"""`goodbot submit`: adds URLs to a crawl, running or not."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import click

from goodbot.cli.options import in_option
from goodbot.cli.printing import say
from goodbot.cli.seed_files import SEEDS_HELP, read_seed_files
from goodbot.crawl_admin import open_control
from goodbot.errors import InputError
from goodbot.robot.crawl.remote_control import RemoteControl, Submitted
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.url import Url

_AT_ONCE: Final = 10_000
"""URLs of a file handed over together: a running crawl is waited for ten seconds each time."""


@click.command(name="submit")
@click.argument("urls", nargs=-1, metavar="URL...")
@click.option("--seeds", "seed_files", multiple=True, metavar="FILE", help=SEEDS_HELP)
@in_option
def command(urls: tuple[str, ...], seed_files: tuple[str, ...], folder: Path) -> int:
    """Add URLs to the crawl in DIR. A running crawl takes them at once, a paused one when it resumes.

    The scope of the crawl stays as it is, and robots.txt still applies. A page fetched before is not fetched again.

    Exit status: 0: all URLs belong to the crawl; 1: a URL is out of scope; 2: a URL is invalid, or is on a public host
    and the crawl has no contact; nothing is submitted (from a file: nothing of that batch of 10,000); 3: the crawl does
    not answer.
    """
    if not (urls or seed_files):
        raise InputError("give URLs, or a file of URLs with --seeds")
    desk = open_control(folder)
    typed = parse_seeds(urls)
    with read_seed_files(seed_files, lambda url: None) as listed:
        submitted = desk.submit(typed) if typed else []
        for item in submitted:
            say(_line(item))
        is_refused = any(item.refused for item in submitted)
        if seed_files:
            is_refused = _submit_all(desk, iter(listed)) or is_refused
    return 1 if is_refused else 0


def _submit_all(desk: RemoteControl, urls: Iterator[Url]) -> bool:
    """Submits those of files, and says how many came to what; gives whether one was refused."""
    counts = Counter[str]()
    while part := list(islice(urls, _AT_ONCE)):
        counts.update(_what(item) for item in desk.submit(part))
    say(", ".join(f"{counts[what]:,} {what}" for what in ("submitted", "known", "out of scope")))
    return counts["out of scope"] > 0


def _what(item: Submitted) -> str:
    if item.refused is not None:
        return "out of scope"
    return "known" if item.before is not None and item.before == item.now else "submitted"


def _line(item: Submitted) -> str:
    what = _what(item)
    if item.refused is not None:
        return f"{what}  {item.url}: {item.refused}"
    if item.before is None:
        return f"{what}     {item.url}"
    if what == "known":
        return f"{what}         {item.url} ({item.now})"
    return f"{what}     {item.url} (was {item.before}, is {item.now})"
