"""Sentences of the interface with values in them, and the pieces that a page shows of them. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

PLACEHOLDER: Final = re.compile(r"%\((\w+)\)s")
FIGURES: Final = {
    **dict.fromkeys(("count", "most", "times", "new", "refused", "marked"), r"[\d,]+"),
    **dict.fromkeys(("line", "status", "depth"), r"\d+"),
    **dict.fromkeys(("seconds", "limit"), r"[\d.e+]+"),
    **dict.fromkeys(("duration", "after"), r"\d+ (?:s|min|h|days)"),
    "percent": r"[\d.]+%",
}
"""Placeholders for figures, and how these are written in English."""

Translate = Callable[[str], str]


class Piece(NamedTuple):
    """A part of a message: its own text in the language of the reader; a value such as a URL; English text that has no
    translation."""

    text: str
    kind: Literal["text", "value", "English"]


@dataclass(frozen=True, slots=True)
class Message:
    """An English text, marked by `translatable`, and the values of its placeholders such as `%(count)s`. A value may be
    a message itself."""

    text: str
    values: Mapping[str, "str | int | Message"] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.translated(str, str)

    def translated(self, translate: Translate, figure: Translate) -> str:
        """Returns the text in the language of `translate`, with its values; `figure` rewrites numbers among them."""
        return "".join(piece.text for piece in self.pieces(translate, figure))

    def pieces(self, translate: Translate, figure: Translate) -> Iterator[Piece]:
        """Yields the parts of the translated text."""
        here = translate(self.text) if self.text else ""
        if not self.values:
            yield Piece(here, "English" if here == self.text else "text")
            return
        for number, part in enumerate(PLACEHOLDER.split(here)):
            if number % 2 == 0:
                yield Piece(part.replace("%%", "%"), "text")
            else:
                yield from self._value(part, translate, figure)

    def _value(self, name: str, translate: Translate, figure: Translate) -> Iterator[Piece]:
        value = self.values[name]
        if isinstance(value, Message):
            yield from value.pieces(translate, figure)
        elif name in FIGURES or isinstance(value, int):
            yield Piece(figure(str(value)), "text")
        else:
            yield Piece(value, "value")
