"""Parses queries. Any text is a query; only a text without a word to search for is refused.

    robot exclusion        both words, in any form
    "crawl delay"          exactly these words, one after the other
    -spider                without this word; also before a phrase, a field or a group
    robot OR spider        at least one of the two; OR binds more tightly than a space
    site:example.org       pages of this host and its subdomains
    title:robots           the word, phrase or group in the title
    (…)                    a group

Everything else is read as words. The parser is iterative and bounded: it reads `MAX_QUERY_CHARS`, keeps `MAX_TERMS` and
ignores parentheses deeper than `MAX_DEPTH`.
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
    """Consecutive terms: one word, a word of several parts (`update-rc.d`) or, if `quoted`, a phrase."""

    terms: tuple[str, ...]
    where: Where = "anywhere"
    quoted: bool = False

    @property
    def is_required(self) -> bool:
        """Whether a document must have these words even when the other words of the query are optional."""
        return self.quoted or self.where != "anywhere"

    @property
    def is_stop_word(self) -> bool:
        return not self.is_required and STOP_TERMS.issuperset(self.terms)


@dataclass(frozen=True, slots=True)
class SiteFilter:
    """A host with its subdomains, or a host and port."""

    authority: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of several choices."""

    choices: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of `required`, which is never empty, and none of `excluded`."""

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
    """Parses a query. Raises InputError if it has no word to search for: only punctuation, exclusions or a site."""
    parser = _Parser()
    for token in _TOKEN.finditer(text[:MAX_QUERY_CHARS].translate(_QUOTES)):
        parser.take(token)
    found = parser.finish()
    if found is None or not sought_terms(found):
        raise InputError("the query contains no word to search for")
    return found


def sought_terms(node: Node) -> frozenset[str]:
    """Returns every term that a document may be found by. Snippets highlight these terms."""
    match node:
        case QueryWords():
            return frozenset(node.terms)
        case AnyOf():
            return frozenset().union(*map(sought_terms, node.choices))
        case AllOf():
            return frozenset().union(*map(sought_terms, node.required))
        case SiteFilter():
            return frozenset()


def _without_grouping(node: Node) -> Iterable[Node]:
    """Replaces a group without operators by its words: parentheses in prose (as here) are not operators."""
    return node.required if isinstance(node, AllOf) and not node.excluded else (node,)


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
        if excluding:
            self.excluded.append(node)
        elif self.after_or and self.required:
            self.required[-1].append(node)
        else:
            self.required.append([node])
        self.after_or = False

    def close(self) -> AllOf | None:
        """Returns the group, or None if it requires nothing: exclusions alone find nothing."""
        if not self.required:
            return None
        required: list[Node] = []
        for choices in self.required:
            required += _without_grouping(choices[0]) if len(choices) == 1 else [AnyOf(tuple(choices))]
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
    """Parses the host (and port) of `example.org`, `example.org:8020` or a whole URL; returns None if it is invalid."""
    parsed = parse_url(value if "://" in value else f"http://{value.strip()}")
    if parsed is None:
        return None
    return SiteFilter(parsed.host if parsed.authority.strip("[]") == parsed.host else parsed.authority)
