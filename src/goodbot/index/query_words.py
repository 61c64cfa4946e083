"""Finds the words of a query in short texts, such as titles and headings. Pure."""

from collections.abc import Iterator
from typing import Final

from goodbot.index.locate import begun_places
from goodbot.index.query import parse_query
from goodbot.index.sought import SoughtTerms

_OTHERWISE: Final = "en"
"""The language of texts whose language is unknown."""


class QueryWords:
    """The words of one query. Other forms of a word count too, as in snippets."""

    def __init__(self, query: str) -> None:
        self._sought = SoughtTerms(parse_query(query))

    def spans(self, text: str, language: str) -> tuple[tuple[int, int], ...]:
        """Returns (start, end) of the words of the query in a text of some language (a two-letter code, or empty), in
        order, without overlap. Stop words count only if the query has no other."""
        found = begun_places(text, self._sought.in_language(language or _OTHERWISE).main, language or _OTHERWISE)
        return tuple(_apart((start, end) for start, end, _ in found))


def _apart(spans: Iterator[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    last = 0
    for start, end in spans:
        if start >= last:
            yield start, end
            last = end
