"""`goodbot format`: rewrites a robots.txt with the same verdicts."""

from dataclasses import dataclass
from pathlib import Path

import click

from goodbot.cli.command_class import Command, output_is_given
from goodbot.cli.file_diff import print_diff, unified_diff
from goodbot.cli.options import site_meant
from goodbot.cli.printing import put, say_folded, write_json
from goodbot.cli.robots_file import read_robots_file
from goodbot.errors import InputError
from goodbot.files import write_whole
from goodbot.human import counted


@dataclass(frozen=True)
class Formatted:
    """One file, as it is and as formatted. `why_unchanged`: why it may not be rewritten, or None."""

    name: str
    before: bytes
    after: bytes
    why_unchanged: str | None

    @property
    def changes(self) -> bool:
        """Whether formatting changes the file."""
        return self.after != self.before


@click.command(
    name="format",
    cls=Command,
    inputs=("files",),
    examples="""
    goodbot format robots.txt --diff
    goodbot format robots.txt --compact -o small.txt
    goodbot format --write robots.txt
    """,
)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--compact", is_flag=True, help="Fewer bytes: no comments, no unnecessary spaces, no repeated rules.")
@click.option("--write", "in_place", is_flag=True, help="Write the files instead of printing them.")
@click.option(
    "--check", "only_check", is_flag=True, help="Print nothing and write nothing; exit 1 if a file would change."
)
@click.option("--diff", is_flag=True, help="Write nothing: print what would change; exit 1 if anything would.")
def command(
    files: tuple[str, ...], *, compact: bool, in_place: bool, only_check: bool, diff: bool, as_json: bool
) -> int:
    """Rewrite a robots.txt, tidy or compact. Every robot gets the same answers as before, in all seven dialects.

    FILE is a file, or - for standard input. Tidy: one space after each colon, fields as they are usually written, LF at
    the ends of lines, an empty line between groups; comments stay. Bytes that are not UTF-8 are percent-encoded: byte
    E9 becomes %E9. A file is left unchanged if rewriting it could change how some robot reads it: UTF-16, a part of a
    byte order mark, NUL characters, a line of more than 4,165 characters, 200,000 lines or more. A line on standard
    error says so.

    --write replaces a file whole or not at all: a crash leaves the old one. If one FILE cannot be read or is not a
    robots.txt, no FILE is written or printed.

    Exit status: 0: done; 1: a file would change (--check, --diff); 2: a file cannot be read; 3: one cannot be
    written.
    """
    _check_options(in_place=in_place, only_check=only_check, diff=diff, as_json=as_json)
    if in_place and "-" in files:
        raise InputError("--write needs a file, not standard input")
    formatted = [_formatted(name, compact=compact) for name in files]
    is_preview = only_check or diff
    for each in formatted:
        if each.why_unchanged:
            name = "standard input" if each.name == "-" else each.name
            say_folded(f"goodbot: {name} is left unchanged: {each.why_unchanged}", err=True)
        if in_place:
            _write(each)
        elif not as_json:
            _print(each, only_check=only_check, diff=diff)
    if as_json:
        parts = [_json(each, diff=diff, text=not (is_preview or in_place)) for each in formatted]
        write_json({"done": not is_preview, "files": parts})
    return 1 if is_preview and any(each.changes for each in formatted) else 0


def _check_options(*, in_place: bool, only_check: bool, diff: bool, as_json: bool) -> None:
    """Raises InputError for options that contradict each other."""
    if only_check and in_place:
        raise InputError("--check writes nothing: leave out --write")
    if diff and (in_place or only_check):
        raise InputError(f"--diff prints what would change: leave out {'--write' if in_place else '--check'}")
    if (in_place or only_check) and output_is_given() and not as_json:
        raise InputError(f"{'--write' if in_place else '--check'} prints nothing: leave out --output")


def _formatted(name: str, *, compact: bool) -> Formatted:
    from goodbot.check import layout  # noqa: PLC0415  (`goodbot --help` needs none of it)

    body = _read(name)
    return Formatted(
        name, body, layout.compact(body) if compact else layout.tidy(body), layout.why_unchanged(body) or None
    )


def _print(each: Formatted, *, only_check: bool, diff: bool) -> None:
    if diff:
        print_diff(_difference(each))
    elif not only_check:
        put(each.after)


def _json(each: Formatted, *, diff: bool, text: bool) -> dict[str, object]:
    return {
        "file": each.name,
        "changed": each.changes,
        "bytes_before": len(each.before),
        "bytes_after": len(each.after),
        "why_unchanged": each.why_unchanged,
        **({"diff": _difference(each).decode("utf-8", "replace")} if diff else {}),
        **({"text": each.after.decode("utf-8", "replace")} if text else {}),
    }


def _read(name: str) -> bytes:
    if not Path(name).exists() and ("://" in name or site_meant(name)):
        raise InputError(f"{name} is not a file: save the robots.txt of the site first, and give the file")
    return read_robots_file(name)


def _difference(each: Formatted) -> bytes:
    return unified_diff(each.before, each.after, each.name, "formatted")


def _write(each: Formatted) -> None:
    if each.changes:
        write_whole(Path(each.name), each.after)
        say_folded(f"{each.name}: {counted(len(each.before), 'byte')} became {len(each.after):,}", err=True)
