"""`goodbot allowed`: may a robot fetch these URLs?"""

from collections.abc import Callable, Iterator
from itertools import groupby

import click

from goodbot.cli.command_class import Command
from goodbot.cli.printing import Line, folded, joined, say, styled, write_json
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, RobotsTxt, Verdict
from goodbot.url import MAX_URL_CHARS, Url, is_as_typed, parse_url, requested, resolve

AGENTS_SHOWN = 20
"""How many names of a group JSON shows."""

Answer = Callable[[str, str], Verdict]
"""Answers for one dialect: URL, agent → verdict."""


@click.command(
    name="allowed",
    cls=Command,
    inputs=("robots",),
    examples="""
    goodbot allowed robots.txt --agent Googlebot /private /open
    goodbot allowed https://example.org/ --agent GPTBot https://example.org/page
    goodbot allowed robots.txt --agent bingbot --dialect all /search?q=robots
    """,
)
@click.argument("robots")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--agent", required=True, metavar="TOKEN", help="Product token, or a whole User-Agent value.")
@click.option(
    "--dialect",
    default="rfc9309",
    show_default=True,
    type=click.Choice([*DIALECTS, "all"]),
    metavar="DIALECT",
    help=f"How robots.txt is read: {', '.join(DIALECTS)}; or all: every dialect, side by side.",
)
def command(robots: str, urls: tuple[str, ...], agent: str, dialect: str, as_json: bool) -> int:
    """May a robot fetch these URLs, and which line of robots.txt says so?

    ROBOTS is a file, - for standard input, or a site's URL, whose robots.txt is then fetched. A URL may be absolute or
    a path.

    Exit status: 0: all URLs are allowed; 1: a URL is disallowed (with --dialect all: in at least one dialect), also
    because the robots.txt of a site is unreachable; 2: bad input, such as a file that cannot be read.
    """
    if not agent.strip():
        raise InputError("--agent must not be empty")
    dialects = list(DIALECTS) if dialect == "all" else [dialect]
    site = parse_url(robots)
    asked = _targets(site, urls) if site is not None else [(url, _requested(url)) for url in urls]
    answers = _of_site(site, dialects) if site is not None else _of_file(robots, dialects)
    verdicts = [(text, answer(url, agent)) for text, url in asked for answer in answers]
    if as_json:
        write_json([_json(url, agent, verdict) for url, verdict in verdicts])
    elif dialect == "all":
        for parts in _side_by_side(verdicts):
            say(*parts)
    else:
        for url, verdict in verdicts:
            say(_word(verdict), f" {_named(url, verdict)}")
            for line in folded(f"{verdict.reason} ({verdict.section})", *[" " * 11] * 2):
                say(*line)
    return 0 if all(verdict.allowed for _, verdict in verdicts) else 1


def _requested(text: str) -> str:
    """Calls `requested`. Raises InputError for text such as `private`: no rule matches it, so it would seem allowed."""
    url = requested(text)
    if url is None and len(text) > MAX_URL_CHARS:
        raise InputError(f"a URL may have at most {MAX_URL_CHARS:,} characters; this one has {len(text):,}")
    if url is None:
        raise InputError(f"neither an http or https URL nor a path that begins with /: {text!r}")
    return url


def _named(typed: str, verdict: Verdict) -> str:
    """Returns the URL as typed, with the URL that a robot would request if it differs."""
    return typed if is_as_typed(typed, verdict.url) else f"{typed}  (requested as {verdict.url})"


def _of_file(name: str, dialects: list[str]) -> list[Answer]:
    if "://" in name:
        raise InputError(f"not an http or https URL: {name}")
    body = read_robots_file(name, or_site=True)
    return [RobotsTxt.parse(body, dialect).verdict for dialect in dialects]


def _of_site(site: Url, dialects: list[str]) -> list[Answer]:
    """Fetches the robots.txt once, and reads it in each dialect."""
    from goodbot.one_shot import fetch_access  # noqa: PLC0415  (a robots.txt in a file needs no network)

    access = fetch_access(site)
    return [access.in_dialect(dialect).verdict for dialect in dialects]


def _targets(site: Url, urls: tuple[str, ...]) -> list[tuple[str, str]]:
    """Returns each URL as typed and resolved. Raises InputError for a URL of another site."""
    targets = []
    for text in urls:
        url = resolve(site, text)
        if url is None or url.origin != site.origin:
            raise InputError(f"{text} is not a URL of {site.origin}, whose robots.txt was fetched")
        targets.append((text, url.text))
    return targets


def _json(url: str, agent: str, verdict: Verdict) -> dict[str, object]:
    group = {"line": verdict.group_line, "agents": verdict.group_agents[:AGENTS_SHOWN]}
    return {
        "url": url,
        "requested_as": verdict.url,
        "agent": agent,
        "dialect": verdict.dialect,
        "allowed": verdict.allowed,
        "line": verdict.line,
        "rule": verdict.rule,
        "pattern": verdict.pattern,
        "group": None if verdict.group_line is None else group,
        "lost": [{"line": rule.line, "rule": str(rule)} for rule in verdict.lost],
        "section": verdict.section,
        "reason": verdict.reason,
        "access": verdict.access,
        "delay_s": verdict.delay_s,
    }


def _side_by_side(verdicts: list[tuple[str, Verdict]]) -> Iterator[Line]:
    """A line for each URL that says whether the dialects agree, and under it one for each of them."""
    for url, answers in groupby(verdicts, key=lambda pair: pair[0]):
        all_of_it = [verdict for _, verdict in answers]
        agreed = len({verdict.allowed for verdict in all_of_it}) == 1
        yield [f"{_named(url, all_of_it[0])}  ({'all dialects agree' if agreed else 'the dialects differ'})"]
        for verdict in all_of_it:
            head = joined("  ", _word(verdict), f" {verdict.dialect:<8} ")
            yield from folded(f"{verdict.reason} ({verdict.section})", head, " " * 6)


def _word(verdict: Verdict) -> str:
    return styled("allowed   ", fg="green") if verdict.allowed else styled("disallowed", fg="red")
