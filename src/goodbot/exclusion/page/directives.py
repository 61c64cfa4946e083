"""What a page lets a robot do with it: META, X-Robots-Tag and Robots-Tag → Directives, each effect with its source."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from goodbot.errors import InputError
from goodbot.exclusion.page.directive_words import (
    IMAGE_PREVIEWS,
    MAX_DIRECTIVE_CHARS,
    WORDS,
    Asks,
    SaidDirective,
    Value,
)
from goodbot.exclusion.page.page_metas import FIRST_COUNTS, PAGE_METAS, TEXTS
from goodbot.exclusion.page.robots_tags import read_kollar, read_meta, read_robots_tag, read_x_robots_tag
from goodbot.exclusion.text.product_token import product_token

DIRECTIVE_DIALECTS = ("modern", "kollar")
"""`modern`: Google's and Bing's pages, and the draft of Robots-Tag. `kollar`: the META tags of the 1990s only."""

MAX_SOURCES = 100
"""Beyond that only directives without a value, which are few, and the first to bear on a field."""

_HEADERS = {"x-robots-tag": ("X-Robots-Tag", read_x_robots_tag), "robots-tag": ("Robots-Tag", read_robots_tag)}


@dataclass(frozen=True, slots=True)
class Source:
    """One directive as it was read.

    `directive` is in lower case with its value (`noindex`, `max-snippet:50`; a META URL as written), cut at 120
    characters; `origin` is `META robots`, `META mybot`, `X-Robots-Tag`, `Robots-Tag`, `META document-state`… `effects`
    are the fields of Directives it bears on, also where another source asks for more; without effects it restricts
    nothing: it permits (`index`), is overridden, cannot be read (`max-snippet:many`), or nobody heeds it any more.
    """

    directive: str
    origin: str
    effects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Directives:
    """What a page lets a robot do with it, and what it says of itself to robots; without any directive, everything.

    `max_snippet` is in characters, `max_video_preview` in seconds (0: a still image), None no limit.
    `index_embedded`: may be indexed where it is embedded, though `index` is False. `ai`, `ai_images`: may be used to
    train AI. `unavailable_after` is in Unix seconds (see `is_available`). `canonical` is META URL as written.
    `document_state` of `dynamic` means `index` False too. `sources` are in order of reading, each once; directives
    that nobody knows are not among them, nor are description and keywords.
    """

    index: bool = True
    follow: bool = True
    archive: bool = True
    snippet: bool = True
    max_snippet: int | None = None
    max_image_preview: Literal["none", "standard", "large"] | None = None
    max_video_preview: int | None = None
    translate: bool = True
    index_images: bool = True
    index_embedded: bool = False
    ai: bool = True
    ai_images: bool = True
    unavailable_after: float | None = None
    description: str = ""
    keywords: str = ""
    canonical: str | None = None
    revisit_after_s: float | None = None
    document_state: Literal["static", "dynamic"] | None = None
    sources: tuple[Source, ...] = ()

    @classmethod
    def parse(
        cls, metas: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]], token: str, dialect: str = "modern"
    ) -> "Directives":
        """The sum of what META tags and header fields ask of the robot called `token` (a product token or User-Agent).

        `metas` are (name, content) pairs, `headers` (name, value) pairs; those that are none of ours are passed over.
        `modern`: the more restrictive wins everywhere; what is said to all, to `token`, in META and in headers adds up.
        `kollar`: META robots only, ALL and the permitting word win within a tag. 64 KiB of each content and field are
        read. Never raises on content; linear. Raises InputError for an unknown dialect.
        """
        if dialect not in DIRECTIVE_DIALECTS:
            raise InputError(f"unknown dialect of directives {dialect!r}: known are {', '.join(DIRECTIVE_DIALECTS)}")
        own, names = _names(token, dialect)
        found = _Sum()
        for name, content in metas:
            if (key := name.strip().lower()) in names:
                found.add_meta(key, content, dialect)
        if dialect == "modern":
            for key, value in _of_robots(headers):
                origin, read = _HEADERS[key]
                found.add(origin, read(value, own))
        return found.directives()

    def is_available(self, now: float) -> bool:
        """Whether `now` (Unix seconds) is before `unavailable_after`, or there is no such date."""
        return self.unavailable_after is None or now < self.unavailable_after

    def why(self, effect: str) -> tuple[Source, ...]:
        """The sources that bear on one field, by its name (`index`, `max_snippet`…)."""
        return tuple(source for source in self.sources if effect in source.effects)


@lru_cache(maxsize=64)
def _names(token: str, dialect: str) -> tuple[str, frozenset[str]]:
    """Our own token in lower case, and the META names that concern us."""
    own = product_token(token).lower()
    return own, frozenset({"robots", *PAGE_METAS} | ({own} if own and dialect == "modern" else set()))


def _of_robots(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The fields that are for robots, names in lower case; hardly any page has one, so one look at all names first."""
    headers = list(headers)
    if "robots-tag" not in "\n".join([name for name, _ in headers]).lower():
        return []
    return [(key, value) for name, value in headers if (key := name.strip().lower()) in _HEADERS]


class _Sum:
    """The directives read so far, and what they ask for together."""

    __slots__ = ("fields", "sources")

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.sources: dict[tuple[str, str, tuple[str, ...]], None] = {}

    def add_meta(self, name: str, content: str, dialect: str) -> None:
        if name in PAGE_METAS:
            self._add_page_meta(name, content)
        else:
            self.add(f"META {name}", read_meta(content) if dialect == "modern" else read_kollar(content))

    def add(self, origin: str, said: Iterable[SaidDirective]) -> None:
        for directive, asks in said:
            source = directive, origin, tuple(asks)
            if source not in self.sources:
                if directive in WORDS or len(self.sources) < MAX_SOURCES or not asks.keys() <= self.fields.keys():
                    self.sources[source] = None
                self._restrict(asks)

    def _add_page_meta(self, name: str, content: str) -> None:
        asks = PAGE_METAS[name](content)
        if name in TEXTS:
            self._restrict(asks)
        elif text := content.strip()[:MAX_DIRECTIVE_CHARS]:
            self.add(f"META {name}", [(text if name == "url" else text.lower(), asks)])

    def _restrict(self, asks: Asks) -> None:
        for field, value in asks.items():
            if field not in self.fields:
                self.fields[field] = value
            elif field not in FIRST_COUNTS:
                self.fields[field] = min(self.fields[field], value, key=_freedom)

    def directives(self) -> Directives:
        if self.fields.get("index", True):
            self.fields.pop("index_embedded", None)  # Google: it counts together with noindex only
        sources = tuple([Source(said, origin, self._heeded(effects)) for said, origin, effects in self.sources])
        # Measured: the constructor of nineteen fields takes 2 µs, half of what a page without directives costs; a field
        # that is not set here is the default of the class, as in any dataclass without slots.
        directives = object.__new__(Directives)
        directives.__dict__.update(self.fields, sources=sources)
        return directives

    def _heeded(self, effects: tuple[str, ...]) -> tuple[str, ...]:
        return effects if effects != ("index_embedded",) or "index_embedded" in self.fields else ()


def _freedom(value: Value) -> float:
    """How much a value permits, to be compared with others of its field."""
    return _FREEDOMS[value] if isinstance(value, str) else value


_FREEDOMS = {name: rank for names in (IMAGE_PREVIEWS, ("dynamic", "static")) for rank, name in enumerate(names)}
