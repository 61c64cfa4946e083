"""Finds elements of a page by CSS selectors, in a tree of bounded size (`bounded_tree`)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import turbohtml

from goodbot.errors import InputError
from goodbot.page.bounded_tree import build_tree

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
        self._root, self.refused = (None, None) if html is None else build_tree(html)
        if self._root is not None:
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
