"""The directives of single links and pieces of a page: `rel`, `data-nosnippet`."""

from collections.abc import Iterable
from dataclasses import dataclass

_NOT_ENDORSED = frozenset({"nofollow", "ugc", "sponsored"})
_WITH_NOSNIPPET = frozenset({"span", "div", "section"})


@dataclass(frozen=True, slots=True)
class LinkDirectives:
    """What a page says of one link: may it be followed, does the author stand behind it, is it the page's own
    canonical address?"""

    follow: bool = True
    endorsed: bool = True
    canonical: bool = False


_PLAIN = LinkDirectives()


def parse_rel(rel: str | Iterable[str]) -> LinkDirectives:
    """The value of a `rel` attribute, or its words, in any case: `nofollow` is not followed; `nofollow`, `ugc` and
    `sponsored` are not endorsed (Google's page on qualifying links).

    Words are separated by blanks, also by commas, as many pages have it. Never raises; linear.
    """
    text = rel if isinstance(rel, str) else " ".join(rel)
    if not text:
        return _PLAIN
    words = frozenset(text.lower().replace(",", " ").split())
    return LinkDirectives(
        follow="nofollow" not in words, endorsed=words.isdisjoint(_NOT_ENDORSED), canonical="canonical" in words
    )


def hides_snippet(tag: str, attributes: Iterable[str]) -> bool:
    """Whether an element with these attributes (their names, in any case) keeps its text out of extracts:
    `data-nosnippet` on `span`, `div` and `section`, whatever its value (Google's page on robots META tags)."""
    return tag.lower() in _WITH_NOSNIPPET and any(name.lower() == "data-nosnippet" for name in attributes)
