"""R2: finds lines that are not records, unknown records, and unintended effects of spaces and `#`."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from goodbot.check.findings import Edit, Finding, Kind, Severity
from goodbot.check.names import EVERYONE, joined_names, spelling_of, split_names, token_of
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.source_lines import FIELDS, SourceLine
from goodbot.check.subject import Subject
from goodbot.exclusion.robotstxt.lines import read_as_google
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import RULE_FIELDS

_RARE: Final = frozenset({"nofollow", "noarchive", "nosnippet", "unavailable-after", "indexpage", "cache-delay"})
"""Fields that no robot reads today, although they are spelt correctly."""

FRAGMENTS: Final = ("#!", "#/")
"""The beginnings of comments that authors meant as part of a path: R408 reports them."""

_LIMIT_FIELDS: Final = frozenset({"crawl-delay", "request-rate", "visit-time", "content-signal", "content-usage"})
"""Other records of a group, which are useful without any rule."""

_COMMENTED_RULE: Final = re.compile(r"#[#\s]*(?:dis)?allow\s*:", re.IGNORECASE)
"""A rule in a comment: the author did not intend that the next group's rules apply here."""

_AROUND: Final = "\"'`+-<>[]{}!@#$%&=~|;:,./ \t"
"""Characters that authors put before a name by mistake, so that robots do not find it."""

_GOOGLE_FIELDS: Final = frozenset({"user-agent", "sitemap", *RULE_FIELDS})

MIN_SIMILARITY: Final = 0.75
"""How similar a misspelling must be to its field."""

NO_COLON = Kind(
    "R201",
    "no colon",
    "error",
    "`{text}` has no colon, so robots ignore the line",
    "{affected}",
    "{fix}",
    "RFC 9309 2.2; Google's robots.txt parser",
    Subject(b"User-agent: *\nDisallow /private/\n"),
    Subject(b"User-agent: *\n# Disallow /private/\nDisallow: /private/\n"),
)
SPACE_BEFORE_COLON = Kind(
    "R202",
    "space before the colon",
    "info",
    "there is a space or tab between `{field}` and its colon",
    "older robots, which take the space as part of the field name; robots that follow RFC 9309 skip it",
    "remove it",
    "RFC 9309 2.2 (the grammar allows it); A Standard for Robot Exclusion, 1994 (its format has none)",
    Subject(b"User-agent: *\nDisallow : /private/\n"),
    Subject(b"User-agent: *\n  Disallow:   /private/\n"),
)
UNKNOWN_FIELD = Kind(
    "R203",
    "unknown or misspelt field",
    "warning",
    "`{field}` is {what}, so robots ignore the line",
    "{affected}",
    "{fix}",
    "RFC 9309 2.2; docs/conformance.md lists the fields that are read",
    Subject(b"User-agent: *\nDisalow: /private/\n"),
    Subject(b"User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n"),
    "Reported as an error for a misspelt field, as a warning for the beginning of a URL, as info for any other.",
)
SEVERAL_PATHS = Kind(
    "R204",
    "several paths on a line",
    "error",
    "this line contains {count} paths, but robots read one path, `{path}`, so the rule matches none of them",
    "every robot except those of the dialect kollar, which read several paths on a line",
    "write one line for each path: each of them then applies",
    "RFC 9309 2.2; A Standard for Robot Exclusion, 1994",
    Subject(b"User-agent: *\nDisallow: /private/ /tmp/\n"),
    Subject(b"User-agent: *\nDisallow: /private%20/tmp/ # /a /b\n"),
)
UNNAMED = Kind(
    "R205",
    "rule before any User-agent",
    "error",
    "this rule comes before the first User-agent line, so it applies to no robot",
    "{affected}",
    "write `User-agent: *` above it, or a User-agent line for the robot you mean: the rule then applies",
    "RFC 9309 2.2.1, 2.2.2",
    Subject(b"Disallow: /private/\nUser-agent: *\nDisallow: /tmp/\n"),
    Subject(b"Sitemap: https://example.org/sitemap.xml\nUser-agent: *\nDisallow: /tmp/\n"),
)
NAMELESS = Kind(
    "R206",
    "User-agent line names no robot",
    "error",
    "under RFC 9309 this line names no robot, so {rules}",
    "every robot that follows RFC 9309",
    "{fix}: the rules then apply",
    "RFC 9309 2.2.1",
    Subject(b"User-agent:\nDisallow: /private/\n"),
    Subject(b"User-agent: *\nDisallow:\n"),
)
NO_RULES = Kind(
    "R207",
    "group without rules",
    "warning",
    "{message}",
    "{affected}",
    "write rules below this line; `Disallow:` alone allows everything",
    "RFC 9309 2.1, 2.2.1",
    Subject(b"User-agent: OneBot\n\nUser-agent: *\nDisallow: /\n"),
    Subject(b"User-agent: OneBot\nUser-agent: OtherBot\nDisallow: /\n\nUser-agent: *\nDisallow:\n"),
)
BLANK_LINE = Kind(
    "R208",
    "blank line inside a group",
    "info",
    "the blank line before this rule ends the group for robots of the 1990s, so they ignore the rule",
    "robots of the dialects 1994, 1996, book, kollar and conner; robots that follow RFC 9309 ignore blank lines",
    "remove the blank line: under RFC 9309 nothing changes",
    "A Standard for Robot Exclusion, 1994; RFC 9309 2.1",
    Subject(b"User-agent: *\nDisallow: /a/\n\nDisallow: /b/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\n# more\nDisallow: /b/\n\nUser-agent: OneBot\nDisallow:\n"),
)
CUT_BY_SHARP = Kind(
    "R209",
    "`#` cuts a path",
    "warning",
    "`#` begins a comment even inside a path, so robots read `{rule}`",
    "every robot",
    "for a comment, put a space before `#` (nothing changes); to match a literal `#`, write %23: the rule then matches "
    "only URLs that contain %23",
    "RFC 9309 2.2; RFC 3986 3.5",
    Subject(b"User-agent: *\nDisallow: /page#section\n"),
    Subject(b"User-agent: *\nDisallow: /page #section\nDisallow: # all is open\n"),
)

KINDS = (
    NO_COLON,
    SPACE_BEFORE_COLON,
    UNKNOWN_FIELD,
    SEVERAL_PATHS,
    UNNAMED,
    NAMELESS,
    NO_RULES,
    BLANK_LINE,
    CUT_BY_SHARP,
)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each line, then about each group."""
    spaced = (finding for line in subject.lines for finding in _space_before_colon(subject, line))
    yield from islice(spaced, subject.fixable_most)
    for check in (_no_colon, _unknown_field, _several_paths, _cut_by_sharp):
        yield from islice((finding for line in subject.lines for finding in check(line)), MAX_EACH)
    yield from islice((finding for line in subject.lines for finding in _nameless(subject, line)), MAX_EACH)
    yield from islice(_groups(subject.lines), MAX_EACH)
    yield from islice(_blank_lines(subject.lines), MAX_EACH)


# ---- line by line ---------------------------------------------------------------------------------------------------


def _no_colon(line: SourceLine) -> Iterator[Finding]:
    text = (line.text if line.comment_at < 0 else line.text[: line.comment_at]).strip()
    if not text or line.colon_at >= 0:
        return
    word, *rest = text.split(None, 1)
    name = FIELDS.get(word.lower())
    fix = (
        f"write `{name}: {shown(''.join(rest))}`: the line then applies"
        if name
        else "if it is a comment, begin it with `#`"
    )
    start = len(line.text) - len(line.text.lstrip())
    affected = "every robot except Google's, which accept a missing colon" if _google_field(line) else "every robot"
    yield NO_COLON.at(line.number, start + 1, start + len(text) + 1, text=shown(text), affected=affected, fix=fix)


def _space_before_colon(subject: Subject, line: SourceLine) -> Iterator[Finding]:
    end = line.field_at + len(line.field)
    if line.is_record and line.colon_at > end:
        edit = None if line.number in subject.not_utf8 else Edit(line.number, end, line.colon_at, "")
        field = shown(line.text[line.field_at : end])
        yield SPACE_BEFORE_COLON.at(line.number, end + 1, line.colon_at + 1, edit=edit, field=field)


def _unknown_field(line: SourceLine) -> Iterator[Finding]:
    if not line.is_record or line.field in FIELDS:
        return
    written = shown(line.text[line.field_at : line.field_at + len(line.field)])
    close = [] if line.field in _RARE else get_close_matches(line.field[:40], FIELDS, 1, MIN_SIMILARITY)
    place = (line.number, line.field_at + 1, line.field_at + len(line.field) + 1)
    google = _google_field(line)
    words: dict[str, Any] = {
        "field": written,
        "what": "not a field that robots know",
        "affected": f"every robot except Google's, which read it as `{FIELDS[google]}`" if google else "every robot",
    }
    severity: Severity = "info"
    fix = "remove the line, or begin it with `#`"
    if line.field in ("http", "https"):
        severity, words["what"] = "warning", "the beginning of a URL, not a field"
        fix = "if it is a sitemap, write `Sitemap:` before it; otherwise begin the line with `#`"
    elif close:
        severity, fix = "error", f"did you mean `{FIELDS[close[0]]}`?"
    yield UNKNOWN_FIELD.at(*place, severity=severity, fix=fix, **words)


def _google_field(line: SourceLine) -> str:
    """Returns the field of RFC 9309, or Sitemap, that Google's robots read in a line; empty if none."""
    return next((field for _, field, _ in read_as_google(line.text) if field in _GOOGLE_FIELDS), "")


def _several_paths(line: SourceLine) -> Iterator[Finding]:
    if line.field not in RULE_FIELDS:
        return
    words = line.value.split()
    paths = [word for word in words if word.startswith(("/", "*"))]
    if len(words) > 1 and len(paths) == len(words):
        path = shown(line.value.replace(" ", "%20").replace("\t", "%09"))
        yield SEVERAL_PATHS.at(line.number, line.value_at + 1, line.value_end + 1, count=len(paths), path=path)


def _nameless(subject: Subject, line: SourceLine) -> Iterator[Finding]:
    """Finds lines without a name, and names that begin with a character that no token contains, such as a quote."""
    if line.field != "user-agent" or split_names(line.value):
        return
    if not token_of(line.value).strip("-_") and not set(line.value) & set("*("):
        start = line.value_at if line.value else line.field_at
        meant = spelling_of(token_of(line.value.lstrip(_AROUND)))
        everyone = "name the robot, or write `*` for all robots without a group of their own"
        others = any(token_of(value).strip("-_") for value in subject.names_at(line.number))
        readers = "only to the other robots of this group" if others else "to no robot"
        words: dict[str, Any] = {
            "rules": f"the rules below it apply {readers}",
            "fix": f"write `{meant}`" if meant else everyone,
        }
        yield NAMELESS.at(line.number, start + 1, max(line.value_end, line.colon_at + 1) + 1, **words)


def _cut_by_sharp(line: SourceLine) -> Iterator[Finding]:
    cut = line.field in RULE_FIELDS and line.value and line.value_end == line.comment_at
    if cut and not line.text.startswith(FRAGMENTS, line.comment_at):
        rule = shown(f"{FIELDS[line.field]}: {line.value}")
        yield CUT_BY_SHARP.at(line.number, line.comment_at + 1, len(line.text) + 1, rule=rule)


# ---- group by group -------------------------------------------------------------------------------------------------


def _groups(lines: tuple[SourceLine, ...]) -> Iterator[Finding]:
    """Finds rules before the first group, and User-agent lines without rules.

    A group that has only delays or preferences may be intended, unless it replaces rules of the group for `*`.
    Content-Usage ends the list of names, as rules do.
    """
    named: list[SourceLine] = []
    ruleless: list[SourceLine] = []
    separated = begun = disallows = has_limits = ended = False
    google = 0
    for line in lines:
        if line.field in RULE_FIELDS:
            if not begun and line.value:
                exception = f" except Google's, which read line {google} as a User-agent line" if google else ""
                yield UNNAMED.at(line.number, line.field_at + 1, line.value_end + 1, affected=f"every robot{exception}")
            yield from (_joined(names, named[-1]) for names in _runs(named, ruleless)[:-1])
            named, ruleless, separated, ended = [], [], False, False
            disallows = disallows or (line.field == "disallow" and bool(line.value))
        elif line.field == "user-agent":
            begun = True
            if ended:
                yield from _unruled(named, ruleless, has_limits=has_limits, disallows=disallows)
                named, ruleless, separated, ended = [], [], False, False
            if named and separated:
                ruleless.append(named[-1])
            separated = has_limits = False
            named.append(line)
        elif not begun:
            google = google or (line.number if _google_field(line) == "user-agent" else 0)
        elif named and (line.is_record or line.comment_at < 0 or _COMMENTED_RULE.match(line.text, line.comment_at)):
            separated = True
            has_limits = has_limits or line.field in _LIMIT_FIELDS
            ended = ended or line.field == "content-usage"
    if named:
        yield from _unruled(named, ruleless, has_limits=has_limits, disallows=disallows)


def _unruled(
    named: list[SourceLine], ruleless: list[SourceLine], *, has_limits: bool, disallows: bool
) -> Iterator[Finding]:
    """Yields findings about a group that ends without a rule."""
    for names in _runs(named, ruleless):
        last, everyone = names[-1], names[-1].value == EVERYONE
        if last is named[-1] and has_limits and (everyone or not disallows):
            continue
        others = "robots without a group of their own"
        if len(names) > 1:
            message = f"{_names(names)} have no rules, so they may fetch everything"
            affected = "robots of these names: they ignore the rules for `*`"
        elif everyone:
            message, affected = f"the group for `*` has no rules, so {others} may fetch everything", others
        else:
            message = f"{_names(names)} has no rules, so it may fetch everything"
            affected = "robots of that name: they ignore the rules for `*`"
        yield _no_rules(last, message, affected)


def _runs(named: list[SourceLine], ruleless: list[SourceLine]) -> list[list[SourceLine]]:
    """Splits the User-agent lines after each line of `ruleless`."""
    ends = {line.number for line in ruleless}
    runs: list[list[SourceLine]] = [[]]
    for line in named:
        runs[-1].append(line)
        if line.number in ends:
            runs.append([])
    return runs


def _joined(names: list[SourceLine], next_: SourceLine) -> Finding:
    above = f"the rules for {_names([next_])} (line {next_.number})"
    if not token_of(next_.value):
        above = f"the rules below the next User-agent line (line {next_.number})"
    have_no_rules, them = (
        ("have no rules of their own", "them") if len(names) > 1 else ("has no rules of its own", "it")
    )
    message = f"{_names(names)} {have_no_rules}, so {above} apply to {them}"
    return _no_rules(names[-1], message, "robots that follow RFC 9309; older ones may find no group for this name")


def _no_rules(line: SourceLine, message: str, affected: str) -> Finding:
    return NO_RULES.at(
        line.number, line.field_at + 1, max(line.value_end, line.colon_at + 1) + 1, message=message, affected=affected
    )


def _names(lines: list[SourceLine]) -> str:
    return joined_names(
        ["`*`" if line.value == EVERYONE else shown(line.value) or "a robot without a name" for line in lines]
    )


def _blank_lines(lines: tuple[SourceLine, ...]) -> Iterator[Finding]:
    """Finds each first rule after a blank line inside a group."""
    open_, blank = False, False
    for line in lines:
        if line.is_blank:
            blank = True
        elif line.field == "user-agent":
            open_, blank = True, False
        elif line.is_record:
            if open_ and blank and line.field in RULE_FIELDS:
                yield BLANK_LINE.at(line.number, line.field_at + 1, line.value_end + 1)
            blank = False
