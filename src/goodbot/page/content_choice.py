"""Chooses the element of a page that has its main content.

Each block of text counts if it is long and not made of links. First, what authors mark or name as menus, footers,
comments and the like is taken out, unless it has a large part of all that counts. Then the choice begins at the body,
or at an element that is marked as the main one, and goes down as long as one child has nearly everything that counts.
Pages whose content is links, such as an index, are judged by all their text.
"""

import re
from collections.abc import Callable, Iterator
from typing import Final

import turbohtml

_MIN_BLOCK_CHARS: Final = 60
"""A shorter block of text is seldom part of an article."""
_MIN_CONTENT_CHARS: Final = 250
_MIN_CONTENT_SHARE: Final = 0.4
"""If less of the chosen element counts, its links are the content."""
_NEARLY_ALL: Final = 0.8
_NEARLY_ALL_TEXT: Final = 0.9
_MOST_ASIDE: Final = 0.4
_MOST_ASIDE_CHARS: Final = 400
"""What is named as a menu, a comment and so on stays if it has more than this share of all that counts, and more than
this many characters: some pages have little content and a long footer."""
_LEAST_MARKED: Final = 0.5
_LEAST_MARKED_TEXT: Final = 0.1
_LINK_SHARE: Final = 0.6
_MIN_LINK_CHARS: Final = 40
_MAX_NAME_CHARS: Final = 200

_INLINE_TAGS: Final = """
    a abbr acronym b bdi bdo big br cite code data del dfn em font i img ins kbd label mark nobr q s samp small span
    strike strong sub sup time tt u var wbr
"""
INLINE: Final = frozenset(_INLINE_TAGS.split())
_HEADINGS: Final = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_WHOLE: Final = frozenset(["blockquote", "dl", "li", "ol", "p", "pre", "table", "tbody", "td", "tr", "ul"])
"""The choice does not go into these: they are a part of the content."""
_LINK_LISTS: Final = frozenset(["dl", "div", "li", "ol", "p", "section", "table", "td", "ul"])

_MARKED_TAGS: Final = frozenset({"article", "body", "main"})
"""These are never taken out, whatever they are called."""
_ASIDE_TAGS: Final = frozenset({"aside", "footer", "nav"})
_ASIDE_ROLES: Final = frozenset({"banner", "complementary", "contentinfo", "navigation", "search"})
_ASIDE_WORDS: Final = """
    ad ads advert advertisement banner breadcrumb breadcrumbs comment comments cookie cookies discussion disqus foot
    footer headerlink hidden masthead menu modal nav navigation newsletter outbrain pager pagination popular popup
    print promo promotion recommended related share sharing side sidebar signup skip social sponsor sponsored
    subscribe taboola taglist tags teaser toolbar tools trending widget
"""
_ASIDE_NAMES: Final = frozenset(_ASIDE_WORDS.split())
_NAME: Final = re.compile(r"[a-z]+")


class Block:
    """An element with what it contains, in characters (a wide character is two). `text`: all, including `link_text`,
    those in links; `content`: those that count as content."""

    __slots__ = ("children", "content", "element", "link_text", "tag", "text")

    def __init__(self, element: turbohtml.Element) -> None:
        self.element = element
        self.tag = element.tag
        self.children: list[Block] = []
        self.text = self.link_text = self.content = 0

    def within(self) -> "Iterator[Block]":
        """Yields every block inside this one, outer ones first."""
        todo = list(self.children)
        while todo:
            block = todo.pop()
            yield block
            todo += block.children


def choose_content(body: turbohtml.Element) -> turbohtml.Element:
    """Returns the element of the main content, and takes out of the tree what does not belong to it. Never raises;
    linear."""
    page = _measured(body)
    most = max(_MOST_ASIDE * page.content, _MOST_ASIDE_CHARS)
    for block in page.within():
        if block.content <= most and block.tag not in _MARKED_TAGS and _is_aside(block.element):
            block.element.decompose()
    page = _measured(body)
    marked = _marked(page)
    start = marked or page
    found = _descended(start, _NEARLY_ALL, lambda block: block.content)
    if found.content >= max(_MIN_CONTENT_SHARE * found.text, _MIN_CONTENT_CHARS):
        _remove_link_lists(found)
        return found.element
    return (marked or _descended(page, _NEARLY_ALL_TEXT, lambda block: block.text)).element


def _measured(body: turbohtml.Element) -> Block:
    """Measures every element of a page, without recursion: untrusted pages nest deeply."""
    root = Block(body)
    order: list[tuple[Block, Block | None]] = []
    todo: list[tuple[Block, Block | None, Block, bool]] = [(root, None, root, False)]
    while todo:
        block, parent, holder, in_link = todo.pop()
        order.append((block, parent))
        in_link = in_link or block.tag == "a"
        for child in block.element.children:
            if isinstance(child, turbohtml.Text):
                chars = _weight(child.data)
                holder.text += chars
                holder.link_text += chars * in_link
            elif isinstance(child, turbohtml.Element):
                inner = Block(child)
                block.children.append(inner)
                todo.append((inner, block, holder if inner.tag in INLINE else inner, in_link))
    for block, _ in order:
        block.content = _content_of(block)
    for block, parent in reversed(order):
        if parent is not None:
            parent.text += block.text
            parent.link_text += block.link_text
            parent.content += block.content
    return root


def _weight(text: str) -> int:
    """Returns the length of a text without the space around it. Characters of writing systems without spaces, such as
    Chinese, count double, since two letters of others say as much."""
    text = text.strip()
    return len(text) if text.isascii() else len(text) + sum("\u2e80" <= char <= "\uffdc" for char in text)


def _content_of(block: Block) -> int:
    """Returns how much of the text directly in a block counts."""
    if block.tag in _HEADINGS:
        return 0
    own = block.text - block.link_text
    if block.tag == "pre":
        return own
    return max(0, own - 2 * block.link_text) if own >= _MIN_BLOCK_CHARS else 0


def _is_aside(element: turbohtml.Element) -> bool:
    """Whether its author marks or names an element as something beside the content."""
    attributes = element.attrs
    role = attributes.get("role")
    if element.tag in _ASIDE_TAGS or role in _ASIDE_ROLES or attributes.get("aria-hidden") == "true":
        return True
    names = f"{_text_of(attributes.get('class'))} {_text_of(attributes.get('id'))}"
    return not _ASIDE_NAMES.isdisjoint(_NAME.findall(names.lower()))


def _text_of(value: str | list[str] | None) -> str:
    return (" ".join(value[:20]) if isinstance(value, list) else value or "")[:_MAX_NAME_CHARS]


def _marked(page: Block) -> Block | None:
    """Returns the innermost element that is marked as the main one and has enough of the page."""
    marked = [
        block
        for block in page.within()
        if _is_marked(block)
        and block.content >= _LEAST_MARKED * page.content
        and block.text >= _LEAST_MARKED_TEXT * page.text
    ]
    return min(marked, key=lambda block: block.text, default=None)


def _is_marked(block: Block) -> bool:
    attributes = block.element.attrs
    return block.tag == "main" or attributes.get("role") == "main" or attributes.get("itemprop") == "articleBody"


def _descended(block: Block, share: float, amount: Callable[[Block], int]) -> Block:
    """Goes down while one child has at least `share` of the amount of its parent."""
    while True:
        child = max(block.children, key=amount, default=None)
        if child is None or child.tag in _WHOLE or not amount(child) or amount(child) < share * amount(block):
            return block
        block = child


def _remove_link_lists(found: Block) -> None:
    """Removes short lists of links inside an article: related articles, tags, share buttons."""
    for block in found.within():
        if (
            block.tag in _LINK_LISTS
            and block.link_text >= max(_MIN_LINK_CHARS, _LINK_SHARE * block.text)
            and block.content < 0.1 * found.content
            and block.text < 0.3 * found.text
        ):
            block.element.decompose()
