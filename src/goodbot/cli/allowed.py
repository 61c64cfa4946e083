"""`goodbot allowed`: may a robot fetch these URLs?"""

import sys
from pathlib import Path

import click

from goodbot.cli.options import json_option, write_json
from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt, Verdict
from goodbot.exclusion.dialects import DIALECTS
from goodbot.url import Url, parse_url, resolve

INPUT_MOST_BYTES = 64 * 1024 * 1024


@click.command(name="allowed")
@click.argument("robots")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--agent", required=True, metavar="A", help="Product token, or a whole User-Agent value.")
@click.option(
    "--dialect",
    default="rfc9309",
    show_default=True,
    type=click.Choice([*DIALECTS, "all"]),
    help="How robots.txt is read; all: every way, side by side.",
)
@json_option
def command(robots: str, urls: tuple[str, ...], agent: str, dialect: str, as_json: bool) -> int:
    """May robot A fetch these URLs, and which line of robots.txt says so?

    ROBOTS is a file, - for standard input, or a site's URL, whose robots.txt is then fetched. A URL may be absolute or
    a path.

    Exit status: 0 all are allowed, 1 one is not.
    """
    if not agent.strip():
        raise InputError("--agent must not be empty")
    dialects = list(DIALECTS) if dialect == "all" else [dialect]
    site = parse_url(robots)
    verdicts = _of_site(site, urls, agent) if site is not None else _of_file(robots, urls, agent, dialects)
    if as_json:
        write_json([_json(url, agent, verdict) for url, verdict in verdicts])
    else:
        for url, verdict in verdicts:
            _print(url, verdict, with_dialect=len(dialects) > 1)
    return 0 if all(verdict.allowed for _, verdict in verdicts) else 1


def _of_file(name: str, urls: tuple[str, ...], agent: str, dialects: list[str]) -> list[tuple[str, Verdict]]:
    body = _read(name)
    parsed = [RobotsTxt.parse(body, dialect) for dialect in dialects]
    return [(url, robots.verdict(url, agent)) for url in urls for robots in parsed]


def _of_site(site: Url, urls: tuple[str, ...], agent: str) -> list[tuple[str, Verdict]]:
    from goodbot.wiring import fetch_access  # noqa: PLC0415  (a robots.txt in a file needs no network)

    targets = []
    for text in urls:
        url = resolve(site, text)
        if url is None or url.origin != site.origin:
            raise InputError(f"{text} is not of {site.origin}, whose robots.txt was asked for")
        targets.append((text, url))
    access = fetch_access(site)
    return [(text, access.verdict(url.text, agent)) for text, url in targets]


def _read(name: str) -> bytes:
    try:
        if name == "-":
            return sys.stdin.buffer.read(INPUT_MOST_BYTES)
        with Path(name).open("rb") as file:
            return file.read(INPUT_MOST_BYTES)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error


def _json(url: str, agent: str, verdict: Verdict) -> dict[str, object]:
    return {
        "url": url,
        "agent": agent,
        "dialect": verdict.dialect,
        "allowed": verdict.allowed,
        "line": verdict.line,
        "rule": verdict.rule,
        "section": verdict.section,
        "reason": verdict.reason,
        "access": verdict.access,
        "delay_s": verdict.delay_s,
    }


def _print(url: str, verdict: Verdict, *, with_dialect: bool) -> None:
    word = click.style("allowed   ", fg="green") if verdict.allowed else click.style("disallowed", fg="red")
    dialect = f"{verdict.dialect:<8} " if with_dialect else ""
    click.echo(f"{word} {dialect}{url}")
    click.echo(f"           {verdict.reason} ({verdict.section})")
