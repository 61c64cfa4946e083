"""`goodbot write`: generates a robots.txt from what the owner of a site wants."""

import os
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from goodbot.check.policy_writer import Policy, RobotLimits, merge_robotstxt, write_robotstxt
from goodbot.cli.command_class import Command
from goodbot.cli.file_diff import print_diff, unified_diff
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import read_input
from goodbot.cli.printing import put, say_folded, write_json
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError
from goodbot.files import is_same_file, write_whole
from goodbot.registry import PURPOSES, find_token, similar_tokens


@click.command(
    name="write",
    cls=Command,
    output=False,
    examples="""
    goodbot write --close /private/ --sitemap https://example.org/sitemap.xml
    goodbot write --no ai-training --no seo -o robots.txt
    goodbot write --only Googlebot --only bingbot
    goodbot write --policy robots.toml -o robots.txt --diff
    goodbot write --merge alice.txt bob.txt
    """,
)
@click.argument("files", nargs=-1, metavar="[INPUT]...")
@click.option("--closed", is_flag=True, help="Close the site to every robot except those of --only.")
@click.option("--close", multiple=True, metavar="PATH", help="Close a path to every robot. Repeatable.")
@click.option("--open", "open_", multiple=True, metavar="PATH", help="Open a path inside a closed one. Repeatable.")
@click.option(
    "--only",
    multiple=True,
    metavar="TOKEN",
    help="Close the site to all robots except those named with --only. Repeatable.",
)
@click.option(
    "--no",
    multiple=True,
    metavar="PURPOSE",
    type=click.Choice(list(PURPOSES)),
    help="Close the site to robots with this purpose, as recorded in goodbot's directory; ai-training also writes a"
    f" Content-Signal line. One of {', '.join(PURPOSES)}. Repeatable.",
)
@click.option("--no-robot", multiple=True, metavar="TOKEN", help="Close the site to this robot. Repeatable.")
@click.option(
    "--delay", type=float, metavar="SECONDS", help="Seconds between two requests (Crawl-delay; some robots ignore it)."
)
@click.option("--sitemap", multiple=True, metavar="URL", help="URL of a sitemap. Repeatable.")
@click.option(
    "--policy",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Read these settings from a TOML file, described above; - is standard input.",
)
@click.option("--merge", is_flag=True, help="Merge several files into one that closes whatever any INPUT closes.")
@click.option(
    "--output",
    "-o",
    type=NamedPath(path_type=Path),
    metavar="FILE",
    help="Write to FILE instead of standard output. An existing FILE with other content is replaced only with --merge "
    "or --force.",
)
@click.option(
    "--diff",
    is_flag=True,
    help="With --output: write nothing, print what --output would change; exit 1 if anything would change.",
)
@click.option(
    "--force",
    is_flag=True,
    help="Replace an existing FILE, and accept robot names that look like misspellings of known ones.",
)
def command(
    files: tuple[str, ...],
    *,
    closed: bool,
    close: tuple[str, ...],
    open_: tuple[str, ...],
    only: tuple[str, ...],
    no: tuple[Any, ...],
    no_robot: tuple[str, ...],
    delay: float | None,
    sitemap: tuple[str, ...],
    policy: Path | None,
    merge: bool,
    output: Path | None,
    diff: bool,
    force: bool,
    as_json: bool,
) -> int:
    """Write a robots.txt from what its owner wants.

    The keys of a policy file: everyone = "open" (the default) or "closed"; delay, in seconds; the lists close, open,
    only, no, no_robots and sitemaps; tables [robots.TOKEN] with close, open and delay for one robot. Options add to it.

    INPUT is a robots.txt, given only with --merge, which is for servers with several authors. The merged file is as
    strict, for each robot, as the strictest INPUT.

    --output writes a file whole or not at all: a crash leaves the old one.

    Exit status: 0: done; 1: a file would change (--diff); 2: bad input, or FILE exists with other content (see
    --force); 3: FILE cannot be written.
    """
    if diff and output is None:
        raise InputError("--diff shows what --output FILE would change: give both")
    if output is not None and str(output) == "-":
        output = None
    if output is not None and policy is not None and is_same_file(policy, output):
        raise InputError(f"--output is one of the inputs: {output}")
    given = any((closed, close, open_, only, no, no_robot, delay is not None, sitemap, policy))
    if merge:
        if given or len(files) < 2:
            raise InputError(
                "--merge takes two robots.txt files or more, and of the other options only --output, --diff and --force"
            )
        text = _merged(files)
    else:
        if files:
            raise InputError(f"{files[0]}: files are for --merge; use --policy for a policy file")
        base = load_policy(policy) if policy else Policy()
        wanted = replace(
            base,
            everyone="closed" if closed else base.everyone,
            bounds=RobotLimits(
                close=(*base.bounds.close, *close),
                open=(*base.bounds.open, *open_),
                delay=base.bounds.delay if delay is None else delay,
            ),
            only=(*base.only, *only),
            no=(*base.no, *no),
            no_robots=(*base.no_robots, *no_robot),
            sitemaps=(*base.sitemaps, *sitemap),
        )
        if not force:
            _check_names((*wanted.only, *wanted.no_robots, *wanted.robots))
        text = write_robotstxt(wanted)
    if output is not None and diff:
        return _show_difference(text, output, as_json=as_json)
    _put_out(text, output, replaces=merge or force, as_json=as_json)
    return 0


def _merged(files: Iterable[str]) -> bytes:
    text, left_out = merge_robotstxt([read_robots_file(name) for name in files])
    for sentence in left_out:
        say_folded(f"goodbot: {sentence}", err=True)
    return text


def _put_out(text: bytes, output: Path | None, *, replaces: bool, as_json: bool) -> None:
    """Writes the robots.txt to the file, or prints it if there is none."""
    file = None if output is None or _is_standard_output(output) else output
    if file is not None:
        _write(text, file, replaces=replaces)
    if as_json:
        content = {"text": text.decode("utf-8", "replace")} if file is None else {}
        write_json({"done": True, "file": None if file is None else str(file), "bytes": len(text), **content})
    elif file is None:
        put(text)


def _check_names(tokens: Iterable[str]) -> None:
    """Raises InputError for a name that no known robot uses and that looks like a misspelling of one: no robot would
    obey it."""
    for token in tokens:
        if find_token(token) is None and (similar := similar_tokens(token)):
            names = " or ".join(similar)
            raise InputError(f"{token} is not a known robot; did you mean {names}? Use --force to keep it")


def _is_standard_output(output: Path) -> bool:
    """Whether the path leads to standard output, as /dev/stdout does."""
    try:
        return os.path.samestat(output.stat(), os.fstat(sys.stdout.fileno()))
    except OSError:  # no such file, or no descriptor
        return False


def _old(output: Path) -> bytes | None:
    """Returns the content of a regular file; None if the path is not one."""
    return read_input(str(output)) if output.is_file() else None


def _write(text: bytes, output: Path, *, replaces: bool) -> None:
    if not replaces and _old(output) not in (None, text):
        raise InputError(f"{output} exists already: --force replaces it, --diff shows what would change")
    write_whole(output, text)


def _show_difference(text: bytes, output: Path, *, as_json: bool) -> int:
    """Prints what would change in the file; returns the exit status."""
    difference = unified_diff(_old(output), text, str(output), "new")
    if as_json:
        shown = difference.decode("utf-8", "replace")
        write_json({"done": False, "file": str(output), "changed": bool(difference), "diff": shown})
    else:
        print_diff(difference)
    return 1 if difference else 0


# ---- the policy file ------------------------------------------------------------------------------------------------

_LISTS = {"close", "open", "only", "no", "no_robots", "sitemaps"}


def load_policy(file: Path) -> Policy:
    """Reads a policy file, or standard input (`-`). Raises InputError, naming the file, if it is not TOML, or for an
    unknown key, a wrong type or a wrong value."""
    try:
        values = tomllib.loads(read_input(str(file)).decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file} is not TOML: {error}") from error
    try:
        return _policy(values)
    except InputError as error:
        raise InputError(f"{file}: {error}") from error


def _policy(values: Mapping[str, Any]) -> Policy:
    _known(values, {"everyone", "delay", "robots", *_LISTS})
    everyone, robots = values.get("everyone", "open"), values.get("robots", {})
    if everyone not in ("open", "closed"):
        raise InputError(f'everyone must be "open" or "closed", not {everyone!r}')
    if not isinstance(robots, dict) or not all(isinstance(table, dict) for table in robots.values()):
        raise InputError("robots must have a table for each robot: [robots.Googlebot]")
    own = {}
    for token, table in robots.items():
        _known(table, {"close", "open", "delay"})
        own[token] = _bounds(table)
    lists = {name: _texts(values, name) for name in ("only", "no", "no_robots", "sitemaps")}
    return Policy(everyone=everyone, bounds=_bounds(values), robots=own, **lists)  # type: ignore[arg-type]


def _bounds(values: Mapping[str, Any]) -> RobotLimits:
    delay = values.get("delay")
    if delay is not None and (isinstance(delay, bool) or not isinstance(delay, int | float)):
        raise InputError(f"delay must be a number of seconds, not {delay!r}")
    return RobotLimits(close=_texts(values, "close"), open=_texts(values, "open"), delay=delay)


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = values.get(name, [])
    if not isinstance(found, list) or not all(isinstance(each, str) for each in found):
        raise InputError(f"{name} must be a list of strings, not {found!r}")
    return tuple(found)


def _known(values: Iterable[str], names: set[str]) -> None:
    for name in values:
        if name not in names:
            raise InputError(f"unknown key {name!r}; the keys are {', '.join(sorted(names))}")
