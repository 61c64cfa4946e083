"""Sentences of the interface with values in them, and the sentences of the search, read back so that pages can show
them in other languages. Pure."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from goodbot.web.pages.translations import translatable

_NUMBER = re.compile(r"\d{1,3}(?:,\d{3})+")


@dataclass(frozen=True, slots=True)
class Message:
    """An English text, marked by `translatable`, and the values of its placeholders such as `%(count)s`. A value may be
    a message itself."""

    text: str
    values: Mapping[str, "str | int | Message"] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.translated(str, str)

    def translated(self, translate: Callable[[str], str], figure: Callable[[str], str]) -> str:
        """Returns the text in the language of `translate`, with its values; `figure` rewrites numbers among them."""
        if not self.text:
            return ""
        if not self.values:
            return translate(self.text)
        return translate(self.text) % {name: _value_in(value, translate, figure) for name, value in self.values.items()}


def _value_in(value: str | int | Message, translate: Callable[[str], str], figure: Callable[[str], str]) -> str:
    if isinstance(value, Message):
        return value.translated(translate, figure)
    return figure(value) if isinstance(value, str) and _NUMBER.fullmatch(value) else str(value)


SENTENCES: Final = (
    translatable("the query was cut after %(count)s characters"),
    translatable("in a query of more than %(count)s words, quotes, - and OR are text"),
    translatable("%(field)s: needs a word, such as %(example)s"),
    translatable("%(field)s: needs a host, such as %(example)s"),
    translatable("%(field)s: needs a type, such as %(example)s"),
    translatable("%(field)s: needs a language, such as %(example)s"),
    translatable("%(field)s: needs a date, such as %(example)s"),
    translatable("%(field)s: needs a URL, such as %(example)s"),
    translatable("only the first %(count)s words count"),
    translatable("only the first %(count)s phrases and joined words count"),
    translatable("* counts only in the first %(count)s words that have it"),
    translatable("* needs %(count)s letters or digits before it, such as cr*"),
    translatable("parentheses more than %(count)s deep were ignored"),
    translatable("the query has neither a word nor a filter"),
    translatable("the query is empty: type a word to search for"),
    translatable("the page must be a whole number from 1 to %(count)s"),
    translatable("the period must be day, week, month or year"),
    translatable("give the URL of a page as well"),
    translatable("the spelling was corrected: %(query)s"),
    translatable("the page has none of the words"),
    translatable("the page is not among the first %(count)s hits"),
    translatable("the page is a translation or copy of %(url)s, which the hit shows"),
    translatable("the page does not meet a condition: %(condition)s"),
    translatable("the query excludes the page: without %(condition)s"),
)
"""What the search says about queries and pages. What it says besides stays English."""
CONDITIONS: Final = (
    translatable("on %(value)s"),
    translatable("of type %(value)s"),
    translatable("in the language %(value)s"),
    translatable("changed before %(value)s"),
    translatable("changed since %(value)s"),
    translatable("linking to %(value)s"),
    translatable("%(value)s in the title"),
    translatable("%(value)s in the URL"),
)
"""How the search calls conditions that a page must meet."""

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")
_VALUES: Final = {"count": r"[\d,]+"}
"""What a placeholder may stand for, if not for any text."""


def _pattern(sentence: str) -> re.Pattern[str]:
    parts = _PLACEHOLDER.split(sentence)
    pieces = [
        f"(?P<{part}>{_VALUES.get(part, '.+?')})" if number % 2 else re.escape(part)
        for number, part in enumerate(parts)
    ]
    return re.compile("".join(pieces), re.DOTALL)


_SENTENCES: Final = tuple((_pattern(text), text) for text in SENTENCES)
_CONDITIONS: Final = tuple((_pattern(text), text) for text in CONDITIONS)


def read_sentence(sentence: str) -> Message | None:
    """Returns the message that an English sentence of the search is; None if it is none of `SENTENCES`."""
    for pattern, text in _SENTENCES:
        if found := pattern.fullmatch(sentence):
            return Message(text, {name: _value(name, value) for name, value in found.groupdict().items()})
    return None


def _value(name: str, value: str) -> str | Message:
    if name == "condition":
        for pattern, text in _CONDITIONS:
            if found := pattern.fullmatch(value):
                return Message(text, found.groupdict())
    return value
