"""Completes the text that somebody types into the search field."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final

from goodbot.index.link_texts import LinkTexts
from goodbot.index.query import parse_query
from goodbot.index.query_values import Words

MAX_TYPED_CHARS: Final = 200
_MORE_PHRASES: Final = 4
"""If documents must not be shown, completions are chosen from this many times as many."""
_MARKS = re.compile(r'[-+("]*')


class Suggestions:
    """Completes queries by the phrases and words in `links`. `count` returns how many documents a query finds.
    `is_complete`: all documents may be shown."""

    def __init__(self, links: LinkTexts, count: Callable[[str], int], *, is_complete: bool) -> None:
        self._links = links
        self._count = count
        self._is_complete = is_complete

    def find(self, typed: str, limit: int) -> tuple[str, ...]:
        """Returns completions: phrases of the pages that begin with the text typed, then queries whose last word is
        completed, if a page has all their words."""
        typed = typed[:MAX_TYPED_CHARS]
        found = list(islice(self._phrases(typed, limit), limit))
        if len(found) < limit:
            found += self._with_last_word(typed, limit)
        return tuple({text.casefold(): text for text in reversed(found)}.values())[::-1][:limit]

    def _phrases(self, typed: str, limit: int) -> Iterator[str]:
        """Yields phrases. One that is typed after a minus may have it too (`-fPIC`); any other would be excluded."""
        for text in self._links.completions(typed, limit if self._is_complete else limit * _MORE_PHRASES):
            is_option = text.startswith("-") or not typed.lstrip().startswith("-")
            # a phrase may be from a page that must not be shown
            if is_option and (self._is_complete or self._count(_quoted(text))):
                yield text if _is_plain(text) else _quoted(text)

    def _with_last_word(self, typed: str, limit: int) -> Iterator[str]:
        head, space, last = typed.rpartition(" ")
        marks = (_MARKS.match(last) or [""])[0]
        word = last.removeprefix(marks)
        if not word.strip():
            return
        is_known = self._is_complete and not head.strip()
        for ending in self._links.completions(word, limit, of_words=True):
            text = _closed(f"{head}{space}{marks}{ending}")
            if is_known or self._count(text):
                yield text


def _is_plain(text: str) -> bool:
    """Whether each word of a phrase is only a word in a query, and not an operator such as OR, `-x` or `link:`."""
    root = parse_query(text).root
    return not root.excluded and all(isinstance(node, Words) and node.where == "anywhere" for node in root.required)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', " ") + '"'


def _closed(text: str) -> str:
    """Returns a query with the quotation mark or the parentheses closed that are still open."""
    quote = '"' if text.count('"') % 2 else ""
    return text + quote + ")" * max(0, text.count("(") - text.count(")"))
