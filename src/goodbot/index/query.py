"""What was typed → what is meant. Any text is a query; only one without a word to look for is refused.

    robot exclusion        both words, in any form of theirs
    "crawl delay"          these words in a row
    -spider                not this word; also before a phrase, a field or a group
    robot OR spider        one of them at least; binds its two neighbours, closer than blanks do
    site:example.org       pages of this host and the hosts below it
    title:robots           the word, phrase or group in the title
    (…)                    a group

What cannot be understood is read as words. The parser is iterative and bounded: it reads `MAX_QUERY_CHARS`, keeps
`MAX_TERMS` and takes parentheses deeper than `MAX_DEPTH` for blanks.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from goodbot.errors import InputError
from goodbot.index.analysis import STOP_TERMS, query_terms
from goodbot.url import parse_url

MAX_QUERY_CHARS = 16_384
MAX_TERMS = 64
MAX_DEPTH = 50

Where = Literal["anywhere", "title"]


@dataclass(frozen=True, slots=True)
class QueryWords:
    """Terms in a row: one word, a word of several parts (`update-rc.d`) or, `quoted`, a phrase."""

    terms: tuple[str, ...]
    where: Where = "anywhere"
    quoted: bool = False

    @property
    def insisted(self) -> bool:
        """Whether a document without it is out even when the other words are wanted only."""
        return self.quoted or self.where != "anywhere"

    @property
    def is_stop_word(self) -> bool:
        return not self.insisted and STOP_TERMS.issuperset(self.terms)


@dataclass(frozen=True, slots=True)
class SiteFilter:
    """A host, or host and port, and for a host everything below it."""

    authority: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of them at least."""

    choices: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of `required` (at least one), none of `excluded`."""

    required: "tuple[Node, ...]"
    excluded: "tuple[Node, ...]" = ()


Node = QueryWords | SiteFilter | AnyOf | AllOf

_TOKEN = re.compile(
    r"""(?P<minus>-)?(?:(?P<field>(?:in)?title|site):)?
        (?: "(?P<phrase>[^"]*)"? | (?P<open>\() | (?P<chunk>[^\s()"]+) )
        | (?P<close>\))""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))


def parse_query(text: str) -> AllOf:
    """Raises InputError if there is no word to look for: nothing but signs, exclusions or a site."""
    parser = _Parser()
    for token in _TOKEN.finditer(text[:MAX_QUERY_CHARS].translate(_QUOTES)):
        parser.take(token)
    found = parser.finish()
    if found is None or not wanted_terms(found):
        raise InputError("the query holds no word to search for")
    return found


def wanted_terms(node: Node) -> frozenset[str]:
    """Every term a document may be found by; what is to be marked in it."""
    match node:
        case QueryWords():
            return frozenset(node.terms)
        case AnyOf():
            return frozenset().union(*map(wanted_terms, node.choices))
        case AllOf():
            return frozenset().union(*map(wanted_terms, node.required))
        case SiteFilter():
            return frozenset()


def _spread(node: Node) -> Iterable[Node]:
    """A group of words joined by nothing is the words: parentheses in prose (as here) are no operators."""
    return node.required if isinstance(node, AllOf) and not node.excluded else (node,)


@dataclass(slots=True)
class _Group:
    """A group being read: `required` holds alternatives, which OR joins."""

    excluding: bool
    where: Where
    required: list[list[Node]] = field(default_factory=list)
    excluded: list[Node] = field(default_factory=list)
    after_or: bool = False
    after_not: bool = False

    def add(self, node: Node, *, excluding: bool) -> None:
        if excluding:
            self.excluded.append(node)
        elif self.after_or and self.required:
            self.required[-1].append(node)
        else:
            self.required.append([node])
        self.after_or = False

    def close(self) -> AllOf | None:
        """None if nothing is required: exclusions alone find nothing."""
        if not self.required:
            return None
        required: list[Node] = []
        for some in self.required:
            required += _spread(some[0]) if len(some) == 1 else [AnyOf(tuple(some))]
        return AllOf(tuple(required), tuple(self.excluded))


class _Parser:
    def __init__(self) -> None:
        self._groups = [_Group(excluding=False, where="anywhere")]
        self._too_deep = 0
        self._terms_left = MAX_TERMS

    def take(self, token: re.Match[str]) -> None:
        group = self._groups[-1]
        if token["close"]:
            self._close()
        elif token["chunk"] in ("OR", "|") and not (token["minus"] or token["field"]):
            group.after_or = True
        elif token["chunk"] in ("AND", "NOT") and not (token["minus"] or token["field"]):
            group.after_not = token["chunk"] == "NOT"
        else:
            excluding = bool(token["minus"]) or group.after_not
            group.after_not = False
            self._take_operand(group, token, excluding=excluding)

    def finish(self) -> AllOf | None:
        self._too_deep = 0
        while len(self._groups) > 1:
            self._close()
        return self._groups[0].close()

    def _take_operand(self, group: _Group, token: re.Match[str], *, excluding: bool) -> None:
        name = (token["field"] or "").lower()
        where: Where = "title" if name.endswith("title") else group.where
        if token["open"]:
            self._open(excluding=excluding, where=where)
            return
        quoted = token["phrase"] is not None
        value = token["phrase"] if quoted else token["chunk"]
        node = _site(value) if name == "site" else self._words(value, where, quoted=quoted)
        if node is not None:
            group.add(node, excluding=excluding)

    def _words(self, value: str, where: Where, *, quoted: bool) -> QueryWords | None:
        terms = query_terms(value)[: self._terms_left]
        self._terms_left -= len(terms)
        return QueryWords(terms, where, quoted) if terms else None

    def _open(self, *, excluding: bool, where: Where) -> None:
        if len(self._groups) > MAX_DEPTH:
            self._too_deep += 1
        else:
            self._groups.append(_Group(excluding, where))

    def _close(self) -> None:
        if self._too_deep:
            self._too_deep -= 1
        elif len(self._groups) > 1:
            group = self._groups.pop()
            node = group.close()
            if node is not None:
                self._groups[-1].add(node, excluding=group.excluding)


def _site(value: str) -> SiteFilter | None:
    """The host (and port) of `example.org`, `example.org:8020` or a whole URL; None if it is none."""
    parsed = parse_url(value if "://" in value else f"http://{value.strip()}")
    if parsed is None:
        return None
    return SiteFilter(parsed.host if parsed.authority.strip("[]") == parsed.host else parsed.authority)
