"""`goodbot format`: a robots.txt written anew, with the same verdicts."""

import difflib
from collections.abc import Iterator
from pathlib import Path

import click

from goodbot.cli.options import site_meant
from goodbot.cli.printing import put, say
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError
from goodbot.files import write_whole
from goodbot.human import counted


@click.command(name="format")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--compact", is_flag=True, help="Fewer bytes: no comments, no unnecessary spaces, no repeated rules.")
@click.option("--write", "in_place", is_flag=True, help="Write the files instead of printing them.")
@click.option(
    "--check", "only_check", is_flag=True, help="Print nothing and write nothing; exit 1 if a file would change."
)
@click.option("--diff", is_flag=True, help="Write nothing: print what would change; exit 1 if anything would.")
def command(files: tuple[str, ...], *, compact: bool, in_place: bool, only_check: bool, diff: bool) -> int:
    """Rewrite a robots.txt, tidy or compact. Every robot gets the same answers as before, in all seven dialects.

    FILE is a file, or - for standard input. Tidy: one space after each colon, fields as they are usually written, LF at
    the ends of lines, a blank line between groups; comments stay. Bytes that are not UTF-8 are percent-encoded: byte E9
    becomes %E9. A file is left unchanged if rewriting it could change how some robot reads it: UTF-16, a part of a byte
    order mark, NUL characters, a line of more than 4,165 characters, 200,000 lines or more. A line on standard error
    says so.

    --write replaces a file whole or not at all: a crash leaves the old one. If one FILE cannot be read or is not a
    robots.txt, no FILE is written or printed.

    Exit status: 0: done; 1: a file would change (--check, --diff); 2: a file cannot be read; 3: one cannot be
    written.

    \b
    goodbot format robots.txt --diff
    goodbot format robots.txt --compact > small.txt
    goodbot format --write robots.txt
    """
    from goodbot.check import layout  # noqa: PLC0415  (`goodbot --help` needs none of it)

    if only_check and in_place:
        raise InputError("--check writes nothing: leave out --write")
    if in_place and "-" in files:
        raise InputError("--write needs a file, not standard input")
    written_anew = layout.compact if compact else layout.tidy
    formatted = [(name, body, written_anew(body)) for name, body in [(name, _read(name)) for name in files]]
    for name, body, new in formatted:
        if why := layout.why_unchanged(body):
            say(f"goodbot: {'standard input' if name == '-' else name} is left unchanged: {why}", err=True)
        if diff:
            for line in _difference(name, body, new):
                say(line)
        elif in_place:
            _write(name, body, new)
        elif not only_check:
            put(new)
    return 1 if (only_check or diff) and any(new != body for _, body, new in formatted) else 0


def _read(name: str) -> bytes:
    if not Path(name).exists() and ("://" in name or site_meant(name)):
        raise InputError(f"{name} is not a file: save the robots.txt of the site first, and give the file")
    return read_robots_file(name)


def _difference(name: str, old: bytes, new: bytes) -> Iterator[str]:
    before, after = (text.decode("utf-8", "replace").split("\n") for text in (old, new))
    return difflib.unified_diff(before, after, name, f"{name} (formatted)", lineterm="")


def _write(name: str, old: bytes, new: bytes) -> None:
    if new == old:
        return
    write_whole(Path(name), new)
    say(f"{name}: {counted(len(old), 'byte')} became {len(new):,}", err=True)
