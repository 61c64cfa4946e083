"""META robots and X-Robots-Tag → Directives: may the page be indexed, its links followed, a copy or an
extract shown?"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from goodbot.errors import InputError
from goodbot.exclusion.agents import product_token

_FORBIDS: dict[str, tuple[str, ...]] = {
    "none": ("index", "follow"),
    "noindex": ("index",),
    "nofollow": ("follow",),
    "noarchive": ("archive",),
    "nocache": ("archive",),
    "nosnippet": ("snippet",),
    "max-snippet:0": ("snippet",),
}
"""What each directive takes away. The more restrictive wins: nothing gives back (Google's page on robots META
tags)."""

_PERMITS = frozenset({"all", "index", "follow", "archive", "snippet"})
_WITH_VALUE = frozenset({"max-snippet", "max-image-preview", "max-video-preview", "unavailable_after"})
_OF_OTHERS = frozenset(
    {"indexifembedded", "notranslate", "noimageindex", "nositelinkssearchbox", "noodp", "noydir", "noai", "noimageai"}
)
_KNOWN = frozenset(_FORBIDS) | _PERMITS | _WITH_VALUE | _OF_OTHERS

_GENERAL = frozenset({"robots", "*"})
_TOKEN = re.compile(r"\*|(?![\d.-]+\Z)[\w.-]+(?:/\S*)?")
_SEPARATOR = re.compile(r"[,;]")
_ZERO = re.compile(r"\s*0{1,9}\s*")


@dataclass(frozen=True, slots=True)
class Source:
    """Where a directive stands: `origin` is `META robots`, `META mybot` or `X-Robots-Tag`; `directive` in
    lower case."""

    directive: str
    origin: str


@dataclass(frozen=True, slots=True)
class Directives:
    """What a page lets a robot do with it; without any directive, everything.

    `sources` are the directives read that are about `index`, `follow`, `archive` or `snippet`, each once per
    origin.
    """

    index: bool = True
    follow: bool = True
    archive: bool = True
    snippet: bool = True
    sources: tuple[Source, ...] = ()

    @classmethod
    def parse(
        cls, metas: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]], token: str, dialect: str = "modern"
    ) -> "Directives":
        """The sum of what META tags and header fields ask of the robot called `token` (a product token or User-Agent).

        `metas` are (name, content) pairs, `headers` (name, value) pairs; those that are none of ours are passed over.
        General directives and those for `token` add up, also across META and header. Never raises on content; linear.
        Raises InputError for an unknown dialect.
        """
        if dialect != "modern":
            raise InputError(f"unknown dialect of directives {dialect!r}: known is modern")
        own = product_token(token).lower()
        found = dict.fromkeys([*_from_metas(metas, own), *_from_headers(headers, own)])
        lost = {power for source in found for power in _FORBIDS.get(source.directive, ())}
        return cls(
            index="index" not in lost,
            follow="follow" not in lost,
            archive="archive" not in lost,
            snippet="snippet" not in lost,
            sources=tuple(found),
        )


def _from_metas(metas: Iterable[tuple[str, str]], own: str) -> Iterator[Source]:
    for name, content in metas:
        addressee = name.strip().lower()
        if addressee and addressee in ("robots", own):
            for part in _SEPARATOR.split(content):
                for directive in _directives(part):
                    yield Source(directive, f"META {addressee}")


def _from_headers(headers: Iterable[tuple[str, str]], own: str) -> Iterator[Source]:
    for name, value in headers:
        if name.strip().lower() == "x-robots-tag":
            for directive in _addressed(value, own):
                yield Source(directive, "X-Robots-Tag")


def _addressed(value: str, own: str) -> Iterator[str]:
    """The directives of one X-Robots-Tag that are for all robots or for `own`; a token holds until the next
    one."""
    ours = True
    in_date = False
    for part in _SEPARATOR.split(value):
        part = part.strip()  # noqa: PLW2901
        if in_date and part[:1].isdigit():
            continue  # "unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT" goes on behind its comma
        addressee, rest = _addressee(part)
        if addressee is not None:
            ours = addressee in _GENERAL or addressee == own
        in_date = rest.lower().startswith("unavailable_after")
        if ours:
            yield from _directives(rest)


def _addressee(part: str) -> tuple[str | None, str]:
    """The token a part begins with, and what follows it.

    `max-snippet:0` holds no token. Nor does a name nobody knows with a value nobody knows (`max-future:3`):
    read as a token it would take the directives behind it away from us, so the reading that forbids more is
    chosen.
    """
    head, colon, rest = part.partition(":")
    head, rest = head.strip(), rest.strip()
    if not colon or head.lower() in _KNOWN or not _TOKEN.fullmatch(head):
        return None, part
    if rest and not any(_directives(rest)) and _name(rest) not in _KNOWN:
        return None, part
    return product_token(head).lower(), rest


def _name(part: str) -> str:
    return part.partition(":")[0].strip().lower()


def _directives(part: str) -> Iterator[str]:
    """The directives between two commas; several may stand there with blanks only, as many pages have it."""
    name, _, value = part.partition(":")
    name = name.strip().lower()
    if name == "max-snippet":
        if _ZERO.fullmatch(value):
            yield "max-snippet:0"
        return
    for word in (name,) if name in _KNOWN else part.lower().split():
        if word in _FORBIDS or word in _PERMITS:
            yield word
