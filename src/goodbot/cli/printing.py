"""Prints what commands print. All of it goes through this module, so that no text from outside steers a terminal."""

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from io import FileIO, TextIOWrapper
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO, cast

import click

from goodbot.errors import GoodbotError, InputError
from goodbot.exclusion.text.shown_text import strict_json, visible
from goodbot.files import cannot_write, writing_whole

MAX_WIDTH: Final = 100
MIN_WIDTH: Final = 30

_ENDS: Final = "goodbot.ends_when_unread"
_QUIET: Final = "goodbot.quiet"
_OUTPUT: Final = "goodbot.output_file"

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
    """Prints one line of the result; with `err`, a message on standard error, which `--quiet` suppresses."""
    if not (err and is_quiet()):
        _write_line(parts, err=err)


def complain(text: str) -> None:
    """Prints an error on standard error, `--quiet` or not; folded on a terminal."""
    for line in folded(text, "goodbot: ", "  ", err=True):
        _write_line(line, err=True)


def _write_line(parts: Line, *, err: bool) -> None:
    text = joined(*parts)
    _write((text if in_colour(err=err) else click.unstyle(text)) + "\n", err=err)


def say_lines(lines: Iterable[Line]) -> None:
    """Prints lines, such as those of `wrapped`."""
    for line in lines:
        say(*line)


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


def folded(text: str, first: str = "", rest: str = "", *, err: bool = False, **style: Any) -> Iterator[Line]:
    """Wraps text like `wrapped` if it goes to a terminal; elsewhere it is one line, as programs read it."""
    stream = stream_of(err=err)
    if stream is not None and stream.isatty():
        return wrapped(text, first, rest, **style)
    return iter([[first, styled(text, **style)]])


def say_folded(text: str, first: str = "", rest: str = "  ", *, err: bool = False, **style: Any) -> None:
    """Prints a text that is `folded`."""
    for line in folded(text, first, rest, err=err, **style):
        say(*line, err=err)


def overwrite(text: str) -> None:
    """Replaces the last line of the terminal on standard error; an empty text clears it."""
    _write(f"\r\x1b[K{visible(text)}", err=True)


def put(content: bytes) -> None:
    """Prints the content of a file byte for byte; on a terminal, with invisible characters as escapes."""
    stream = _result_stream()
    if stream.isatty():
        _write("\n".join(visible(line) for line in content.decode("utf-8", "replace").split("\n")), err=False)
    else:
        with _read_or_not(stream):
            stream.flush()
            stream.buffer.write(content)
            stream.buffer.flush()


def binary_stream(what: str, example: str) -> BinaryIO:
    """Returns the open file to which a command writes a result that is not text. It has no buffer that would be written
    again at exit after an error (disk full). Raises InputError if it is a terminal: "`what` is not for a terminal: add
    -o `example`"."""
    stream = _result_stream()
    if stream.isatty():
        raise InputError(f"{what} is not for a terminal: add -o {example}")
    stream.flush()
    return cast("BinaryIO", _WholeWrites(stream.fileno(), "wb", closefd=False))


class _WholeWrites(FileIO):
    """Writes all of what it is given, where the system may take a part of it."""

    def write(self, content: Any, /) -> int:
        rest = memoryview(content).cast("B")
        size = len(rest)
        while rest:
            rest = rest[super().write(rest) :]
        return size


def json_text(value: object) -> str:
    """One JSON value in printable ASCII. A byte of a file name that is not UTF-8 is written as `%FF`."""
    return strict_json(value, allow_nan=False).replace("\x7f", "\\u007f")


def write_json(value: object) -> None:
    """Prints one JSON value on one line."""
    stream = _result_stream()
    with _read_or_not(stream):
        stream.write(json_text(value) + "\n")


def _write(text: str, *, err: bool) -> None:
    stream = stream_of(err=err)
    if stream is not None:  # closed: nobody reads it
        with _read_or_not(stream):
            stream.write(text)
            stream.flush()


def stream_of(*, err: bool) -> TextIO | None:
    """Standard error; or where results go: the file of `--output`, else standard output. None if it is closed."""
    if err:
        return sys.stderr
    output = _of_context(_OUTPUT)
    return sys.stdout if output is None else output.stream


def _result_stream() -> TextIO:
    stream = stream_of(err=False)
    assert stream is not None  # noqa: S101  (`main` replaces a closed standard output)
    return stream


# ---- --quiet and --output -------------------------------------------------------------------------------------------


def be_quiet() -> None:
    """From now on the command prints no messages and no progress, only results and errors."""
    click.get_current_context().meta[_QUIET] = True


def is_quiet() -> bool:
    """Whether `--quiet` was given."""
    return _of_context(_QUIET) is not None


@dataclass
class Output:
    """Where a command prints its result (None: standard output). `is_dropped`: the file is not replaced. `is_answer`:
    the result says what failed, so it is written with every exit status."""

    stream: TextIO | None = None
    keeps_partial: bool = False
    is_dropped: bool = False
    is_answer: bool = False

    def drop(self) -> None:
        """Makes the block end without replacing the file."""
        self.is_dropped = True


class _DroppedError(Exception):
    """Raised and caught here, so that the file is not replaced."""


@contextmanager
def output_to(path: Path | None) -> Iterator[Output]:
    """Sends what the block prints as its result to the file at `path`, which is replaced as a whole when the block
    ends; None: to standard output. Raises InputError or RunError (see `cannot_write`)."""
    if path is None:
        yield Output()
        return
    failure: GoodbotError | KeyboardInterrupt | None = None
    with suppress(_DroppedError), ExitStack() as stack:
        try:
            file = stack.enter_context(writing_whole(path))
        except OSError as error:
            raise cannot_write(path, error) from error
        stream = TextIOWrapper(file, "utf-8", "backslashreplace", newline="\n", write_through=True)
        stack.callback(stream.detach)
        meta = click.get_current_context().meta
        output = meta[_OUTPUT] = Output(stream)
        try:
            yield output
        except (GoodbotError, KeyboardInterrupt) as error:
            if not output.keeps_partial:
                raise
            failure = error
        finally:
            del meta[_OUTPUT]
        if output.is_dropped:
            raise _DroppedError
    if failure is not None:
        raise failure


def keep_partial_output() -> None:
    """From now on the file of `--output` is written even if the command ends with an error, or is interrupted: what it
    printed until then is useful."""
    output = _of_context(_OUTPUT)
    if output is not None:
        output.keeps_partial = True


def keep_output() -> None:
    """From now on the file of `--output` is replaced with every exit status: the result says what failed."""
    output = _of_context(_OUTPUT)
    if output is not None:
        output.is_answer = True


def drop_output() -> None:
    """The file of `--output` keeps its content, even if the exit status is 0 or 1: there is no result."""
    output = _of_context(_OUTPUT)
    if output is not None:
        output.drop()


def _of_context(key: str) -> Any:
    context = click.get_current_context(silent=True)
    return None if context is None else context.meta.get(key)


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
        if _of_context(_ENDS):
            raise
        drop(stream)


# ---- what the terminal can do ---------------------------------------------------------------------------------------


def escape_what_cannot_be_encoded() -> None:
    """Makes both streams write, as escapes, the characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def in_colour(*, err: bool = False) -> bool:
    """Whether to print in colours: as `--color` says, else on a terminal that knows them, unless NO_COLOR is set."""
    context = click.get_current_context(silent=True)
    if context is not None and context.color is not None:
        return context.color
    stream = stream_of(err=err)
    return stream is not None and stream.isatty() and not (os.environ.get("NO_COLOR") or _is_dumb())


def can_rewrite() -> bool:
    """Whether a display on standard error can rewrite its lines: on a terminal that knows escape codes."""
    return sys.stderr is not None and sys.stderr.isatty() and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


def width() -> int:
    """Columns to fill with text: those of the terminal, at least 30 and at most 100."""
    columns = shutil.get_terminal_size((MAX_WIDTH, 24)).columns
    return min(max(columns, MIN_WIDTH), MAX_WIDTH)
