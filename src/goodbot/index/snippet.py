"""Makes snippets: pieces of a document that show why it was found. Words are compared by terms, so other forms of a
word are highlighted too.

tantivy's own snippets do not work with fields that we stem. Linear in the text, which is bounded when it is stored:
`str.find` finds the places where a word may begin that has a sought term, and only these words are analysed.
"""

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from goodbot.index.locate import Place, word_places
from goodbot.index.sought import Sought

SNIPPET_CHARS = 240
"""The limit for a snippet, without the dots for omitted text. It is three lines on a page of results."""

_LEAD_DIVISOR = 3
"""One third of the remaining space goes before the words found, the rest after them."""

_MAX_SHIFT = 24
"""How far a cut may move to be between words; a longer run is cut inside."""

_LIST_LINES = 4
"""A window with this many line ends is a list or a menu rather than running text."""

_DOTS = "…"

_LEFT_OUT = {ord("¶"): " ", **dict.fromkeys(map(ord, "\u00ad\u061c\u200b\u200e\u200f\u2060\ufeff"))}
"""¶ is the mark with which documentation links to its own headings; the others have no width: optional hyphens and
breaks, and marks of direction. A terminal would show them as escapes."""
_DOTS_CHARS = 6
"""The most characters that dots and the spaces next to them add, in two pieces."""

_SENTENCE_ENDS = (". ", "! ", "? ", "\n", "。", "！", "？")


@dataclass(frozen=True, slots=True)
class Snippet:
    """Plain text on one line. `highlights` are (start, end) of the words found in it, in order, without overlap."""

    text: str
    highlights: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """What snippets of a document may show: its text, the (start, end) ranges of it that are menus, its description,
    its headings that have every word of the query, its language, and the limit of characters, dots included (None: no
    limit; 0 or less: nothing). `is_summary`: the description may stand for the text."""

    text: str
    description: str = ""
    menus: Sequence[tuple[int, int]] = ()
    headings: Sequence[str] = ()
    language: str = "en"
    max_chars: int | None = None
    is_summary: bool = False


@dataclass(frozen=True, slots=True)
class _Window:
    start: int
    end: int
    terms: frozenset[str]


def make_snippet(shown: Shown, sought: Sought) -> Snippet:
    """Returns the beginning of the first section whose heading has every word. If there is none, returns the best
    window of the text, or the two best if together they show more of the main terms.

    Text outside menus, running text and text near the beginning come first. Returns the description if it is a summary
    and has all terms that these windows have, if it has more terms than the best window, or if the text has no term;
    without a description, the beginning of the text.
    """
    most = shown.max_chars
    if most is not None and most <= 0:
        return Snippet("")
    width = SNIPPET_CHARS if most is None else min(SNIPPET_CHARS, max(most - _DOTS_CHARS, most // 2))
    line = _line(shown, sought.main, width)
    if most is not None and len(line) > most:
        line = line[: most - 1].rstrip() + _DOTS
    return _highlighted(line, sought.main, shown.language)


def _line(shown: Shown, terms: frozenset[str], width: int) -> str:
    text = shown.text
    matches = list(word_places(text, terms, shown.language))
    answer = _answer(shown, width)
    if answer:
        return answer
    outside = [match for match in matches if not _is_inside(match[0], shown.menus)] if shown.menus else matches
    window = _best_window(text, outside or matches, width)
    description = _piece(shown.description, 0, 0, width)
    if window is None:
        return description or _piece(text, *_beginning(shown), width)
    described = frozenset(place[2] for place in word_places(description, terms, shown.language))
    windows = _two_windows(text, outside or matches, window.terms, terms - window.terms, width) or [window]
    found = frozenset[str]().union(*(one.terms for one in windows))
    if len(described) > len(window.terms) or (described >= found and shown.is_summary):
        return description
    return _joined(text, windows, width)


def _answer(shown: Shown, width: int) -> str:
    """Returns the beginning of the first section that answers the query; empty if there is none."""
    for heading in shown.headings:
        at = shown.text.rfind(heading)
        if at >= 0 and not _is_inside(at, shown.menus):
            return _piece(shown.text, at, at + width, width)
    return ""


def _is_inside(at: int, ranges: Sequence[tuple[int, int]]) -> bool:
    found = bisect_right(ranges, at, key=lambda span: span[0]) - 1
    return found >= 0 and at < ranges[found][1]


def _beginning(shown: Shown) -> tuple[int, int]:
    """Returns where the text begins that is not a menu."""
    at = 0
    for start, end in shown.menus:
        if shown.text[at:start].strip():
            break
        at = end
    return (at, at) if shown.text[at:].strip() else (0, 0)


def _two_windows(
    text: str, matches: Sequence[Place], found: frozenset[str], missing: frozenset[str], width: int
) -> list[_Window] | None:
    """Returns a window for the terms already found and one for the missing ones, in order, or None if there is nothing
    to add."""
    others = [match for match in matches if match[2] in missing]
    if not others:
        return None
    pair = [
        _best_window(text, half, width // 2) for half in ([match for match in matches if match[2] in found], others)
    ]
    windows = [window for window in pair if window is not None]
    return sorted(windows, key=lambda window: window.start) if len(windows) == 2 else None


def _best_window(text: str, matches: Iterable[Place], width: int) -> _Window | None:
    """Returns the first window of at most `width` characters with the most distinct terms; among these, running text
    comes before lists, then the one with the most words found."""
    inside, counts = deque[Place](), Counter[str]()
    best, best_rank = None, (0, False, 0)
    for match in matches:
        inside.append(match)
        counts[match[2]] += 1
        while match[1] - inside[0][0] > width and len(inside) > 1:
            _remove(counts, inside.popleft()[2])
        distinct = len(counts)
        if distinct < best_rank[0]:
            continue
        end = min(len(text), inside[0][0] + width)
        is_running = text.count("\n", inside[0][0], end) < _LIST_LINES
        rank = (distinct, is_running, min(len(inside), distinct + 1))
        if rank > best_rank:
            best, best_rank = _Window(inside[0][0], match[1], frozenset(counts)), rank
    return best


def _remove(counts: Counter[str], term: str) -> None:
    counts[term] -= 1
    if not counts[term]:
        del counts[term]


def _joined(text: str, windows: list[_Window], width: int) -> str:
    start, end = windows[0].start, max(window.end for window in windows)
    if len(windows) == 1 or end - start <= width:
        return _piece(text, start, end, width)
    pieces = [_piece(text, window.start, window.end, width // 2) for window in windows]
    return " ".join([pieces[0], pieces[1].removeprefix(f"{_DOTS} ")])


def _piece(text: str, start: int, end: int, width: int) -> str:
    """Returns about `width` characters of the text around start to end, on one line, with dots for omitted text."""
    room = max(0, width - (end - start))
    first = max(0, start - room // _LEAD_DIVISOR)
    sentence = _sentence_before(text, max(0, start - room), start)
    if sentence is not None:
        first = sentence
    last = min(len(text), first + max(width, min(end - start, 2 * width)))
    first = max(0, min(first, last - width)) if sentence is None or last - first < width // 2 else first
    first, last = _cut_before(text, first, start), _cut_after(text, last, end)
    line = " ".join(text[first:last].translate(_LEFT_OUT).split())
    before, after = f"{_DOTS} " if text[:first].strip() else "", f" {_DOTS}" if text[last:].strip() else ""
    return f"{before}{line}{after}" if line else ""


def _sentence_before(text: str, least: int, most: int) -> int | None:
    """Returns the last beginning of a sentence or a line from `least` to `most`."""
    ends = ((text.rfind(mark, max(0, least - len(mark)), most), len(mark)) for mark in _SENTENCE_ENDS)
    found = max((at + length for at, length in ends if at >= 0), default=None)
    return found if found is not None and found >= least else 0 if least == 0 else None


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


def _highlighted(line: str, sought: frozenset[str], language: str) -> Snippet:
    spans: list[tuple[int, int]] = []
    for start, end, _ in word_places(line, sought, language):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return Snippet(line, tuple(spans))
