"""Implements the Search port: finds documents."""

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.index.choices import count_choices
from goodbot.index.correction import Correction, Corrector
from goodbot.index.correction_lookups import correction_lookups
from goodbot.index.description import is_summary, repeated
from goodbot.index.explanation import EXPLAINED_HITS, Answered, Explainer, PageAlone, find_page
from goodbot.index.filters import read_filters, with_filters
from goodbot.index.finder import Finder, Wanted
from goodbot.index.index_reader import IndexReader, stored_page
from goodbot.index.index_state import IndexState, StateReader
from goodbot.index.joined_reader import JoinedReader
from goodbot.index.languages import by_script
from goodbot.index.link_texts import LinkTexts
from goodbot.index.query import check_asked, explain_query, parse_query
from goodbot.index.query_builder import QueryBuilder
from goodbot.index.query_values import Filter, ParsedQuery
from goodbot.index.ranking import Ranking
from goodbot.index.section_links import best_sections, section_links
from goodbot.index.snippet import Shown, make_snippet
from goodbot.index.sought import SoughtTerms
from goodbot.index.suggestions import Suggestions
from goodbot.index.synonyms import Synonym
from goodbot.index.versions import Versions, find_versions
from goodbot.index.vocabulary import Vocabulary
from goodbot.search_values import (
    NO_FILTERS,
    NOTHING_HIDDEN,
    Choices,
    Explanation,
    Filters,
    Hidden,
    Hit,
    OtherPage,
    Results,
)

MAX_OTHERS: Final = 20
"""The limit of translations and copies that a hit lists."""


class _Asked(NamedTuple):
    """A search: the query as typed, its filters, how many hits it needs, and the languages of the reader."""

    query: str
    filters: tuple[Filter, ...]
    needed: int
    languages: Sequence[str]


class _Reply(NamedTuple):
    """What a query was read as, and the documents found; None if it has neither a word nor a condition."""

    correction: Correction
    parsed: ParsedQuery
    answered: Answered | None


class _CountedChoices(NamedTuple):
    """The choices in one state of an index, of which `withheld` documents must not be shown."""

    state: IndexState
    withheld: int
    choices: Choices


class TantivySearch:
    """Searches the index in a folder while others may write it; every search sees the last commit. Several folders are
    searched as one index: hits, scores and their order are those of an index of all documents. A query also finds the
    `synonyms` of its words. `hidden` returns the pages that must not be shown at the moment; neither are documents from
    the end of their time (`now`, in Unix seconds) on.

    Raises InputError if there is no index, or if two folders have the same one; RunError if a newer goodbot made it,
    OutdatedError if an older one did, DamagedError if its files are damaged.
    Several threads may use it.
    """

    def __init__(
        self,
        folder: Path | Sequence[Path],
        ranking: Ranking | None = None,
        synonyms: Sequence[Synonym] = (),
        hidden: Callable[[], Hidden] = lambda: NOTHING_HIDDEN,
        now: Callable[[], float] = time.time,
    ) -> None:
        folders = [folder] if isinstance(folder, Path) else [*folder]
        reader = IndexReader(folders[0]) if len(folders) == 1 else JoinedReader(folders)
        self._states = StateReader(reader, synonyms, hidden, now)
        self._links = LinkTexts(*folders)
        self._ranking = ranking or Ranking()
        self._finder = Finder(self._links, self._ranking)
        self._choices: _CountedChoices | None = None

    def search(
        self,
        query: str,
        limit: int = 10,
        offset: int = 0,
        languages: Sequence[str] = (),
        filters: Filters = NO_FILTERS,
    ) -> Results:
        """Returns hits in their order. `goodbot.index.query` describes the query language. `languages` are the
        reader's, by codes of two letters, the preferred one first; if there are none, the common ones of the documents
        count, those in the script of the query first.

        Raises InputError if the query is empty, if a filter has a value that cannot be used, or if limit or offset is
        below 0; DamagedError as above.
        """
        started = time.perf_counter()
        check_asked(query, limit, offset)
        asked = _Asked(query, read_filters(filters), offset + limit, languages)
        with self._states.translated():
            state = self._states.current()
            results = self._results(state, asked, self._reply(state, asked), offset)
        return replace(results, took_ms=(time.perf_counter() - started) * 1000)

    def explain(
        self, query: str, url: str, languages: Sequence[str] = (), filters: Filters = NO_FILTERS
    ) -> Explanation | None:
        """Returns why a page is where it is among the hits of `search`; None: it is not in the index, or must not be
        shown. `url` may also be the id of an imported document. Raises the errors of `search`."""
        check_asked(query)
        asked = _Asked(query, read_filters(filters), EXPLAINED_HITS[0], languages)
        with self._states.translated():
            state = self._states.current()
            page = find_page(state, url)
            return self._explanation(state, asked, page) if page is not None else None

    def _explanation(self, state: IndexState, asked: _Asked, page: PageAlone) -> Explanation:
        explainer = Explainer(self._builder(state), self._finder, self._links, self._ranking)
        reply = self._reply(state, asked)
        for needed in EXPLAINED_HITS[1:]:
            if reply.answered is None or explainer.place(page, reply.answered) is not None:
                break
            reply = self._reply(state, asked._replace(needed=needed))
        if reply.answered is None:
            return Explanation(page.url, page.shown.title, is_found=False, notes=(_NOTHING_ASKED,))
        explanation = explainer.explain(page, reply.answered)
        if reply.correction.certain is None:
            return explanation
        note = f"the spelling was corrected: {explain_query(reply.parsed)}"
        return replace(explanation, notes=(note, *explanation.notes))

    def suggest(self, typed: str, limit: int = 8) -> tuple[str, ...]:
        """Returns completions of the text typed: titles, headings and definition terms that begin with it, then queries
        whose last word is completed, if a page has all their words."""
        with self._states.translated():
            state = self._states.current()
            count = correction_lookups(state, self._builder(state), self._links).complete
            return Suggestions(self._links, count, is_complete=state.withheld is None).find(typed, limit)

    def choices(self) -> Choices:
        """Returns the languages and types of the documents, counted once for each state of the index."""
        with self._states.translated():
            state = self._states.current()
            withheld, known = state.withheld_count(), self._choices
            if known is None or not known.state.shows_the_same(state) or known.withheld != withheld:
                known = self._choices = _CountedChoices(state, withheld, count_choices(state))
        return known.choices

    def count(self) -> int:
        """Returns how many documents can be found."""
        with self._states.translated():
            state = self._states.current()
            return int(state.searcher.num_docs) - state.withheld_count()

    def _reply(self, state: IndexState, asked: _Asked) -> _Reply:
        """Finds the documents for a query, or for the corrected query."""
        builder = self._builder(state)
        correction = Correction()
        if self._ranking.has("spelling"):
            lookups = correction_lookups(state, builder, self._links, asked.filters)
            corrector = Corrector(Vocabulary(state.searcher), state.languages.main, lookups)
            correction = corrector.correct(asked.query, parse_query(asked.query))
        reply = self._find(state, builder, asked, correction)
        total = reply.answered.found.total if reply.answered is not None else 0
        if not total and correction.likely != correction.certain:
            reply = self._find(state, builder, asked, Correction(correction.likely, correction.likely))
        return reply

    def _find(self, state: IndexState, builder: QueryBuilder, asked: _Asked, correction: Correction) -> _Reply:
        query = asked.query if correction.certain is None else correction.certain
        parsed = with_filters(parse_query(query), asked.filters)
        built = builder.build(parsed, self._links.schema)
        if built is None:
            return _Reply(correction, parsed, None)
        common = by_script(state.languages.common, asked.query)
        languages = asked.languages or common
        mixes_hosts = not any(isinstance(node, Filter) and node.name == "site" for node in parsed.root.required)
        found = self._finder.find(state.opened, built, Wanted(asked.needed, languages, common, mixes_hosts))
        return _Reply(correction, parsed, Answered(parsed, built, found, asked.needed, languages, common))

    def _results(self, state: IndexState, asked: _Asked, reply: _Reply, offset: int) -> Results:
        parsed, answered, correction = reply.parsed, reply.answered, reply.correction
        results = Results(
            asked.query,
            0,
            0.0,
            searched_for=explain_query(parsed),
            notes=parsed.notes if answered is not None else (*parsed.notes, _NOTHING_ASKED),
            corrected=correction.certain,
            suggestion=correction.likely if correction.likely != correction.certain else None,
            as_of=state.written_at,
        )
        if answered is None:
            return results
        found, shown = answered.found, answered.found.ranked[offset : asked.needed]
        languages = [*asked.languages, *answered.otherwise]
        versions = find_versions(state.opened, answered.built.main, shown, found.addresses, languages, state.withheld)
        sought = SoughtTerms(parsed, answered.built.synonyms)
        common = repeated(stored_page(state.searcher, item.addresses[0]).description for item in versions)
        hits = tuple(_hit(state, item, sought, common) for item in versions)
        return replace(results, total=found.total, hits=hits, complete=found.complete, listed=found.listed)

    def _builder(self, state: IndexState) -> QueryBuilder:
        main, rare, _ = state.languages
        vocabulary = Vocabulary(state.searcher)
        return QueryBuilder(state.schema, vocabulary, main, rare, self._ranking, state.synonyms, state.withheld)


_NOTHING_ASKED: Final = "the query has neither a word nor a filter"


def _hit(state: IndexState, item: Versions, sought: SoughtTerms, common: Set[str]) -> Hit:
    """Makes a hit. `common` are the descriptions that several hits have."""
    page, *others = [stored_page(state.searcher, address) for address in item.addresses[: MAX_OTHERS + 1]]
    terms = sought.in_language(page.language)
    chosen, have_all = best_sections(page.title, page.sections, terms.main, page.language)
    headings = tuple(page.sections[number][1] for number in chosen) if have_all else ()
    is_own = page.description not in common and is_summary(page.description, page.title, page.language)
    shown = Shown(page.text, page.description, page.menus, headings, page.language, page.snippet_chars, is_own)
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
        modified_at=page.modified_at,
        size_bytes=page.size_bytes,
        media_type=page.media_type,
        has_copy=page.has_copy,
    )
