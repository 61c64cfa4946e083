"""Reads English sentences back into messages, so that pages can show them in other languages. Pure; linear."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.web.pages.messages import FIGURES, PLACEHOLDER, Message

MAX_CHARS: Final = 4_000
"""Longer sentences are not read. A URL in one may have 2,000 characters."""
MAX_DEPTH: Final = 3
"""Clauses in clauses that are read."""

VALUES: Final = {
    **FIGURES,
    **dict.fromkeys(("day", "until"), r"\d{4}-\d\d-\d\d"),
    **dict.fromkeys(("host", "site", "field", "lesson", "family", "first"), r"\S+"),
    "date": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC",
    "directive": "[^,]+?",
    "origin": r"(?:META )?[\w-]+",
    "type": r"[\w.+-]+/[\w.+-]+",
}
"""What a placeholder may stand for; any other name: any text."""


@dataclass(frozen=True, slots=True)
class Clause:
    """The sentences that a placeholder may stand for; None: any that is known. If a text is none of them, `otherwise`
    says what follows: it is shown as English, it is a `value` of any language, or the phrase does not match: the
    sentence is `another` one."""

    sentences: tuple[str, ...] | None = None
    otherwise: Literal["English", "value", "another"] = "English"


class _Phrase(NamedTuple):
    beginning: str
    pattern: re.Pattern[str]
    text: str


class Phrases:
    """Sentences with placeholders such as `%(count)s`. `clauses` says what placeholders of these names stand for. The
    first sentence that matches counts."""

    def __init__(self, sentences: Iterable[str], clauses: Mapping[str, Clause]) -> None:
        self._sentences = tuple(map(_phrase, sentences))
        self._clauses = {
            name: (self._sentences if clause.sentences is None else tuple(map(_phrase, clause.sentences)), clause)
            for name, clause in clauses.items()
        }

    def read(self, sentence: str) -> Message | None:
        """Returns the message that an English sentence is, with or without its full stop; None if it is unknown."""
        return self._read(sentence, self._sentences, MAX_DEPTH) if len(sentence) <= MAX_CHARS else None

    def _read(self, sentence: str, phrases: Iterable[_Phrase], depth: int) -> Message | None:
        for beginning, pattern, text in phrases:
            if sentence.startswith(beginning) and (found := pattern.fullmatch(sentence)):
                values = {name: self._value(name, value, depth) for name, value in found.groupdict().items()}
                if None not in values.values():
                    return Message(text, {name: value for name, value in values.items() if value is not None})
        return None

    def _value(self, name: str, value: str, depth: int) -> str | Message | None:
        if name not in self._clauses:
            return value
        phrases, clause = self._clauses[name]
        if depth and (message := self._read(value, phrases, depth - 1)) is not None:
            return message
        match clause.otherwise:
            case "English":
                return Message(value)
            case "value":
                return value
            case "another":
                return None


def _phrase(sentence: str) -> _Phrase:
    parts = PLACEHOLDER.split(sentence)
    pieces = [
        f"(?P<{part}>{VALUES.get(part, '.+?')})" if number % 2 else re.escape(part) for number, part in enumerate(parts)
    ]
    return _Phrase(parts[0], re.compile("".join(pieces) + r"\.?", re.DOTALL), sentence)
