"""Reads what a page lets robots do with it (META, X-Robots-Tag, Robots-Tag), and which directive restricts what."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from goodbot.errors import InputError
from goodbot.exclusion.page.directive_words import (
    IMAGE_PREVIEWS,
    MAX_DIRECTIVE_CHARS,
    WORDS,
    DirectiveRead,
    Restrictions,
    Value,
)
from goodbot.exclusion.page.page_metas import FIRST_COUNTS, PAGE_METAS, TEXTS
from goodbot.exclusion.page.robots_tags import read_kollar, read_meta, read_robots_tag, read_x_robots_tag
from goodbot.exclusion.text.product_token import product_token

DIRECTIVE_DIALECTS = ("modern", "kollar")
"""`modern`: Google's and Bing's pages, and the draft of Robots-Tag. `kollar`: the META tags of the 1990s only."""

MAX_SOURCES = 100
"""Beyond this number only directives without a value (there are few) and the first one for each field are listed."""

_HEADERS = {"x-robots-tag": ("X-Robots-Tag", read_x_robots_tag), "robots-tag": ("Robots-Tag", read_robots_tag)}


@dataclass(frozen=True, slots=True)
class Source:
    """One directive, as it was read.

    `directive` is in lower case with its value (`noindex`, `max-snippet:50`; a META URL as written), cut at 120
    characters; `origin` is `META robots`, `META mybot`, `X-Robots-Tag`, `Robots-Tag`, `META document-state`… `effects`
    are the fields of `Directives` that it restricts or sets, even if another source is stricter. A directive without
    effects permits (`index`), is overridden, is invalid (`max-snippet:many`), or is no longer obeyed by any robot.
    """

    directive: str
    origin: str
    effects: tuple[str, ...] = ()


@dataclass(frozen=True)
class Directives:
    """What a page lets a robot do with it, and what it says about itself to robots. By default, everything is
    permitted.

    `max_snippet` is in characters, `max_video_preview` in seconds (0: a still image); None means no limit.
    `index_embedded`: the page may be indexed as part of a page that embeds it, though `index` is False. `ai`,
    `ai_images`: the content may be used to train AI. `unavailable_after` is in Unix seconds (see `is_available`).
    `canonical` is the content of META URL (a tag of the 1990s), as written. A `document_state` of `dynamic` also sets
    `index` to False. `sources` lists the directives in the order in which they were read, each once; unknown
    directives, description and keywords are left out.
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
        """Combines the directives for the robot `token` (a product token or a whole User-Agent) in META tags and header
        fields.

        `metas` are (name, content) pairs, `headers` (name, value) pairs; others are ignored. `modern`: directives for
        all robots and for `token`, in META and in headers, count together, and the most restrictive wins. `kollar`:
        only META robots counts; within a tag ALL and the permitting word win. 64 KiB of each content and field are
        read. Never raises on content; linear. Raises InputError for an unknown dialect.
        """
        if dialect not in DIRECTIVE_DIALECTS:
            raise InputError(f"unknown dialect of directives {dialect!r}: known are {', '.join(DIRECTIVE_DIALECTS)}")
        own, names = _names(token, dialect)
        found = _DirectivesFound()
        for name, content in metas:
            if (key := name.strip().lower()) in names:
                found.add_meta(key, content, dialect)
        if dialect == "modern":
            for key, value in _robot_fields(headers):
                origin, read = _HEADERS[key]
                found.add(origin, read(value, own))
        return found.directives()

    def is_available(self, now: float) -> bool:
        """Whether `now` (Unix seconds) is before `unavailable_after`, or there is no such date."""
        return self.unavailable_after is None or now < self.unavailable_after

    def why(self, effect: str) -> tuple[Source, ...]:
        """Returns the sources that affect one field, given by its name (`index`, `max_snippet`…)."""
        return tuple(source for source in self.sources if effect in source.effects)


@lru_cache(maxsize=64)
def _names(token: str, dialect: str) -> tuple[str, frozenset[str]]:
    """Returns the robot's own token in lower case, and the names of the META tags that apply to it."""
    own = product_token(token).lower()
    return own, frozenset({"robots", *PAGE_METAS} | ({own} if own and dialect == "modern" else set()))


def _robot_fields(headers: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the header fields for robots, names in lower case. Few pages have one, so all names are searched at once
    first."""
    headers = list(headers)
    if "robots-tag" not in "\n".join([name for name, _ in headers]).lower():
        return []
    return [(key, value) for name, value in headers if (key := name.strip().lower()) in _HEADERS]


class _DirectivesFound:
    """The directives read so far, and their restrictions together."""

    __slots__ = ("fields", "sources")

    def __init__(self) -> None:
        self.fields: dict[str, Any] = {}
        self.sources: dict[tuple[str, str, tuple[str, ...]], None] = {}

    def add_meta(self, name: str, content: str, dialect: str) -> None:
        if name in PAGE_METAS:
            self._add_page_meta(name, content)
        else:
            self.add(f"META {name}", read_meta(content) if dialect == "modern" else read_kollar(content))

    def add(self, origin: str, directives: Iterable[DirectiveRead]) -> None:
        for directive, restrictions in directives:
            source = directive, origin, tuple(restrictions)
            if source not in self.sources:
                is_first = not restrictions.keys() <= self.fields.keys()
                if directive in WORDS or len(self.sources) < MAX_SOURCES or is_first:
                    self.sources[source] = None
                self._restrict(restrictions)

    def _add_page_meta(self, name: str, content: str) -> None:
        restrictions = PAGE_METAS[name](content)
        if name in TEXTS:
            self._restrict(restrictions)
        elif text := content.strip()[:MAX_DIRECTIVE_CHARS]:
            self.add(f"META {name}", [(text if name == "url" else text.lower(), restrictions)])

    def _restrict(self, restrictions: Restrictions) -> None:
        for field, value in restrictions.items():
            if field not in self.fields:
                self.fields[field] = value
            elif field not in FIRST_COUNTS:
                self.fields[field] = min(self.fields[field], value, key=_freedom)

    def directives(self) -> Directives:
        if self.fields.get("index", True):
            self.fields.pop("index_embedded", None)  # Google: it counts only together with noindex
        sources = tuple([Source(text, origin, self._in_effect(effects)) for text, origin, effects in self.sources])
        # Measured: the constructor with its nineteen fields takes 2 µs, half of the time for a page without directives.
        # A field that is not set here has the default of the class, as in any dataclass without slots.
        directives = object.__new__(Directives)
        directives.__dict__.update(self.fields, sources=sources)
        return directives

    def _in_effect(self, effects: tuple[str, ...]) -> tuple[str, ...]:
        return effects if effects != ("index_embedded",) or "index_embedded" in self.fields else ()


def _freedom(value: Value) -> float:
    """Returns how much a value permits, for comparison with other values of its field."""
    return _FREEDOMS[value] if isinstance(value, str) else value


_FREEDOMS = {name: rank for names in (IMAGE_PREVIEWS, ("dynamic", "static")) for rank, name in enumerate(names)}
