"""R6: finds other records that are malformed, or that few or no robots read."""

import re
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from itertools import islice
from typing import Final, get_args

from goodbot.check.findings import Finding, Kind, Severity
from goodbot.check.pattern_checks import host_of
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.source_lines import SourceLine
from goodbot.check.subject import Subject
from goodbot.exclusion.robotstxt.timing import parse_delay, parse_rate, parse_window
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.uses.preferences import USE_LEVELS, Use
from goodbot.exclusion.uses.statements import Usage
from goodbot.exclusion.uses.structured_fields import Member, parse_dictionary
from goodbot.url import parse_url

MAX_DELAY_S: Final = 300.0
"""With a longer Crawl-delay a robot can fetch fewer than 300 pages a day."""

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))
_SITE: Final = "https://example.org/robots.txt"
_SIGNALS: Final = frozenset(get_args(Use))
_USE: Final = "use"
_USES: Final = ", ".join(f"`use={level}`" for level in USE_LEVELS)
_PAIR: Final = re.compile(r"(?<![\w\-])([\w\-]++)[ \t]*+=[ \t]*+([\w\-]++)", re.ASCII)
_MAX_SIGNALS_CHARS: Final = 1_000
_USAGES: Final = frozenset({"train-ai", "search"})
_ANSWERS: Final = frozenset({Member("token", "y"), Member("token", "n")})
"""The values that draft-ietf-aipref-vocab-07 defines."""

DELAY = Kind(
    "R601",
    "Crawl-delay malformed, very long, or ignored by some robots",
    "info",
    "{problem}",
    "{affected}",
    "{fix}",
    "RFC 9309 2.2.4 (no standard has Crawl-delay); Google's and Bing's pages",
    Subject(b"User-agent: *\nCrawl-delay: 86400\nDisallow: /tmp/\n"),
    Subject(b"User-agent: *\nRequest-rate: 1/10\nDisallow: /tmp/\n"),
    "Reported as an error if it is malformed, as a warning above 300 seconds.",
)
NOINDEX = Kind(
    "R602",
    "noindex in robots.txt",
    "warning",
    "`{written}` has no effect: no robot reads Noindex in robots.txt any more",
    "every robot; Google stopped in September 2019",
    "put noindex on the page (META robots) or in its header (X-Robots-Tag), and let robots fetch the page",
    "Google's announcement of July 2019; RFC 9309 2.2.4",
    Subject(b"User-agent: *\nNoindex: /thin/\nDisallow: /tmp/\n"),
    Subject(b"User-agent: *\n# Noindex: /thin/\nDisallow: /tmp/\n"),
)
OBSOLETE = Kind(
    "R603",
    "Host is obsolete; few robots read Clean-param",
    "info",
    "{problem}",
    "{affected}",
    "{fix}",
    "Yandex's pages on robots.txt; no robot has read Host since March 2018",
    Subject(b"User-agent: *\nDisallow: /tmp/\n\nHost: www.example.org\n"),
    Subject(b"User-agent: Yandex\nDisallow: /tmp/\nClean-param: sid /forum/\n"),
)
RELATIVE_SITEMAP = Kind(
    "R604",
    "relative Sitemap",
    "error",
    "{problem}",
    "every robot that follows the sitemaps.org protocol",
    "{fix}",
    "sitemaps.org protocol (robots.txt); RFC 9309 2.2.4",
    Subject(b"User-agent: *\nDisallow:\n\nSitemap: /sitemap.xml\n"),
    Subject(b"User-agent: *\nDisallow:\n\nSitemap: https://example.org/sitemap.xml\n"),
    "Reported as a warning for a line without a value.",
)
SITEMAP = Kind(
    "R605",
    "Sitemap on another host, missing or disallowed",
    "warning",
    "the sitemap `{value}` {problem}",
    "{affected}",
    "{fix}",
    "sitemaps.org protocol (location, cross submits); RFC 9309 2.2.2",
    Subject(b"User-agent: *\nDisallow: /private/\n\nSitemap: https://example.org/private/map.xml\n", _SITE),
    Subject(b"User-agent: *\nDisallow: /private/\n\nSitemap: https://example.org/map.xml\n", _SITE),
    "Reported as info for a sitemap on another host.",
)
PREFERENCE = Kind(
    "R606",
    "Content-Signal, Content-Usage or License malformed",
    "warning",
    "`{value}` {problem}",
    "robots that read this record: they ignore this part of it",
    "{fix}",
    "contentsignals.org; AIPREF drafts, RFC 9651; RSL 1.0",
    Subject(b"User-agent: *\nContent-Signal: search=yes, ai-train=maybe\nAllow: /\n"),
    Subject(b"User-agent: *\nContent-Signal: search=yes, ai-train=no\nContent-Usage: train-ai=n\nAllow: /\n"),
)
WHEN = Kind(
    "R607",
    "Request-rate or Visit-time malformed",
    "warning",
    "`{value}` is invalid: {problem}",
    "the few robots that read the record",
    "write it like `{better}`",
    "Conner, An Extended Standard for Robot Exclusion, 1996",
    Subject(b"User-agent: *\nVisit-time: 6am-8am\nDisallow: /tmp/\n"),
    Subject(b"User-agent: *\nVisit-time: 0600-0845\nRequest-rate: 1/10m 1300-1659\nDisallow: /tmp/\n"),
)
NO_SITEMAP = Kind(
    "R608",
    "no Sitemap",
    "info",
    "the file names no sitemap",
    "robots that use sitemaps to find unlinked pages and changes",
    "if the site has a sitemap, add `Sitemap:` with its full URL",
    "RFC 9309 2.2.4; sitemaps.org protocol",
    Subject(b"User-agent: *\nDisallow: /tmp/\n"),
    Subject(b"User-agent: *\nDisallow: /tmp/\n\nSitemap: https://example.org/sitemap.xml\n"),
)

KINDS = (DELAY, NOINDEX, OBSOLETE, RELATIVE_SITEMAP, SITEMAP, PREFERENCE, WHEN, NO_SITEMAP)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each record."""
    lines = [line for line in subject.lines if line.is_record]
    for check in (_noindex, _relative_sitemap, _signal, _usage, _license, _when):
        yield from islice((finding for line in lines for finding in check(line)), MAX_EACH)
    grouped = list(_with_agents(lines))
    for check_for in (_delay, _obsolete):
        yield from islice((finding for line, agents in grouped for finding in check_for(line, agents)), MAX_EACH)
    yield from islice(_sitemaps(subject, lines), MAX_EACH)
    disallows_all = not subject.parsed.allows("/", "*")
    if lines and not disallows_all and not any(line.field == "sitemap" for line in lines):
        yield NO_SITEMAP.at()


def _at(
    kind: Kind,
    line: SourceLine,
    start: int | None = None,
    end: int | None = None,
    severity: Severity | None = None,
    **words: str,
) -> Finding:
    first = (line.field_at if line.value_at >= line.value_end else line.value_at) if start is None else start
    last = max(line.value_end, line.colon_at + 1) if end is None else end
    return kind.at(line.number, first + 1, last + 1, edit=None, severity=severity, **words)


def _with_agents(lines: list[SourceLine]) -> Iterator[tuple[SourceLine, Collection[str]]]:
    """Yields each line with the robots (in lower case) that its author means: those named above it. A User-agent line
    after another record begins a new list, even where RFC 9309 joins both lists."""
    agents: list[str] = []
    ended = False
    for line in lines:
        if line.field == "user-agent":
            agents = [] if ended else agents
            agents.append(line.value.lower())
        ended = line.field != "user-agent"
        yield line, agents


def _written(line: SourceLine) -> str:
    return shown(line.text[line.field_at : max(line.value_end, line.colon_at + 1)])


# ---- when and how often ---------------------------------------------------------------------------------------------


def _delay(line: SourceLine, agents: Collection[str]) -> Iterator[Finding]:
    if line.field != "crawl-delay":
        return
    delay_s = parse_delay(line.value)
    written = _written(line)
    place = (line.number, line.field_at + 1, max(line.value_end, line.colon_at + 1) + 1)
    if delay_s is None:
        problem, affected = (
            f"`{written}` is not a plain number of seconds, so robots ignore it",
            "robots that read Crawl-delay",
        )
        yield DELAY.at(
            *place, severity="error", problem=problem, affected=affected, fix="write seconds, such as `Crawl-delay: 5`"
        )
    elif delay_s > MAX_DELAY_S:
        problem, affected = (
            f"`{written}` allows only one page every {_span(delay_s)}",
            "robots that obey it, such as Bing's",
        )
        fix = "set at most about 30 seconds, or disallow what robots should not fetch"
        yield DELAY.at(*place, severity="warning", problem=problem, affected=affected, fix=fix)
    elif any(agent == "*" or agent.startswith("google") for agent in agents):
        problem, affected = f"only some robots obey `{written}`", "Google's robots, which set their own pace"
        fix = "if other robots request too much, answer them with 429 or 503 and Retry-After"
        yield DELAY.at(*place, problem=problem, affected=affected, fix=fix)


def _span(seconds: float) -> str:
    """Formats a delay of more than five minutes: `10 minutes`, `1.5 hours`, `11.6 days`."""
    length, unit = next((length, unit) for length, unit in _UNITS if seconds >= length)
    number = f"{seconds / length:,.1f}".removesuffix(".0")
    return unit if number == "1" else f"{number} {unit}s"


def _when(line: SourceLine) -> Iterator[Finding]:
    if line.field == "request-rate" and isinstance(problem := parse_rate(line.value), str):
        yield _at(WHEN, line, value=_written(line), problem=problem, better="Request-rate: 1/10m 1300-1659")
    if line.field == "visit-time" and isinstance(malformed := parse_window(line.value), str):
        yield _at(WHEN, line, value=_written(line), problem=malformed, better="Visit-time: 0600-0845")


# ---- records that few robots read, or none ---------------------------------------------------------------------------


def _noindex(line: SourceLine) -> Iterator[Finding]:
    if line.field == "noindex":
        yield _at(NOINDEX, line, line.field_at, written=_written(line))


def _obsolete(line: SourceLine, agents: Collection[str]) -> Iterator[Finding]:
    if line.field == "host":
        problem, affected = (
            "`Host` is obsolete: no robot reads it any more",
            "every robot; Yandex read it until March 2018",
        )
        fix = "redirect the other hosts to the main one (301), and remove this line"
        yield _at(OBSOLETE, line, line.field_at, problem=problem, affected=affected, fix=fix)
    elif line.field == "clean-param" and not any("yandex" in agent for agent in agents):
        problem = "of the large search engines, only Yandex reads `Clean-param`"
        affected = "every robot except Yandex's and a few others"
        fix = "for other robots, name the main URL with rel=canonical; this line does no harm"
        yield _at(OBSOLETE, line, line.field_at, problem=problem, affected=affected, fix=fix)


# ---- sitemaps -------------------------------------------------------------------------------------------------------


def _relative_sitemap(line: SourceLine) -> Iterator[Finding]:
    if line.field != "sitemap" or (host_of(line.value) and parse_url(line.value)):
        return
    severity: Severity | None = None
    problem = f"the sitemap `{shown(line.value)}` is not a full URL, so most robots cannot find it"
    fix = f"write `Sitemap: https://` and the host before `{shown(line.value)}`"
    if not line.value:
        severity = "warning"
        problem, fix = "this line names no sitemap", "write the full URL of a sitemap after it, or remove it"
    elif line.value.lower().startswith(("http://", "https://")):
        fix = "write the full URL: `https://`, the host and the path"
    yield _at(RELATIVE_SITEMAP, line, severity=severity, problem=problem, fix=fix)


def _sitemaps(subject: Subject, lines: list[SourceLine]) -> Iterator[Finding]:
    host = host_of(subject.url or "")
    for line in lines:
        if line.field != "sitemap" or not (sitemap_host := host_of(line.value)):
            continue
        value = shown(line.value)
        if line.value in subject.sitemaps_missing:
            problem, affected = "does not exist", "every robot that reads sitemaps"
            fix = "create it, or remove this line: no verdict changes"
            yield _at(SITEMAP, line, value=value, problem=problem, affected=affected, fix=fix)
        elif host and sitemap_host.removeprefix("www.") != host.removeprefix("www."):
            problem, affected = (
                f"is on another host than this file ({shown(host)})",
                "robots that accept a sitemap only for its own host",
            )
            fix = (
                "if both hosts are yours, change nothing: this line tells robots that the sitemap is for this host too"
            )
            yield SITEMAP.at(
                line.number,
                line.value_at + 1,
                line.value_end + 1,
                severity="info",
                value=value,
                problem=problem,
                affected=affected,
                fix=fix,
            )
        elif (not host or sitemap_host == host) and _is_disallowed(subject, line.value):
            problem, affected = (
                "is disallowed by this file",
                "robots without a group of their own: they may not fetch it",
            )
            fix = "add an Allow rule for it: they may then fetch it"
            yield _at(SITEMAP, line, value=value, problem=problem, affected=affected, fix=fix)


def _is_disallowed(subject: Subject, url: str) -> bool:
    """Returns whether the file disallows a URL for robots without a group; for Google's robots, if it disallows the
    whole site for those without a group."""
    agent = "*" if subject.parsed.allows("/", "*") else "Googlebot"
    return not subject.parsed.allows(url, agent)


# ---- what the content may be used for -------------------------------------------------------------------------------


def _signal(line: SourceLine) -> Iterator[Finding]:
    """Checks Content-Signal; keys that are not defined may have any value."""
    if line.field != "content-signal":
        return
    uses: dict[str, None] = {}
    for part in line.value.split(","):
        key, equals, value = (word.strip().lower() for word in part.partition("="))
        if key == _USE:
            uses[value] = None
        if not key or not equals or (key in _SIGNALS and value not in ("yes", "no")):
            problem, fix = "is neither `key=yes` nor `key=no`", _signal_fix(line.value, key)
        elif key == _USE and value not in USE_LEVELS:
            problem, fix = f"is none of {_USES}", f"write one of {_USES}"
        elif key not in (*_SIGNALS, _USE) and (meant := _meant(key, _SIGNALS)):
            problem, fix = "names a use that is not defined", f"did you mean `{meant}`?"
        else:
            continue
        yield _at(PREFERENCE, line, value=shown(part.strip()), problem=problem, fix=fix)
    known = [level for level in USE_LEVELS if level in uses]
    if len(known) > 1:
        problem = f"states `{_USE}` with {len(known)} values: goodbot applies the strictest"
        yield _at(PREFERENCE, line, value=shown(line.value), problem=problem, fix=f"write `{_USE}={known[0]}` alone")


def _signal_fix(value: str, key: str) -> str:
    """Says how to write the signals of a value, without guessing or dropping one: with commas if only the separators
    are wrong, otherwise with a valid answer for `key` or the first signal that lacks one."""
    signals = {name.lower(): answer.lower() for name, answer in _PAIR.findall(value[:_MAX_SIGNALS_CHARS])}
    known = [name for name in signals if name in _SIGNALS]
    unread = [name for name in known if signals[name] not in ("yes", "no")]
    if key in _SIGNALS and (key in unread or key not in signals):
        unread.insert(0, key)
    if unread:
        return f"write `{unread[0]}=yes` or `{unread[0]}=no`"
    if not signals:
        return "write each signal as `key=yes` or `key=no`"
    return f"write `{', '.join(f'{name}={answer}' for name, answer in signals.items())}`"


def _meant(key: str, known: Collection[str]) -> str | None:
    """Returns the known key that is probably meant: this one is misspelt or has its words swapped (`train-ai`)."""
    swapped = "-".join(reversed(key.split("-")))
    return swapped if swapped in known else next(iter(get_close_matches(key[:40], sorted(known), 1, 0.8)), None)


def _usage(line: SourceLine) -> Iterator[Finding]:
    if line.field != "content-usage":
        return
    members = parse_dictionary(Usage.parse(line.value).preferences)
    if not members:
        problem = "states no preference" if members is not None else "is not a structured-field dictionary (RFC 9651)"
        yield _at(PREFERENCE, line, value=_written(line), problem=problem, fix="write `Content-Usage: train-ai=n`")
        return
    for label, member in members.items():
        if label in _USAGES and member not in _ANSWERS:
            problem, fix = (
                "has a value that is neither `y` nor `n`",
                f"write `{label}=n` or `{label}=y`",
            )
        elif label not in _USAGES and (meant := _meant(label, _USAGES)):
            problem, fix = "names a use that is not defined", f"did you mean `{meant}`?"
        else:
            continue
        yield _at(PREFERENCE, line, value=shown(f"{label}={member.text}"), problem=problem, fix=fix)


def _license(line: SourceLine) -> Iterator[Finding]:
    if line.field == "license" and not host_of(line.value):
        problem = "is not the full URL of a licence"
        yield _at(
            PREFERENCE, line, value=_written(line), problem=problem, fix="write its full URL, beginning with `https://`"
        )
