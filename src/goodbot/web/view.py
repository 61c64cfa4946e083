"""Results as people read them. Pure; what comes from strangers stays text, the templates escape it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodbot.search_values import Hit

MAX_TITLE_CHARS = 160
MAX_SHOWN_URL_CHARS = 120

_NON_ASCII_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit ready to be shown. `href` is None if the URL is not http or https; `pieces` are (text, is a word found)."""

    title: str
    href: str | None
    shown_url: str
    pieces: tuple[tuple[str, bool], ...]


def view_hit(hit: Hit) -> HitView:
    """A hit without a title goes by its URL, one without a URL by its id."""
    shown = clipped(readable_url(hit.url or hit.id), MAX_SHOWN_URL_CHARS)
    return HitView(
        title=clipped(hit.title.strip(), MAX_TITLE_CHARS) or shown,
        href=hit.url if hit.url.lower().startswith(("http://", "https://")) else None,
        shown_url=shown,
        pieces=tuple(pieces(hit.snippet, hit.highlights)),
    )


def pieces(text: str, highlights: Iterable[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """`text` cut at its highlights; joined again it is the same text, whatever the highlights are."""
    done = 0
    for start, end in sorted(highlights):
        start, end = max(start, done), min(end, len(text))  # noqa: PLW2901
        if start >= end:
            continue
        if done < start:
            yield text[done:start], False
        yield text[start:end], True
        done = end
    if done < len(text):
        yield text[done:], False


def quoted(text: str) -> list[tuple[str, bool]]:
    """A sentence as (text, is quoted), cut at its backquotes; one without its pair stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]


def readable_url(url: str) -> str:
    """A URL without its scheme, its non-ASCII characters as letters.

    Escapes of ASCII stay, as they differ from what they stand for; so do those of characters that do not print
    (RFC 3987 §4.1: bidirectional formatting would show another URL). Hosts stay punycode: look-alike letters would do
    the same.
    """
    text = url.partition("://")[2] or url
    if text.endswith("/") and text.count("/") == 1:
        text = text[:-1]
    return _NON_ASCII_ESCAPES.sub(_letters, text)


def _letters(escapes: re.Match[str]) -> str:
    try:
        text = bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return escapes[0]
    return text if text.isprintable() else escapes[0]


def clipped(text: str, most: int = 300) -> str:
    """The beginning of it, with `…` if something is left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def page_numbers(page: int, pages: int) -> list[int | None]:
    """The numbers a pager shows: first, last, the page and its neighbours. None is a gap of two numbers or more."""
    wanted = sorted({1, page - 1, page, page + 1, pages} & set(range(1, pages + 1)))
    numbers: list[int | None] = []
    last = 0
    for number in wanted:
        if number - last == 2:
            numbers.append(number - 1)
        elif number - last > 2:
            numbers.append(None)
        numbers.append(number)
        last = number
    return numbers


def human_number(count: float) -> str:
    """`1,234`, `0.8`."""
    return f"{count:,.0f}" if count >= 100 or count == int(count) else f"{count:,.1f}"


def human_seconds(seconds: float) -> str:
    """`45 s`, `3 min`, `2 h 5 min`, `9 days`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min" if whole < 172_800 else f"{whole // 86_400:,} days"


def duration(took_ms: float) -> str:
    """Milliseconds for people: `under 1 ms`, `12 ms`, `1.2 s`."""
    if took_ms < 1:
        return "under 1 ms"
    return f"{took_ms:.0f} ms" if took_ms < 999.5 else f"{took_ms / 1000:,.1f} s"
