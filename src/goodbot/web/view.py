"""Prepares results and numbers for people to read. Pure; the templates escape all text."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodbot.search_values import Hit

MAX_TITLE_CHARS = 160
MAX_SHOWN_URL_CHARS = 120

MAX_SECTION_CHARS = 80
MAX_OTHERS = 8

_LANGUAGES = {
    "ar": "العربية",
    "cs": "čeština",
    "da": "dansk",
    "de": "Deutsch",
    "el": "ελληνικά",
    "en": "English",
    "es": "español",
    "fi": "suomi",
    "fr": "français",
    "hu": "magyar",
    "it": "italiano",
    "ja": "日本語",
    "ko": "한국어",
    "nl": "Nederlands",
    "no": "norsk",
    "pl": "polski",
    "pt": "português",
    "ro": "română",
    "ru": "русский",
    "sv": "svenska",
    "tr": "Türkçe",
    "uk": "українська",
    "vi": "Tiếng Việt",
    "zh": "中文",
}

_NON_ASCII_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit ready to be shown. `href` is None if the URL is not http or https; `pieces` are (text, is highlighted),
    `sections` (text, URL), `others` (text, URL, language)."""

    title: str
    href: str | None
    shown_url: str
    pieces: tuple[tuple[str, bool], ...]
    sections: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str, str], ...] = ()


def view_hit(hit: Hit) -> HitView:
    """Prepares a hit. Its title is the URL if it has none; without a URL it is the id."""
    shown = clipped(readable_url(hit.url or hit.id), MAX_SHOWN_URL_CHARS)
    return HitView(
        title=clipped(hit.title.strip(), MAX_TITLE_CHARS) or shown,
        href=hit.url if _is_link(hit.url) else None,
        shown_url=shown,
        pieces=tuple(pieces(hit.snippet, hit.highlights)),
        sections=tuple((clipped(one.text, MAX_SECTION_CHARS), one.url) for one in hit.sections if _is_link(one.url)),
        others=tuple(
            (language_name(one.language) if one.language != hit.language else "copy", one.url, one.language)
            for one in hit.one_of_each_language()[:MAX_OTHERS]
            if _is_link(one.url)
        ),
    )


def _is_link(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def language_name(code: str) -> str:
    """Returns the name of a language in that language, or its code."""
    return _LANGUAGES.get(code, code) or "another language"


def pieces(text: str, highlights: Iterable[tuple[int, int]]) -> Iterator[tuple[str, bool]]:
    """Cuts `text` at its highlights. The joined pieces are always the same text, whatever the highlights are."""
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


def capitalised(text: str) -> str:
    """Makes a sentence of a message: with a capital letter and one full stop. A message that begins with a word of a
    user, in backquotes, keeps it as it is."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def quoted(text: str) -> list[tuple[str, bool]]:
    """Cuts a sentence at its backquotes into (text, is quoted); a backquote without a pair stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]


def readable_url(url: str) -> str:
    """Returns a URL without its scheme, with non-ASCII characters unescaped.

    Escapes of ASCII characters stay, because unescaped they would mean something else. Escapes of characters that do
    not print stay too (RFC 3987 §4.1: bidirectional formatting could make it look like another URL). Hosts stay in
    punycode, because of look-alike letters.
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
    """Returns at most `most` characters of `text`, the last one `…` if something is cut off."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def page_numbers(page: int, pages: int) -> list[int | None]:
    """Returns the numbers that a pager shows: the first page, the last, this page and the ones beside it. None marks a
    gap of two pages or more."""
    shown = sorted({1, page - 1, page, page + 1, pages} & set(range(1, pages + 1)))
    numbers: list[int | None] = []
    last = 0
    for number in shown:
        if number - last == 2:
            numbers.append(number - 1)
        elif number - last > 2:
            numbers.append(None)
        numbers.append(number)
        last = number
    return numbers


def human_number(count: float) -> str:
    """Formats a number: `1,234`, `0.8`."""
    return f"{count:,.0f}" if count >= 100 or count == int(count) else f"{count:,.1f}"


def human_seconds(seconds: float) -> str:
    """Formats a duration: `45 s`, `3 min`, `2 h 5 min`, `9 days`."""
    whole = round(seconds)
    if whole < 120:
        return f"{whole} s"
    if whole < 7200:
        return f"{whole // 60} min"
    return f"{whole // 3600} h {whole % 3600 // 60} min" if whole < 172_800 else f"{whole // 86_400:,} days"


def duration(took_ms: float) -> str:
    """Formats milliseconds: `under 1 ms`, `12 ms`, `1.2 s`."""
    if took_ms < 1:
        return "under 1 ms"
    return f"{took_ms:.0f} ms" if took_ms < 999.5 else f"{took_ms / 1000:,.1f} s"
