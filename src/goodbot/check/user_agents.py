"""R3: checks the names of robots: malformed, unknown and retired ones, and names that change what a group means."""

import re
from collections.abc import Collection, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import islice
from shlex import quote
from typing import Any

from goodbot import registry
from goodbot.check.findings import Finding, Kind, Severity
from goodbot.check.names import (
    ALL_ROBOTS,
    EVERYONE,
    NAMES_SHOWN,
    joined_names,
    looks_like_robot,
    spelling_of,
    split_names,
    token_of,
)
from goodbot.check.pattern_checks import WHOLE_SITE, example_of
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.source_lines import SourceLine
from goodbot.check.subject import Subject
from goodbot.exclusion.text.product_token import first_name, product_token
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import Group

_VERSION = re.compile(r"[/ ]v?\d[\w.]*$")
_LONGEST_TOKEN = 64
_MIN_SIMILARITY = 0.83
_SLIP_CHARS = 6
"""The least length at which a name with one character more or less than another is taken for a misspelling."""
_MAX_COMPARED = 300
"""How many unknown names of one file are compared with all known names; each comparison takes 2 ms."""
_SUCCESSORS = {"msnbot": "bingbot"}
"""Retired tokens, and the robots that obey their groups if no group names these robots (Bing's page on robots.txt)."""
_MAX_GROUPS = 500
"""How many groups are compared with the group for `*`."""

WHOLE_VALUE = Kind(
    "R301",
    "whole User-Agent value instead of the token",
    "error",
    "`{value}` is a whole User-Agent value, but robots.txt names a robot by its product token alone",
    "robots that compare only the token: they may not find this group",
    "{fix}",
    "RFC 9309 2.2.1",
    Subject(b"User-agent: Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)\nDisallow: /a/\n"),
    Subject(b"User-agent: Googlebot # Mozilla/5.0 (compatible; Googlebot/2.1)\nDisallow: /a/\n"),
)
VERSION = Kind(
    "R302",
    "version in token",
    "warning",
    "`{value}` contains a version, but a product token is the name alone",
    "robots that compare the whole value: they do not find this group",
    "write `{better}`: under RFC 9309 nothing changes",
    "RFC 9309 2.2.1; A Standard for Robot Exclusion, 1994",
    Subject(b"User-agent: Googlebot/2.1\nDisallow: /a/\n"),
    Subject(b"User-agent: MJ12bot\nDisallow: /a/\n"),
)
WILDCARD = Kind(
    "R303",
    "wildcard in token",
    "error",
    "under RFC 9309 `{value}` matches {whom}: {why}",
    "{affected}",
    "{fix}",
    "RFC 9309 2.2.1; Google's specification test of robots.txt (`*` ends a name)",
    Subject(b"User-agent: *bot\nDisallow: /a/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\n"),
    "Reported as info if `*` only follows a robot's whole name.",
)
UNKNOWN = Kind(
    "R304",
    "unknown robot name, probably misspelt",
    "warning",
    "no known robot is called `{value}`",
    "{affected}",
    "did you mean `{better}`?",
    "docs/robots-directory.md",
    Subject(b"User-agent: Gogolebot\nDisallow: /a/\n"),
    Subject(b"User-agent: OurOwnIndexer\nDisallow: /a/\n"),
)
SEVERAL_GROUPS = Kind(
    "R305",
    "same token in several groups",
    "info",
    "`{value}` already has a group at line {line}, so the rules of both apply",
    "robots that follow RFC 9309; older ones read only the first group",
    "put all rules for this token into one group that names no other robot: under RFC 9309 nothing changes",
    "RFC 9309 2.2.1",
    Subject(b"User-agent: Googlebot\nDisallow: /a/\n\nUser-agent: googlebot\nDisallow: /b/\n"),
    Subject(b"User-agent: Googlebot\nUser-agent: Googlebot-News\nDisallow: /b/\n"),
)
NOT_INHERITED = Kind(
    "R306",
    "own group replaces the rules for `*`",
    "info",
    "{value} has a group of its own, so it ignores {rules} for `*`: `{rule}` (line {line}){more}",
    "the robots named in this group",
    "repeat in this group the rules for `*` that it should obey too: they then apply",
    "RFC 9309 2.2.1",
    Subject(b"User-agent: *\nDisallow: /a/\nDisallow: /b/\n\nUser-agent: Bingbot\nCrawl-delay: 5\nDisallow: /b/\n"),
    Subject(b"User-agent: *\nDisallow: /a/\n\nUser-agent: Bingbot\nDisallow: /a/\nDisallow: /b/\n"),
)
RETIRED = Kind(
    "R307",
    "retired robot name",
    "info",
    "{robot} is retired{since}: {read}",
    "{affected}",
    "{fix}",
    "docs/robots-directory.md",
    Subject(b"User-agent: anthropic-ai\nDisallow: /\n"),
    Subject(b"User-agent: ClaudeBot\nDisallow: /\n"),
)
DISOBEYS = Kind(
    "R308",
    "robot known to ignore robots.txt",
    "info",
    "{robot}{of} is known to ignore robots.txt, at least sometimes{effect}",
    "site owners who rely on this group",
    "block it at the server if it must stay out; `goodbot who {name}` shows the source",
    "{source}",
    Subject(b"User-agent: Bytespider\nDisallow: /\n"),
    Subject(b"User-agent: GPTBot\nDisallow: /\n"),
)
CONTROL = Kind(
    "R309",
    "control token that never fetches",
    "info",
    "{robot} fetches nothing: the name only tells {of} how it may use the pages that its other robots fetch",
    "site owners who expect it to reduce requests",
    "nothing is wrong here; to reduce requests, name the robots that fetch pages",
    "{source}",
    Subject(b"User-agent: Google-Extended\nDisallow: /\n"),
    Subject(b"User-agent: Googlebot\nDisallow: /\n"),
)
LISTED = Kind(
    "R310",
    "several names on one User-agent line",
    "error",
    "under RFC 9309 `{value}` matches {whom}: {missed} this group",
    "{robots}",
    "write one User-agent line for each robot: {lines}; the group then applies to all of them",
    "RFC 9309 2.2.1; Google's robots.txt parser",
    Subject(b"User-agent: Googlebot, Bingbot\nDisallow: /a/\n"),
    Subject(b"User-agent: Screaming Frog SEO Spider\nDisallow: /a/\n"),
)

KINDS = (
    WHOLE_VALUE,
    VERSION,
    WILDCARD,
    UNKNOWN,
    SEVERAL_GROUPS,
    NOT_INHERITED,
    RETIRED,
    DISOBEYS,
    CONTROL,
    LISTED,
)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each name, then about each group."""
    name_lines = [line for line in subject.lines if line.field == "user-agent" and line.value]
    compared: set[str] = set()
    tokens = {line.value.lower() for line in name_lines}
    names = (finding for line in name_lines for finding in _check_name(subject, line, compared, tokens))
    yield from islice(names, MAX_EACH)
    yield from islice(_several_groups(subject), MAX_EACH)
    yield from islice(_not_inherited(subject), MAX_EACH)


def _at(kind: Kind, line: SourceLine, /, *, severity: Severity | None = None, **words: Any) -> Finding:
    return kind.at(line.number, line.value_at + 1, line.value_end + 1, severity=severity, **words)


def _check_name(subject: Subject, line: SourceLine, compared: set[str], tokens: Collection[str]) -> Iterator[Finding]:
    """Yields the first problem with a name. `compared` collects the names that were looked up; `tokens` are all names
    in the file, in lower case."""
    value = line.value
    if value == "*":
        return
    names = () if "mozilla/" in value.lower() else split_names(value)
    if names:
        yield from _several_names(line, names)
    elif "mozilla/" in value.lower() or "(" in value:
        yield _at(WHOLE_VALUE, line, value=shown(value), fix=_token_to_write(value))
    elif "*" in value:
        yield _with_wildcard(line)
    elif found := _VERSION.search(value[:_LONGEST_TOKEN]):
        yield _at(VERSION, line, value=shown(value), better=shown(value[: found.start()].rstrip()))
    else:
        yield from _by_registry(subject, line, compared, tokens)


def _several_names(line: SourceLine, names: tuple[str, ...]) -> Iterator[Finding]:
    """Reports the names on the line that their robots do not find."""
    token = token_of(line.value)
    missed = list(dict.fromkeys(name for name in names if token_of(name) != token))
    if not missed:
        return
    addressed = next((name for name in names if token_of(name) == token), f"a robot called {shown(token)}")
    called = ["all other robots" if name == EVERYONE else name for name in missed]
    finds = "does not find" if len(missed) == 1 else "do not find"
    several = ", ".join(f"`User-agent: {name}`" for name in dict.fromkeys(names[:NAMES_SHOWN]))
    yield _at(
        LISTED,
        line,
        value=shown(line.value),
        whom=f"{addressed} only" if token.strip("-_*") else "no robot",
        missed="no other robot finds" if missed == [EVERYONE] else f"{joined_names(called)} {finds}",
        robots=joined_names(called),
        lines=several + (", …" if len(names) > NAMES_SHOWN else ""),
    )


def _with_wildcard(line: SourceLine) -> Finding:
    """Reports a wildcard; as info if `*` only follows the whole name of a robot, because a token ends before `*`."""
    token = line.value.rstrip("*")
    if token_of(line.value) == token.lower() and looks_like_robot(token):
        whom, why = shown(token), "a name ends before `*`, so `*` adds nothing"
        affected, fix = (
            "robots that compare the whole value: they do not find this group",
            f"write `{shown(token)}`: under RFC 9309 nothing changes",
        )
        return _at(
            WILDCARD, line, severity="info", value=shown(line.value), whom=whom, why=why, affected=affected, fix=fix
        )
    name = first_name(line.value)
    whom = f"a robot called {shown(name)} only" if name else "no robot"
    why = "`*` means all robots only if it stands alone"
    affected, fix = (
        "the robots you want to name",
        "write a User-agent line for each robot you mean: the group then applies to them",
    )
    return _at(WILDCARD, line, value=shown(line.value), whom=whom, why=why, affected=affected, fix=fix)


def _token_to_write(value: str) -> str:
    robot = registry.find(value)
    token = (robot.token if robot else None) or product_token(value)
    if token.lower() in ("mozilla", "msie"):
        return "write the token of the robot you mean; browsers do not read robots.txt"
    return f"write `{shown(token)}`: the group then applies to that robot"


def _is_misspelt(written: str, token: str) -> bool:
    """Returns whether a name is probably a misspelt token: without its `bot`, with a letter missing or doubled, two
    letters swapped, or a letter or two wrong before `bot`; but not if one name only begins with the other."""
    if token.lower() in (f"{written.lower()}bot", f"{written.lower()}spider"):
        return True
    if min(len(written), len(token)) >= _SLIP_CHARS and _is_one_letter_off(written.lower(), token.lower()):
        return True
    one, other = _stem(written), _stem(token)
    if min(len(one), len(other)) < 3 or (one != other and (one.startswith(other) or other.startswith(one))):
        return False
    return product_token(token) == token and SequenceMatcher(None, one, other).ratio() >= _MIN_SIMILARITY


def _is_one_letter_off(one: str, other: str) -> bool:
    """Returns whether one name is the other without one of its characters or with two adjacent characters swapped."""
    short, long = sorted((one, other), key=len)
    if len(long) == len(short):
        return any(one[:at] + one[at + 1] + one[at] + one[at + 2 :] == other for at in range(len(one) - 1))
    return len(long) == len(short) + 1 and any(long[:at] + long[at + 1 :] == short for at in range(len(long)))


def _stem(name: str) -> str:
    return re.sub(r"[^a-z]|bot$|robot$|spider$", "", name.lower())


def _by_registry(subject: Subject, line: SourceLine, compared: set[str], tokens: Collection[str]) -> Iterator[Finding]:
    value = line.value[:_LONGEST_TOKEN]
    robot = registry.find_token(value)
    if robot is None:
        if value.lower() in ALL_ROBOTS:
            affected = "all robots: none of them finds this group"
            yield _at(UNKNOWN, line, value=shown(value), better=EVERYONE, affected=affected)
        elif meant := _meant(value, compared):
            affected = f"{meant}, which does not find this group"
            yield _at(UNKNOWN, line, value=shown(value), better=meant, affected=affected)
        return
    words: dict[str, Any] = {"robot": robot.name, "source": robot.obeys_source or robot.source, "of": ""}
    words["name"] = quote(shown(value))
    if robot.operator:
        words["of"] = f" ({robot.operator})"
    if robot.retired:
        since = f" (since {robot.retired_since})" if robot.retired_since else ""
        read, affected, fix = "no known robot uses this name any more", "no robot", _removal(subject, line)
        successor = _SUCCESSORS.get(value.lower())
        if successor is not None and not any(token.startswith(successor) for token in tokens):
            read = f"{successor} obeys this group as long as no group names {successor}"
            affected = f"`{successor}`, which would otherwise follow the `*` group"
            fix = f"write `{successor}`: the group then still applies to it"
        yield _at(RETIRED, line, since=since, read=read, affected=affected, fix=fix, **words)
    elif robot.control:
        words["of"] = robot.operator or "its operator"
        yield _at(CONTROL, line, **words)
    elif robot.obeys == "no":
        effect = ": this group alone does not keep it out" if _disallows(subject, line) else ""
        yield _at(DISOBEYS, line, effect=effect, **words)


def _disallows(subject: Subject, line: SourceLine) -> bool:
    """Returns whether the group of this name disallows anything."""
    group = subject.group_at(line.number)
    return group is not None and any(not rule.allow for rule in subject.rules_of(group))


def _meant(value: str, compared: set[str]) -> str | None:
    """Returns the robot that is meant if its name is written with a space (`Google bot`) or misspelt, else None."""
    if " " in value and looks_like_robot(joined := "".join(value.split())):
        return spelling_of(joined)
    similar = _similar(value, compared) if product_token(value) == value else []
    return next((token for token in similar if _is_misspelt(value, token)), None)


def _removal(subject: Subject, line: SourceLine) -> str:
    """Says how to remove a name. If it is the only name of its group, the whole group must go, because its rules would
    otherwise join the group above."""
    alone = len(subject.names_at(line.number)) == 1
    what = "this group with all its rules" if alone else "this line"
    return f"remove {what}: verdicts then change only for a robot called {shown(line.value)}"


def _similar(value: str, compared: set[str]) -> list[str]:
    if value not in compared and len(compared) >= _MAX_COMPARED:
        return []
    compared.add(value)
    return _cached_similar(value)


@lru_cache(maxsize=1024)
def _cached_similar(value: str) -> list[str]:
    return registry.similar_tokens(value)


def _several_groups(subject: Subject) -> Iterator[Finding]:
    first: dict[str, int] = {}
    lines = subject.lines
    for group in subject.parsed.groups:
        for name in dict.fromkeys(agent.lower() for agent in group.agents if agent):
            before = first.setdefault(name, group.line)
            if before != group.line and group.line <= len(lines):
                line = next(each for each in islice(lines, group.line - 1, None) if each.value.lower() == name)
                yield _at(SEVERAL_GROUPS, line, value=shown(line.value), line=before)


def _not_inherited(subject: Subject) -> Iterator[Finding]:
    """Finds groups that ignore rules for `*`. They are reported only if they disallow some paths, and so look as if
    they added to these rules."""
    rules = [rule for group in subject.parsed.groups if "*" in group.agents for rule in subject.rules_of(group)]
    everyone = [rule for rule in rules if not rule.allow and rule.pattern not in WHOLE_SITE]
    if not everyone:
        return
    urls = [example_of(rule.pattern) for rule in everyone[:_MAX_GROUPS]]
    answers: dict[tuple[int, ...], list[bool]] = {}
    for group in subject.parsed.groups[:_MAX_GROUPS]:
        readers = subject.readers[group.line]
        if "*" in group.agents or not _adds(group) or not readers or group.line > len(subject.lines):
            continue
        token, lines, _ = readers[0]
        if lines not in answers:
            answers[lines] = subject.parsed.answers([(url, token) for url in urls])
        missed = [rule for rule, is_open in zip(everyone, answers[lines], strict=False) if is_open]
        if missed:
            words: dict[str, Any] = {
                "value": shown(next(first_name(name) for name in group.agents if token_of(name) == token)),
                "rule": shown(str(missed[0])),
                "line": missed[0].line,
            }
            yield _at(
                NOT_INHERITED,
                subject.lines[group.line - 1],
                rules=f"{len(missed)} rules" if len(missed) > 1 else "a rule",
                more="" if len(missed) == 1 else f" and {len(missed) - 1} more",
                **words,
            )


def _adds(group: Group) -> bool:
    disallowed = {rule.pattern for rule in group.rules if not rule.allow}
    return bool(disallowed) and disallowed.isdisjoint(WHOLE_SITE)
