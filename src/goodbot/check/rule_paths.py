"""R4: finds paths that match nothing, or more or less than they seem to."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any
from urllib.parse import quote, urlsplit

from goodbot.check.findings import Finding, Kind
from goodbot.check.pattern_checks import WHOLE_SITE, example_of, host_of, pattern_bytes, unsafe_character
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.source_lines import SourceLine
from goodbot.check.subject import Subject
from goodbot.check.syntax import FRAGMENTS
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.verdict import RULE_FIELDS, Rule

_SCHEME = re.compile(r"https?://", re.IGNORECASE)
_REGULAR = re.compile(
    r"\^|.*(?:\\[.dwsDWS/?+*-]|\(\?|\(\.\*|\[[^\]=]-[^\]]|\.\+|[^/]\{\d+,?\d*\}|\([^()]*\|)", re.DOTALL
)
"""What only regular expressions contain. `.*`, `[]` and parentheses also occur in real paths."""
_CHOICE = re.compile(r"\{[^{}/,]*(?:,[^{}/,]*)+\}")
"""A choice as in a shell, `{a,b}`; `{id}` is a placeholder that was left in by mistake."""
_DOLLAR = re.compile(r"\$(?=[^$])(?:(?<=[A-Za-z0-9]\$)|(?![A-Za-z0-9_{(%]))")
"""A `$` before the end, except as in `/$file` and `/${x}`, which occur in real URLs."""
_TWICE_ENCODED = re.compile(r"%25[0-9A-Fa-f]{2}")
_BAD_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2})")
_SPACE = re.compile(r"[ \t]+")
_SEVERAL = re.compile(r"[/*]\S*(?:[ \t]+[/*]\S*)+$")
"""Several paths (`R204`), which are separated by spaces."""
_RAW = re.compile(r"[^\x21-\x7e]+")
_STYLE = re.compile(
    r"\*\.(?:css|js)(?=$|[*?$])"
    r"|/(?:(?:css|js|wp-includes)/?|(?:javascript|stylesheets?)/)(?:\*+\$?)?$",
    re.IGNORECASE,
)
_ANYWHERE = re.compile(r"[?&;=]|\.[A-Za-z]|[^/?*$.]+=")
"""What begins a later part of a URL: a query, an extension, a parameter."""
_Lengths = set[tuple[bool, int]]
"""The lengths in bytes of the patterns of Allow rules (True) and Disallow rules (False)."""

_DOTS = re.compile(r"(?:\.{1,2}(?:/|$))+")

FULL_URL = Kind(
    "R401",
    "full URL instead of a path",
    "error",
    "`{path}` is a full URL, but robots compare rules with paths, so this rule matches nothing",
    "every robot that follows RFC 9309",
    "{fix}: a robots.txt applies only to its own host",
    "RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: https://example.org/private/\n"),
    Subject(b"User-agent: *\nDisallow: /redirect?to=https://example.org/\n"),
)
NO_SLASH = Kind(
    "R402",
    "no leading `/` or `*`",
    "error",
    "`{path}` begins with neither `/` nor `*`, so the rule matches nothing",
    "every robot that follows RFC 9309",
    "{fix}",
    "RFC 9309 2.2 (path-pattern)",
    Subject(b"User-agent: *\nDisallow: private/\n"),
    Subject(b"User-agent: *\nDisallow: *.pdf\nDisallow: /private/\n"),
)
REGULAR = Kind(
    "R403",
    "regular expression or unsupported glob",
    "error",
    "`{path}` looks like a regular expression, but robots compare everything literally except `*` and a final `$`",
    "every robot",
    "rewrite it with `*` and `$`, as several rules if necessary: the rules then match what you mean",
    "RFC 9309 2.2.3",
    Subject(b"User-agent: *\nDisallow: /item/[0-9]+\\.html\n"),
    Subject(b"User-agent: *\nDisallow: /*?filter[]=\nDisallow: /wiki/Robot_(film)\nDisallow: /file.*\n"),
)
DOLLAR = Kind(
    "R404",
    "`$` not last",
    "warning",
    "the `$` in `{path}` is not at the end, so it is an ordinary character",
    "every robot: none ends the match at this `$`",
    "to match the end of a URL, end the rule at `$`: the rule then matches only URLs that end there; to match the "
    "character `$`, write %24: under RFC 9309 nothing changes",
    "RFC 9309 2.2.3",
    Subject(b"User-agent: *\nDisallow: /*.php$?\n"),
    Subject(b"User-agent: *\nDisallow: /*.php$\nDisallow: /docs/$file/\n"),
    "A `$` that begins a name, as in `/$file/`, is not reported: real URLs contain it.",
)
LAST_STAR = Kind(
    "R405",
    "useless trailing `*`",
    "info",
    "the `*` at the end of `{path}` adds nothing: every rule already matches all paths that begin with it",
    "robots of the 1990s: for them `*` is an ordinary character, so the rule matches nothing",
    "write `{better}`: under RFC 9309 nothing changes",
    "RFC 9309 2.2.3; A Standard for Robot Exclusion, 1994",
    Subject(b"User-agent: *\nDisallow: /private/*\n"),
    Subject(b"User-agent: *\nDisallow: /*/private/\nDisallow: /*$\n"),
)
ENCODING = Kind(
    "R406",
    "unencoded or doubly encoded characters",
    "info",
    "`{path}` contains {what}",
    "{affected}",
    "{fix}",
    "RFC 9309 2.2.2; RFC 3986 2.1",
    Subject(b"User-agent: *\nDisallow: /a%2520b/\n"),
    Subject(b"User-agent: *\nDisallow: /a%20b/caf%C3%A9\n"),
    "Warning, except for characters beyond ASCII.",
)
SIBLINGS = Kind(
    "R407",
    "missing final `/`: other paths match too",
    "warning",
    "`{path}` also disallows `{sibling}`, which {where} names",
    "every robot",
    "write `{path}/` for the folder, or `{path}$` for the page alone: the other URLs are then allowed",
    "RFC 9309 2.2.2; A Standard for Robot Exclusion, 1994",
    Subject(b"User-agent: *\nDisallow: /news\n\nSitemap: https://example.org/news-sitemap.xml\n"),
    Subject(b"User-agent: *\nDisallow: /news/\nDisallow: /shop\nDisallow: /shop/old\n"),
)
FRAGMENT = Kind(
    "R408",
    "fragment of a URL",
    "error",
    "`{written}` contains a fragment, but `#` begins a comment, so robots read `{rule}`",
    "every robot; robots never send the part of a URL after `#`",
    "{fix}, because robots.txt cannot match fragments; `{rule}`{effect} then no longer applies",
    "RFC 9309 2.2; RFC 3986 3.5",
    Subject(b"User-agent: *\nDisallow: /#!/admin\n"),
    Subject(b"User-agent: *\nDisallow: / # !important\n"),
    "Reports only `#!` and `#/`, which begin the fragments of pages made by scripts; R209 reports any other `#` in a "
    "path.",
)
STYLE = Kind(
    "R409",
    "disallows CSS or JavaScript",
    "warning",
    "`{path}` disallows style sheets or scripts, so search engines render pages without them",
    "search engines that render pages (Googlebot, Bingbot and others)",
    "allow the files that pages need to render",
    "Google's and Bing's pages on rendering",
    Subject(b"User-agent: *\nDisallow: /*.css$\n"),
    Subject(b"User-agent: *\nDisallow: /js/\nAllow: /js/*.js\nDisallow: /json/\n"),
)

KINDS = (FULL_URL, NO_SLASH, REGULAR, DOLLAR, LAST_STAR, ENCODING, SIBLINGS, FRAGMENT, STYLE)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each rule."""
    rules = [line for line in subject.lines if line.field in RULE_FIELDS and line.value]
    for check in (_regular, _dollar, _encoding):
        yield from islice((finding for line in rules for finding in check(line)), MAX_EACH)
    for check_in in (_no_slash, _fragment):
        yield from islice((finding for line in rules for finding in check_in(subject, line)), MAX_EACH)
    yield from islice(_full_url(subject, rules), MAX_EACH)
    yield from islice(_last_star(subject), MAX_EACH)
    yield from islice(_siblings(subject, rules), MAX_EACH)
    yield from islice(_style(subject, rules), MAX_EACH)


def _at(kind: Kind, line: SourceLine, start: int = 0, end: int | None = None, **words: Any) -> Finding:
    """Returns a finding at a part of the path."""
    stop = line.value_end if end is None else line.value_at + end
    return kind.at(line.number, line.value_at + start + 1, stop + 1, path=shown(line.value), **words)


def _full_url(subject: Subject, rules: list[SourceLine]) -> Iterator[Finding]:
    """Finds full URLs. The fix depends on the host of the URL and never proposes a rule for a whole site."""
    own = host_of(subject.url or "").removeprefix("www.")
    for line in rules:
        if not _SCHEME.match(line.value):
            continue
        path, host = _path_of(line.value), host_of(line.value).removeprefix("www.")
        if path.rstrip("$") in WHOLE_SITE or (own and host != own):
            fix = subject.removal([line.number])
        elif own or not host:
            fix = f"write `{shown(path)}`"
        else:
            otherwise = subject.removal([line.number])
            fix = f"write `{shown(path)}` if this is the robots.txt of {shown(host)}, otherwise {otherwise}"
        yield _at(FULL_URL, line, fix=fix)


def _no_slash(subject: Subject, line: SourceLine) -> Iterator[Finding]:
    path = line.value
    if path[0] in "/*^" or _SCHEME.match(path):
        return
    better = f"/*{path.rstrip('*')}" if _ANYWHERE.match(path) else f"/{_DOTS.sub('', path)}"
    fix = f"write `{shown(better)}`: the rule then matches"
    if better in WHOLE_SITE:
        fix = f"{subject.removal([line.number])}: under RFC 9309 nothing changes"
    yield _at(NO_SLASH, line, fix=fix)


def _path_of(text: str) -> str:
    try:
        parts = urlsplit(text)
    except ValueError:  # brackets without an IP address
        return "/"
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _regular(line: SourceLine) -> Iterator[Finding]:
    if _REGULAR.match(line.value) or _CHOICE.search(line.value):
        yield _at(REGULAR, line)


def _dollar(line: SourceLine) -> Iterator[Finding]:
    found = _DOLLAR.search(line.value)
    if found and not _REGULAR.match(line.value):
        yield _at(DOLLAR, line, found.start(), found.end())


def _last_star(subject: Subject) -> Iterator[Finding]:
    """Finds a useless `*` at the end of a rule.

    A `*` is not reported if an opposite rule for the same robots is as long as this rule with or without it, because
    its byte may decide; nor after `$` (which would become special) or a space (which would be trimmed).
    """
    own = {group.line: _lengths(subject.rules_of(group)) for group in subject.parsed.groups}
    together: dict[tuple[int, ...], _Lengths] = {}
    for group in subject.parsed.groups:
        for reader in subject.readers[group.line]:
            if reader.lines not in together:
                together[reader.lines] = set().union(*(own[line] for line in reader.lines))
        all_lengths = own[group.line].union(*(together[reader.lines] for reader in subject.readers[group.line]))
        for rule in subject.rules_of(group):
            bare = rule.pattern.rstrip("*")
            if not bare or bare == rule.pattern or bare[-1] in "$ \t" or bare[0] not in "/*":
                continue
            lengths = range(pattern_bytes(bare), pattern_bytes(rule.pattern) + 1)
            if rule.line <= len(subject.lines) and all_lengths.isdisjoint(
                (not rule.allow, length) for length in lengths
            ):
                yield _at(LAST_STAR, subject.lines[rule.line - 1], len(bare), better=shown(bare))


def _lengths(rules: Iterable[Rule]) -> _Lengths:
    return {(rule.allow, pattern_bytes(rule.pattern)) for rule in rules}


def _encoding(line: SourceLine) -> Iterator[Finding]:
    path = line.value
    if found := _TWICE_ENCODED.search(path):
        better = _TWICE_ENCODED.sub(lambda found: f"%{found[0][3:]}", path)
        words = (
            "warning",
            "a percent sign that is encoded twice",
            "every robot: the rule matches only URLs that contain %25",
            f"if you mean {_meant(found[0])}, write `{shown(better)}`: the rule then matches those URLs instead",
        )
    elif found := _BAD_ESCAPE.search(path):
        words = (
            "warning",
            "a `%` that does not begin an escape such as `%20`",
            "every robot: they disagree on what the rule matches",
            "to match a literal `%`, write %25: the rule then matches only URLs that contain %25",
        )
    elif (found := _SPACE.search(path)) and not _SEVERAL.match(path):
        words = (
            "warning",
            "a tab" if "\t" in found[0] else "a space",
            "robots that compare bytes, such as Google's: no URL contains it",
            f"to match it, write {quote(found[0])}: under RFC 9309 nothing changes; to begin a comment, write `#`",
        )
    elif not found and (found := unsafe_character(path)) and not _REGULAR.match(path):
        words = (
            "warning",
            f"`{found[0]}`, which robots send percent-encoded",
            "robots that compare bytes, such as Google's: no URL contains this character",
            "write `/`: the rule then matches other URLs"
            if found[0] == "\\"
            else f"write {quote(found[0])}: under RFC 9309 nothing changes",
        )
    elif not found and (found := _RAW.search(path)):
        words = (
            "info",
            "characters beyond ASCII",
            "older robots, which compare bytes",
            "percent-encode them as UTF-8: under RFC 9309 nothing changes",
        )
    else:
        return
    severity, what, affected, fix = words
    start, end = found.span()
    yield ENCODING.at(
        line.number,
        line.value_at + start + 1,
        line.value_at + end + 1,
        severity=severity,  # type: ignore[arg-type]
        what=what,
        affected=affected,
        fix=fix,
        path=shown(path),
    )


def _meant(found: str) -> str:
    """Says what `%25` and two digits are meant to be."""
    return "a space" if found == "%2520" else f"`%{found[3:]}`"


def _fragment(subject: Subject, line: SourceLine) -> Iterator[Finding]:
    if line.value_end == line.comment_at and line.text.startswith(FRAGMENTS, line.comment_at):
        written, rule = line.text[line.value_at :].rstrip(), f"{line.field.capitalize()}: {line.value}"
        disallows_all = line.field == "disallow" and line.value in WHOLE_SITE
        words: dict[str, Any] = {"written": shown(written), "rule": shown(rule)}
        words["effect"] = ", which disallows the whole site," if disallows_all else ""
        yield _at(FRAGMENT, line, end=len(written), fix=subject.removal([line.number]), **words)


def _siblings(subject: Subject, rules: list[SourceLine]) -> Iterator[Finding]:
    """Finds rules without a final `/` that also match a path which the file names elsewhere, as `/news` matches
    `/news-sitemap.xml`. Other rules may be meant for longer names too (`/search` for `/searchresults`)."""
    disallowed = {line.value for line in rules if line.field == "disallow"}
    named = sorted(pair for pair in _named_paths(subject, rules) if pair[0] not in disallowed)
    for line in rules:
        path = line.value
        if line.field != "disallow" or len(path) < 2 or path[-1] in "/*$?=&" or "*" in path:
            continue
        at = bisect_left(named, (path + "\0", ""))
        if at < len(named) and named[at][0].startswith(path) and named[at][0][len(path)] not in "/?#*$&=":
            sibling, where = named[at]
            if not subject.parsed.allows(sibling, "*"):
                yield _at(SIBLINGS, line, sibling=shown(sibling), where=where)


def _named_paths(subject: Subject, rules: list[SourceLine]) -> Iterator[tuple[str, str]]:
    """Yields the paths that robots should fetch according to the file, and the lines that name them, in words."""
    for line in rules:
        if line.field == "allow" and "*" not in line.value:
            yield line.value.rstrip("$"), f"the Allow line (line {line.number})"
    for line in subject.lines:
        if line.field == "sitemap" and _SCHEME.match(line.value):
            yield _path_of(line.value), f"the Sitemap line (line {line.number})"


def _style(subject: Subject, rules: list[SourceLine]) -> Iterator[Finding]:
    allows = subject.parsed.matcher("Googlebot").allows
    for line in rules:
        found = _STYLE.search(line.value)
        if line.field != "disallow" or found is None:
            continue
        name = example_of(line.value)
        folder = "." not in name[name.rfind("/") :]
        example = f"{name.rstrip('/')}/x.{'css' if 'css' in name.lower() else 'js'}" if folder else name
        if line.value.startswith(("/", "*")) and not allows(example):
            yield _at(STYLE, line, found.start(), found.end())
