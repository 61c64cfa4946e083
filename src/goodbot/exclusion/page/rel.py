"""Reads the directives of single links and parts of a page: `rel`, `data-nosnippet`."""

from collections.abc import Iterable
from dataclasses import dataclass

_NOT_ENDORSED = frozenset({"nofollow", "ugc", "sponsored"})
_WITH_NOSNIPPET = frozenset({"span", "div", "section"})


@dataclass(frozen=True, slots=True)
class LinkDirectives:
    """What a page says about one link: whether robots may follow it, whether the author endorses it, and whether it is
    the page's canonical URL."""

    follow: bool = True
    endorsed: bool = True
    canonical: bool = False


_WITHOUT_REL = LinkDirectives()


def parse_rel(rel: str | Iterable[str]) -> LinkDirectives:
    """Reads the value of a `rel` attribute, or its words, in any case: a link with `nofollow` is not followed; one with
    `nofollow`, `ugc` or `sponsored` is not endorsed (Google's page on qualifying links).

    Words are separated by spaces or, as on many pages, by commas. Never raises; linear.
    """
    text = rel if isinstance(rel, str) else " ".join(rel)
    if not text:
        return _WITHOUT_REL
    words = frozenset(text.lower().replace(",", " ").split())
    return LinkDirectives(
        follow="nofollow" not in words, endorsed=words.isdisjoint(_NOT_ENDORSED), canonical="canonical" in words
    )


def hides_snippet(tag: str, attributes: Iterable[str]) -> bool:
    """Whether an element with attributes of these names (in any case) keeps its text out of snippets: `data-nosnippet`
    on `span`, `div` and `section`, whatever its value (Google's page on robots META tags)."""
    return tag.lower() in _WITH_NOSNIPPET and any(name.lower() == "data-nosnippet" for name in attributes)
