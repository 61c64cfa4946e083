"""Knows what a search needs of the current state of an index: its languages, and which documents it must not show."""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

import tantivy
from tantivy import FieldType, Occur, Query

from goodbot.index.index_reader import Opened, Reader
from goodbot.index.keys import cleaned, document_key, hash_of
from goodbot.index.languages import STEMMERS
from goodbot.index.synonyms import Synonym, SynonymTable
from goodbot.search_values import Hidden

MAX_LANGUAGES: Final = 9
COMMON_SHARE: Final = 0.1
"""A language with at least this share of the documents is common."""
_END_OF_TIME: Final = 1 << 63


class Languages(NamedTuple):
    """The languages of an index. `common` are those of at least `COMMON_SHARE` of the documents; `main` those of them
    whose words are stemmed, plus English, which stems words of unknown language; `rare` the other ones that are
    stemmed."""

    main: tuple[str, ...]
    rare: tuple[str, ...]
    common: tuple[str, ...]


class IndexState(NamedTuple):
    """The state of an index that one search sees. `withheld` finds the documents that it must not show; None: there are
    none. `written_at` is the time of its commit."""

    opened: Opened
    languages: Languages
    synonyms: SynonymTable
    hidden: Hidden
    withheld: Query | None
    written_at: float

    def withheld_count(self) -> int:
        """Returns the number of documents that must not be shown."""
        if self.withheld is None:
            return 0
        return int(self.searcher.search(self.withheld, 1).count)  # type: ignore[attr-defined]  # missing in the stub

    def shows_the_same(self, other: "IndexState") -> bool:
        """Whether both have the same documents, of which the same ones are hidden; the time may differ."""
        return self.searcher is other.searcher and self.hidden == other.hidden

    @property
    def searcher(self) -> tantivy.Searcher:
        """The documents."""
        return self.opened[1]

    @property
    def schema(self) -> tantivy.Schema:
        """The fields."""
        return self.opened[0].schema


class _Known(NamedTuple):
    """Facts about one state of an index. `first_end` is the earliest time from which on a document must not be found;
    None: there is none."""

    searcher: tantivy.Searcher
    languages: Languages
    synonyms: SynonymTable
    first_end: int | None
    written_at: float


class _HiddenDocuments(NamedTuple):
    """The documents of one state of an index that `hidden` hides; `query` is None if there are none."""

    searcher: tantivy.Searcher
    hidden: Hidden
    query: Query | None


class StateReader:
    """Reads the last commit of an index, and what is known about it. `hidden` returns the pages that nobody may find at
    the moment, `now` the time in Unix seconds. Raises the errors of the `reader`. Several threads may use it."""

    def __init__(
        self, reader: Reader, synonyms: Sequence[Synonym], hidden: Callable[[], Hidden], now: Callable[[], float]
    ) -> None:
        self._reader = reader
        self.translated = self._reader.translated
        self._synonyms = tuple(synonyms)
        self._hidden = hidden
        self._now = now
        self._known: _Known | None = None
        self._hidden_documents: _HiddenDocuments | None = None

    def current(self) -> IndexState:
        """Returns the state of the last commit."""
        opened = self._reader.current()
        known = self._known
        if known is None or known.searcher is not opened[1]:
            languages = _languages(opened[1])
            synonyms = SynonymTable(self._synonyms, languages.main)
            known = self._known = _Known(opened[1], languages, synonyms, _first_end(opened), self._reader.written_at())
        hidden = self._hidden()
        withheld = self._withheld(opened, hidden, known.first_end)
        return IndexState(opened, known.languages, known.synonyms, hidden, withheld, known.written_at)

    def _withheld(self, opened: Opened, hidden: Hidden, first_end: int | None) -> Query | None:
        queries = [query] if (query := self._hidden_query(opened, hidden)) is not None else []
        now = int(self._now())
        if first_end is not None and first_end <= now:
            queries.append(ending(opened[0].schema, now))
        if len(queries) < 2:
            return queries[0] if queries else None
        return Query.boolean_query([(Occur.Should, query) for query in queries])

    def _hidden_query(self, opened: Opened, hidden: Hidden) -> Query | None:
        """Finds the hidden documents. Looking up which of the hidden pages are in the index takes 1 µs each, so it is
        done once for each state; a query takes another 2 µs for each that is."""
        found = self._hidden_documents
        if found is None or found.searcher is not opened[1] or found.hidden != hidden:
            query = _hiding(opened, hidden) if hidden.urls or hidden.sites else None
            found = self._hidden_documents = _HiddenDocuments(opened[1], hidden, query)
        return found.query


def _languages(searcher: tantivy.Searcher) -> Languages:
    counts = {name: count for name, count in searcher.terms_with_prefix("language", "") if len(name) == 2}
    frequent = sorted(counts, key=lambda name: -counts[name])
    stemmed = [name for name in frequent if name in STEMMERS][:MAX_LANGUAGES]
    common = tuple(name for name in frequent if counts[name] >= COMMON_SHARE * searcher.num_docs)
    is_english = "en" in common or sum(map(counts.__getitem__, stemmed)) < searcher.num_docs
    main = tuple(dict.fromkeys([name for name in common if name in STEMMERS] + ["en"] * is_english)) or ("en",)
    return Languages(main, tuple(name for name in stemmed if name not in main), common)


def _first_end(opened: Opened) -> int | None:
    index, searcher = opened
    every = ending(index.schema, _END_OF_TIME)
    hits = searcher.search(every, 1, count=False, order_by_field="until", order=tantivy.Order.Asc).hits
    return int(hits[0][0]) if hits else None


def ending(schema: tantivy.Schema, until: int) -> Query:
    """Finds the documents that must not be found from this time on, or from an earlier one."""
    return Query.range_query(schema, "until", FieldType.Unsigned, 1, until)


def _hiding(opened: Opened, hidden: Hidden) -> Query | None:
    index, searcher = opened
    numbers = (hash_of(document_key(url)) for url in hidden.urls)
    terms: list[tuple[str, int | str]] = [("number", number) for number in numbers]
    terms += [("site", cleaned(site)) for site in hidden.sites]
    queries = [
        (Occur.Should, Query.term_query(index.schema, name, term, "basic"))
        for name, term in terms
        if searcher.doc_freq(name, term)
    ]
    return Query.const_score_query(Query.boolean_query(queries), 0.0) if queries else None
