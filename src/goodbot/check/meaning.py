"""R5: finds rules that have no effect, or another effect than they seem to have."""

import re
from collections.abc import Iterator
from itertools import islice
from shlex import quote
from typing import Any, Final

from goodbot.check.dead_rules import RuleOrder, is_plain, is_same, overriding_in_all
from goodbot.check.findings import Edit, Finding, Kind
from goodbot.check.names import token_of
from goodbot.check.page_checks import directives_of, unread_noindex
from goodbot.check.pattern_checks import WHOLE_SITE, as_sent, example_of
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.subject import PageFile, Subject
from goodbot.exclusion import DIALECTS, RobotsTxt
from goodbot.exclusion.text.octets import Compared, compared_pattern
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import Group, Rule

MAX_COMPARISONS: Final = 10_000_000
"""The most comparisons of a rule with the rules of its robots, in all groups; they take a second if all rules match."""

MAX_GROUPS: Final = 1_000

MAX_SAMPLES: Final = 300
"""How many URLs of one file are judged in every dialect."""

_FIRST_SAMPLES: Final = 4

_COMPILATION_COST: Final = 100
"""Compiling one rule takes as long as this many comparisons."""

_ROBOTS_TXT: Final = ("/robots.txt", "/robots.txt$")
_NO_EFFECT: Final = "has no effect on robots.txt itself, which robots may always fetch"
_OTHER_PATHS_CHANGE: Final = "verdicts change only for other paths, such as `/robots.txt.bak`"

_SECRET = re.compile(
    r"passwd|passwords|secret(?!ar|ion|ive|or)|backups?(?![a-z])|(?<![a-z])dumps?(?![a-z])|\.git\b|\.svn\b|\.env\b|phpmyadmin"
    r"|\.sql\b|confidential|geheim|intranet|hidden",
    re.IGNORECASE,
)
"""Names that sound secret, but not `secretary` nor words that only begin like these (`/dumplings/`)."""
_WORD = re.compile(r"[^\W_]+")
_MAX_WORDS: Final = 4
_PAGE = PageFile("https://example.org/old/page.html", b'<meta name="robots" content="noindex">')
_OLD = b"User-agent: *\nDisallow: /old/\n"

SHADOWED = Kind(
    "R501",
    "rule overridden by a longer one",
    "warning",
    "`{rule}` never applies: `{other}` (line {line}) is longer and matches every URL that this rule matches",
    "robots that follow RFC 9309",
    "{fix}: under RFC 9309 nothing changes; or remove line {line}: this rule then applies",
    "RFC 9309 2.2.2 (the longest match wins)",
    Subject(b"User-agent: *\nDisallow: /news\nAllow: /*news\n"),
    Subject(b"User-agent: *\nDisallow: /news\nAllow: /news/open/\n"),
)
DUPLICATE = Kind(
    "R502",
    "duplicate rule",
    "info",
    "`{rule}` repeats line {line}",
    "no robot: the line only takes a little time to read",
    "remove this line: nothing changes",
    "RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: /a/\nDisallow: /a/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\n\nUser-agent: OneBot\nDisallow: /a/\n"),
)
TIE = Kind(
    "R503",
    "Allow and Disallow for the same path",
    "warning",
    "`{rule}` contradicts line {line}, which has the same path: the Allow rule applies",
    "robots that follow RFC 9309; for those that take the first matching rule, line {first} applies",
    "remove the Disallow rule: under RFC 9309 nothing changes; or remove the Allow rule: the path is then disallowed",
    "RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: /a/\nAllow: /a/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\nAllow: /a/b/\n"),
)
NEVER = Kind(
    "R504",
    "rule without effect",
    "info",
    "under RFC 9309 `{rule}` {effect}",
    "no robot that follows RFC 9309; others may need this rule",
    "{fix}: under RFC 9309 {change}; or keep it for human readers",
    "RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: /a/\nDisallow: /a/b/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\nAllow: /a/b/\nDisallow: /a/b/c/\n"),
)
ORDER = Kind(
    "R505",
    "result depends on rule order",
    "info",
    "some URLs match both `{rule}` and line {line}: under RFC 9309 this rule applies, because it is longer; in older "
    "parsers line {line} applies, because it comes first",
    "robots that take the first matching rule (the draft of 1996 and those that follow it)",
    "write the longer rule first: under RFC 9309 nothing changes, and older parsers then agree",
    "RFC 9309 2.2.2; the draft of December 1996, 3.2.2",
    Subject(b"User-agent: *\nDisallow: /\nAllow: /open/\n"),
    Subject(b"User-agent: *\nAllow: /open/\nDisallow: /\n"),
)
SITE_DISALLOWED = Kind(
    "R506",
    "disallows the whole site for every robot",
    "warning",
    "`{rule}` disallows every page for every robot",
    "all robots, including search engines: the site will drop out of their results",
    "if you did not intend that, disallow only the paths that robots must not fetch",
    "RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: /\n"),
    Subject(b"User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nDisallow:\n"),
)
NOINDEX_UNREAD = Kind(
    "R507",
    "disallows a page that carries noindex",
    "warning",
    "`{rule}` keeps robots from {url}, so they cannot read its noindex, and search engines may still list the URL",
    "search engines",
    "allow the page until search engines have dropped it, or remove its noindex",
    "Google's page on noindex; RFC 9309 1",
    Subject(_OLD, "https://example.org/robots.txt", pages=(_PAGE,)),
    Subject(_OLD, "https://example.org/robots.txt", pages=(PageFile(_PAGE.url, b"<title>Old</title>"),)),
)
REVEALS = Kind(
    "R508",
    "reveals secret paths",
    "info",
    "`{path}` sounds private, but anyone can read it here",
    "people and programs that read robots.txt to find such places",
    "protect it with a password; robots.txt stops only the robots that obey it",
    "RFC 9309 3",
    Subject(b"User-agent: *\nDisallow: /backup-2026/\n"),
    Subject(b"User-agent: *\nDisallow: /search/\n"),
)
EMPTY_RULE = Kind(
    "R509",
    "empty Disallow beside other rules",
    "warning",
    "this empty `Disallow:` has no effect: the other rules of the group still apply",
    "robots that follow RFC 9309; to those of the 1990s it allows the whole site",
    "remove this line: under RFC 9309 nothing changes; or remove the other rules: everything is then allowed",
    "RFC 9309 2.2.2; A Standard for Robot Exclusion, 1994",
    Subject(b"User-agent: *\nDisallow:\nDisallow: /tmp/\n"),
    Subject(b"User-agent: *\nDisallow:\n\nUser-agent: OneBot\nDisallow: /tmp/\n"),
)
DIFFERS = Kind(
    "R510",
    "verdict differs between dialects",
    "info",
    "`{url}` is {one} for `{agent}` under RFC 9309, but {other} in {affected}",
    "robots that read the file in {affected}",
    "`goodbot allowed ROBOTS --dialect all {arguments}` shows the verdict of every dialect",
    "docs/conformance.md (dialects)",
    Subject(b"User-agent: *\nDisallow: /*.pdf$\n"),
    Subject(b"User-agent: *\nDisallow: /private/\n"),
    "Reported as a warning if the dialect google differs.",
)

KINDS = (SHADOWED, DUPLICATE, TIE, NEVER, ORDER, SITE_DISALLOWED, NOINDEX_UNREAD, REVEALS, EMPTY_RULE, DIFFERS)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each group, then about the whole file."""
    groups = subject.parsed.groups
    duplicates = (finding for group in groups for finding in _duplicates(subject, group))
    yield from islice(duplicates, subject.fixable_most)
    for check in (_empty_rules, _reveals):
        yield from islice((finding for group in groups for finding in check(subject, group)), MAX_EACH)
    affordable = list(_affordable(subject))
    for check in (_shadowed, _order):
        yield from islice((finding for group in affordable for finding in check(subject, group)), MAX_EACH)
    yield from _site_disallowed(subject)
    yield from islice(_noindex_unread(subject), MAX_EACH)
    yield from _differs(subject)


def _at(subject: Subject, kind: Kind, line_number: int, *, edit: Edit | None = None, **words: Any) -> Finding:
    """Returns a finding at the rule of this line."""
    if line_number > len(subject.lines):
        return kind.at(line_number, edit=edit, **words)
    line = subject.lines[line_number - 1]
    end = max(line.value_end, line.colon_at + 1)
    return kind.at(line_number, line.field_at + 1, end + 1, edit=edit, **words)


def _affordable(subject: Subject) -> Iterator[Group]:
    """Yields the groups whose rules can be compared with those of every robot they name, within the limit."""
    left = MAX_COMPARISONS
    for group in subject.parsed.groups[:MAX_GROUPS]:
        rules = len(group.records) + _COMPILATION_COST
        work = sum(rules * reader.records for reader in subject.readers[group.line])
        if work <= left:
            left -= work
            yield group


# ---- rules of one group ---------------------------------------------------------------------------------------------


def _duplicates(subject: Subject, group: Group) -> Iterator[Finding]:
    """Finds rules with the same path: identical ones, and opposite ones whose paths RFC 9309 treats as equal."""
    first: dict[tuple[bool, str], Rule] = {}
    compared: dict[tuple[bool, Compared], Rule] = {}
    tied: set[Compared] = set()
    for rule in subject.rules_of(group):
        before = first.setdefault((rule.allow, rule.pattern), rule)
        path = compared_pattern(rule.pattern)
        compared.setdefault((rule.allow, path), rule)
        opposite = compared.get((not rule.allow, path))
        if before is not rule:
            edit = None if rule.line in subject.not_utf8 else Edit(rule.line, 0, None, "")
            yield _at(subject, DUPLICATE, rule.line, edit=edit, rule=shown(str(rule)), line=before.line)
        elif opposite is not None and path not in tied:
            tied.add(path)
            yield _at(subject, TIE, rule.line, rule=shown(str(rule)), line=opposite.line, first=opposite.line)


def _shadowed(subject: Subject, group: Group) -> Iterator[Finding]:
    """Finds rules that never decide for any of the group's robots."""
    rules = list({rule.pattern: rule for rule in reversed(subject.rules_of(group))}.values())[::-1]
    orders = [RuleOrder(subject, reader) for reader in subject.readers[group.line]]
    found: dict[int, tuple[Rule, Rule | None]] = {}
    for rule in rules:
        if rule.pattern in _ROBOTS_TXT:
            found[rule.line] = rule, None
        elif overriding := overriding_in_all(orders, rule):
            found[rule.line] = rule, overriding
    fix = subject.removal(found) if found else ""
    for rule, other in found.values():
        words: dict[str, Any] = {"rule": shown(str(rule)), "fix": fix}
        if other is None:
            change = "nothing changes" if rule.pattern.endswith("$") else _OTHER_PATHS_CHANGE
            yield _at(subject, NEVER, rule.line, effect=_NO_EFFECT, change=change, **words)
        elif other.allow != rule.allow:
            yield _at(subject, SHADOWED, rule.line, other=shown(str(other)), line=other.line, **words)
        else:
            same = f"line {other.line}, `{shown(str(other))}`, already covers every URL that this rule matches"
            yield _at(
                subject, NEVER, rule.line, effect=f"makes no difference: {same}", change="nothing changes", **words
            )


def _empty_rules(subject: Subject, group: Group) -> Iterator[Finding]:
    if any(not rule.allow for rule in subject.rules_of(group)):
        for line, field, value in group.records:
            if field == "disallow" and not value:
                yield _at(subject, EMPTY_RULE, line)


def _reveals(subject: Subject, group: Group) -> Iterator[Finding]:
    for rule in subject.rules_of(group):
        found = None if rule.allow else _SECRET.search(rule.pattern)
        if found is not None and _is_name(rule.pattern, found.start()):
            yield _at(subject, REVEALS, rule.line, path=shown(rule.pattern))


def _is_name(pattern: str, at: int) -> bool:
    """Returns whether the path segment there is a name of few words, not the title of an article."""
    part = pattern[pattern.rfind("/", 0, at) + 1 :].partition("/")[0]
    return len(_WORD.findall(part)) <= _MAX_WORDS


def _order(subject: Subject, group: Group) -> Iterator[Finding]:
    """Finds the first rule that follows a shorter, opposite rule of the same group that matches the same URLs."""
    rules, readers = subject.rules_of(group), subject.readers[group.line]
    if len({rule.allow for rule in rules}) < 2 or not readers:
        return
    matcher = subject.parsed.matcher(readers[0].token)
    for rule in rules:
        if not (is_plain(rule.pattern) and rule.pattern.startswith("/")):
            continue
        verdict = matcher.verdict(rule.pattern)
        if verdict.line != rule.line:
            continue
        earlier = (lost for lost in verdict.lost if group.line < lost.line < rule.line and lost.allow != rule.allow)
        before = next(earlier, None)
        if before is not None and not is_same(before.pattern, rule.pattern) and is_plain(before.pattern):
            yield _at(subject, ORDER, rule.line, rule=shown(str(rule)), line=before.line)
            return


# ---- the file as a whole --------------------------------------------------------------------------------------------


def _site_disallowed(subject: Subject) -> Iterator[Finding]:
    groups = subject.parsed.groups
    disallowed = {name.lower() for group in groups if _disallows_all(subject, group) for name in group.agents}
    opens = any(rule.allow for group in groups for rule in subject.rules_of(group)) or any(
        name and name.lower() not in disallowed for group in groups for name in group.agents
    )
    whole = next((group for group in groups if "*" in group.agents and _disallows_all(subject, group)), None)
    if whole is not None and not opens:
        rule = next(rule for rule in subject.rules_of(whole) if rule.pattern in WHOLE_SITE)
        yield _at(subject, SITE_DISALLOWED, rule.line, rule=shown(str(rule)))


def _disallows_all(subject: Subject, group: Group) -> bool:
    return any(not rule.allow and rule.pattern in WHOLE_SITE for rule in subject.rules_of(group))


def _noindex_unread(subject: Subject) -> Iterator[Finding]:
    """Checks the pages given as files; a disallowed page is never fetched for this."""
    for page in subject.pages:
        unread = unread_noindex(subject.parsed, page.url, directives_of(page))
        if unread is not None:
            rule = unread.verdict.rule or ""
            yield _at(subject, NOINDEX_UNREAD, unread.verdict.line or 1, rule=shown(rule), url=shown(page.url))


_GOOGLE: Final = ("google",)


def _differs(subject: Subject) -> Iterator[Finding]:
    """Yields one finding for Google's dialect, which is in use, and one for all others, each for the first such URL."""
    limit = MAX_SAMPLES // (1 + len(subject.parsed.groups) // 1_000)
    samples: dict[tuple[str, str], int] = {}
    for agent, url, line in islice(_samples(subject), limit):
        samples.setdefault((url, agent), line)
    others = tuple(name for name in DIALECTS if name not in ("rfc9309", *_GOOGLE))
    for dialects in (_GOOGLE, others):
        if (found := _first_unlike(subject.parsed, dialects, list(samples))) is not None:
            (url, agent), allowed, unlike = found
            one, other = ("allowed", "disallowed") if allowed else ("disallowed", "allowed")
            words: dict[str, Any] = {
                "url": shown(url),
                "one": one,
                "agent": shown(agent),
                "other": other,
                "affected": _dialects(unlike),
                "arguments": shown(f"--agent {quote(agent)} {quote(url)}"),
            }
            words["severity"] = "warning" if dialects is _GOOGLE else "info"
            yield _at(subject, DIFFERS, samples[url, agent], **words)


def _dialects(names: list[str]) -> str:
    """Returns `the dialect google` or `the dialects 1996, book and kollar`."""
    first, last = ", ".join(names[:-1]), names[-1]
    return f"the dialects {first} and {last}" if first else f"the dialect {last}"


def _first_unlike(
    robots: RobotsTxt, dialects: tuple[str, ...], samples: list[tuple[str, str]]
) -> tuple[tuple[str, str], bool, list[str]] | None:
    """Finds the first URL and robot for which one of the dialects decides differently from RFC 9309. Returns them with
    the verdict of RFC 9309 and the dialects that differ. A few samples are judged first, because most files that differ
    do so in these."""
    for some in (samples[:_FIRST_SAMPLES], samples[_FIRST_SAMPLES:]):
        answers = {name: robots.in_dialect(name).answers(some) for name in dialects}
        for place, (sample, allowed) in enumerate(zip(some, robots.answers(some), strict=True)):
            if unlike := [name for name in dialects if answers[name][place] is not allowed]:
                return sample, allowed, unlike
    return None


def _samples(subject: Subject) -> Iterator[tuple[str, str, int]]:
    """Yields a robot, a URL that a rule is likely to be written for, and the line of the rule, for each rule."""
    for group in subject.parsed.groups:
        agent = next(filter(token_of, group.agents), "")
        for rule in subject.rules_of(group)[:50] if agent else ():
            path = as_sent(example_of(rule.pattern))
            if "\\" not in rule.pattern and path.isascii() and path.isprintable() and " " not in path:
                yield agent, path, rule.line
