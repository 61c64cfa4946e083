"""Implements the Search port: finds documents."""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import tantivy
from tantivy import Occur, Query

from goodbot.errors import InputError
from goodbot.index.correction import Correction, Corrector, Documents
from goodbot.index.index_reader import IndexReader, Opened, best_documents, with_number
from goodbot.index.keys import tongue_of
from goodbot.index.languages import STEMMERS, by_script
from goodbot.index.link_texts import LinkTexts
from goodbot.index.locate import word_places
from goodbot.index.query import explain_query, parse_query
from goodbot.index.query_builder import BuiltQuery, QueryBuilder
from goodbot.index.query_values import Filter, ParsedQuery
from goodbot.index.ranking import WINDOW, Candidate, Ranked, Ranking
from goodbot.index.section_links import best_sections, section_links
from goodbot.index.snippet import Shown, make_snippet
from goodbot.index.sought import SoughtTerms
from goodbot.index.stored_page import StoredPage, decode_page
from goodbot.index.synonyms import Synonym, SynonymTable
from goodbot.index.versions import Versions, find_versions
from goodbot.index.vocabulary import Vocabulary
from goodbot.search_values import Hit, OtherPage, Results

LINKED_PAGES: Final = 300
"""A search considers this many of the pages whose link texts match best."""
ADDED_PAGES: Final = 50
"""At most this many of them are added to the pages whose own words match best."""
LINKED_HITS: Final = 100
"""Pages are added only if they may be among this many first hits."""
MOST_PRIOR: Final = 1.3
"""A page found by its link texts alone is added only if its score times this factor could reach the best pages. Priors
seldom change a ratio by more."""
EXAMINED_PAGES: Final = 40
EXAMINED_PLACES: Final = 100
"""The limits for the pages in which the spelling of a word is looked up, and for the places in each."""
MAX_TYPED_CHARS: Final = 200
MAX_LANGUAGES: Final = 9
COMMON_SHARE: Final = 0.1
"""A language with at least this share of the documents is common."""
MAX_OTHERS: Final = 20
"""The limit of translations and copies that a hit lists."""
MAX_COUNTED: Final = 1_000
"""If no more documents are found, the hits that they make are counted for the first page of hits."""
MAX_EXAMINED: Final = 20_000
"""The limit for documents that are examined for the last pages of hits, if most of them are translations and copies."""

_Scored = tuple[float, tantivy.DocAddress]


class _Found(NamedTuple):
    """The documents of a search, best first, and how many there are. `listed`: see `Results`."""

    total: int
    complete: int
    listed: int | None
    ranked: list[Ranked]
    addresses: list[tantivy.DocAddress]


class _Known(NamedTuple):
    """Facts about one state of an index: `common`, the languages of at least `COMMON_SHARE` of the documents; `main`,
    those of them whose words are stemmed, with English, by which words of unknown languages are; `rare`, the other ones
    that are stemmed; and the synonyms."""

    searcher: tantivy.Searcher
    main: tuple[str, ...]
    rare: tuple[str, ...]
    common: tuple[str, ...]
    synonyms: SynonymTable


class TantivySearch:
    """Searches an index in a folder while others may write it; every search sees the last commit. A query also
    finds the `synonyms` of its words.

    Raises InputError if there is no index, RunError if a newer goodbot made it, OutdatedError if an older one did,
    DamagedError if its files are damaged.
    Several threads may use it.
    """

    def __init__(self, folder: Path, ranking: Ranking | None = None, synonyms: Sequence[Synonym] = ()) -> None:
        self._reader = IndexReader(folder)
        self._links = LinkTexts(folder)
        self._ranking = ranking or Ranking()
        self._synonyms = tuple(synonyms)
        self._known: _Known | None = None

    def search(self, query: str, limit: int = 10, offset: int = 0, languages: Sequence[str] = ()) -> Results:
        """Returns hits in their order. `goodbot.index.query` describes the query language. `languages` are the
        reader's, by codes of two letters, the preferred one first; if there are none, the common ones of the documents
        count, those in the script of the query first.

        Raises InputError if the query is empty, or if limit or offset is below 0; DamagedError as above.
        """
        started = time.perf_counter()
        if limit < 0 or offset < 0:
            raise InputError(f"limit and offset must not be negative: {limit}, {offset}")
        if not query.strip():
            raise InputError("the query is empty: type a word to search for")
        parsed = parse_query(query)
        with self._reader.translated():
            results = self._search(query, parsed, slice(offset, offset + limit), languages)
        return replace(results, took_ms=(time.perf_counter() - started) * 1000)

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns completions of the text typed: titles, headings and definition terms that begin with it, then queries
        whose last word is completed, if a page has all their words."""
        typed = typed[:MAX_TYPED_CHARS]
        with self._reader.translated():
            found = self._links.completions(typed, limit)
            head, space, last = typed.rpartition(" ")
            if len(found) < limit and last.strip():
                opened = self._reader.current()
                complete = self._asked(opened, self._builder(opened)).complete
                endings = (f"{head}{space}{word}" for word in self._links.completions(last, limit, of_words=True))
                found += [text for text in endings if not head.strip() or complete(text)]
        return tuple({text.casefold(): text for text in reversed(found)}.values())[::-1][:limit]

    def count(self) -> int:
        """Returns how many documents can be found."""
        return int(self._reader.current()[1].num_docs)

    def _search(self, query: str, parsed: ParsedQuery, window: slice, languages: Sequence[str]) -> Results:
        opened = self._reader.current()
        searcher = opened[1]
        builder = self._builder(opened)
        correction = Correction()
        if self._ranking.has("spelling"):
            asked = self._asked(opened, builder)
            correction = Corrector(Vocabulary(searcher), self._of(searcher).main, asked).correct(query, parsed)
        results = self._answer(opened, builder, query, correction, window, languages)
        if not results.total and results.suggestion is not None:
            correction = Correction(correction.likely, correction.likely)
            results = self._answer(opened, builder, query, correction, window, languages)
        return results

    def _answer(
        self,
        opened: Opened,
        builder: QueryBuilder,
        query: str,
        correction: Correction,
        window: slice,
        languages: Sequence[str],
    ) -> Results:
        searcher = opened[1]
        parsed = parse_query(query if correction.certain is None else correction.certain)
        built = builder.build(parsed, self._links.schema)
        notes = parsed.notes if built is not None else (*parsed.notes, "the query has neither a word nor a filter")
        results = Results(
            query,
            0,
            0.0,
            searched_for=explain_query(parsed),
            notes=notes,
            corrected=correction.certain,
            suggestion=correction.likely if correction.likely != correction.certain else None,
        )
        if built is None:
            return results
        common = by_script(self._of(searcher).common, query)
        found = self._found(opened, built, parsed, window.stop, languages or common, common)
        sought = SoughtTerms(parsed, built.synonyms)
        versions = find_versions(opened, built.main, found.ranked[window], found.addresses, [*languages, *common])
        hits = tuple(self._hit(searcher, item, sought) for item in versions)
        return replace(results, total=found.total, hits=hits, complete=found.complete, listed=found.listed)

    def _builder(self, opened: Opened) -> QueryBuilder:
        index, searcher = opened
        known = self._of(searcher)
        return QueryBuilder(index.schema, Vocabulary(searcher), known.main, known.rare, self._ranking, known.synonyms)

    def _asked(self, opened: Opened, builder: QueryBuilder) -> Documents:
        """Returns what corrections and completions ask of the documents."""
        index, searcher = opened

        def complete(query: str) -> int:
            built = builder.build(parse_query(query))
            if built is None:
                return 0
            return int(searcher.search(built.complete or built.main, 1).count)  # type: ignore[attr-defined]

        def score(query: str) -> float:
            built = builder.build(parse_query(query))
            return max((score for score, _ in searcher.search(built.main, 1).hits), default=0.0) if built else 0.0

        def words(terms: tuple[str, ...]) -> Iterator[list[str]]:
            queries = [(Occur.Should, Query.term_query(index.schema, "body", term)) for term in terms]
            for _, address in searcher.search(Query.boolean_query(queries), EXAMINED_PAGES, count=False).hits:
                page = _load(searcher, address)
                texts = (page.title, page.text)
                yield [
                    text[start:end]
                    for text in texts
                    for start, end, _ in word_places(text, frozenset(terms), page.language, EXAMINED_PLACES)
                ]

        return Documents(complete, score, words, self._links.has)

    def _of(self, searcher: tantivy.Searcher) -> _Known:
        known = self._known
        if known is None or known.searcher is not searcher:
            counts = {name: count for name, count in searcher.terms_with_prefix("language", "") if len(name) == 2}
            frequent = sorted(counts, key=lambda name: -counts[name])
            stemmed = [name for name in frequent if name in STEMMERS][:MAX_LANGUAGES]
            common = tuple(name for name in frequent if counts[name] >= COMMON_SHARE * searcher.num_docs)
            is_english = "en" in common or sum(map(counts.__getitem__, stemmed)) < searcher.num_docs
            main = tuple(dict.fromkeys([name for name in common if name in STEMMERS] + ["en"] * is_english)) or ("en",)
            rare = tuple(name for name in stemmed if name not in main)
            known = self._known = _Known(searcher, main, rare, common, SynonymTable(self._synonyms, main))
        return known

    def _found(
        self,
        opened: Opened,
        built: BuiltQuery,
        parsed: ParsedQuery,
        needed: int,
        languages: Sequence[str],
        otherwise: Sequence[str],
    ) -> _Found:
        _, searcher = opened
        result = best_documents(searcher, built.main, WINDOW * max(1, -(-needed // WINDOW)))
        matching = int(result.count)  # type: ignore[attr-defined]  # missing in tantivy's stub
        scored: list[_Scored] = list(result.hits)
        linked = self._links.scores(built.links, LINKED_PAGES) if built.links is not None else {}
        added = self._added(opened, built, scored[:WINDOW], linked, needed)
        tongues, common = (
            [tongue for code in codes if (tongue := tongue_of(code))] for codes in (languages, otherwise)
        )
        mixes_hosts = not any(isinstance(node, Filter) and node.name == "site" for node in parsed.root.required)
        block, at = [*scored[:WINDOW], *added], WINDOW
        addresses, ranked, known = list[tantivy.DocAddress](), list[Ranked](), set[int]()
        while block:  # each is ordered for itself, so that the hits before it stay where they are
            candidates = self._candidates(searcher, block, linked, len(addresses))
            ranked += self._ranking.order(candidates, tongues, known, otherwise=common, mixes_hosts=mixes_hosts)
            addresses += [address for _, address in block]
            if len(ranked) >= needed or at >= min(matching, MAX_EXAMINED):
                break
            if len(scored) < min(at + WINDOW, matching):
                scored = list(best_documents(searcher, built.main, min(2 * at, MAX_EXAMINED)).hits)
            block, at = scored[at : at + WINDOW], at + WINDOW
        complete = total = matching + sum(1 for score, _ in added if not score)
        if built.complete is not None:
            complete = int(searcher.search(built.complete, 1).count)  # type: ignore[attr-defined]
        listed = len(ranked) if at >= min(matching, MAX_EXAMINED) else None
        if listed is None and matching <= MAX_COUNTED:
            scored = list(best_documents(searcher, built.main, matching).hits) if len(scored) < matching else scored
            listed = len(ranked) + self._ranking.count(_marks(searcher, [place for _, place in scored[at:]]), known)
        return _Found(total, complete, listed, ranked, addresses)

    def _added(
        self,
        opened: Opened,
        built: BuiltQuery,
        best: list[_Scored],
        linked: dict[int, float],
        needed: int,
    ) -> list[_Scored]:
        """Returns pages whose links match well but that are not among the best pages by their own words: all that may
        be among the first `LINKED_HITS`, so that all pages of hits have one order, or none if none can be among the
        first `needed`."""
        index, searcher = opened
        numbers = [int(number or 0) for number in searcher.fast_field_values("number", [place for _, place in best])]
        totals = sorted((score + linked.get(number, 0.0) for number, (score, _) in zip(numbers, best, strict=True)))
        own = best[-1][0] if len(best) == WINDOW else 0.0
        least = (totals[-LINKED_HITS] if len(totals) >= LINKED_HITS else 0.0) / MOST_PRIOR - own
        others = [number for number in linked.keys() - set(numbers) if linked[number] > least]
        others = sorted(others, key=lambda number: -linked[number])[:ADDED_PAGES]
        far = totals[-needed] / MOST_PRIOR - own if 0 < needed <= len(totals) else -math.inf
        if not others or linked[others[0]] <= far:
            return []
        clauses = [(Occur.Must, with_number(index.schema, "number", others)), (Occur.Should, built.main)]
        if built.filters is not None:
            clauses.append((Occur.Must, Query.const_score_query(built.filters, 0.0)))
        return list(searcher.search(Query.boolean_query(clauses), len(others), count=False).hits)

    def _candidates(
        self,
        searcher: tantivy.Searcher,
        scored: list[_Scored],
        linked: dict[int, float],
        before: int,
    ) -> list[Candidate]:
        """Returns the documents, which come after `before` others, with the values that order them. Equal scores are in
        the order of the numbers, so that the order does not depend on when a document was added."""
        addresses = [address for _, address in scored]
        columns = [
            [int(value or 0) for value in searcher.fast_field_values(name, addresses)]
            for name in ("number", "host", "group", "twin", "tongue", "depth", "list")
        ]
        ranks = self._links.ranks(columns[0]) if self._ranking.has("rank") else {}
        rows = sorted(zip(*columns, range(len(scored)), strict=True))
        return [
            Candidate(
                scored[place][0] + linked.get(number, 0.0),
                before + place,
                number,
                host=host,
                group=group,
                twin=twin,
                tongue=tongue,
                depth=depth,
                is_list=bool(is_list),
                rank=ranks.get(number, 1.0),
            )
            for number, host, group, twin, tongue, depth, is_list, place in rows
        ]

    def _hit(self, searcher: tantivy.Searcher, item: Versions, sought: SoughtTerms) -> Hit:
        page, *others = [_load(searcher, address) for address in item.addresses[: MAX_OTHERS + 1]]
        terms = sought.in_language(page.language)
        chosen, have_all = best_sections(page.title, page.sections, terms.main, page.language)
        headings = tuple(page.sections[number][1] for number in chosen) if have_all else ()
        shown = Shown(page.text, page.description, page.menus, headings, page.language, page.snippet_chars)
        snippet = make_snippet(shown, terms)
        return Hit(
            page.id,
            page.url,
            page.title,
            snippet.text,
            item.score,
            snippet.highlights,
            section_links(page.url, page.sections, chosen),
            tuple(OtherPage(other.url, other.language) for other in others),
            language=page.language,
            fetched_at=page.fetched_at,
        )


def _marks(searcher: tantivy.Searcher, addresses: list[tantivy.DocAddress]) -> list[list[int]]:
    """Returns the numbers, groups and twins of documents."""
    return [
        [int(value or 0) for value in searcher.fast_field_values(name, addresses)]
        for name in ("number", "group", "twin")
    ]


def _load(searcher: tantivy.Searcher, address: tantivy.DocAddress) -> StoredPage:
    return decode_page(bytes(searcher.doc(address).get_first("shown") or b""))
