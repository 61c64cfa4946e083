"""What commands print. All of it goes through this module, so that no text from outside steers a terminal."""

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any, Final, TextIO

import click

from goodbot.exclusion.text.shown_text import visible

WIDTH_MOST: Final = 100
WIDTH_LEAST: Final = 30

_ENDS: Final = "goodbot.ends_when_unread"

Line = Sequence[str]
"""The parts of one line, to pass to `say`."""


class Styled(str):
    """Text that is visible already, with the styles we gave it. An f-string makes plain text of it again, and its
    styles then appear as escapes: combine such texts with `joined`."""

    __slots__ = ()


def styled(text: str, **style: Any) -> Styled:
    """Visible text in a style of `click.style`."""
    return Styled(click.style(visible(text), **style) if style else visible(text))


def joined(*parts: str) -> Styled:
    """One text of several; what is not styled is made visible."""
    return Styled("".join(part if isinstance(part, Styled) else visible(part) for part in parts))


def say(*parts: str, err: bool = False) -> None:
    """One line on standard output, or on standard error; colours only where they are wanted."""
    text = joined(*parts)
    _write((text if in_colour(err=err) else click.unstyle(text)) + "\n", err=err)


def wrapped(text: str, first: str, rest: str, **style: Any) -> Iterator[Line]:
    """Text in lines of `width()` columns, unless a word is longer: the first begins with `first`, the others with
    `rest`. `style`: of the text, see `styled`."""
    text = visible(text)
    begin = len(click.unstyle(first))
    word = next(iter(text.split()), "")
    if begin > len(rest) and begin + len(word) > width():  # a line of its own for `first`
        yield [first]
        first, begin = rest, len(rest)
    lines = textwrap.wrap(
        text,
        width(),
        initial_indent=" " * begin,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    yield [first, styled(lines[0][begin:], **style)] if lines else [first]
    yield from ([styled(line, **style)] for line in lines[1:])


def folded(text: str, first: str = "", rest: str = "", **style: Any) -> Iterator[Line]:
    """The same on a terminal; elsewhere one line, as programs read it."""
    if sys.stdout is not None and sys.stdout.isatty():
        return wrapped(text, first, rest, **style)
    return iter([[first, styled(text, **style)]])


def overwrite(text: str) -> None:
    """Replaces the last line of the terminal on standard error; an empty text clears it."""
    _write(f"\r\x1b[K{visible(text)}", err=True)


def put(content: bytes) -> None:
    """The content of a file on standard output: byte for byte; on a terminal, with invisible characters as escapes."""
    if sys.stdout.isatty():
        _write("\n".join(visible(line) for line in content.decode("utf-8", "replace").split("\n")), err=False)
    else:
        with _read_or_not(sys.stdout):
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()


def json_text(value: object) -> str:
    """One JSON value in printable ASCII."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False).replace("\x7f", "\\u007f")


def write_json(value: object) -> None:
    """One JSON value on one line of standard output."""
    with _read_or_not(sys.stdout):
        sys.stdout.write(json_text(value) + "\n")


def _write(text: str, *, err: bool) -> None:
    stream = stream_of(err=err)
    if stream is not None:  # closed: nobody reads it
        with _read_or_not(stream):
            stream.write(text)
            stream.flush()


def stream_of(*, err: bool) -> TextIO | None:
    """Standard output or standard error; None if it is closed."""
    return sys.stderr if err else sys.stdout


# ---- a reader that goes away ----------------------------------------------------------------------------------------


def end_when_unread() -> None:
    """From now on the command ends, with status 0, when the reader of its output has gone (`| head`): for long output.

    Without this call a command does all it has to do, and its exit status is the same as with a reader."""
    click.get_current_context().meta[_ENDS] = True


def flush() -> None:
    """Writes out what standard output still holds."""
    with _read_or_not(sys.stdout):
        sys.stdout.flush()


def drop(stream: TextIO) -> None:
    """From now on the stream takes everything and passes nothing on, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


@contextmanager
def _read_or_not(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        context = click.get_current_context(silent=True)
        if context is not None and _ENDS in context.meta:
            raise
        drop(stream)


# ---- what the terminal can do ---------------------------------------------------------------------------------------


def escape_what_cannot_be_encoded() -> None:
    """Makes both streams write, as escapes, the characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def in_colour(*, err: bool = False) -> bool:
    """Whether to print in colours: as `--color` says, else on a terminal unless NO_COLOR is set."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    stream = stream_of(err=err)
    return stream is not None and stream.isatty() and not os.environ.get("NO_COLOR")


def width() -> int:
    """Columns to fill with text: those of the terminal, at least 30 and at most 100."""
    columns = shutil.get_terminal_size((WIDTH_MOST, 24)).columns
    return min(max(columns, WIDTH_LEAST), WIDTH_MOST)
