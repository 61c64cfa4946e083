"""Turns pages into the hits that DocSearch shows. Pure.

DocSearch puts the texts of a hit into its page as HTML, the highlighted ones and the plain ones, so all of them are
escaped here.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urldefrag

from goodbot.index.query_words import QueryWords
from goodbot.search_values import Hit
from goodbot.web.pages.view import HitView, clipped, pieces, readable_url, view_hit

LEVELS: Final = tuple(f"lvl{number}" for number in range(7))
MAX_PLACE_CHARS: Final = 100
MAX_CHARS_BEFORE: Final = 30
"""How many characters of a snippet come before the first word found, where there is room for one line."""
_DOTS: Final = "… "
_ESCAPES: Final = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#039;"})
"""The escapes that DocSearch reverses where it shows plain text."""

Spans = Sequence[tuple[int, int]]
Json = dict[str, Any]


class HitMaker:
    """Makes the hits of one search: `before` and `after` surround the words of the query."""

    def __init__(self, words: QueryWords, before: str, after: str) -> None:
        self._words = words
        self._before = before
        self._after = after

    def hits(self, pages: Iterable[Hit], most: int) -> list[Json]:
        """Returns the hits of pages in their order: each page, then its sections and its snippet while all hits are no
        more than `most`. Pages whose URL is not a link are left out."""
        shown = [(page, view) for page in pages if (view := view_hit(page)).href is not None]
        room = max(most - len(shown), 0)
        hits: list[Json] = []
        for page, view in shown:
            first, *more = self._of_page(page, view)
            hits += [first, *more[:room]]
            room -= len(more[:room])
        return hits

    def _of_page(self, page: Hit, view: HitView) -> list[Json]:
        """Returns the page (`lvl1`), the sections that match (`lvl2`), and the snippet (`content`) if it has a word of
        the query. If it has none, it describes the page."""
        levels = [(place_of(page.url), ()), (view.title, self._words.spans(view.title, page.language))]
        snippet = page.snippet, page.highlights
        found = [self._hit("lvl1", page.url, levels, ("", ()) if page.highlights else snippet)]
        for text, url in view.sections:
            section = text, self._words.spans(text, page.language)
            found.append(self._hit("lvl2", url, [*levels, section], ("", ())))
        if page.highlights:
            found.append(self._hit("content", page.url, levels, snippet))
        return found

    def _hit(self, kind: str, url: str, levels: Sequence[tuple[str, Spans]], content: tuple[str, Spans]) -> Json:
        page, anchor = urldefrag(url)
        named = dict(zip(LEVELS, levels, strict=False))
        marked: Json = {"hierarchy": {name: self._marked(*level) for name, level in named.items()}}
        whole = {"content": self._marked(*content)} if content[0] else {}
        part = {"content": self._marked(*excerpt(*content))} if content[0] else {}
        return {
            "objectID": f"{kind} {url}",
            "type": kind,
            "url": url,
            "url_without_anchor": page,
            "anchor": anchor or None,
            "content": content[0].translate(_ESCAPES) or None,
            "hierarchy": {name: named[name][0].translate(_ESCAPES) if name in named else None for name in LEVELS},
            "_highlightResult": {**marked, **whole},
            "_snippetResult": {**marked, **part},
        }

    def _marked(self, text: str, spans: Spans) -> Json:
        value = "".join(
            f"{self._before}{piece.translate(_ESCAPES)}{self._after}" if is_found else piece.translate(_ESCAPES)
            for piece, is_found in pieces(text, spans)
        )
        words = list(dict.fromkeys(text[start:end].lower() for start, end in spans))
        return {"value": value, "matchLevel": "partial" if spans else "none", "matchedWords": words}


def excerpt(text: str, spans: Spans) -> tuple[str, Spans]:
    """Returns a text from a little before the first word found on, with the words found in it: DocSearch shows its
    first line only."""
    first = spans[0][0] if spans else 0
    if first <= MAX_CHARS_BEFORE:
        return text, spans
    start = text.find(" ", first - MAX_CHARS_BEFORE, first) + 1 or first
    shift = start - len(_DOTS)
    return _DOTS + text[start:], [(begin - shift, end - shift) for begin, end in spans]


def place_of(url: str) -> str:
    """Returns where a page is, as a heading over the pages there: its host, and the folders of its path."""
    parts = [part for part in readable_url(url.partition("#")[0].partition("?")[0]).split("/") if part]
    return clipped(" › ".join(parts[:-1] or parts), MAX_PLACE_CHARS)
