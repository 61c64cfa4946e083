"""Chooses the places in a page that answer a query: headings and terms with an anchor. Pure."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Final
from urllib.parse import quote

from goodbot.index.locate import begun_places
from goodbot.search_values import SectionLink

MAX_SECTION_LINKS: Final = 3
_LEAST_SHARE: Final = 0.6
"""The share of the query's words that a section must have."""
_EXAMINED: Final = 200
"""The number of places of one word that are looked at. Further ones count only in sections that have another word."""


def best_sections(
    title: str, sections: Sequence[tuple[str, str]], terms: frozenset[str], language: str
) -> tuple[list[int], bool]:
    """Returns the numbers of the sections with the most words of a query, in their order, and whether they have all.
    `sections` are pairs of anchor and text; `terms` are those of the query. A heading that repeats the title of the
    page is left out."""
    if not (sections and terms):
        return [], False
    lines = [f"{text} {anchor}" for anchor, text in sections]
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found, counts = dict[int, set[str]](), Counter[str]()
    for start, _, term in begun_places("\n".join(lines), terms, language, _EXAMINED):
        found.setdefault(bisect_right(starts, start) - 1, set()).add(term)
        counts[term] += 1
    if frequent := frozenset(term for term, count in counts.items() if count >= _EXAMINED):
        for place, has in found.items():
            if not has <= frequent:
                has.update(term for _, _, term in begun_places(lines[place], frequent - has, language, 1))
    most = max(map(len, found.values()), default=0)
    if most < _LEAST_SHARE * len(terms):
        return [], False
    heading = title.casefold()
    best = [
        place
        for place, has in found.items()
        if len(has) == most and not heading.startswith(sections[place][1].casefold())
    ]
    if 0 in best and len(begun_places(title, terms, language)) >= most:
        best.remove(0)  # the first heading says what the title says
    chosen = sorted(best, key=lambda place: (len(sections[place][1]), place))[:MAX_SECTION_LINKS]
    return sorted(chosen), most == len(terms)


def section_links(url: str, sections: Sequence[tuple[str, str]], chosen: Sequence[int]) -> tuple[SectionLink, ...]:
    """Returns links to some of the sections of a page."""
    page = url.partition("#")[0]
    anchored = (sections[number] for number in chosen)
    return tuple(SectionLink(f"{page}#{quote(anchor, safe=_FRAGMENT)}", text) for anchor, text in anchored)


_FRAGMENT: Final = "!$&'()*+,;=:@/?-._~%"
"""Characters that a fragment may have (RFC 3986 §3.5), and the percent sign of escapes."""
