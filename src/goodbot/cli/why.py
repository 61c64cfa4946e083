"""`goodbot why`: everything decided about one URL."""

import time
from pathlib import Path
from typing import Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.lesson_text import held
from goodbot.cli.options import in_option
from goodbot.cli.printing import folded, say, write_json
from goodbot.errors import InputError
from goodbot.human import human_time, in_shell
from goodbot.lesson_values import Lesson, lesson_id
from goodbot.url import parse_url
from goodbot.url_lookup import look_up
from goodbot.url_story import why_json
from goodbot.values import Event

_SHOWN_DECISIONS: Final = {("settle", "rest"): "delay: ", ("found", "known"): ""}
"""How the text shows decisions whose stored names are not plain."""


@click.command(name="why", cls=Command, examples="goodbot why https://example.org/page --in crawl")
@click.argument("url")
@in_option
def command(url: str, folder: Path, as_json: bool) -> None:
    """Show why a URL is in its state: how it was found, what robots.txt said (with the line), and the result.

    Exit status: 0: done, also for a URL the crawl does not know; 2: URL is not a URL, or there is no crawl in DIR; 3:
    DIR is damaged.
    """
    wanted = parse_url(url)
    if wanted is None:
        raise InputError(f"not an http or https URL: {url!r}")
    found = look_up(folder, wanted)
    requested_as, record = found.requested_as, found.record
    if as_json:
        write_json(why_json(wanted, found))
        return
    if requested_as != wanted:
        _fold(f"{wanted}: a link to it is requested as {requested_as}")
    if record is None:
        _fold(f"{requested_as}: unknown; it is not a seed, and no link that was followed leads to it")
        _say(found.lesson, folder)
        return
    _fold(f"{record.url}: {record.state}{f', {record.why}' if record.why else ''}")
    for event in record.events:
        _fold(event_line(event))
    _say(found.lesson, folder)


def event_line(event: Event) -> str:
    """Returns one event as text. Names the line of robots.txt unless the reason does."""
    decision = _SHOWN_DECISIONS.get((event.step, event.decision), f"{event.decision}: ")
    is_named = event.line is None or f"(line {event.line})" in event.reason
    line = "" if is_named else f" (line {event.line} of robots.txt)"
    return f"  {human_time(event.at)}  {event.step:<10} {decision}{event.reason}{line}"


def _fold(text: str) -> None:
    for line in folded(text, rest="      "):
        say(*line)


def _say(lesson: Lesson | None, folder: Path) -> None:
    if lesson is not None:
        name = lesson_id(lesson)
        drop = f"drop it with: goodbot lessons drop {name} --in {in_shell(folder)}"
        _fold(f"lesson {name}: {held(lesson, time.time())} ({drop})")
