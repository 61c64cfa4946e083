"""`goodbot format`: a robots.txt written anew, with the same verdicts."""

import difflib
import sys
from pathlib import Path

import click

from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError, RunError


@click.command(name="format")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--compact", is_flag=True, help="As few bytes as can be: no comments, no needless blanks, nothing twice.")
@click.option("--write", "in_place", is_flag=True, help="Write the files instead of printing them.")
@click.option("--check", "only_check", is_flag=True, help="Print and write nothing: exit 1 if a file would change.")
@click.option("--diff", is_flag=True, help="Print what would change instead.")
def command(files: tuple[str, ...], *, compact: bool, in_place: bool, only_check: bool, diff: bool) -> int:
    """Write a robots.txt anew, tidy or compact; every robot gets the same answers as before, in all seven dialects.

    FILE is a file, or - for standard input. Tidy: one blank after each colon, fields as they are usually written, LF at
    the ends of lines, a blank line between groups; comments stay. A file that cannot be written anew without changing
    what somebody reads (UTF-16, NUL characters, lines over 16,663 octets) stays as it is.

    Exit status: 0 done; 1 a file would change (--check); 2 a file cannot be read.

    \b
    goodbot format robots.txt --diff
    goodbot format robots.txt --compact > small.txt
    goodbot format --write robots.txt
    """
    from goodbot.check import layout  # noqa: PLC0415  (`goodbot --help` needs none of it)

    changed = False
    for name in files:
        body = read_robots_file(name)
        new = layout.compact(body) if compact else layout.tidy(body)
        changed = changed or new != body
        if diff:
            click.echo(_difference(name, body, new), nl=False)
        elif in_place:
            _write(name, body, new)
        elif not only_check:
            sys.stdout.buffer.write(new)
            sys.stdout.buffer.flush()
    return 1 if only_check and changed else 0


def _difference(name: str, old: bytes, new: bytes) -> str:
    before, after = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (old, new))
    lines = difflib.unified_diff(before, after, name, f"{name} (formatted)")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def _write(name: str, old: bytes, new: bytes) -> None:
    if name == "-":
        raise InputError("--write needs a file, not standard input")
    if new == old:
        return
    try:
        Path(name).write_bytes(new)
    except OSError as error:
        raise RunError(f"cannot write {name}: {error.strerror}") from error
    click.echo(f"{name}: {len(old)} bytes became {len(new)}", err=True)
