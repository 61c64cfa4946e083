"""Parses queries. Any text is a query: nothing that somebody types is an error.

    robot exclusion        any of these words, in any form; pages with all of them first
    "crawl delay"          these words in any form, one directly after the other
    -spider                without this word; also before a phrase, a field or a group; -x and --help are words
    robot OR spider        at least one of the two; OR binds more tightly than a space
    crawl*                 words that begin with this
    site:example.org       pages of this host and its subdomains
    intitle:robots         the word, phrase or group in the title; inurl: in the URL
    filetype:pdf           documents of this type; lang:de: in this language
    before:2024-05         pages dated before this month; after:2024-05-01: on that day or later
    link:https://a.example pages that link to this URL
    (…)                    a group

A query of more than `MAX_SHORT_WORDS` words, unless many of them are joined by OR, is prose: only filters (but not
`link:`) work in it, quotes and operators are text. If all words of a query are in capital letters, and there are at
least two besides OR, AND and NOT, these three are words too. The parser is iterative and bounded: it reads
`MAX_QUERY_CHARS`, keeps `MAX_WORDS` and `MAX_PHRASES`, and ignores parentheses deeper than `MAX_DEPTH`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from goodbot.errors import InputError
from goodbot.index.filters import EXAMPLES, filter_of
from goodbot.index.query_values import AllOf, AnyOf, Filter, FilterName, Node, ParsedQuery, Where, Words

MAX_QUERY_CHARS: Final = 16_384
MAX_WORDS: Final = 1_024
MAX_DEPTH: Final = 50
MAX_STARS: Final = 20
MAX_PHRASES: Final = 32
"""A phrase of two frequent words takes 16 ms in an index of 69,000 pages."""
MAX_SHORT_WORDS: Final = 12
MIN_STAR_CHARS: Final = 2

FIELDS: Final[dict[str, Where | FilterName]] = {
    "site": "site",
    "title": "title",
    "intitle": "title",
    "inurl": "url",
    "filetype": "filetype",
    "ext": "filetype",
    "lang": "lang",
    "language": "lang",
    "before": "before",
    "after": "after",
    "since": "after",
    "link": "link",
}
"""The names that may be before a colon, each with what it means."""
_NEEDS: Final = {
    "title": "a word, such as intitle:robots",
    "url": "a word, such as inurl:robots",
    **{name: f"{what}, such as {name}:{example}" for name, (what, example) in EXAMPLES.items()},
}
_NAMES: Final = "|".join(FIELDS)
_TOKEN = re.compile(
    rf"""(?P<sign>\+|-(?!-|\w(?!\S)))?(?:(?P<field>{_NAMES}):(?:[ ](?=[^\s()"]))?)?
        (?: "(?P<phrase>[^"]*)" | "? (?P<open>\() | (?P<chunk>[^\s()"]+) | (?<=:)(?P<nothing>) )
        | (?P<close>\))""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»「」『』＂", '"') | {"（": "(", "）": ")", "\u3000": " "})
_MINUS = re.compile(r"(?<!\S)[\u2212\u2013\u2014\uff0d](?=[^\s\u2212\u2013\u2014])")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_WORD = re.compile(r"\w")
_PARTS = re.compile(r"[^\W_]+")
_OPERATOR_IN_PROSE = re.compile(r'"|(?<!\S)-\w{2}|(?<!\S)OR(?!\S)')
_OPERATORS: Final = ("AND", "OR", "NOT", "|")


def check_asked(query: str, limit: int = 0, offset: int = 0) -> None:
    """Raises InputError if a search cannot be made: without a query, or for a negative number of hits."""
    if limit < 0 or offset < 0:
        raise InputError(f"limit and offset must not be negative: {limit}, {offset}")
    if not query.strip():
        raise InputError("the query is empty: type a word to search for")


def parse_query(text: str) -> ParsedQuery:
    """Parses a query. Never raises."""
    notes = [f"the query was cut after {MAX_QUERY_CHARS:,} characters"] if len(text) > MAX_QUERY_CHARS else []
    text = _CONTROL.sub(" ", text[:MAX_QUERY_CHARS]).translate(_QUOTES)
    is_prose = _is_prose(text)
    if is_prose and _OPERATOR_IN_PROSE.search(text):
        notes.append(f'in a query of more than {MAX_SHORT_WORDS} words, quotes, "-" and OR have no special meaning')
    parser = _Parser(is_prose=is_prose, has_operators=not is_prose and not _is_shouted(text), notes=notes)
    for token in _TOKEN.finditer(_MINUS.sub("-", text)):
        parser.take(token)
    return ParsedQuery(parser.finish(), is_prose, tuple(dict.fromkeys(parser.notes)))


def _is_prose(text: str) -> bool:
    """Whether a query is prose: it has many words, and few of them are joined by OR."""
    words = sum(1 for chunk in text.split() if _WORD.search(chunk))
    if words <= MAX_SHORT_WORDS:
        return False
    operators = sum(1 for chunk in text.split() if chunk in ("OR", "|"))
    return operators * 4 < words


def _is_shouted(text: str) -> bool:
    """Whether a query is in capital letters, so that OR, AND and NOT are words. It must have two words besides
    them."""
    words = [chunk for chunk in text.split() if chunk not in _OPERATORS and _WORD.search(chunk)]
    letters = [word for word in words if any(map(str.isalpha, word))]
    return len(letters) > 1 and all(word.isupper() for word in letters) and any(len(word) > 1 for word in letters)


@dataclass(slots=True)
class _Group:
    """A group being read. Each item of `required` is a list of alternatives joined by OR."""

    excluding: bool
    where: Where
    required: list[list[Node]] = field(default_factory=list)
    excluded: list[Node] = field(default_factory=list)
    after_or: bool = False
    after_not: bool = False

    def add(self, node: Node, *, excluding: bool) -> None:
        if excluding and not self.after_or:
            self.excluded.append(node)
            return
        if excluding:
            node = AllOf((), (node,))
        if self.after_or and self.required:
            self.required[-1].append(node)
        else:
            self.required.append([node])
        self.after_or = False

    def close(self) -> AllOf:
        required: list[Node] = []
        for choices in self.required:
            required += _without_grouping(choices[0]) if len(choices) == 1 else [AnyOf(tuple(choices))]
        return AllOf(tuple(required), tuple(self.excluded))


def _without_grouping(node: Node) -> Iterable[Node]:
    """Replaces a group without operators by its words: such parentheses are punctuation."""
    return node.required if isinstance(node, AllOf) and not node.excluded else (node,)


class _Parser:
    def __init__(self, *, is_prose: bool, has_operators: bool, notes: list[str]) -> None:
        self._is_prose = is_prose
        self._has_operators = has_operators
        self._groups = [_Group(excluding=False, where="anywhere")]
        self._too_deep = 0
        self._words_left = MAX_WORDS
        self._stars_left = MAX_STARS
        self._phrases_left = MAX_PHRASES
        self.notes = notes

    def take(self, token: re.Match[str]) -> None:
        if self._is_prose:
            self._take_prose(token)
        else:
            self._take_short(token)

    def finish(self) -> AllOf:
        self._too_deep = 0
        while len(self._groups) > 1:
            self._close()
        return self._groups[0].close()

    # ---- prose ----

    def _take_prose(self, token: re.Match[str]) -> None:
        """Takes everything as words, except filters with a value that can be used."""
        group, name = self._groups[0], FIELDS.get((token["field"] or "").lower())
        if token["chunk"] and name in ("site", "filetype", "lang", "before", "after") and not token["sign"]:
            found = filter_of(name, token["chunk"])
            if found is not None:
                group.add(found, excluding=False)
                return
        for chunk in (token["field"], token["chunk"], *(token["phrase"] or "").split()):
            if chunk and chunk != "|":
                self._add_words(group, chunk)

    def _add_words(self, group: _Group, chunk: str) -> None:
        words = self._words(chunk, "anywhere")
        if words is not None:
            group.add(words, excluding=False)

    # ---- a few words with operators ----

    def _take_short(self, token: re.Match[str]) -> None:
        group, chunk = self._groups[-1], token["chunk"]
        is_bare = not (token["sign"] or token["field"])
        if token["close"]:
            self._close()
        elif is_bare and (chunk == "|" or (self._has_operators and chunk == "OR")):
            group.after_or = True
        elif is_bare and self._has_operators and chunk in ("AND", "NOT"):
            group.after_not = chunk == "NOT"
        else:
            excluding = token["sign"] == "-" or group.after_not
            group.after_not = False
            self._take_operand(group, token, excluding=excluding)

    def _take_operand(self, group: _Group, token: re.Match[str], *, excluding: bool) -> None:
        name = FIELDS.get((token["field"] or "").lower())
        where: Where = name if name in ("title", "url") else group.where
        if token["open"]:
            self._open(excluding=excluding, where=where)
            return
        value = token["phrase"] if token["phrase"] is not None else token["chunk"] or ""
        node: Node | None
        if name is not None and name not in ("title", "url"):
            node = filter_of(name, value)
        else:
            node = self._words(value, where, quoted=token["phrase"] is not None)
        if node is None and name is not None:
            self.notes.append(f"{(token['field'] or '').lower()}: needs {_NEEDS[name]}")
            node = self._words(value, "anywhere")
        if node is not None:
            group.add(node, excluding=excluding)

    def _words(self, value: str, where: Where, *, quoted: bool = False) -> Words | None:
        if not _WORD.search(value):
            return None
        if not self._words_left:
            self.notes.append(f"only the first {MAX_WORDS:,} words count")
            return None
        self._words_left -= 1
        if not self._is_prose and len(_PARTS.findall(value)) > 1:
            if not self._phrases_left:
                self.notes.append(f"only the first {MAX_PHRASES} phrases and joined words count")
                return None
            self._phrases_left -= 1
        if not quoted and not self._is_prose and value.endswith("*"):
            stem = value.rstrip("*")
            if not self._stars_left:
                self.notes.append(f"* counts only in the first {MAX_STARS} words that have it")
                return Words(stem, where)
            if sum(map(str.isalnum, stem)) >= MIN_STAR_CHARS and _WORD.match(stem[-1]):
                self._stars_left -= 1
                return Words(stem, where, prefix=True)
            self.notes.append(f"* needs {MIN_STAR_CHARS} letters or digits before it, such as cr*")
        return Words(value, where, quoted)

    def _open(self, *, excluding: bool, where: Where) -> None:
        if len(self._groups) > MAX_DEPTH:
            self._too_deep += 1
            self.notes.append(f"parentheses more than {MAX_DEPTH} deep were ignored")
        else:
            self._groups.append(_Group(excluding, where))

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif len(self._groups) > 1:
            group = self._groups.pop()
            node, outer = group.close(), self._groups[-1]
            if node.required or group.excluding or outer.after_or:
                if node.required or node.excluded:
                    outer.add(node, excluding=group.excluding)
            else:
                outer.excluded += node.excluded  # of `(-a)`


# ---- the query in plain words ---------------------------------------------------------------------------------------

MAX_EXPLAINED_CHARS: Final = 200
_FILTER_WORDS: Final = {
    "site": "on {}",
    "filetype": "of type {}",
    "lang": "in the language {}",
    "before": "dated before {}",
    "after": "dated {} or later",
    "link": "linking to {}",
}


def explain_query(parsed: ParsedQuery) -> str:
    """Returns the query in plain words, in at most `MAX_EXPLAINED_CHARS` characters. If it is longer, words are left
    out rather than conditions."""
    required = parsed.root.required
    excluded = [f"without {said(node)}" for node in parsed.root.excluded]
    text = _line([*map(said, required), *excluded])
    if len(text) <= MAX_EXPLAINED_CHARS:
        return text
    words = _line([*(said(node) for node in required if not isinstance(node, Filter)), *excluded])
    conditions = _line([said(node) for node in required if isinstance(node, Filter)])
    room = MAX_EXPLAINED_CHARS - len(conditions) - 2
    return f"{_cut(words, room)}, {conditions}" if conditions and room > 1 else _cut(text, MAX_EXPLAINED_CHARS)


def _line(parts: Iterable[str]) -> str:
    return " ".join(", ".join(parts).split())


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip(" ,") + "…"


def said(node: Node) -> str:
    """Returns one node in plain words. Recursive, at most `MAX_DEPTH` deep."""
    match node:
        case Words():
            text = f'"{node.text.strip()}"' if node.quoted else f"{node.text}*" if node.prefix else node.text
            return text if node.where == "anywhere" else f"{text} in the {'title' if node.where == 'title' else 'URL'}"
        case Filter():
            return _FILTER_WORDS[node.name].format(node.value)
        case AnyOf():
            return " or ".join(map(said, node.choices))
        case AllOf():
            parts = [said(item) for item in node.required] + [f"without {said(item)}" for item in node.excluded]
            return f"({', '.join(parts)})"


def plain_words(parsed: ParsedQuery) -> tuple[Words, ...]:
    """Returns the required words without quotes, field, star or OR: those whose spelling may be corrected."""
    nodes = (node for node in parsed.root.required if isinstance(node, Words))
    return tuple(node for node in nodes if node.where == "anywhere" and not (node.quoted or node.prefix))


_KEPT = re.compile(rf"""((?<!\w)(?:{_NAMES}):[ ]?(?:"[^"]*"?|[^\s"]*)|"[^"]*"?)""", re.IGNORECASE)
"""Fields and quotes."""


def replace_word(text: str, old: str, new: str) -> str:
    """Replaces a word in a query as typed, outside quotes and fields, with the same use of capital letters."""

    def replaced(match: re.Match[str]) -> str:
        found = match[0]
        if found.isupper() and len(found) > 1:
            return new.upper()
        return new.lower() if found.islower() else new[0].upper() + new[1:]

    pattern = re.compile(rf"(?<![^\W_]){re.escape(old)}(?![^\W_])", re.IGNORECASE)
    pieces = _KEPT.split(text)
    return "".join(piece if number % 2 else pattern.sub(replaced, piece) for number, piece in enumerate(pieces))
