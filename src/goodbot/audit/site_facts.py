"""What the audit knows about the URLs and pages of a site."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from goodbot.exclusion import Verdict

UrlState = Literal["page", "redirect", "disallowed", "failed", "gone"]
"""What the last visit found. URLs that were not visited are not known to the audit."""

URL_STATES: Final[tuple[UrlState, ...]] = ("page", "redirect", "disallowed", "failed", "gone")

MAX_HOPS: Final = 20
"""How many redirects or canonical URLs in a row are followed."""

Disallowed = Callable[[str], Verdict | None]
"""Returns the verdict that disallows a URL for a search engine; None if all may fetch it."""


@dataclass(frozen=True, slots=True)
class UrlFacts:
    """A visited URL. `why` is the crawl's sentence about it. `redirect` is the target of a redirect; None if it is not
    a redirect, or leads nowhere."""

    url: str
    state: UrlState
    status: int | None = None
    why: str = ""
    redirect: str | None = None


@dataclass(frozen=True, slots=True)
class PageFacts:
    """A page that was read. `is_html`: it has a title and a language. `lang` is that of the html element as written,
    None if it has none; `language` says whether a header field or META states one. `noindex` is the directive that
    forbids indexing, None if there is none; `canonical` the canonical URL. `size_bytes` is that of the body as sent."""

    url: str
    is_html: bool
    title: str = ""
    lang: str | None = None
    language: str | None = None
    noindex: str | None = None
    canonical: str | None = None
    size_bytes: int = 0
    taken_s: float | None = None

    @property
    def is_copy(self) -> bool:
        """Whether it names another page as its canonical URL."""
        return self.canonical is not None and self.canonical != self.url

    @property
    def is_indexable(self) -> bool:
        """Whether search may list it under its own URL."""
        return self.noindex is None and not self.is_copy


class Chain(NamedTuple):
    """URLs that lead to each other, from the first to the last; a loop ends with the URL that comes again."""

    urls: tuple[str, ...]
    is_loop: bool = False

    @property
    def end(self) -> str:
        return self.urls[-1]

    @property
    def text(self) -> str:
        """The chain for people."""
        shown = self.urls if len(self.urls) <= 6 else (*self.urls[:5], "…", self.urls[-1])
        return " → ".join(shown)


def follow(start: str, following: Callable[[str], str | None]) -> Chain:
    """Follows from `start` what `following` returns, for at most `MAX_HOPS` steps."""
    urls = [start]
    while len(urls) <= MAX_HOPS and (target := following(urls[-1])) is not None:
        urls.append(target)
        if target in urls[:-1]:
            return Chain(tuple(urls), is_loop=True)
    return Chain(tuple(urls))


_TAG: Final = re.compile(
    r"(?:[a-z]{2,3}(?:-[a-z]{3}){0,3}(?:-[a-z]{4})?(?:-(?:[a-z]{2}|[0-9]{3}))?(?:-(?:[a-z0-9]{5,8}|[0-9][a-z0-9]{3}))*"
    r"(?:-[a-wy-z0-9](?:-[a-z0-9]{2,8})+)*(?:-x(?:-[a-z0-9]{1,8})+)?|[xi](?:-[a-z0-9]{1,8})+)",
    re.IGNORECASE,
)
MAX_TAG_CHARS: Final = 100
"""Longer language tags count as invalid."""


def is_language_tag(text: str) -> bool:
    """Whether it is a well-formed language tag (RFC 5646 §2.1) whose language has two or three letters: longer ones are
    reserved, and none is registered. Never raises; linear."""
    return len(text) <= MAX_TAG_CHARS and _TAG.fullmatch(text) is not None
