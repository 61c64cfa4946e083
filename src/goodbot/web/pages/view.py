"""Prepares results and numbers for people to read. Pure; the templates escape all text."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple
from unicodedata import category
from urllib.parse import urlsplit

from goodbot.exclusion.text.shown_text import shown
from goodbot.search_values import Hit, OtherPage
from goodbot.web.pages.messages import Piece
from goodbot.web.pages.property_names import language_name, type_name
from goodbot.web.pages.translations import translatable

MAX_TITLE_CHARS = 160
MAX_SHOWN_URL_CHARS = 120

MAX_SECTION_CHARS = 80
MAX_PIECE_CHARS: Final = 600
MAX_OTHERS = 8

_PAGES: Final = frozenset({"", "text/html", "application/xhtml+xml"})
"""Media types that are not shown."""
_DAY_S: Final = 86_400

_NAME = re.compile(r"(?:site|(?:in)?title|inurl|filetype|ext|lang(?:uage)?|before|after|since|link):|robots\.txt\b")
_NON_ASCII_ESCAPES = re.compile(r"(?:%[89A-Fa-f][0-9A-Fa-f])+")


@dataclass(frozen=True, slots=True)
class HitView:
    """A hit ready to be shown. `href` is None if the URL is not http or https; `shown_site` and `shown_path` together
    are its readable URL; `pieces` are (text, is highlighted), `sections` (text, URL), `others` (text, URL, language).

    `id` names the hit to the explanation of its place, `url` to other pages; `site` is the value of the filter for its
    site, empty if it has none. `changed_at` is when the page says that it was changed, None if it does not;
    `fetched_at` None if unknown. `type` is empty for HTML."""

    title: str
    href: str | None
    shown_site: str
    shown_path: str
    pieces: tuple[tuple[str, bool], ...]
    sections: tuple[tuple[str, str], ...] = ()
    others: tuple[tuple[str, str, str], ...] = ()
    id: str = ""
    url: str = ""
    site: str = ""
    changed_at: float | None = None
    fetched_at: float | None = None
    size_bytes: int = 0
    language: str = ""
    language_name: str = ""
    type: str = ""
    has_copy: bool = False

    @property
    def shown_url(self) -> str:
        """The readable URL."""
        return self.shown_site + self.shown_path


def view_hit(hit: Hit) -> HitView:
    """Prepares a hit. Its title is the URL if it has none; without a URL it is the id."""
    shown = clipped(readable_url(hit.url or hit.id), MAX_SHOWN_URL_CHARS)
    leads_out = is_link(hit.url)
    site, slash, path = shown.partition("/")
    return HitView(
        title=clipped(hit.title.strip(), MAX_TITLE_CHARS) if is_visible(hit.title) else shown,
        href=hit.url if leads_out else None,
        shown_site=site if leads_out else "",
        shown_path=slash + path if leads_out else shown,
        pieces=tuple(pieces(hit.snippet, hit.highlights)),
        sections=tuple((clipped(one.text, MAX_SECTION_CHARS), one.url) for one in hit.sections if is_link(one.url)),
        others=tuple(
            (_name_of(one, hit), one.url, one.language)
            for one in hit.one_of_each_language()[:MAX_OTHERS]
            if is_link(one.url)
        ),
        id=hit.id,
        url=hit.url or hit.id,
        site=site_of(hit.url) if leads_out else "",
        changed_at=_changed_at(hit),
        fetched_at=hit.fetched_at if hit.fetched_at > 0 else None,
        size_bytes=max(hit.size_bytes, 0),
        language=hit.language,
        language_name=language_name(hit.language) if hit.language else "",
        type="" if hit.media_type in _PAGES else type_name(hit.media_type),
        has_copy=hit.has_copy and leads_out,
    )


def is_visible(text: str) -> bool:
    """Whether a text has a letter, a digit, a sign or a symbol: something to see and to click."""
    return any(category(character)[0] in "LNPS" for character in text)


def _name_of(other: OtherPage, hit: Hit) -> str:
    """Returns what another version of a hit is: a translation, named by its language, or a copy."""
    return language_name(other.language) if other.language != hit.language else translatable("copy")


def is_link(url: str) -> bool:
    """Whether a URL from a page may become a link: it is http or https."""
    return url.lower().startswith(("http://", "https://"))


def _changed_at(hit: Hit) -> float | None:
    """Returns when a page was changed, by its own account. A page cannot have been changed after it was fetched."""
    at = hit.modified_at
    if at is None or at <= 0 or (hit.fetched_at > 0 and at > hit.fetched_at + _DAY_S):
        return None
    return at


def site_of(url: str) -> str:
    """Returns the host, with its port, of an http or https URL, as the filter for sites takes it."""
    try:
        return urlsplit(url).netloc.rpartition("@")[2].lower()
    except ValueError:
        return ""


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
    user, in backquotes, or with a name such as `site:` or robots.txt keeps it as it is."""
    first = text[:1] if _NAME.match(text) else text[:1].upper()
    return f"{first}{text[1:].rstrip('.')}."


def as_sentence(pieces: Iterable[Piece]) -> list[Piece]:
    """Makes a sentence of the pieces of a message, as `capitalised` does. A value at its beginning or end stays as it
    is."""
    found = [piece for piece in pieces if piece.text]
    if not found:
        return []
    first = found[0]
    if first.kind != "value":
        found[0] = first._replace(text=capitalised("".join(piece.text for piece in found))[:1] + first.text[1:])
    last = found[-1]
    if last.kind == "value":
        return [*found, Piece(".", "text")]
    return [*found[:-1], last._replace(text=f"{last.text.rstrip('.')}.")]


def quoted(text: str) -> list[tuple[str, bool]]:
    """Cuts a sentence at its backquotes into (text, is quoted); a backquote without a pair stays."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts[-2:] = ["`".join(parts[-2:])]
    return [(part, number % 2 == 1) for number, part in enumerate(parts) if part]


class Run(NamedTuple):
    """A part of a `Piece`, all of which is code or none."""

    text: str
    kind: Literal["text", "value", "English"]
    is_code: bool


def runs(pieces: Sequence[Piece]) -> Iterator[Run]:
    """Cuts the pieces of a message at its backquotes, as `quoted` does. Those in values mean nothing. What is not our
    own text is made visible, and cut after `MAX_PIECE_CHARS` characters."""
    pieces = [_shown(piece) for piece in pieces]
    ticks = sum(piece.text.count("`") for piece in pieces if piece.kind != "value")
    left, is_code = ticks - ticks % 2, False
    for piece in pieces:
        for number, part in enumerate([piece.text] if piece.kind == "value" else piece.text.split("`")):
            has_pair = number > 0 and left > 0
            left, is_code = left - has_pair, is_code ^ has_pair
            text = part if has_pair or not number else f"`{part}"
            if text:
                yield Run(text, piece.kind, is_code)


def _shown(piece: Piece) -> Piece:
    return piece if piece.kind == "text" else piece._replace(text=shown(piece.text, MAX_PIECE_CHARS))


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
