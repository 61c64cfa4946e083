"""What is checked: the bytes of a robots.txt, and what is known of where they came from. Everything is derived once."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from goodbot.check.written import Line, read_lines
from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.access import cut
from goodbot.exclusion.verdict import Group, Rule

_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+<(?:!doctype\s+html|html|head|body|title|meta|script|style)[\s>]",
    re.IGNORECASE | re.DOTALL,
)

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """How a robots.txt or a page was fetched: the last status (None: no answer, `failure` says why), its headers, and
    the URLs of the redirects before it, the first one asked included."""

    status: int | None = 200
    headers: Headers = ()
    redirects: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True)
class PageFile:
    """A page given as a file, for checks that need one: its URL, its bytes, the headers it comes with."""

    url: str
    body: bytes
    headers: Headers = ()


@dataclass(frozen=True)
class Subject:
    """A robots.txt, or (`is_page`) a page, to be checked. `url` is where it lies, None if nobody said. `pages` are
    pages of the site given as files; of a page, `robots` is its site's robots.txt, if given. `sitemaps_missing` are
    the Sitemap URLs that were asked for and are not there. `mends_most`: findings of each kind that can be mended; of
    others a hundred are told."""

    body: bytes
    url: str | None = None
    answer: Answer | None = None
    is_page: bool = False
    pages: Sequence[PageFile] = ()
    robots: bytes | None = None
    sitemaps_missing: Sequence[str] = field(default=())
    mends_most: int = 100

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Every line, empty ones and comments too, with the places of its parts."""
        return read_lines(self.body)

    @cached_property
    def is_html(self) -> bool:
        """Whether it is a Web page; then no line of it is looked at."""
        return _HTML.match(self.body) is not None

    @property
    def is_read(self) -> bool:
        """Whether robots read its lines: not if it was asked for and not answered with 200."""
        return self.answer is None or (self.answer.status is not None and 200 <= self.answer.status < 300)

    @cached_property
    def parsed(self) -> RobotsTxt:
        """The file as RFC 9309 reads it, its first 500 KiB; `parsed.in_dialect(name)` as others do."""
        return RobotsTxt.parse(cut(self.body))

    def rules_of(self, group: Group) -> tuple[Rule, ...]:
        """Those of a group of `parsed`, made once: many checks look at them."""
        return self._rules[group.line]

    @cached_property
    def _rules(self) -> dict[int, tuple[Rule, ...]]:
        return {group.line: group.rules for group in self.parsed.groups}
