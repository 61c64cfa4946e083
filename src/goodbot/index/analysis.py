"""Turns text into terms: decides what a word is, and which words are the same. Pure; index, queries and snippets share
it.

A word is a run of letters, digits and combining marks. Apostrophes inside it stay (`don't`); `C++` and `C#` are words.
Everything else separates words, including hyphens, dots and underscores: `update-rc.d` is three consecutive words.
Terms are folded (case, diacritics and vowel points are removed, ё becomes е) and then stemmed in the language of the
text, so that a query typed without accents finds the word with them. A word in another script than that language's is
stemmed by its script: Cyrillic as Russian, Greek as Greek, Latin as English. Scripts written without spaces become
overlapping pairs of characters, and the last character of a run alone, so that every character begins a term.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, lru_cache

from goodbot.index.languages import FREQUENT, STEMMERS, stemmer

MAX_WORD_CHARS = 64
"""The rest of a longer word is ignored: it is data, not language."""

CACHED_CHUNKS = 1 << 14
"""The number of chunks whose terms are cached in each of two generations, which take 6 MB together. When the younger
generation is full, it becomes the older, so that frequent chunks stay cached. Of the 5.2 million chunks in 3,089 pages
of documentation (114,000 distinct ones) 4.1 % have to be analysed."""

_CACHED_PAIRS = 1 << 14

_SECTION_CHARS = 400
_ENOUGH_MATCHES = 20

_UNSPACED = (
    r"\u0e00-\u0e3e\u0e40-\u0e4e\u0e50-\u0e59\u0e80-\u0eff"  # Thai, Lao
    r"\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Burmese, Khmer
    r"\u3005-\u3007\u3041-\u3096\u3099\u309a\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # kana
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"  # Han, Hangul
)
_JOINERS = "\u00ad\u200c\u200d" + "".join(
    char for char in map(chr, range(0x300, 0x10000)) if unicodedata.category(char)[0] == "M"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_PLAIN = r"[A-Za-z0-9\xc0-\xd6\xd8-\xf6\xf8-\u024f\u0400-\u0481\u048a-\u052f]"
_WORD = re.compile(
    # Most words are plain ones before an ASCII character that ends any word: this takes half the time.
    rf"{_PLAIN}++(?=[\x00-\x22\x24-\x26\x28-*,-/:-@\[-`{{-\x7f])"
    rf"|[{_UNSPACED}]+"
    rf"|{_LETTER}+(?:(?=[{_JOINERS}'’+#])"  # looking ahead first saves a third of the time
    rf"(?:[{_JOINERS}]+{_LETTER}*|['’]{_LETTER}+)*(?:\+\+|(?<=\b[A-Za-z])#(?!\w))?)?"
)
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")

_ELISION = re.compile(r"(?:qu|[cdjlmnst])'(?=..)")
_LETTERS_ALIKE = str.maketrans({
    "ё": "е", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "ı": "i", "œ": "oe", "æ": "ae", "þ": "th", "’": "'",
    **dict.fromkeys("\u00ad\u200c\u200d\u0300\u0301\u0640\u0670"),  # soft hyphen, joiners, stress marks, tatweel
    **dict.fromkeys(map(chr, (*range(0x591, 0x5C8), *range(0x64B, 0x653)))),  # Hebrew and Arabic points
})  # fmt: skip
_DIACRITICS = dict.fromkeys(range(0x300, 0x370))

_SEPARATORS_TO_SPACES = bytes(
    code if code > 0x7F or chr(code).isalnum() or chr(code) in "'+#_" else 0x20 for code in range(0x100)
)
"""A table for `bytes.translate` that turns ASCII characters of UTF-8 text into spaces if no word contains them. The
underscore stays, although no word contains it, because `_WORD` tests for letters and underscores around `C#`."""


def terms(text: str, language: str = "en") -> str:
    """Returns the terms of a document's text in `language` (two letters), separated by spaces. Linear.

    It cuts the text into chunks at ASCII separators, and analyses only chunks whose terms are not cached. With a
    warm CPU cache, 1,480 cached chunks take 138 µs; finding the words of the whole text by `_WORD` would take 337.
    """
    encoded = text.encode("utf-8", "surrogatepass").translate(_SEPARATORS_TO_SPACES)
    chunks = encoded.decode("utf-8", "surrogatepass").split()
    return " ".join(map(_cache_of(language).__getitem__, chunks))


def query_terms(text: str, languages: Sequence[str] = ("en",)) -> tuple[tuple[str, ...], ...]:
    """Returns, for each word to search for, its distinct terms in documents of these languages. Words are in order.

    It leaves out the last character of a longer unspaced run, because documents have it as a term only at the end of a
    run.
    """
    found: list[tuple[str, ...]] = []
    for word in _WORD.findall(text):
        if _UNSPACED_START.match(word):
            made = _pairs(word).split()
            found += [(term,) for term in (made[:-1] if len(made) > 1 else made)]
        else:
            found.append(tuple(dict.fromkeys(_query_word(word[:MAX_WORD_CHARS], language) for language in languages)))
    return tuple(position for position in found if all(position))


def word_terms(word: str, language: str = "en") -> tuple[str, ...]:
    """Returns the terms of one word of a document in `language`."""
    return tuple(_cache_of(language)[word].split())


def words_of(text: str) -> list[str]:
    """Returns the words of a text as they are."""
    return _WORD.findall(text)


def folded_words(text: str) -> tuple[str, ...]:
    """Returns the words of a text, folded but not stemmed."""
    return tuple(fold(word[:MAX_WORD_CHARS]) for word in words_of(text))


_IDENTIFIER = re.compile(r"\w+(?:(?:::|->|[.:/-])\w+)*")
_MAX_SUFFIXES = 4


def identifiers(text: str) -> Iterator[str]:
    """Yields the joined words of a text as a whole, folded: `os.path.join`, `pg_dump`, `qstring::split`. An identifier
    is a joined word as a whole. Numbers and words joined only by hyphens are none, because prose has both. Linear."""
    for found in _IDENTIFIER.findall(text):
        if not found.replace("-", "").isalnum() and any(map(str.isalpha, found)):
            yield fold(found[:MAX_WORD_CHARS])


def identifier_endings(identifier: str) -> Iterator[str]:
    """Yields an identifier, and its endings that are joined words too: `path.join`."""
    yield identifier
    for separator in list(re.finditer(r"::|->|[.:/]", identifier))[-_MAX_SUFFIXES:]:
        ending = identifier[separator.end() :]
        if not ending.isalnum():
            yield ending


@cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(fold(word) for word in FREQUENT.get(language, ()))


def stop_words(words: Iterable[str], languages: Sequence[str]) -> frozenset[str]:
    """Returns those of some words that are stop words in one of the languages: they count little in a query that has
    other words. Stems are not compared: that of `init` in Hungarian is `in`."""
    bare = {word: _without_elision(fold(word[:MAX_WORD_CHARS])) for word in words}
    return frozenset(word for word, one in bare.items() if any(one in _stop_words(language) for language in languages))


def terms_by_language(word: str, languages: Sequence[str]) -> dict[str, list[str]]:
    """Returns the terms of a word of a query, each with those of the languages whose documents have it. A word in a
    script without spaces has none: its terms are the same in all languages."""
    found: dict[str, list[str]] = {}
    if not _UNSPACED_START.match(word):
        for language in languages:
            if term := _query_word(word[:MAX_WORD_CHARS], language):
                found.setdefault(term, []).append(language)
    return found


def located_terms(text: str, sought: frozenset[str], language: str = "en") -> Iterator[tuple[int, int, str]]:
    """Yields (start, end, term) of the wanted terms `sought`, in order.

    It reads the text in pieces, and skips pieces whose sought terms were all found `_ENOUGH_MATCHES` times already: 0.2
    µs a word instead of 0.6.
    """
    counts, rare = Counter[str](), set(sought)
    start = 0
    while rare and start < len(text):
        end = _section_end(text, start + _SECTION_CHARS)
        section = text[start:end]
        if not rare.isdisjoint(terms(section, language).split(" ")):
            found = [place for place in _located(section, language) if place[2] in sought]
            counts.update(term for _, _, term in found)
            rare = {term for term in rare if counts[term] < _ENOUGH_MATCHES}
            yield from ((start + first, start + last, term) for first, last, term in found)
        start = end


def _section_end(text: str, at: int) -> int:
    """Returns the next place between words; in text without spaces, `at` itself."""
    space = text.find(" ", at, at + _SECTION_CHARS)
    return min(at, len(text)) if space < 0 else space


def _located(text: str, language: str) -> Iterator[tuple[int, int, str]]:
    end, cached = 0, _cache_of(language)
    for word in _WORD.findall(text):
        start = text.index(word, end)  # there are no letters between words, so this is where it matched
        end = start + len(word)
        term = cached[word]
        if " " not in term:
            yield start, end, term
        elif _UNSPACED_START.match(word):
            for at in range(start, end):
                last = min(at + 2, end)
                yield at, last, _pair(text[at:last])
        else:
            for part in term.split():
                yield start, end, part


def is_unspaced(text: str) -> bool:
    """Whether a text begins with a character of a script without spaces."""
    return _UNSPACED_START.match(text) is not None


def word_at(text: str, at: int) -> str:
    """Returns the word that begins at a place; empty if none does."""
    found = _WORD.match(text, at)
    return found[0] if found else ""


def is_prefix_term(term: str) -> bool:
    """Whether the term is one character of an unspaced script, which matches all terms that begin with it."""
    return len(term) == 1 and _UNSPACED_START.match(term) is not None


class TermCache(dict[str, str]):
    """Maps chunks of text in one language to their terms, separated by spaces. It is the younger generation, of at most
    `CACHED_CHUNKS`; other chunks are looked up in the older one. This is cheaper than tracking use."""

    def __init__(self, language: str = "en", most: int = CACHED_CHUNKS) -> None:
        super().__init__()
        self.older: dict[str, str] = {}
        self._most = most
        self._stem_latin = _latin_stemmer(language)

    def __missing__(self, chunk: str) -> str:
        made = self.older.get(chunk)
        if made is None:
            made = self._analysed(chunk)
        if len(chunk) <= MAX_WORD_CHARS:
            if len(self) >= self._most:
                self.older = dict(self)
                self.clear()
            self[chunk] = made
        return made

    def _analysed(self, chunk: str) -> str:
        """Analyses a chunk. If the chunk is too long for the cache (Chinese text has punctuation of its own, which does
        not separate chunks), its words are cached instead."""
        if chunk.isascii() and chunk.isalnum():  # one word, as most chunks are: takes half the time of the code below
            return self._stem_latin(chunk[:MAX_WORD_CHARS].lower())
        words = _WORD.findall(chunk)
        if len(chunk) > MAX_WORD_CHARS and len(words) > 1:
            return " ".join(map(self.__getitem__, words))
        return " ".join(map(self._of_word, words))

    def _of_word(self, word: str) -> str:
        return _term_of(word, self._stem_latin)


_Stem = Callable[[str], str]


def _latin_stemmer(language: str) -> _Stem:
    """Returns the function that stems words in Latin letters in texts of this language."""
    is_latin = language in STEMMERS and language not in ("ru", "el")
    stem: _Stem = stemmer(language if is_latin else "en").stemWord
    return stem


def _term_of(word: str, stem_latin: _Stem) -> str:
    return _pairs(word) if _UNSPACED_START.match(word) else _stemmed(fold(word[:MAX_WORD_CHARS]), stem_latin)


def _stemmed(word: str, stem_latin: _Stem) -> str:
    if "'" in word:
        word = _without_elision(word).removesuffix("'s").replace("'", "")
    last = word[-1:]
    if "а" <= last <= "я":
        return str(stemmer("ru").stemWord(word))
    if "α" <= last <= "ω":
        return str(stemmer("el").stemWord(word))
    return stem_latin(word) if last <= "\u024f" else word


def _without_elision(word: str) -> str:
    """Returns a word without an article such as `l'`."""
    found = _ELISION.match(word)
    return word[found.end() :] if found else word


MAX_CACHES = 5
"""The number of languages whose terms are cached. The first language gets the full size, the others a quarter, so that
all caches together take at most 12 MB."""
_caches: dict[str, TermCache] = {}


def _cache_of(language: str) -> TermCache:
    """Returns the cache of a language. If there are too many caches, a new one replaces the second oldest."""
    cached = _caches.get(language)
    if cached is None:
        if len(_caches) >= MAX_CACHES:
            _caches.pop(list(_caches)[1], None)
        most = CACHED_CHUNKS // 4 if _caches else CACHED_CHUNKS
        cached = _caches[language] = TermCache(language, most)
    return cached


def stem(word: str, language: str) -> str:
    """Returns the term of one word in documents of a language, without caches."""
    return _term_of(word, _latin_stemmer(language))


_query_word = lru_cache(maxsize=4096)(stem)
"""Queries have a separate cache: they use many languages, documents few."""


def _pairs(run: str) -> str:
    return " ".join(_pair(run[at : at + 2]) for at in range(len(run)))


@lru_cache(maxsize=_CACHED_PAIRS)
def _pair(characters: str) -> str:
    return fold(characters)


def fold(word: str) -> str:
    """Returns a word without case and diacritics."""
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKC", word).casefold().translate(_LETTERS_ALIKE)
    if (
        folded[:1] < "\u0400" or "\u1e00" <= folded[0] < "\u2000"
    ):  # Latin, Greek; elsewhere a mark may change the letter (й)
        folded = unicodedata.normalize("NFKD", folded).translate(_DIACRITICS)
    return folded
