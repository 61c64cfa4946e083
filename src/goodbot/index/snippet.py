"""The piece of a document that shows why it was found. Words are compared by terms, so other forms are marked too.

tantivy's own snippets know nothing of fields stemmed by us. Linear in the text, which is bounded when it is stored.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodbot.index.analysis import STOP_TERMS, located_terms

SNIPPET_CHARS = 240
"""Length at most, without the dots that stand for what is left out. Three lines of a page of results."""

_LEAD_SHARE = 3
"""A third of the room left goes before the words found, the rest after."""

_NUDGE = 24
"""How far a cut moves to stand between words; a run longer than that is cut inside."""

_DOTS = "…"
_DOTS_CHARS = 6
"""What dots and the blanks beside them add at most, in two pieces."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text on one line; `highlights` are (start, end) of the words found in it, in order, not overlapping."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


Match = tuple[int, int, str]
"""Start, end, term."""


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int
    terms: frozenset[str]


def make_snippet(text: str, wanted: frozenset[str], otherwise: str = "", most: int | None = None) -> Snippet:
    """The best window of `text`, or the two best that together show more of the `wanted` terms.

    If none of them is there: `otherwise` (the description), or the beginning of the text. `most`: characters at most,
    the dots counted; none if it is 0 or less.
    """
    if most is not None and most <= 0:
        return Snippet("")
    weighty = wanted - STOP_TERMS or wanted
    width = SNIPPET_CHARS if most is None else min(SNIPPET_CHARS, max(most - _DOTS_CHARS, most // 2))
    line = _line(text, weighty, otherwise, width)
    if most is not None and len(line) > most:
        line = line[: most - 1].rstrip() + _DOTS
    return _marked(line, weighty)


def _line(text: str, weighty: frozenset[str], otherwise: str, width: int) -> str:
    seen: list[Match] = []
    window = _best_window(_noted(located_terms(text, weighty), seen), len(weighty), width)
    if window is None:
        return _piece(otherwise, 0, 0, width) or _piece(text, 0, 0, width)
    halves = _two_windows(seen, window.terms, weighty - window.terms, width)
    if halves is None:
        return _piece(text, window.start, window.end, width)
    return _joined(text, halves, width)


def _noted(matches: Iterator[Match], seen: list[Match]) -> Iterator[Match]:
    for match in matches:
        seen.append(match)
        yield match


def _two_windows(seen: list[Match], shown: frozenset[str], missing: frozenset[str], width: int) -> list[_Window] | None:
    """A window for the terms shown and one for those missing there, in order; None if there is nothing to add."""
    pair = [
        _best_window((match for match in seen if match[2] in terms), len(terms), width // 2)
        for terms in (shown, missing)
    ]
    windows = [window for window in pair if window is not None]
    return sorted(windows, key=lambda window: window.start) if len(windows) == 2 else None


def _best_window(matches: Iterable[Match], terms: int, width: int) -> _Window | None:
    """The first window of at most `width` characters with most different terms, then with most words found.

    Looking ends at one with all the `terms` and a word more: what follows is hardly better.
    """
    inside, held = deque[Match](), Counter[str]()
    best, best_rank = None, (0, 0)
    for match in matches:
        inside.append(match)
        held[match[2]] += 1
        while match[1] - inside[0][0] > width and len(inside) > 1:
            _forget(held, inside.popleft()[2])
        rank = (len(held), len(inside))
        if rank > best_rank:
            best, best_rank = _Window(inside[0][0], match[1], frozenset(held)), rank
        if len(held) == terms and len(inside) > terms:
            break
    return best


def _forget(held: Counter[str], term: str) -> None:
    held[term] -= 1
    if not held[term]:
        del held[term]


def _joined(text: str, windows: list[_Window], width: int) -> str:
    start, end = windows[0].start, max(window.end for window in windows)
    if end - start <= width:
        return _piece(text, start, end, width)
    pieces = [_piece(text, window.start, window.end, width // 2) for window in windows]
    return " ".join([pieces[0], pieces[1].removeprefix(f"{_DOTS} ")])


def _piece(text: str, start: int, end: int, width: int) -> str:
    """About `width` characters of the text around start to end, on one line, dots where something is left out."""
    room = max(0, width - (end - start))
    first = max(0, start - room // _LEAD_SHARE)
    last = min(len(text), first + max(width, min(end - start, 2 * width)))
    first = max(0, min(first, last - width))
    first, last = _cut_before(text, first, start), _cut_after(text, last, end)
    line = " ".join(text[first:last].split())
    before, after = f"{_DOTS} " if text[:first].strip() else "", f" {_DOTS}" if text[last:].strip() else ""
    return f"{before}{line}{after}" if line else ""


def _cut_before(text: str, at: int, most: int) -> int:
    """The beginning of the word after `at`, not after `most`."""
    if at == 0:
        return 0
    for place in range(at, min(at + _NUDGE, most) + 1):
        if text[place - 1 : place].isspace():
            return place
    return at


def _cut_after(text: str, at: int, least: int) -> int:
    """The end of the word before `at`, not before `least`."""
    if at >= len(text):
        return len(text)
    for place in range(at, max(at - _NUDGE, least) - 1, -1):
        if text[place : place + 1].isspace():
            return place
    return at


def _marked(line: str, wanted: frozenset[str]) -> Snippet:
    spans: list[tuple[int, int]] = []
    for start, end, _ in located_terms(line, wanted):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return Snippet(line, tuple(spans))
