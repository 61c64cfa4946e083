"""Stems the words of a query for each language, so that snippets and links to sections can look them up in documents of
that language. Pure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from goodbot.index.analysis import query_terms, stop_words, words_of
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
            words = dict.fromkeys(word for text in self._texts for word in words_of(text))
            terms = {word: {term for (term,) in query_terms(word, (language,))} for word in words}
            stops = stop_words(words, (language, "en"))
            main = self._synonyms.union(*(terms[word] for word in words if word not in stops))
            every = self._synonyms.union(*terms.values())
            known = self._known[language] = Sought(every, main or every)
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
