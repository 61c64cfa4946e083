"""`goodbot lessons`: lists or drops what a crawl has learned about hosts."""

import time
from pathlib import Path

import click

from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.host_argument import HOST_HELP, host_key, hosts_meant
from goodbot.cli.lesson_text import held
from goodbot.cli.options import in_option
from goodbot.cli.printing import say_folded, write_json
from goodbot.crawl_admin import lessons_of, unlearn
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted
from goodbot.lesson_values import lesson_id
from goodbot.url_story import lesson_json


@click.group(
    name="lessons",
    cls=CommandGroup,
    examples="""
    goodbot lessons list --in crawl --host example.org
    goodbot lessons drop 5ab31c90e2 --in crawl
    """,
)
def command() -> None:
    """List or drop what a crawl has learned about hosts: traps, mirrors, URL parameters that do not change a page.

    A lesson is in force for a week; then the crawl fetches some of the pages again. If they show the same, the lesson
    is in force twice as long as before, up to a year. A lesson of the kind `canonical` is in force until you drop it.
    """


@command.command(
    name="list", short_help="List lessons, host by host", examples="goodbot lessons list --in crawl --host example.org"
)
@in_option
@click.option("--host", metavar="HOST", help=HOST_HELP)
def list_command(folder: Path, host: str | None, as_json: bool) -> None:
    """List lessons, host by host, the oldest first. Works while the crawl runs.

    Exit status: 0: done; 2: HOST is not a host name, or there is no crawl in DIR; 3: DIR is damaged.
    """
    wanted = None if host is None else host_key(host)
    lessons = lessons_of(folder, wanted)
    if as_json:
        write_json({"lessons": [lesson_json(lesson) for lesson in lessons]})
        return
    if not lessons:
        say_folded("no lessons yet" if wanted is None else f"no lessons about {wanted}{hosts_meant(folder, wanted)}")
    now = time.time()
    for lesson in lessons:
        say_folded(f"{lesson.host}  {lesson.kind}: {shown(lesson.evidence)}", f"{lesson_id(lesson)}  ", " " * 12)
        say_folded(held(lesson, now), " " * 12, " " * 12)


@command.command(
    name="drop",
    short_help="Drop lessons, so that their URLs are fetched",
    output=False,
    examples="goodbot lessons drop 5ab31c90e2 --in crawl",
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@in_option
def drop_command(ids: tuple[str, ...], folder: Path, as_json: bool) -> None:
    """Drop the lessons with these IDs. The next crawl fetches the URLs they kept out; a running crawl does so at once.

    Exit status: 0: dropped; 2: an ID matches no lesson, and nothing is dropped; 3: a running crawl does not answer.
    """
    dropped = unlearn(folder, ids)
    if as_json:
        write_json({"done": True, "dropped": [lesson_id(lesson) for lesson in dropped]})
        return
    say_folded(f"{counted(len(dropped), 'lesson')} dropped")
