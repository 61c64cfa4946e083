"""Reads a file of synonyms, and finds them for the words of a query.

    # words that stand for each other, separated by commas
    robot, crawler, spider
    user agent, ua
    # a query with the word on the left also finds the one on the right
    k8s => kubernetes

Words are compared by their stems, so `robots` has the synonyms of `robot`.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.errors import InputError
from goodbot.index.analysis import query_terms

MAX_BYTES: Final = 1024 * 1024
MAX_SYNONYMS: Final = 50_000
MAX_WORDS: Final = 5
"""The limit for the words of one synonym."""
MAX_MEANT: Final = 20
"""The limit for the synonyms of one word or phrase."""

Terms = tuple[str, ...]
"""The terms that one word has in the languages of an index."""


class Synonym(NamedTuple):
    """`typed` in a query also finds `meant`. Both are texts of one word or a few."""

    typed: str
    meant: str


def load_synonyms(file: Path) -> tuple[Synonym, ...]:
    """Reads the file, if there is one. Raises InputError if it cannot be read, with the number of the line."""
    try:
        with file.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise InputError(f"{file} is too long: at most {MAX_BYTES:,} bytes are read")
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not valid UTF-8") from error
    found: list[Synonym] = []
    for number, line in enumerate(lines, start=1):
        try:
            found += _of_line(line.strip())
        except ValueError as error:
            raise InputError(f"{file}, line {number}: {error}") from error
        if len(found) > MAX_SYNONYMS:
            raise InputError(f"{file} has too many synonyms: at most {MAX_SYNONYMS:,} pairs are read")
    return tuple(found)


def _of_line(line: str) -> list[Synonym]:
    """Reads one line. Raises ValueError, which says what is wrong."""
    if not line or line.startswith("#"):
        return []
    left, arrow, right = line.partition("=>")
    typed = _entries(left)
    meant = _entries(right) if arrow else typed
    if max(len(typed), len(meant)) > MAX_MEANT + 1:
        raise ValueError(f"has more than {MAX_MEANT + 1} words or phrases")
    if not (typed and meant) or (not arrow and len(typed) < 2):
        raise ValueError("needs two words, such as `robot, crawler` or `k8s => kubernetes`")
    return [Synonym(one, other) for one in typed for other in meant if one != other]


def _entries(text: str) -> list[str]:
    entries = [" ".join(entry.split()) for entry in text.split(",") if entry.strip()]
    for entry in entries:
        words = len(query_terms(entry))
        if not 1 <= words <= MAX_WORDS:
            raise ValueError(f"`{entry}` has {'no word' if not words else f'more than {MAX_WORDS} words'}")
    return entries


class SynonymTable:
    """The synonyms by their terms in the languages of an index."""

    def __init__(self, synonyms: Iterable[Synonym], languages: Sequence[str]) -> None:
        self._meant: dict[tuple[Terms, ...], list[tuple[Terms, ...]]] = {}
        for typed, meant in synonyms:
            others = self._meant.setdefault(query_terms(typed, languages), [])
            if len(others) < MAX_MEANT:
                others.append(query_terms(meant, languages))
        self._longest = max(map(len, self._meant), default=0)

    def find(self, words: Sequence[Terms]) -> list[list[tuple[Terms, ...]]]:
        """Returns, for each word of a query, what it may also mean, alone or with the words beside it."""
        found: list[list[tuple[Terms, ...]]] = [[] for _ in words]
        for length in range(1, self._longest + 1):
            for start in range(len(words) - length + 1):
                for meant in self._meant.get(tuple(words[start : start + length]), ()):
                    for place in range(start, start + length):
                        found[place].append(meant)
        return found
