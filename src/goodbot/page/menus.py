"""Recognizes the parts of a page that are menus, headers and footers of its site, by their names and as rows of links.
Pure.

Snippets prefer the text outside menus. Searches look in menus too: leaving them out did not improve results.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Final

MAX_NAME_CHARS: Final = 200
MAX_SHARE: Final = 0.9
"""If more of the page is in one element with the name of a menu, its name misleads; if more of the text is in all menus
together, none counts."""

LINK_RUN: Final = 6
"""So many links in a row, without words between them, are a menu or a table of contents."""
_MAX_GAP: Final = 12
"""The most parts between two links of a row."""
_BETWEEN: Final = "\0 \t\r\n\f\xa0|·•,;:/\\<>«»‹›←→-–—[]()"
"""What may be between two links of a row."""

_ROLES: Final = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menubar"})
_TAGS: Final = frozenset({"nav", "footer", "aside"})
_NAME = re.compile(
    r"(?!(?:has|with|no|without|is)[-_])(?!.*(?:for[-_]nav|content))"
    r"(?:.*[-_])?(?:nav|navbar|navigation|navheader|navfooter|navpath|navrow|breadcrumbs?|docnav|sidebar|sphinxsidebar"
    r"|sidenav|leftnav|topnav|bottomnav|subnav|menu|menubar|footer|toolbar|topbar)(?:[-_].*)?"
    r"|sphinxsidebarwrapper|printfooter|package-header|page-header|navigationbar|related|skip-?link",
    re.IGNORECASE,
)
"""Names that the makers of real documentation sites give to menus: DocBook, Sphinx, Javadoc, Doxygen, Texinfo, Haddock,
MediaWiki, mdBook, Read the Docs."""


def is_menu(tag: str, attributes: Iterable[tuple[str, str]]) -> bool:
    """Whether an element with these attributes is a menu, a header or a footer of the site."""
    if tag in _TAGS:
        return True
    for name, value in attributes:
        if name in ("class", "id"):
            if len(value) <= MAX_NAME_CHARS and _is_menu_name(value):
                return True
        elif name == "role" and value.lower() in _ROLES:
            return True
    return False


@lru_cache(maxsize=2048)
def _is_menu_name(names: str) -> bool:
    return any(_NAME.fullmatch(name) for name in names.split())


def with_link_runs(
    menus: Sequence[tuple[int, int]], parts: Sequence[str], links: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Returns the ranges of `parts` that are menus by name or rows of links (see `LINK_RUN`), in order and apart.
    `links` are the ranges of links, in order. A row begins and ends between blocks, as `text_and_menus` requires."""
    found = [menu for menu in menus if menu[1] - menu[0] <= MAX_SHARE * len(parts)]
    first = 0  # of the row
    for at in range(1, len(links) + 1):
        if at == len(links) or not _is_gap(parts, links[at - 1][1], links[at][0]):
            if at - first >= LINK_RUN:
                found += _whole_blocks(parts, links[first:at])
            first = at
    apart: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if apart and start <= apart[-1][1]:
            apart[-1] = (apart[-1][0], max(apart[-1][1], end))
        else:
            apart.append((start, end))
    return apart


def _is_gap(parts: Sequence[str], start: int, end: int) -> bool:
    return end - start <= _MAX_GAP and not "".join(parts[start:end]).strip(_BETWEEN)


def _whole_blocks(parts: Sequence[str], run: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yields the range of a row of links without the first and last ones that share a block with other text."""
    first = next((at for at, (start, _) in enumerate(run) if _ends_block(parts, start - 1, -1)), len(run))
    last = next((at for at in range(len(run) - 1, first, -1) if _ends_block(parts, run[at][1], 1)), first)
    if last - first + 1 >= LINK_RUN:
        yield run[first][0], run[last][1]


def _ends_block(parts: Sequence[str], at: int, step: int) -> bool:
    """Whether hardly more than white space is between a position and the end of its block."""
    last = at + step * _MAX_GAP
    while at != last and 0 <= at < len(parts) and parts[at].isspace():
        at += step
    return not 0 <= at < len(parts) or parts[at] == "\0"


def folded_blocks(parts: Sequence[str]) -> str:
    """Returns text with one line for each block; `parts` has NUL between blocks."""
    blocks = "".join(parts).split("\0")
    return "\n".join([" ".join(block.split()) for block in blocks if block and not block.isspace()])


def text_and_menus(parts: Sequence[str], menus: Iterable[tuple[int, int]]) -> tuple[str, list[tuple[int, int]]]:
    """Returns the text of `parts`, and the (start, end) ranges of it that are menus. `menus` are ranges of `parts`, in
    order and apart, which begin and end between blocks."""
    texts: list[str] = []
    ranges: list[tuple[int, int]] = []
    at = length = covered = 0
    for start, end in [*menus, (len(parts), len(parts))]:
        for piece, is_menu_text in ((parts[at:start], False), (parts[start:end], True)):
            text = folded_blocks(piece)
            if not text:
                continue
            if is_menu_text:
                ranges.append((length, length + len(text)))
                covered += len(text)
            texts.append(text)
            length += len(text) + 1
        at = end
    return "\n".join(texts), ranges if covered <= MAX_SHARE * length else []
