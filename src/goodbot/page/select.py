"""Finds elements of a page by CSS selectors, in a tree of bounded size.

The tree is turbohtml's, built as browsers build theirs; no other module uses it. Untrusted markup can make a tree a
thousand times as large as its page (docs/decisions/0001-html-tokens.md), so this module estimates the size from the
tokens before it builds the tree.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Final

import turbohtml

from goodbot.errors import InputError

MAX_TREE_TAGS: Final = 32_768
"""The limit of start tags for a tree. Of 85,378 pages of documentation some 0.05 % have more. Selectors that count
siblings (`:nth-child`) take quadratic time: 4 s for the worst page."""

MAX_COPIES: Final = 1_000_000
"""The limit of elements that a parser may have to add for unclosed formatting tags (WHATWG HTML §13.2.4.3): 120 MB."""

_FORMATTING = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""All formatting tags except `a`: only one of these can be open at a time."""
_MAX_EQUAL = 3
"""The parser reopens so many equal elements (WHATWG HTML §13.2.4.3, the "Noah's Ark clause")."""

_UNSEEN = frozenset({"script", "style", "template", "noscript", "iframe", "head"})
_INLINE_TAGS = """
    a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small span strike
    strong sub sup time tt u var wbr
"""
_INLINE = frozenset(_INLINE_TAGS.split())


@dataclass(frozen=True)
class Element:
    """One element of a page. Two objects for the same element are equal."""

    _node: turbohtml.Element = field(repr=False)

    @property
    def tag(self) -> str:
        """The name, in lower case."""
        return self._node.tag

    @cached_property
    def attributes(self) -> Mapping[str, str]:
        """The attributes by lower-case name; one without a value is empty."""
        return MappingProxyType({name: _value(value) for name, value in self._node.attrs.items()})

    def get(self, name: str, default: str = "") -> str:
        """Returns the value of an attribute."""
        return self.attributes.get(name.lower(), default)

    @cached_property
    def text(self) -> str:
        """The text of the element, without scripts and styles, with white space folded."""
        return " ".join("".join(_pieces(self._node)).split())

    def select(self, css: str) -> list["Element"]:
        """Returns the matching elements inside this one, in the order of the page. Raises InputError for an invalid
        selector."""
        return _select(self._node, css)

    def __repr__(self) -> str:
        return f"<{self.tag} {dict(self.attributes)!r}>"


class Tree:
    """A page for selectors, or None for other documents. `refused` says why nothing can be found in a page."""

    def __init__(self, html: str | None) -> None:
        self._root: turbohtml.Document | None = None
        self.refused = None if html is None else _refusal(html)
        if html is not None and self.refused is None:
            self._root = turbohtml.parse(html, positions=False)
            self._root.remove("template")  # `select` would search them, although they are not displayed

    def select(self, css: str) -> list[Element]:
        """Returns the matching elements, in the order of the page; none if the page is refused. Raises InputError for
        an invalid selector."""
        if self._root is not None:
            return _select(self._root, css)
        _select(turbohtml.parse(""), css)
        return []


def _select(node: turbohtml.Node, css: str) -> list[Element]:
    try:
        return [Element(found) for found in node.select(css)]
    except (turbohtml.SelectorSyntaxError, ValueError) as error:
        raise InputError(f"{css!r} is not a CSS selector: {error}") from error


def _refusal(html: str) -> str | None:
    """Returns why a tree of this page is not built, if so. One pass over its tokens; 5 ms for 1 MB."""
    tags = formatting = 0
    kinds: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
    for token in turbohtml.tokenize(html):
        if token.type is turbohtml.TokenType.START_TAG and token.tag is not None:
            tags += 1
            if token.tag in _FORMATTING:
                formatting += 1
                kinds.add((token.tag, tuple(token.attrs or ())))
    if tags > MAX_TREE_TAGS:
        return f"the page has more than {MAX_TREE_TAGS} tags"
    if 2 * tags * min(_MAX_EQUAL * len(kinds), formatting) > MAX_COPIES:
        return "the page leaves so many formatting tags open that its tree may grow without bounds"
    return None


def _pieces(root: turbohtml.Node) -> Iterator[str]:
    """Yields text, with a space at every border of a block. It uses no recursion: untrusted pages nest deeply."""
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
