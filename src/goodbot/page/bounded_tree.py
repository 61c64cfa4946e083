"""Builds the tree of a page, of bounded size.

The tree is turbohtml's, built as browsers build theirs. Untrusted markup can make a tree a thousand times as large as
its page (docs/decisions/0001-html-tokens.md), so the size is estimated from the tokens before the tree is built. No
other module builds trees of untrusted pages.
"""

from typing import Final

import turbohtml

MAX_TREE_TAGS: Final = 32_768
"""The limit of start tags for a tree. Of 85,378 pages of documentation some 0.05 % have more. Selectors that count
siblings (`:nth-child`) take quadratic time: 4 s for the worst page."""

MAX_COPIES: Final = 1_000_000
"""Maximum number of elements that a parser may add for unclosed formatting tags (WHATWG HTML §13.2.4.3); they take
about 120 MB."""

_FORMATTING = frozenset({"b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"})
"""All formatting tags except `a`: only one of these can be open at a time."""
_MAX_EQUAL = 3
"""The parser reopens at most this many equal elements (WHATWG HTML §13.2.4.3, the "Noah's Ark clause")."""


def build_tree(html: str) -> tuple[turbohtml.Document | None, str | None]:
    """Returns the tree of a page and None, or None and why it is not built. Never raises."""
    refused = _refusal(html)
    return (turbohtml.parse(html, positions=False), None) if refused is None else (None, refused)


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
        return f"the page has more than {MAX_TREE_TAGS:,} tags"
    if 2 * tags * min(_MAX_EQUAL * len(kinds), formatting) > MAX_COPIES:
        return "the page leaves so many formatting tags open that its tree may grow without bounds"
    return None
