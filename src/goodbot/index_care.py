"""Imports documents into an index, refreshes its link texts, and measures it."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

from goodbot.crawl_folder import CrawlFolder, open_search
from goodbot.errors import InputError
from goodbot.files import make_folder
from goodbot.index import IndexStatistics, Refreshed, TantivyIndex, index_statistics, refresh_links, refresh_together
from goodbot.search_values import Document

MAX_LINE_BYTES: Final = 16 * 1024 * 1024

_TEXTS: Final = ("title", "text", "url", "headings", "description", "keywords", "language")


@dataclass(frozen=True, slots=True)
class Imported:
    """The progress of an import: documents read so far, and how many the index has at the end (0 until then)."""

    read: int
    documents: int = 0


def import_documents(
    path: Path, name: str, stream: BinaryIO, watch: Callable[[Imported], object] = lambda state: None
) -> Imported:
    """Adds documents to the index in `path`, which is created if it is missing; a document replaces one with the same
    id. The lines of `stream` are JSON objects with `id` and `text`, and optionally `title`, `url`, `headings`,
    `description`, `keywords` and `language`; without `id`, the `url` is the id. Messages call the source `name`.

    Raises InputError for a line that cannot be used, or if `path` has a crawl: then nothing is imported. Raises
    RunError if the index cannot be written.
    """
    folder = CrawlFolder(path)
    folder.check_name()
    if folder.is_crawl:
        raise InputError(
            f"{path} has a crawl: import into another folder, because a crawl's index has only that crawl's pages"
        )
    make_folder(path)
    index = TantivyIndex(folder.index)
    try:
        read = 0
        for document in _documents(name, stream):
            index.add(document)
            read += 1
            watch(Imported(read))
        index.commit()
    finally:
        index.close()
    refresh_links(folder.index)
    done = Imported(read, open_search(path).count())
    watch(done)
    return done


def _lines(name: str, stream: BinaryIO) -> Iterator[str]:
    """Yields the lines of a file. Raises InputError for a line that is too long or not UTF-8."""
    read = partial(stream.readline, MAX_LINE_BYTES + 1)
    for number, line in enumerate(iter(read, b""), start=1):
        if len(line) > MAX_LINE_BYTES:
            raise InputError(f"{name}, line {number}: longer than {MAX_LINE_BYTES:,} bytes; nothing was imported")
        try:
            yield line.removeprefix(BOM_UTF8 if number == 1 else b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"{name}, line {number}: not valid UTF-8; nothing was imported") from error


def _documents(name: str, stream: BinaryIO) -> Iterator[Document]:
    for number, line in enumerate(_lines(name, stream), start=1):
        if line.strip():
            try:
                yield _document(json.loads(line))
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                detail = str(error) if isinstance(error, TypeError) else "not valid JSON"
                raise InputError(
                    f'{name}, line {number}: {detail}; each line must be like {{"id": "1", "title": "…", '
                    '"text": "…"}; nothing was imported'
                ) from error


def _document(value: Any) -> Document:
    """Makes a document of a JSON value. Raises TypeError with a message for the user, or KeyError."""
    if not isinstance(value, dict):
        raise TypeError("not a JSON object")
    given = {field: value[field] for field in _TEXTS if value.get(field) is not None}
    if wrong := [field for field, text in given.items() if not isinstance(text, str)]:
        raise TypeError(f"{wrong[0]} is not a string")
    if "text" not in given:
        raise TypeError("text is missing")
    name = value["id"] if value.get("id") is not None else given.get("url")
    if isinstance(name, bool) or not isinstance(name, str | int) or name == "":
        raise TypeError("id must be a number, or a string that is not empty; without id, there must be a url")
    return Document(id=str(name), **{"title": "", "url": "", **given})


def refresh_index(paths: Sequence[Path], watch: Callable[[Refreshed], object]) -> Refreshed:
    """Rebuilds the link texts of the indexes in `paths`, from the links of the pages of all. Raises the errors of
    `open_search`."""
    open_search(paths)
    return refresh_together([CrawlFolder(path).index for path in paths], watch)


def statistics(path: Path) -> IndexStatistics:
    """Measures the index in `path`. Raises the errors of `open_search`."""
    open_search(path)
    return index_statistics(CrawlFolder(path).index)
