"""R2: lines that are no records, records nobody knows, and what blanks and `#` do to them."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Final

from goodbot.check.findings import Edit, Finding, Kind
from goodbot.check.names import listed, spelt, token_of
from goodbot.check.octets import EACH_MOST
from goodbot.check.subject import Subject
from goodbot.check.written import FIELDS, MISSPELT, Line
from goodbot.exclusion.showing import shown
from goodbot.exclusion.verdict import RULE_FIELDS

_RARE: Final = frozenset({"nofollow", "noarchive", "nosnippet", "unavailable-after", "indexpage", "cache-delay"})
"""Read by nobody today, but no misspelling either."""

FRAGMENTS: Final = ("#!", "#/")
"""How those begin that were meant to be a part of a path: R408."""

_BOUNDS: Final = frozenset({"crawl-delay", "request-rate", "visit-time", "content-signal", "content-usage"})
"""Other records of a group: what they ask needs no rule beside them."""

_SHUT_RULE: Final = re.compile(r"#[#\s]*(?:dis)?allow\s*:", re.IGNORECASE)
"""A rule behind `#`: its author did not mean to take the rules of the next group over."""

_SIGNS: Final = "\"'`+-<>[]{}!@#$%&=~|;:,./ \t"
"""Characters often put before a name by mistake; robots then do not find the name."""

MOSTLY: Final = 0.75
"""How alike a misspelling and its field are."""

NO_COLON = Kind(
    "R201",
    "no colon",
    "error",
    "`{text}` has no colon: robots pass over the line",
    "every robot but Google's, which read a field and one word after it",
    "{remedy}",
    "RFC 9309 2.2; Google's robots.txt parser",
    Subject(b"User-agent: *\nDisallow /private/\n"),
    Subject(b"User-agent: *\n# Disallow /private/\nDisallow: /private/\n"),
)
BLANK_BEFORE_COLON = Kind(
    "R202",
    "blank before the colon",
    "info",
    "a blank stands between `{field}` and its colon",
    "robots that compare the field with the blank; those that keep to RFC 9309 do not mind",
    "take the blank out",
    "RFC 9309 2.2 (the grammar allows it); seed 001 shows none",
    Subject(b"User-agent: *\nDisallow : /private/\n"),
    Subject(b"User-agent: *\n  Disallow:   /private/\n"),
)
UNKNOWN_FIELD = Kind(
    "R203",
    "unknown or misspelt field",
    "warning",
    "no robot known reads `{field}`: the line is passed over{but}",
    "{who}",
    "{remedy}",
    "RFC 9309 2.2; docs/conformance.md lists the fields that are read",
    Subject(b"User-agent: *\nDisalow: /private/\n"),
    Subject(b"User-agent: *\nCrawl-delay: 10\nDisallow: /private/\n"),
)
SEVERAL_PATHS = Kind(
    "R204",
    "several paths on a line",
    "error",
    "this line holds {count} paths: robots take them for one path with a blank in it, which no URL has",
    "every robot but those of the dialect kollar, which read several paths on a line",
    "write a line for each path: each of them then counts",
    "RFC 9309 2.2; seed 001",
    Subject(b"User-agent: *\nDisallow: /private/ /tmp/\n"),
    Subject(b"User-agent: *\nDisallow: /private%20/tmp/ # /a /b\n"),
)
NOBODYS_RULE = Kind(
    "R205",
    "rule before any User-agent",
    "error",
    "this rule stands before the first User-agent line, and is for nobody",
    "every robot",
    "write above it `User-agent: *`, or a User-agent line for the robot that is meant: the rule then applies",
    "RFC 9309 2.2.1, 2.2.2",
    Subject(b"Disallow: /private/\nUser-agent: *\nDisallow: /tmp/\n"),
    Subject(b"Sitemap: https://example.org/sitemap.xml\nUser-agent: *\nDisallow: /tmp/\n"),
)
NAMELESS = Kind(
    "R206",
    "empty User-agent",
    "error",
    "this User-agent line names no robot: what stands under it is for nobody",
    "every robot",
    "{remedy}: the rules then apply",
    "RFC 9309 2.2.1",
    Subject(b"User-agent:\nDisallow: /private/\n"),
    Subject(b"User-agent: *\nDisallow:\n"),
)
NO_RULES = Kind(
    "R207",
    "group without rules",
    "warning",
    "{said}",
    "{who}",
    "write the rules under it that are meant; `Disallow:` alone opens everything",
    "RFC 9309 2.1, 2.2.1",
    Subject(b"User-agent: OneBot\n\nUser-agent: *\nDisallow: /\n"),
    Subject(b"User-agent: OneBot\nUser-agent: OtherBot\nDisallow: /\n\nUser-agent: *\nDisallow:\n"),
)
BLANK_LINE = Kind(
    "R208",
    "blank line inside a group",
    "info",
    "a blank line stands before this rule: to robots of the 1990s the record ends there, and the rule is for nobody",
    "dialects 1994, 1996, book, kollar and conner; robots that keep to RFC 9309 pass over blank lines",
    "take the blank line out: by RFC 9309 nothing changes",
    "seed 001; RFC 9309 2.1",
    Subject(b"User-agent: *\nDisallow: /a/\n\nDisallow: /b/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\n# more\nDisallow: /b/\n\nUser-agent: OneBot\nDisallow:\n"),
)
CUT_BY_SHARP = Kind(
    "R209",
    "`#` cuts a path",
    "warning",
    "`#` begins a comment, also in a path: the rule is `{rule}`",
    "every robot",
    "for a comment write a blank before `#`, and nothing changes; %23 stands for the character itself: then only URLs "
    "with %23 match",
    "RFC 9309 2.2; RFC 3986 3.5",
    Subject(b"User-agent: *\nDisallow: /page#section\n"),
    Subject(b"User-agent: *\nDisallow: /page #section\nDisallow: # all is open\n"),
)

KINDS = (
    NO_COLON,
    BLANK_BEFORE_COLON,
    UNKNOWN_FIELD,
    SEVERAL_PATHS,
    NOBODYS_RULE,
    NAMELESS,
    NO_RULES,
    BLANK_LINE,
    CUT_BY_SHARP,
)


def find(subject: Subject) -> Iterator[Finding]:
    """Line by line, then group by group."""
    yield from islice((each for line in subject.lines for each in _blank_before_colon(line)), subject.mends_most)
    for kind in (_no_colon, _unknown_field, _several_paths, _nameless, _cut_by_sharp):
        yield from islice((finding for line in subject.lines for finding in kind(line)), EACH_MOST)
    yield from islice(_groups(subject.lines), EACH_MOST)
    yield from islice(_blank_lines(subject.lines), EACH_MOST)


# ---- line by line ---------------------------------------------------------------------------------------------------


def _no_colon(line: Line) -> Iterator[Finding]:
    said = (line.text if line.comment_at < 0 else line.text[: line.comment_at]).strip()
    if not said or line.colon_at >= 0:
        return
    word, *rest = said.split(None, 1)
    name = FIELDS.get(word.lower())
    remedy = (
        f"write `{name}: {shown(''.join(rest))}`: the line then counts"
        if name
        else "begin it with `#` if it is a comment"
    )
    start = len(line.text) - len(line.text.lstrip())
    yield NO_COLON.at(line.number, start + 1, start + len(said) + 1, text=shown(said), remedy=remedy)


def _blank_before_colon(line: Line) -> Iterator[Finding]:
    end = line.field_at + len(line.field)
    if line.is_record and line.colon_at > end:
        edit = Edit(line.number, end, line.colon_at, "")
        field = shown(line.text[line.field_at : end])
        yield BLANK_BEFORE_COLON.at(line.number, end + 1, line.colon_at + 1, edit=edit, field=field)


def _unknown_field(line: Line) -> Iterator[Finding]:
    if not line.is_record or line.field in FIELDS:
        return
    written = shown(line.text[line.field_at : line.field_at + len(line.field)])
    close = [] if line.field in _RARE else get_close_matches(line.field[:40], FIELDS, 1, MOSTLY)
    place = (line.number, line.field_at + 1, line.field_at + len(line.field) + 1)
    if line.field in ("http", "https"):
        remedy = "write `Sitemap:` before it if it is one, or begin the line with `#`"
        yield UNKNOWN_FIELD.at(*place, field=written, but=", which is a bare URL", who="every robot", remedy=remedy)
    elif close:
        google = line.field.startswith(tuple(MISSPELT))
        who = "every robot but Google's, which know this misspelling" if google else "every robot"
        remedy = f"did you mean `{FIELDS[close[0]]}`?"
        yield UNKNOWN_FIELD.at(*place, severity="error", field=written, but="", who=who, remedy=remedy)
    else:
        remedy = "take it out, or begin the line with `#`"
        yield UNKNOWN_FIELD.at(*place, severity="info", field=written, but="", who="every robot", remedy=remedy)


def _several_paths(line: Line) -> Iterator[Finding]:
    if line.field not in RULE_FIELDS:
        return
    words = line.value.split()
    paths = [word for word in words if word.startswith(("/", "*"))]
    if len(words) > 1 and len(paths) == len(words):
        yield SEVERAL_PATHS.at(line.number, line.value_at + 1, line.value_end + 1, count=len(paths))


def _nameless(line: Line) -> Iterator[Finding]:
    """Without a name, or with one that begins with a character that a token cannot contain, such as a quote."""
    if line.field != "user-agent" or listed(line.value):
        return
    if not token_of(line.value).strip("-_") and not set(line.value) & set("*("):
        start = line.value_at if line.value else line.field_at
        meant = spelt(token_of(line.value.lstrip(_SIGNS)))
        everyone = "name the robot, or write `*` for all robots without a group of their own"
        remedy = f"write `{meant}`" if meant else everyone
        yield NAMELESS.at(line.number, start + 1, max(line.value_end, line.colon_at + 1) + 1, remedy=remedy)


def _cut_by_sharp(line: Line) -> Iterator[Finding]:
    cut = line.field in RULE_FIELDS and line.value and line.value_end == line.comment_at
    if cut and not line.text.startswith(FRAGMENTS, line.comment_at):
        rule = shown(f"{FIELDS[line.field]}: {line.value}")
        yield CUT_BY_SHARP.at(line.number, line.comment_at + 1, len(line.text) + 1, rule=rule)


# ---- group by group -------------------------------------------------------------------------------------------------


def _groups(lines: tuple[Line, ...]) -> Iterator[Finding]:
    """Rules before the first group; User-agent lines after which no rule comes before others are named, or the end. A
    group of delays or preferences alone may be meant, where it replaces no rules of the group for `*`. Content-Usage
    ends the list of names as rules do."""
    named: list[Line] = []
    ruleless: list[Line] = []
    apart = begun = closes = bounded = ended = False
    for line in lines:
        if line.field in RULE_FIELDS:
            if not begun and line.value:
                yield NOBODYS_RULE.at(line.number, line.field_at + 1, line.value_end + 1)
            yield from (_joined(each, named[-1]) for each in ruleless)
            named, ruleless, apart, ended = [], [], False, False
            closes = closes or (line.field == "disallow" and bool(line.value))
        elif line.field == "user-agent":
            begun = True
            if ended:
                yield from _unruled(named, ruleless, bounded=bounded, closes=closes)
                named, ruleless, apart, ended = [], [], False, False
            if named and apart:
                ruleless.append(named[-1])
            apart = bounded = False
            named.append(line)
        elif named and (line.is_record or line.comment_at < 0 or _SHUT_RULE.match(line.text, line.comment_at)):
            apart = True
            bounded = bounded or line.field in _BOUNDS
            ended = ended or line.field == "content-usage"
    if named:
        yield from _unruled(named, ruleless, bounded=bounded, closes=closes)


def _unruled(named: list[Line], ruleless: list[Line], *, bounded: bool, closes: bool) -> Iterator[Finding]:
    """Of a group that ends without a rule."""
    for each in (*ruleless, named[-1]):
        everyone = each.value == "*"
        if each is named[-1] and bounded and (everyone or not closes):
            continue
        who = "without a group of their own" if everyone else "of that name: their own group replaces that for `*`"
        whom = f"all robots {who}" if everyone else "it"
        said = f"no rule stands under {_name(each)}: everything is open to {whom}"
        yield _no_rules(each, said, f"robots {who}")


def _joined(line: Line, next_: Line) -> Finding:
    said = f"no rule stands under {_name(line)}: those under {_name(next_)} (line {next_.number}) apply to it too"
    return _no_rules(line, said, "robots that keep to RFC 9309; older ones may find no record for it at all")


def _no_rules(line: Line, said: str, who: str) -> Finding:
    return NO_RULES.at(line.number, line.field_at + 1, max(line.value_end, line.colon_at + 1) + 1, said=said, who=who)


def _name(line: Line) -> str:
    return shown(line.value) or "a robot without a name"


def _blank_lines(lines: tuple[Line, ...]) -> Iterator[Finding]:
    """The first rule after a blank line, where a User-agent line or a rule stood before that."""
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
