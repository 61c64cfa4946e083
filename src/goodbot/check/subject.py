"""The file that is checked, with what is known about its origin. Everything derived from it is computed once."""

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NamedTuple

from goodbot.check.file_kind import HTML, form_of, is_html
from goodbot.check.names import token_of
from goodbot.check.source_lines import SourceLine, read_lines
from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.access.access import cut
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import Group, Rule

Headers = tuple[tuple[str, str], ...]

_ENDS = re.compile(rb"\r\n|\r|\n")
_NOT_TEXT = re.compile("[\udc80-\udcff]")
FILLER: Final = "\udc00"
"""Fills up a line so that its columns stay the same; it is not displayed."""


class Readers(NamedTuple):
    """The robots to which the same groups apply. `token` is the token of one of them, `lines` are the lines where the
    groups begin, and `records` is the number of records in them."""

    token: str
    lines: tuple[int, ...]
    records: int


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The answer to the request for a robots.txt or a page: the last status and its headers. Without an answer `status`
    is None and `failure` says why. `redirects` are the requested URLs in order; the last one answered."""

    status: int | None = 200
    headers: Headers = ()
    redirects: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True)
class PageFile:
    """A page that the user gives as a file, for checks that need one: its URL, bytes and headers."""

    url: str
    body: bytes
    headers: Headers = ()


@dataclass(frozen=True)
class Subject:
    """A robots.txt, or a page (`is_page`), to be checked.

    `url` is its URL, None if unknown. `pages` are pages of the site that the user gives as files. For a page, `robots`
    is the robots.txt of its site, if given. `sitemaps_missing` are the Sitemap URLs that were requested and do not
    exist. `fixable_most` is the most findings reported of each kind that `--fix` can fix; of other kinds at most a
    hundred are reported.
    """

    body: bytes
    url: str | None = None
    answer: HttpAnswer | None = None
    is_page: bool = False
    pages: Sequence[PageFile] = ()
    robots: bytes | None = None
    sitemaps_missing: Sequence[str] = field(default=())
    fixable_most: int = 100

    @cached_property
    def lines(self) -> tuple[SourceLine, ...]:
        """All lines, also empty ones and comments, with the places of their parts; none if the file is not text."""
        return read_lines(self.body) if self.form is None or self.is_html else ()

    @cached_property
    def is_html(self) -> bool:
        """Whether it is a Web page, whose lines are not checked."""
        return self.form == HTML or is_html(self.body)

    @cached_property
    def form(self) -> str | None:
        """What the file is if it is not a robots.txt; see `form_of`."""
        return form_of(self.body)

    @cached_property
    def not_utf8(self) -> Mapping[int, tuple[int, int]]:
        """The first byte that is not valid UTF-8, outside comments, and its column, by line.

        `--fix` leaves these lines unchanged, because the letter that is meant is unknown. Linear.
        """
        found: dict[int, tuple[int, int]] = {}
        for number, line in enumerate(_ENDS.split(self.body.removeprefix(b"\xef\xbb\xbf")), 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                if b"#" not in line[: error.start]:
                    found[number] = line[error.start], len(line[: error.start].decode()) + 1
        return found

    @property
    def source_lines(self) -> list[str]:
        """The texts of `lines` for display, in which bytes that are not UTF-8 do not look like escapes of the author.

        In `lines` such a byte is `%E9`; here it is a lone surrogate and two `FILLER`s, so that columns stay the same.
        Linear.
        """
        texts = [line.text for line in self.lines]
        raw = _ENDS.split(self.body.removeprefix(b"\xef\xbb\xbf")) if self.not_utf8 else []
        for number in self.not_utf8:
            text = _NOT_TEXT.sub(rf"\g<0>{FILLER * 2}", raw[number - 1].decode("utf-8", "surrogateescape"))
            if number <= len(texts) and len(text) == len(texts[number - 1]):  # not in UTF-16
                texts[number - 1] = text
        return texts

    @property
    def is_read(self) -> bool:
        """Whether robots read its lines: only if the request for it succeeded, or none was made."""
        return self.answer is None or (self.answer.status is not None and 200 <= self.answer.status < 300)

    @property
    def found_in_it(self) -> str:
        """Says which rules robots find in the file if it is not a robots.txt."""
        rules = [rule for rule in self.parsed.rules if rule.pattern]
        if not rules:
            return "robots find no rules in it and treat the whole site as allowed"
        more = f" and {len(rules) - 1:,} more" if len(rules) > 1 else ""
        return f"robots obey the rules that they find in it, `{shown(str(rules[0]))}` (line {rules[0].line}){more}"

    @property
    def is_encoded(self) -> bool:
        """Whether its answer has a Content-Encoding."""
        headers = self.answer.headers if self.answer else ()
        stated = (value.strip().lower() for name, value in headers if name.lower() == "content-encoding")
        return any(value not in ("", "identity") for value in stated)

    @cached_property
    def parsed(self) -> RobotsTxt:
        """The first 500 KiB of the file as RFC 9309 reads them; see `parsed.in_dialect(name)` for other dialects."""
        return RobotsTxt.parse(cut(self.body))

    @cached_property
    def readers(self) -> Mapping[int, Sequence[Readers]]:
        """The robots that each group of `parsed` applies to, by the line of the group: one entry for each set of groups
        that apply together. Linear."""
        lines_of: dict[str, list[int]] = {}
        for group in self.parsed.groups:
            for token in dict.fromkeys(map(token_of, group.agents)):
                lines_of.setdefault(token, []).append(group.line)
        lines_of.pop("", None)
        records = {group.line: len(group.records) for group in self.parsed.groups}
        found: dict[int, list[Readers]] = {line: [] for line in records}
        first: dict[tuple[int, ...], str] = {}
        for token, lines in lines_of.items():
            first.setdefault(tuple(lines), token)
        for together, token in first.items():
            reader = Readers(token, together, sum(records[line] for line in together))
            for line in together:
                found[line].append(reader)
        return found

    def group_at(self, line: int) -> Group | None:
        """Returns the group that this line belongs to; None above the first group."""
        place = bisect_right(self.parsed.groups, line, key=lambda group: group.line)
        return self.parsed.groups[place - 1] if place else None

    def names_at(self, line: int) -> tuple[str, ...]:
        """Returns the User-agent values of the group that this line belongs to; none above the first group."""
        group = self.group_at(line)
        return group.agents if group else ()

    def removal(self, lines: Collection[int]) -> str:
        """Says how to remove these rules of one group. They are replaced if the group would have no rule line left,
        because the rules of the next group would then apply to its robots."""
        whole = self._ruled.get(next(iter(lines)))
        if whole is None or not whole.issubset(lines):
            return "remove it"
        why = "if this group had no rule, the next group's rules would apply to its robots"
        return f"replace it with `Disallow:` ({why})"

    @cached_property
    def _ruled(self) -> Mapping[int, frozenset[int]]:
        """For each rule line outside the last group, all rule lines of the same group."""
        found: dict[int, frozenset[int]] = {}
        for group in self.parsed.groups[:-1]:
            ruled = frozenset(line for line, field, _ in group.records if field in group.rule_fields)
            found |= dict.fromkeys(ruled, ruled)
        return found

    def rules_of(self, group: Group) -> tuple[Rule, ...]:
        """Returns the rules of a group of `parsed`; they are made once, because many checks use them."""
        return self._rules[group.line]

    @cached_property
    def _rules(self) -> dict[int, tuple[Rule, ...]]:
        return {group.line: group.rules for group in self.parsed.groups}
