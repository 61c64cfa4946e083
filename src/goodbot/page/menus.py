"""Recognizes the parts of a page that are menus, headers and footers of its site. Pure.

Snippets prefer the text outside menus. Searches look in menus too: leaving them out did not improve results.
"""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

MAX_NAME_CHARS: Final = 200
MAX_SHARE: Final = 0.9
"""If more of the text is in menus, the names mislead, and nothing counts as a menu."""

_ROLES: Final = frozenset({"navigation", "banner", "contentinfo", "search", "complementary", "menubar"})
_TAGS: Final = frozenset({"nav", "footer", "aside"})
_NAME = re.compile(
    r"(?!(?:has|with|no|without|is)[-_])(?:.*[-_])?(?:nav|navbar|navigation|navheader|navfooter|navpath|navrow"
    r"|breadcrumbs?|docnav|sidebar|sphinxsidebar|sidenav|leftnav|topnav|bottomnav|subnav|menu|menubar|footer|toolbar|topbar)"
    r"(?:[-_].*)?|sphinxsidebarwrapper|printfooter|package-header|page-header|navigationbar|related|skip-?link",
    re.IGNORECASE,
)
"""Names that the makers of real documentation sites give to menus: DocBook, Sphinx, Javadoc, Doxygen, Texinfo, Haddock,
MediaWiki, mdBook."""


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
