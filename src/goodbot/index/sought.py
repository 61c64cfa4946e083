"""Stems the words of a query for each language, so that snippets and links to sections can look them up in documents of
that language. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from goodbot.index.analysis import is_stop_term, query_terms
from goodbot.index.query_values import AllOf, AnyOf, Filter, Node, ParsedQuery, Words


class Sought(NamedTuple):
    """The terms of a query in documents of one language: all, and those that are not stop words (or all, if all
    are)."""

    terms: frozenset[str]
    main: frozenset[str]


class SoughtTerms:
    """The terms of one query, made for each language when a document needs them. `synonyms` are further terms."""

    def __init__(self, parsed: ParsedQuery, synonyms: Iterable[str] = ()) -> None:
        self._texts = tuple(_texts(parsed.root))
        self._synonyms = frozenset(synonyms)
        self._known: dict[str, Sought] = {}

    def in_language(self, language: str) -> Sought:
        """Returns the terms in documents of a language."""
        known = self._known.get(language)
        if known is None:
            terms = {term for text in self._texts for (term,) in query_terms(text, (language,))} | self._synonyms
            main = frozenset(term for term in terms if not is_stop_term(term, (language, "en")))
            known = self._known[language] = Sought(frozenset(terms), main or frozenset(terms))
        return known


def _texts(node: Node) -> Iterator[str]:
    """Yields the words that a document may be found by. Recursive, as deep as the query."""
    match node:
        case Words():
            yield node.text
        case AnyOf():
            for choice in node.choices:
                yield from _texts(choice)
        case AllOf():
            for item in node.required:
                yield from _texts(item)
        case Filter():
            pass
