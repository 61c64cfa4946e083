"""`goodbot fetch`: reads pages, one polite request each."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.command_class import Command
from goodbot.cli.fetch_report import Form, document_of, trouble_line
from goodbot.cli.options import base_settings
from goodbot.cli.printing import complain, drop_output, keep_output, put, say_folded, stream_of, write_json
from goodbot.cli.progress_line import ProgressLine
from goodbot.cli.settings_options import settings_options
from goodbot.config import Settings
from goodbot.errors import InputError, SettingError, option_of
from goodbot.interrupts import run_async
from goodbot.robot.client.reading import Reading
from goodbot.robot.crawl.settings_check import check_files, check_form
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.scope.seeding import typed_seeds
from goodbot.url import Url, parse_url

if TYPE_CHECKING:
    from goodbot.api import Robot

AT_ONCE: Final = 8
"""URLs read at the same time; a page being read takes up to 24 times its size in memory."""
SILENT_S: Final = 2.5
"""If a page takes longer, a message says which delay its host asks for."""
MOST_READ: Final = 10_000
"""Maximum number of URLs per command."""

_OPTIONS: Final = ("agent", "contact", "allow_private", "ca_file", "resolve", "proxy")
_OTHERS: Final = tuple(item.name for item in fields(Settings) if item.name not in _OPTIONS)


@click.command(
    name="fetch",
    cls=Command,
    sections={
        "Who you are": ("agent", "contact"),
        "Network": ("allow_private", "ca_file", "resolve", "proxy"),
    },
    examples="""
    goodbot fetch https://example.org/article --contact me@example.org
    goodbot fetch https://example.org/ --contact me@example.org --as text --whole
    goodbot fetch https://example.org/a https://example.org/b --contact me@example.org --json
    """,
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option(
    "--as",
    "form",
    default="markdown",
    show_default=True,
    type=click.Choice(["markdown", "text", "html", "json"]),
    help="Output format. markdown begins with YAML front matter: URL, title, author, date, language.",
)
@click.option("--whole", is_flag=True, help="Print everything on a page: menus, footers and comments too.")
@click.option(
    "--render",
    is_flag=True,
    default=None,
    help="Run the scripts of a page in Chromium before it is read; goodbot fetches what the scripts request, if "
    "robots.txt allows it. Needs Playwright (the optional dependency `render`).",
)
@partial(settings_options, without=_OTHERS)
def command(urls: tuple[str, ...], form: Form, whole: bool, as_json: bool, **options: Any) -> int:
    """Read the main content of pages as Markdown, text, HTML or JSON.

    goodbot fetches each URL once, if robots.txt allows it, with the delays that its host asks for, and follows
    redirects by the same rules. It reads HTML, PDF, plain text and Markdown, and lists the entries of feeds and
    sitemaps. JSON has more: links, the directives of the page, the verdict of robots.txt, and what the site says about
    use of its content for search and AI.

    Exit status: 0: all URLs were read; 1: some were read and some were not, or robots.txt disallows every URL; 2: bad
    input; 3: no URL was read, and not only because of robots.txt. With --json, the result is also written with status
    1 and 3: it says why. In other formats, FILE of --output keeps its content if no URL was read.
    """
    settings = _settings(urls, {name: value for name, value in options.items() if value not in (None, ())})
    readings = run_async(lambda: _read_all(settings, whole=whole))
    if as_json or form == "json":
        keep_output()
        write_json([reading.as_json() for reading in readings])
    elif not any(reading.ok for reading in readings):
        drop_output()
    else:
        _print(readings, form)
    for reading in readings:
        if (line := trouble_line(reading)) is not None:
            complain(line)
        elif reading.unread:
            say_folded(f"goodbot: {reading.final_url}: {reading.unread}", err=True)
    return exit_status(readings)


def exit_status(readings: Sequence[Reading]) -> int:
    """The exit status of the command; see its help."""
    if all(reading.ok for reading in readings):
        return 0
    is_any_read = any(reading.ok for reading in readings)
    return 1 if is_any_read or all(reading.is_disallowed for reading in readings) else 3


def _settings(urls: Sequence[str], options: dict[str, Any]) -> Settings:
    """Returns the settings of the robot, with the URLs as seeds. Raises InputError for a URL that may not be
    requested."""
    if len(urls) > MOST_READ:
        raise InputError(f"at most {MOST_READ:,} URLs per command: use goodbot crawl --seeds for more")
    for text in urls:
        if parse_url(text.strip()) is None:
            typed = text.strip()
            likely = f"https://{typed}" if "/" in typed else f"https://{typed}/"
            hint = "" if "://" in typed or parse_url(likely) is None else f"; did you mean {likely} ?"
            raise InputError(f"not an http or https URL: {text!r}{hint}")
    try:
        settings = replace(base_settings(), **options, seeds=tuple(urls))
        check_form(settings)
        check_files(settings)
    except SettingError as error:
        raise InputError(error.naming(f"--{option_of(error.name)}")) from error
    identity_of(settings, version("goodbot"))
    typed_seeds(settings)
    return settings


async def _read_all(settings: Settings, *, whole: bool) -> list[Reading]:
    """Reads all URLs and returns the results in their order."""
    from goodbot.api import Robot  # noqa: PLC0415  (`--help` needs no libcurl)

    room, done, size = asyncio.Semaphore(AT_ONCE), 0, len(settings.seeds)
    async with Robot(settings.agent, settings=settings) as robot:
        with ProgressLine(_urls) as progress:
            named: set[str] = set()

            async def read(url: str) -> Reading:
                nonlocal done
                async with room:
                    reading = asyncio.ensure_future(robot.read(url, whole=whole, render=settings.render))
                    await asyncio.wait({reading}, timeout=SILENT_S)
                    if not reading.done():
                        await _say_delay(robot, url, named)
                    await reading
                done += 1
                if done < size:
                    progress.report(done, size)
                return reading.result()

            return list(await asyncio.gather(*(read(url) for url in settings.seeds)))


def _urls(count: float) -> str:
    return "1 URL" if count == 1 else f"{count:,.1f} URLs".replace(".0 ", " ")


async def _say_delay(robot: "Robot", text: str, named: set[str]) -> None:
    """Says which delay a host asks for, if that is why its page takes long; once for each host."""
    verdict = await robot.may_fetch(text)
    url, delay_s = Url(verdict.url), verdict.delay_s
    if delay_s and delay_s > SILENT_S and url.host_key not in named:
        named.add(url.host_key)
        say_folded(f"goodbot: waiting, because {url.host} asks for {delay_s:g} s between requests", err=True)


def _print(readings: Sequence[Reading], form: Form) -> None:
    stream = stream_of(err=False)
    on_terminal = stream is not None and stream.isatty()
    for text in _documents(readings, form):
        put((text.expandtabs(4) if on_terminal else text).encode("utf-8", "replace"))


def _documents(readings: Sequence[Reading], form: Form) -> Iterator[str]:
    printed = [reading for reading in readings if reading.ok]
    for number, reading in enumerate(printed):
        yield ("\n" if number else "") + document_of(reading, form, is_one_of_several=len(readings) > 1)
