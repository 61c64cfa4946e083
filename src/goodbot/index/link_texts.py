"""Stores the texts of links to each page of a crawl, and the PageRank of each page.

They are in a separate index, in a folder `links-…` inside that of the pages, since a page must not be written again
whenever another page links to it. The completions of queries are a file in the same folder. `goodbot index refresh`
makes a new folder; the file `links.json` names the current one and is replaced atomically. Without it, searches use the
pages alone.
"""

import json
import logging
import shutil
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from uuid import uuid4

import tantivy

from goodbot.errors import GoodbotError, RunError
from goodbot.index.analysis import terms
from goodbot.index.best_documents import best_documents, rounded
from goodbot.index.completions import FILE as COMPLETIONS_FILE
from goodbot.index.completions import PhraseCounter, completions
from goodbot.index.index_reader import IndexReader, Reader
from goodbot.index.integrity import share_meta
from goodbot.index.joined_reader import JoinedReader
from goodbot.index.rank_file import FILE as RANKS_FILE
from goodbot.index.rank_file import RankFile, write_ranks
from goodbot.index.version_file import LINKS_FOLDER, save_version
from goodbot.search_values import IndexMark

_LOG: Final = logging.getLogger(__name__)

POINTER: Final = "links.json"
FOLDER: Final = LINKS_FOLDER

MAX_TEXTS: Final = 200
"""The limit for distinct texts kept for one page: the most frequent ones are kept."""
MAX_REPEATS: Final = 3
"""A text counts at most this often: a menu repeats it on every page of a site."""

_HEAP_BYTES: Final = 32 * 1024 * 1024
"""The memory for postings before a segment is written."""


LINK_FIELDS: Final = ("number", "anchors", "fragments")


def build_link_schema() -> tantivy.Schema:
    """Builds the schema: `number` is that of the page that links lead to, `anchors` has their texts, `fragments` the
    fragments they name and the texts of links with a fragment."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("number", fast=True)
    for name in ("anchors", "fragments"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    return builder.build()


class LinkedPage(NamedTuple):
    """The links to one page: the number of the page and its language, the texts of links to it, and the fragments that
    links name, with the texts of those links. Texts come with their frequencies."""

    number: int
    language: str
    anchors: Counter[str]
    fragments: Counter[str]


class LinkTextsWriter:
    """Writes link texts into a new folder inside that of the index `folder`, and counts the `phrases` that complete
    queries. Searches use nothing of it before `finish`; `abandon` removes it. Raises RunError if the folder cannot be
    written."""

    def __init__(self, folder: Path) -> None:
        self._parent = folder
        self._folder = folder / f"{LINKS_FOLDER}{uuid4().hex[:12]}"
        try:
            self._folder.mkdir()
            self.phrases = PhraseCounter()
            save_version(self._folder)
            self._writer = tantivy.Index(build_link_schema(), path=str(self._folder)).writer(_HEAP_BYTES, num_threads=1)
        except (OSError, ValueError) as error:
            raise _cannot_write(self._folder, error) from error

    def add(self, page: LinkedPage) -> None:
        """Adds the texts for one page."""
        if not (page.anchors or page.fragments):
            return
        made = tantivy.Document()
        made.add_unsigned("number", page.number)
        for name, texts in (("anchors", page.anchors), ("fragments", page.fragments)):
            if texts:
                made.add_text(name, " ".join(_repeated(texts, page.language)))
        self._writer.add_document(made)

    def finish(self, mark: IndexMark, numbers: Sequence[int], ranks: Sequence[float]) -> None:
        """Makes these the link texts of the index in the state `mark`, and removes the earlier ones. `ranks` are the
        PageRanks, relative to the mean (1.0), of the pages with these `numbers`, which ascend."""
        try:
            write_ranks(self._folder / RANKS_FILE, numbers, ranks)
            self._writer.commit()
            self._writer.wait_merging_threads()
            share_meta(self._folder)
            self.phrases.write(self._folder / COMPLETIONS_FILE)
            draft = self._parent / f"{POINTER}.new"
            draft.write_text(json.dumps({"folder": self._folder.name, "mark": mark}) + "\n", encoding="utf-8")
            draft.replace(self._parent / POINTER)
        except (OSError, ValueError, RuntimeError, sqlite3.Error) as error:
            raise _cannot_write(self._folder, error) from error
        remove_old(self._parent, self._folder.name)

    def abandon(self) -> None:
        """Removes the new link texts. The earlier ones stay."""
        with suppress(ValueError, RuntimeError):  # a writer thread that ended early
            self._writer.wait_merging_threads()
        shutil.rmtree(self._folder, ignore_errors=True)


def _repeated(texts: Counter[str], language: str) -> Iterator[str]:
    for text, count in texts.most_common(MAX_TEXTS):
        if found := terms(text, language):
            yield from [found] * min(count, MAX_REPEATS)


def _cannot_write(folder: Path, error: BaseException) -> RunError:
    detail = getattr(error, "strerror", None) or " ".join(str(error).split())[:200]
    return RunError(f"cannot write the link texts in {folder}: {detail}")


def remove_old(folder: Path, kept: str) -> None:
    """Removes the link texts in `folder` except `kept`."""
    for place in folder.glob(f"{LINKS_FOLDER}*"):
        if place.name != kept:
            shutil.rmtree(place, ignore_errors=True)


def refreshed_mark(folder: Path) -> IndexMark | None:
    """Returns the state of the index in `folder` from which its link texts were made; None: there are none."""
    try:
        identity, written = json.loads((folder / POINTER).read_bytes())["mark"]
        return IndexMark(str(identity), int(written))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


class _Opened(NamedTuple):
    """The link texts in these `places`, each with its ranks."""

    places: tuple[Path, ...]
    reader: Reader
    ranks: tuple[RankFile, ...]


class LinkTexts:
    """Reads the link texts of the index in a folder, or those of several as one; while there are none that can be read,
    it finds nothing. Several threads may use it."""

    def __init__(self, *folders: Path) -> None:
        self._folders = folders
        self._opened: _Opened | None = None
        self.schema = build_link_schema()

    def scores(self, query: tantivy.Query, limit: int) -> dict[int, float]:
        """Returns the scores of the `limit` best pages, by their numbers."""
        searcher = self._searcher()
        if searcher is None:
            return {}
        hits = best_documents(searcher, query, limit, limit).documents
        numbers = searcher.fast_field_values("number", [address for _, address in hits])
        found = [
            (int(number), rounded(score))
            for number, (score, _) in zip(numbers, hits, strict=True)
            if number is not None
        ]
        return dict(reversed(found))  # the best score, if several indexes have the page

    def score(self, query: tantivy.Query, number: int) -> float:
        """Returns the score of one page, by its number; 0 if the query does not find it."""
        searcher = self._searcher()
        if searcher is None:
            return 0.0
        only = tantivy.Query.range_query(self.schema, "number", tantivy.FieldType.Unsigned, number, number)
        clauses = [(tantivy.Occur.Must, tantivy.Query.const_score_query(only, 0.0)), (tantivy.Occur.Must, query)]
        hits = searcher.search(tantivy.Query.boolean_query(clauses), 1, count=False).hits
        return float(hits[0][0]) if hits else 0.0

    def can_be_read(self) -> bool:
        """Whether there are link texts, undamaged."""
        return self._searcher() is not None

    def has(self, term: str) -> bool:
        """Whether the text of any link has this term."""
        searcher = self._searcher()
        return searcher is not None and any(searcher.doc_freq(name, term) for name in ("anchors", "fragments"))

    def ranks(self, numbers: Iterable[int]) -> dict[int, float]:
        """Returns the PageRank of these pages, relative to the mean; those of new pages are missing. A page of several
        indexes has its highest rank."""
        self._searcher()
        opened = self._opened
        if opened is None:
            return {}
        if len(opened.ranks) == 1:
            return opened.ranks[0].find(numbers)
        found: dict[int, float] = {}
        wanted = [*numbers]
        for ranks in opened.ranks:
            for number, rank in ranks.find(wanted).items():
                found[number] = max(rank, found.get(number, 0.0))
        return found

    def completions(self, typed: str, limit: int, *, of_words: bool = False) -> list[str]:
        """Returns completions of the text typed: phrases, or single words."""
        self._searcher()
        if self._opened is None:
            return []
        files = [place / COMPLETIONS_FILE for place in self._opened.places]
        try:
            return completions(files, typed, limit, of_words=of_words)
        except sqlite3.Error as error:
            _LOG.warning("query completions cannot be read: %s", error)
            return []

    def _searcher(self) -> tantivy.Searcher | None:
        """Returns the current link texts. Each refresh replaces a small file that names them, so reading that file is
        enough."""
        try:
            places = tuple(place for folder in self._folders if (place := _place_in(folder)) is not None)
            if not places:
                return None
            if self._opened is None or self._opened.places != places:
                self._opened = _open(places)
            return self._opened.reader.current()[1]
        except (OSError, ValueError, KeyError, TypeError, RecursionError, GoodbotError) as error:
            _LOG.warning("link texts cannot be read, so searches do not use them: %s", error)
            return None


def _place_in(folder: Path) -> Path | None:
    """Returns the folder of the link texts of an index; None: it has none. Raises the errors of a damaged file."""
    try:
        return folder / str(json.loads((folder / POINTER).read_bytes())["folder"])
    except FileNotFoundError:
        return None


def _open(places: tuple[Path, ...]) -> _Opened:
    ranks = tuple(RankFile(place / RANKS_FILE) for place in places)
    if len(places) == 1:
        return _Opened(places, IndexReader(places[0], LINK_FIELDS), ranks)
    return _Opened(places, JoinedReader(places, LINK_FIELDS, newest_only=False), ranks)
