"""Stores completions of queries: titles, headings and terms of the pages, and the words in them.

They are in a SQLite file beside the link texts, and rebuilt with them.
"""

import sqlite3
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from goodbot.index.analysis import folded_words
from goodbot.index.completion_texts import MAX_CHARS, MIN_CHARS, parts_of_title, tidy, words_in

FILE: Final = "completions.sqlite"
MAX_PHRASES: Final = 100_000
"""The limit for phrases in the file, and for words. While pages are read, up to four times as many are in memory."""
COMMON: Final = 20
"""A phrase on more pages than this names nothing in particular: `See also`, or the site's name in every title."""
MOST_COUNTED: Final = 3
"""The number of pages that add to the weight of a phrase; further ones add nothing."""

TITLE: Final = 3
HEADING: Final = 1
"""The weights of a part of a title, and of a heading or term."""

_PHRASES: Final = (
    "SELECT key, text, weight FROM phrases WHERE key >= ? AND key < ? ORDER BY weight DESC, length(key), key LIMIT ?"
)
_WORDS: Final = (
    "SELECT key, text, weight FROM words WHERE key >= ? AND key < ? ORDER BY weight DESC, length(key), key LIMIT ?"
)


@dataclass(slots=True)
class _Phrase:
    text: str
    weight: int
    pages: int = 0


class PhraseCounter:
    """Counts the phrases of pages, in bounded memory."""

    def __init__(self, most: int = MAX_PHRASES) -> None:
        self._most = most
        self._phrases: dict[str, _Phrase] = {}

    def add_page(self, title: str, headings: Iterable[str]) -> None:
        """Adds the phrases of a page: its title, its headings and terms."""
        weights: dict[str, tuple[str, int]] = {}
        for part in parts_of_title(title):
            _note(weights, part, TITLE)
        for text in headings:
            _note(weights, text, HEADING)
        for key, (text, weight) in weights.items():
            phrase = self._phrases.setdefault(key, _Phrase(text, weight))
            phrase.pages += 1
            phrase.weight = max(phrase.weight, weight)
        if len(self._phrases) > 4 * self._most:
            self._phrases = dict(self._best(2 * self._most))

    def write(self, file: Path) -> None:
        """Writes the best phrases, and the words in them. Raises sqlite3.Error."""
        phrases = [(key, one) for key, one in self._best(self._most) if one.pages <= COMMON]
        words: dict[str, int] = {}
        for _, one in phrases:
            for word in words_in(one.text):
                words[word] = words.get(word, 0) + _value(one)
        best_words = sorted(words.items(), key=lambda item: -item[1])[: self._most]
        with closing(sqlite3.connect(file)) as connection, connection:
            for table in ("phrases", "words"):
                connection.execute(f"CREATE TABLE {table} (key TEXT, text TEXT, weight INTEGER)")
            connection.executemany(
                "INSERT INTO phrases VALUES (?, ?, ?)", ((key, one.text, _value(one)) for key, one in phrases)
            )
            connection.executemany(
                "INSERT INTO words VALUES (?, ?, ?)", ((_key(word), word, count) for word, count in best_words)
            )
            for table in ("phrases", "words"):
                connection.execute(f"CREATE INDEX {table}_by_key ON {table} (key)")

    def _best(self, most: int) -> Iterator[tuple[str, _Phrase]]:
        """Returns the phrases of the greatest value; of equal ones, those of earlier pages first."""
        return iter(sorted(self._phrases.items(), key=lambda item: -_value(item[1]))[:most])


def _value(phrase: _Phrase) -> int:
    return phrase.weight * min(phrase.pages, MOST_COUNTED)


def _note(weights: dict[str, tuple[str, int]], text: str, weight: int) -> None:
    text = tidy(text)
    if MIN_CHARS <= len(text) <= MAX_CHARS:
        key = _key(text)
        if key and weights.get(key, ("", 0))[1] < weight:
            weights[key] = text, weight


def _key(text: str) -> str:
    return " ".join(folded_words(text))


def completions(files: Sequence[Path], typed: str, limit: int, *, of_words: bool = False) -> list[str]:
    """Returns the phrases, or the words, that begin with what was typed, the most important first in all files
    together. Raises sqlite3.Error, also if a file is missing."""
    key = _key(typed)
    if key and typed.endswith("+") and not key.endswith("+"):
        key += "+"  # the beginning of C++
    if not key or limit <= 0:
        return []
    query, found = _WORDS if of_words else _PHRASES, dict[str, tuple[str, int]]()
    for file in files:
        where = f"file:{quote(str(file))}?mode=ro&immutable=1"
        with closing(sqlite3.connect(where, uri=True)) as connection:
            for name, text, weight in connection.execute(query, (key, key + "\U0010ffff", limit)):
                first, sum_before = found.get(name, (text, 0))
                found[name] = first, sum_before + weight
    most = sys.maxsize if of_words else TITLE * MOST_COUNTED
    best = sorted(found.items(), key=lambda item: (-min(item[1][1], most), len(item[0]), item[0]))
    return [text for _, (text, _) in best[:limit]]
