"""Collects the headings and definition terms of a page to which a URL with a fragment can point.

A place has no text that `data-nosnippet` hides; the terms of the page have it, since they are only searched.

An anchor is the `id` of the heading or term itself, of an element that begins with it, or of an `a` inside it.
"""

from typing import Final

from goodbot.page.extract import Extract, Place, folded
from goodbot.page.hidden_parts import HiddenParts

MAX_PLACES: Final = 2_000
MAX_PLACE_CHARS: Final = 200
MAX_TERMS: Final = 2_000
_MAX_PARTS: Final = 100
_MAX_BETWEEN: Final = 12
"""The number of text pieces (most are breaks) that may lie between an element and the heading that it begins with."""

_PERMALINK_MARKS: Final = "¶#§🔗 "


class PlaceCollector:
    """Collects places and terms while the reader appends text to `parts`."""

    def __init__(self, found: Extract, parts: list[str], hidden: HiddenParts) -> None:
        self._found = found
        self._parts = parts
        self._hidden = hidden
        self._near: str | None = None
        self._near_at = 0
        self._anchor: str | None = None
        self._term_at: int | None = None
        self._link_at: int | None = None
        self._linked: list[tuple[int, int]] = []
        self._is_open = False

    def note(self, anchor: str) -> None:
        """Takes the anchor of an element that begins here, or of an `a` inside a heading."""
        if not anchor:
            return
        if self._is_open and self._anchor is None:
            self._anchor = anchor
        self._near, self._near_at = anchor, len(self._parts)

    def begin(self, own: str | None) -> None:
        """Begins a heading or a term, whose own anchor may be `own`."""
        self._anchor = own or self._anchor_before()
        self._is_open = True

    def end(self, text: str, *, is_term: bool) -> None:
        """Ends a heading or a term with this text, which is empty if all of it is hidden."""
        if self._is_open and self._anchor and text and len(self._found.places) < MAX_PLACES:
            self._found.places.append(Place(self._anchor[:MAX_PLACE_CHARS], text, is_term))
        self._is_open = False

    def begin_term(self, own: str | None) -> None:
        """Begins the term of a definition list."""
        self.end_term()
        self.begin(own)
        self._term_at = len(self._parts)

    def begin_link(self, address: str, fragment: str) -> None:
        """Begins a link to `address` (empty: this page) and `fragment`. Inside a term, its text describes the page it
        leads to, as in a table of contents, so it does not count for this page. Exceptions are links to the term itself
        and to other sites."""
        self.end_link()
        if self._term_at is not None and (address or fragment != self._anchor) and "//" not in address:
            self._link_at = len(self._parts)

    def end_link(self) -> None:
        """Ends the link, if one is open."""
        if self._link_at is not None:
            self._linked.append((self._link_at, len(self._parts)))
            self._link_at = None

    def end_term(self) -> None:
        """Ends the term, if one is open."""
        if self._term_at is None:
            return
        self.end_link()
        parts = self._parts[self._term_at : self._term_at + _MAX_PARTS]
        text = named = unmarked("".join(parts), MAX_PLACE_CHARS)
        if self._linked:
            for start, end in self._linked:
                first, last = start - self._term_at, min(end - self._term_at, len(parts))
                parts[first:last] = [" "] * (last - first)
            named = unmarked("".join(parts), MAX_PLACE_CHARS)
            self._linked = []
        if self._hidden.touch(self._term_at):
            shown = self._hidden.shown(self._parts, self._term_at, self._term_at + _MAX_PARTS)
            text = unmarked("".join(shown), MAX_PLACE_CHARS)
        self._term_at = None
        if named and len(self._found.terms) < MAX_TERMS:
            self._found.terms.append(named)
        self.end(text, is_term=True)

    def _anchor_before(self) -> str | None:
        """Returns the anchor of the element that begins right before this place."""
        between = self._parts[self._near_at :] if len(self._parts) - self._near_at <= _MAX_BETWEEN else ["x"]
        return self._near if not "".join(between).strip(" \0\t\n\r") else None


def unmarked(text: str, most: int) -> str:
    """Folds the text of a heading or term, and removes the mark of a link to it."""
    return folded(text, most).rstrip(_PERMALINK_MARKS)
