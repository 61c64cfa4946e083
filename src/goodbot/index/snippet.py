"""Makes snippets: pieces of a document that show why it was found. Words are compared by terms, so other forms of a
word are highlighted too.

tantivy's own snippets do not work with fields that we stem. Linear in the text, which is bounded when it is stored.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodbot.index.analysis import STOP_TERMS, located_terms

SNIPPET_CHARS = 240
"""The limit for a snippet, without the dots for omitted text. It is three lines on a page of results."""

_LEAD_DIVISOR = 3
"""One third of the remaining space goes before the words found, the rest after them."""

_MAX_SHIFT = 24
"""How far a cut may move to be between words; a longer run is cut inside."""

_DOTS = "…"
_DOTS_CHARS = 6
"""The most characters that dots and the spaces next to them add, in two pieces."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text on one line. `highlights` are (start, end) of the words found in it, in order, without overlap."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


Match = tuple[int, int, str]
"""Start, end, term."""


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int
    terms: frozenset[str]


def make_snippet(text: str, sought: frozenset[str], fallback: str = "", most: int | None = None) -> Snippet:
    """Returns the best window of `text`, or the two best if they show more of the `sought` terms together.

    If the text has none of the terms, it returns `fallback` (the description), or the beginning of the text. `most`
    limits the characters, dots included; the snippet is empty if it is 0 or less.
    """
    if most is not None and most <= 0:
        return Snippet("")
    main_terms = sought - STOP_TERMS or sought
    width = SNIPPET_CHARS if most is None else min(SNIPPET_CHARS, max(most - _DOTS_CHARS, most // 2))
    line = _line(text, main_terms, fallback, width)
    if most is not None and len(line) > most:
        line = line[: most - 1].rstrip() + _DOTS
    return _highlighted(line, main_terms)


def _line(text: str, main_terms: frozenset[str], fallback: str, width: int) -> str:
    seen: list[Match] = []
    window = _best_window(_recorded(located_terms(text, main_terms), seen), len(main_terms), width)
    if window is None:
        return _piece(fallback, 0, 0, width) or _piece(text, 0, 0, width)
    halves = _two_windows(seen, window.terms, main_terms - window.terms, width)
    if halves is None:
        return _piece(text, window.start, window.end, width)
    return _joined(text, halves, width)


def _recorded(matches: Iterator[Match], seen: list[Match]) -> Iterator[Match]:
    for match in matches:
        seen.append(match)
        yield match


def _two_windows(seen: list[Match], shown: frozenset[str], missing: frozenset[str], width: int) -> list[_Window] | None:
    """Returns a window for the terms already shown and one for the missing ones, in order, or None if there is nothing
    to add."""
    pair = [
        _best_window((match for match in seen if match[2] in terms), len(terms), width // 2)
        for terms in (shown, missing)
    ]
    windows = [window for window in pair if window is not None]
    return sorted(windows, key=lambda window: window.start) if len(windows) == 2 else None


def _best_window(matches: Iterable[Match], terms: int, width: int) -> _Window | None:
    """Returns the first window of at most `width` characters with the most distinct terms, then with the most words
    found.

    The search ends at a window with all the `terms` and one more word: later ones are hardly better.
    """
    inside, counts = deque[Match](), Counter[str]()
    best, best_rank = None, (0, 0)
    for match in matches:
        inside.append(match)
        counts[match[2]] += 1
        while match[1] - inside[0][0] > width and len(inside) > 1:
            _remove(counts, inside.popleft()[2])
        rank = (len(counts), len(inside))
        if rank > best_rank:
            best, best_rank = _Window(inside[0][0], match[1], frozenset(counts)), rank
        if len(counts) == terms and len(inside) > terms:
            break
    return best


def _remove(counts: Counter[str], term: str) -> None:
    counts[term] -= 1
    if not counts[term]:
        del counts[term]


def _joined(text: str, windows: list[_Window], width: int) -> str:
    start, end = windows[0].start, max(window.end for window in windows)
    if end - start <= width:
        return _piece(text, start, end, width)
    pieces = [_piece(text, window.start, window.end, width // 2) for window in windows]
    return " ".join([pieces[0], pieces[1].removeprefix(f"{_DOTS} ")])


def _piece(text: str, start: int, end: int, width: int) -> str:
    """Returns about `width` characters of the text around start to end, on one line, with dots for omitted text."""
    room = max(0, width - (end - start))
    first = max(0, start - room // _LEAD_DIVISOR)
    last = min(len(text), first + max(width, min(end - start, 2 * width)))
    first = max(0, min(first, last - width))
    first, last = _cut_before(text, first, start), _cut_after(text, last, end)
    line = " ".join(text[first:last].split())
    before, after = f"{_DOTS} " if text[:first].strip() else "", f" {_DOTS}" if text[last:].strip() else ""
    return f"{before}{line}{after}" if line else ""


def _cut_before(text: str, at: int, most: int) -> int:
    """Returns the beginning of the next word after `at`, at most `most`."""
    if at == 0:
        return 0
    for place in range(at, min(at + _MAX_SHIFT, most) + 1):
        if text[place - 1 : place].isspace():
            return place
    return at


def _cut_after(text: str, at: int, least: int) -> int:
    """Returns the end of the word before `at`, at least `least`."""
    if at >= len(text):
        return len(text)
    for place in range(at, max(at - _MAX_SHIFT, least) - 1, -1):
        if text[place : place + 1].isspace():
            return place
    return at


def _highlighted(line: str, sought: frozenset[str]) -> Snippet:
    spans: list[tuple[int, int]] = []
    for start, end, _ in located_terms(line, sought):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return Snippet(line, tuple(spans))
