"""Reads seeds from files: lists, sitemaps, feeds, bookmarks, web pages, mail. All are checked before a crawl begins."""

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from goodbot.cli.printing import say
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.page.coding import unpacked
from goodbot.page.references import FileKind, kind_of, reader_of, references, with_head
from goodbot.robot.scope.seeding import PrivateSeedError, parse_seeds
from goodbot.store.control.seed_file import SeedSpool
from goodbot.url import MAX_URL_CHARS, Url

SEEDS_HELP: Final = (
    "Seeds from a file: one URL a line (# for comments), a sitemap, a feed, a web page, a browser's bookmarks, an mbox "
    "archive of mail or news, a robots.txt; gzip is unpacked; - is standard input. The format is detected. Repeatable."
)

_MAX_LINE = 8 * MAX_URL_CHARS
"""Maximum bytes of a line, with its comment."""

_PIECE_BYTES = 65_536
_REMEMBERED = 100_000
"""How many URLs of a file are remembered to skip repeated ones: mail contains the same URLs again and again."""

Check = Callable[[Url], None]
Lines = Iterator[tuple[int, str]]


@contextmanager
def read_seed_files(names: Iterable[str], check: Check) -> Iterator[SeedSpool]:
    """Yields the seeds of all files (`-`: standard input); `check` raises InputError for one that cannot be crawled.
    Standard error gets a line for each file, with what was found.

    A list is UTF-8. Spaces around a URL, empty lines, and comments (`#` at the beginning of a line or after a space)
    are left out; an invalid line is an error. In other formats, references that cannot be crawled are passed over.
    Raises InputError, naming the file, and the invalid line, or saying that there is no URL.
    """
    with SeedSpool() as spool:
        lines = [_read_file(name, check, spool) for name in names]
        for line in lines:
            say(line, err=True)
        yield spool


def _read_file(name: str, check: Check, spool: SeedSpool) -> str:
    """Reads the seeds of one file; returns the line to print about it."""
    if not name:
        raise InputError("--seeds: the name of a file is empty")
    before = spool.count
    try:
        if name == "-":
            kind, passed_over = _read(name, sys.stdin.buffer, check, spool)
        else:
            with Path(name).open("rb") as file:
                kind, passed_over = _read(name, file, check, spool)
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror}") from error
    left = f", {counted(passed_over, 'reference')} passed over" if passed_over else ""
    if spool.count == before:
        raise InputError(f"no URL in {name}" + ("" if kind == "list" else f" ({kind}{left})"))
    return f"{counted(spool.count - before, 'seed')} from {name} ({kind}{left})"


def _read(name: str, file: BinaryIO, check: Check, spool: SeedSpool) -> tuple[FileKind, int]:
    """Reads a file; returns its kind, and how many references in it were passed over."""
    trouble: list[str] = []
    head, pieces = with_head(unpacked(iter(lambda: file.read(_PIECE_BYTES), b""), trouble.append, sys.maxsize))
    kind = kind_of(head)
    if kind == "binary data":
        raise InputError(f"{name} is not a list of seeds: it is binary data")
    passed_over = 0
    try:
        if kind == "list":
            _read_list(name, reader_of(pieces), check, spool)
        else:
            passed_over = _read_references(references(kind, pieces), check, spool)
    finally:
        if trouble:  # that explains what is wrong with the last line, too
            raise InputError(f"cannot unpack {name}: {trouble[0]}")
    return kind, passed_over


def _read_references(found: Iterator[Url | None], check: Check, spool: SeedSpool) -> int:
    passed_over = 0
    lately: set[Url] = set()
    for url in found:
        if url is None:
            passed_over += 1
        elif url not in lately:
            if len(lately) >= _REMEMBERED:
                lately.clear()  # a seed that is added twice does no harm
            lately.add(url)
            try:
                check(url)
            except PrivateSeedError:
                passed_over += 1  # bookmarks and mail often contain private addresses
            else:
                spool.add(url)
    return passed_over


def _read_list(name: str, file: BinaryIO, check: Check, spool: SeedSpool) -> None:
    for number, text in _numbered(name, file):
        try:
            spool.add(_checked(text, check))
        except InputError as error:
            raise InputError(f"{name}, line {number}: {error}") from error


def _checked(text: str, check: Check) -> Url:
    if len(text.split()) > 1:
        raise InputError(f"a line must be one URL without spaces (write %20 for a space): {text[:200]!r}")
    (url,) = parse_seeds([text])
    check(url)
    return url


def _numbered(name: str, file: BinaryIO) -> Lines:
    """Yields the number and the URL of each line that has one."""
    number = 0
    while line := file.readline(_MAX_LINE):
        number += 1
        if len(line) == _MAX_LINE:
            raise InputError(f"{name}, line {number}: longer than any URL ({MAX_URL_CHARS} characters)")
        try:
            text = _without_comment(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        except UnicodeDecodeError as error:
            raise InputError(f"{name}, line {number}: not UTF-8 text") from error
        if text:
            yield number, text


def _without_comment(line: str) -> str:
    """`#` inside a URL begins its fragment, so a comment needs a space before it."""
    text = line.strip()
    if "#" not in text:
        return text
    words = text.split()
    end = next((place for place, word in enumerate(words) if word.startswith("#")), len(words))
    return " ".join(words[:end])
