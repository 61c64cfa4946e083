"""CSS selectors over a page: a tree of it, bounded, and the elements found in it.

The tree is turbohtml's, built as browsers build theirs. Only this module knows it. Strangers' markup can make a tree a
thousand times as large as its page (docs/decisions/0001-html-tokens.md), so what it may come to is counted in its
tokens before it is built.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final

import turbohtml

from goodbot.errors import InputError

TAGS_MOST: Final = 32_768
"""Start tags of a page that is made a tree. Of 85,378 pages of documentation some 0.05 % have more. Selectors that
count siblings (`:nth-child`) take the square of these in time: 4 s for the worst page."""

COPIES_MOST: Final = 1_000_000
"""Elements that a parser may have to add where formatting tags are not closed (WHATWG HTML §13.2.4.3): 120 MB."""

_FORMATTING = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""All but `a`, of which one at a time can be open."""
_SAME_MOST = 3
"""WHATWG HTML §13.2.4.3, the "Noah's Ark clause": so many alike are opened again."""

_UNSEEN = frozenset({"script", "style", "template", "noscript", "iframe", "head"})
_INLINE_TAGS = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike
    strong sub sup time tt u var wbr
"""
_INLINE = frozenset(_INLINE_TAGS.split())


@dataclass(frozen=True)
class Element:
    """One element of a page. Two that stand for the same are equal."""

    _node: turbohtml.Element = field(repr=False)

    @property
    def tag(self) -> str:
        """The name, in lower case."""
        return self._node.tag

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """Names in lower case; without a value: empty."""
        return MappingProxyType({name: _value(value) for name, value in self._node.attrs.items()})

    def get(self, name: str, default: str = "") -> str:
        """The value of an attribute."""
        return self.attributes.get(name.lower(), default)

    @cached_property
    def text(self) -> str:
        """What stands in it, without scripts and styles; runs of blanks are one."""
        return " ".join("".join(_pieces(self._node)).split())

    def select(self, css: str) -> list["Element"]:
        """The elements inside that match, in the order of the page. Raises InputError for what is no selector."""
        return _select(self._node, css)

    def __repr__(self) -> str:
        return f"<{self.tag} {dict(self.attributes)!r}>"


class Tree:
    """A page to be selected from; None: what is no page. `refused` says why there is nothing to be found in one."""

    def __init__(self, html: str | None) -> None:
        self._root: turbohtml.Document | None = None
        self.refused = None if html is None else _refusal(html)
        if html is not None and self.refused is None:
            self._root = turbohtml.parse(html, positions=False)
            self._root.remove("template")  # `select` goes into them, and nobody sees them

    def select(self, css: str) -> list[Element]:
        """The elements that match, in the order of the page; none if the page is refused. Raises InputError for what is
        no selector."""
        if self._root is not None:
            return _select(self._root, css)
        _select(turbohtml.parse(""), css)
        return []


def _select(node: turbohtml.Node, css: str) -> list[Element]:
    try:
        return [Element(found) for found in node.select(css)]
    except (turbohtml.SelectorSyntaxError, ValueError) as error:
        raise InputError(f"{css!r} is no CSS selector: {error}") from error


def _refusal(html: str) -> str | None:
    """Why a tree of this is not built. A pass over its tokens; 5 ms for 1 MB."""
    tags = formatting = 0
    kinds: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for token in turbohtml.tokenize(html):
        if token.type is turbohtml.TokenType.START_TAG and token.tag is not None:
            tags += 1
            if token.tag in _FORMATTING:
                formatting += 1
                kinds.add((token.tag, tuple(token.attrs or ())))
    if tags > TAGS_MOST:
        return f"the page has more than {TAGS_MOST} tags"
    if 2 * tags * min(_SAME_MOST * len(kinds), formatting) > COPIES_MOST:
        return "the page leaves so many formatting tags open that its tree may grow without bounds"
    return None


def _pieces(root: turbohtml.Node) -> Iterator[str]:
    """Text, and a blank at every border of a block. No recursion: strangers nest as they like."""
    todo: list[turbohtml.Node | str] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, str):
            yield node
        elif isinstance(node, turbohtml.Text):
            yield node.data
        elif isinstance(node, turbohtml.Element) and (node is root or node.tag not in _UNSEEN):
            border = "" if node.tag in _INLINE else " "
            todo += (border, *reversed(node.children), border)


def _value(value: str | list[str] | None) -> str:
    return " ".join(value) if isinstance(value, list) else value or ""
