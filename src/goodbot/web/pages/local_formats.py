"""Writes numbers, sizes, durations, dates and messages in the language of the reader. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from gettext import NullTranslations
from typing import Final

from goodbot.human import human_bytes
from goodbot.web.pages.known_sentences import read_sentence
from goodbot.web.pages.messages import Message, Piece
from goodbot.web.pages.translations import translatable
from goodbot.web.pages.view import duration, human_number, human_seconds

Format = Callable[[float], str]

_NO_BREAK: Final = "\u00a0"
_RUSSIAN_UNITS: Final = {
    "byte": "Б",
    "bytes": "Б",
    "kB": "КБ",
    "MB": "МБ",
    "GB": "ГБ",
    "TB": "ТБ",
    "ms": "мс",
    "s": "с",
    "min": "мин",
    "h": "ч",
    "days": "дн.",
    "under": "менее",
}
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_UNIT = re.compile(r"[A-Za-z]+")
_DAYS: Final = (
    translatable("%(day)s January %(year)s"),
    translatable("%(day)s February %(year)s"),
    translatable("%(day)s March %(year)s"),
    translatable("%(day)s April %(year)s"),
    translatable("%(day)s May %(year)s"),
    translatable("%(day)s June %(year)s"),
    translatable("%(day)s July %(year)s"),
    translatable("%(day)s August %(year)s"),
    translatable("%(day)s September %(year)s"),
    translatable("%(day)s October %(year)s"),
    translatable("%(day)s November %(year)s"),
    translatable("%(day)s December %(year)s"),
)


def formats(language: str) -> dict[str, Format]:
    """Returns the filters of templates that write figures, by their names."""
    english: dict[str, Format] = {
        "duration": duration,
        "number": human_number,
        "points": points,
        "seconds": human_seconds,
        "size": human_bytes,
    }
    return english if language != "ru" else in_russian(english)


def in_russian(english: Mapping[str, Format]) -> dict[str, Format]:
    """Makes functions that write Russian figures of those that write English ones."""
    return {name: _in_russian(write) for name, write in english.items()}


class Speaker:
    """Writes texts of the interface, and sentences of the search and of the crawl, in `language`. Other text stays as
    it is."""

    def __init__(self, language: str, translations: NullTranslations) -> None:
        self._reads = language != "en"
        self._translate = translations.gettext
        self._figure = russian if language == "ru" else str

    def said(self, text: str | Message) -> str:
        """Returns the text as a whole."""
        return self._message(text).translated(self._translate, self._figure)

    def pieces(self, text: str | Message) -> list[Piece]:
        """Returns the text in pieces, those that stay English among them."""
        return list(self._message(text).pieces(self._translate, self._figure))

    def _message(self, text: str | Message) -> Message:
        if isinstance(text, Message):
            return text
        is_text = not self._reads or self._translate(text) != text
        return (None if is_text else read_sentence(text)) or Message(text)


def points(score: float) -> str:
    """Writes a score or factor: `1.25`; `1,234`. One of less than 0.01 is `0.00`."""
    return f"{score:,.2f}" if abs(score) < 1000 else f"{score:,.0f}"


def _in_russian(write: Format) -> Format:
    return lambda figure: russian(write(figure))


def russian(figure: str) -> str:
    """Rewrites an English figure: `1,234.5 kB` as `1 234,5 КБ`, with spaces that do not break."""
    figure = _NUMBER.sub(lambda found: found[0].replace(",", _NO_BREAK).replace(".", ","), figure)
    return _UNIT.sub(lambda found: _RUSSIAN_UNITS.get(found[0], found[0]), figure).replace(" ", _NO_BREAK)


def day_of(at: float) -> date | None:
    """Returns the day, in UTC, of a time in Unix seconds; None if no calendar has it."""
    try:
        return datetime.fromtimestamp(at, UTC).date()
    except (OverflowError, OSError, ValueError):
        return None


def day_message(day: date) -> Message:
    """Writes a day as people do: `3 May 2024`."""
    return Message(_DAYS[day.month - 1], {"day": day.day, "year": day.year})
