"""`goodbot submit`: adds URLs to a crawl, running or not."""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.options import in_option
from goodbot.cli.printing import say, say_folded, write_json
from goodbot.cli.seed_files import SEEDS_HELP, read_seed_files
from goodbot.crawl_admin import open_control
from goodbot.errors import InputError
from goodbot.robot.crawl.remote_control import RemoteControl, Submitted
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.url import Url

_BATCH_URLS: Final = 10_000
"""URLs of a file that are submitted together: the command waits up to ten seconds for a running crawl each time."""

_RESULTS: Final = ("submitted", "known", "out of scope")


@click.command(
    name="submit",
    cls=Command,
    output=False,
    examples="""
    goodbot submit https://example.org/new --in crawl
    goodbot submit --seeds urls.txt --in crawl
    """,
)
@click.argument("urls", nargs=-1, metavar="[URL]...")
@click.option("--seeds", "seed_files", multiple=True, metavar="FILE", help=SEEDS_HELP)
@in_option
def command(urls: tuple[str, ...], seed_files: tuple[str, ...], folder: Path, as_json: bool) -> int:
    """Add URLs to the crawl in DIR. A running crawl takes them at once, a paused one when it resumes.

    The scope of the crawl stays as it is, and robots.txt still applies. A page fetched before is not fetched again; one
    that is gone or disallowed, and would not be visited again, is requested once more.

    Exit status: 0: all URLs belong to the crawl; 1: a URL is out of scope; 2: a URL is invalid, or is on a public host
    and the crawl has no contact: nothing is submitted (of files: only the batches of 10,000 URLs before it); 3: the
    crawl does not answer.
    """
    if not (urls or seed_files):
        raise InputError("give URLs, or a file of URLs with --seeds")
    control = open_control(folder)
    typed = parse_seeds(urls)
    with read_seed_files(seed_files, lambda url: None) as listed:
        submitted = control.submit(typed) if typed else []
        if not as_json:
            for item in submitted:
                say_folded(_line(item))
        of_files = _submit_all(control, iter(listed))
    counts = Counter(map(_result, submitted)) + of_files
    if as_json:
        write_json({"done": not counts["out of scope"], **_counts_json(counts), "urls": [*map(_json, submitted)]})
    elif seed_files:
        say(", ".join(f"{of_files[result]:,} {result}" for result in _RESULTS))
    return 1 if counts["out of scope"] else 0


def _submit_all(control: RemoteControl, urls: Iterator[Url]) -> Counter[str]:
    """Submits the URLs of files; returns how many had which result."""
    counts = Counter[str]()
    while batch := list(islice(urls, _BATCH_URLS)):
        counts.update(_result(item) for item in control.submit(batch))
    return counts


def _counts_json(counts: Counter[str]) -> dict[str, int]:
    return {result.replace(" ", "_"): counts[result] for result in _RESULTS}


def _json(item: Submitted) -> dict[str, object]:
    return {
        "url": item.url.text,
        "result": _result(item),
        "state_before": item.before,
        "state": item.now,
        "reason": item.refused,
    }


def _result(item: Submitted) -> str:
    if item.refused is not None:
        return "out of scope"
    return "known" if item.before is not None and item.before == item.now else "submitted"


def _line(item: Submitted) -> str:
    result = _result(item)
    if item.refused is not None:
        return f"{result}  {item.url}: {item.refused}"
    if item.before is None:
        return f"{result}     {item.url}"
    if result == "known":
        return f"{result}         {item.url} ({item.now})"
    return f"{result}     {item.url} (was {item.before}, is {item.now})"
