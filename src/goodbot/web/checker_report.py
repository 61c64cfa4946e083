"""What the checker page shows: a robots.txt judged, and its answer to one robot and one URL. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from goodbot.check import Finding, Severity, Subject, check
from goodbot.check.json_report import CheckedFile, as_json, summary
from goodbot.check.source_lines import SourceLine
from goodbot.errors import InputError
from goodbot.exclusion import DIALECTS, Verdict
from goodbot.exclusion.robotstxt.lines import decode
from goodbot.exclusion.text.shown_text import shown, visible
from goodbot.url import is_as_typed, requested, resolve
from goodbot.web.robots_asker import SiteRobots

TEXT_MOST_BYTES: Final = 528 * 1024
"""Of a robots.txt that is sent: robots read 500 KiB (RFC 9309 §2.5), and what is beyond is to be seen."""
AGENT_CHARS: Final = 500
URL_CHARS: Final = 2000
FINDINGS_SHOWN: Final = 100
FINDINGS_SENT: Final = 1000
_EXCERPT_CHARS: Final = 160
_BEFORE_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, and its line in pieces (text, is marked), cut around the mark. `line` None: it concerns the whole
    file."""

    finding: Finding
    line: int | None
    excerpt: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class CheckerReport:
    """Everything found in one file, and what each dialect answers to the question, if there is one; `trouble` says
    why it cannot be answered. `typed`: the URL as typed; the verdicts have it as robots request it."""

    name: str
    findings: list[Finding]
    lines: tuple[SourceLine, ...]
    verdicts: list[Verdict]
    trouble: str = ""
    site: SiteRobots | None = None
    typed: str = ""

    @property
    def requested_as(self) -> str:
        """The URL that a robot requests, if that is another than the one typed; else empty."""
        urls = [verdict.url for verdict in self.verdicts[:1] if not is_as_typed(self.typed, verdict.url)]
        return "".join(urls)

    @property
    def agreed(self) -> bool:
        """Whether every dialect answers the same."""
        return len({verdict.allowed for verdict in self.verdicts}) <= 1

    @property
    def counts(self) -> Counter[Severity]:
        """Findings of each severity."""
        return CheckedFile(self.name, self.findings).counts

    @property
    def summary(self) -> str:
        """`1 error, 2 warnings, 0 info`."""
        return summary([CheckedFile(self.name, self.findings)]).partition(" in ")[0]

    @property
    def shown(self) -> list[FindingView]:
        """The first of them, errors before the others."""
        order: tuple[Severity, ...] = ("error", "warning", "info")
        ranked = sorted(self.findings, key=lambda finding: order.index(finding.severity))
        return [_view(finding, self.lines) for finding in ranked[:FINDINGS_SHOWN]]

    def as_json(self) -> dict[str, object]:
        """For programs: findings as `goodbot check --json` has them, verdicts much as `goodbot allowed --json`."""
        sent = CheckedFile(self.name, self.findings[:FINDINGS_SENT])
        counts = self.counts
        return {
            "file": self.name,
            "fetched_at": self.site.at if self.site else None,
            "counts": {severity: counts[severity] for severity in ("error", "warning", "info")},
            "findings": as_json([sent]),
            "verdicts": [_verdict_json(self.typed, verdict) for verdict in self.verdicts],
        }


def judge(text: bytes, agent: str = "", url: str = "", site: SiteRobots | None = None) -> CheckerReport:
    """`text` checked, and asked whether `agent` may fetch `url` (absolute or a path; both empty: nothing is asked).
    With `site` it is what was fetched, and not `text`."""
    subject = Subject(site.body, site.url.text, site.answer) if site else Subject(text)
    lines = subject.lines if subject.is_read else ()
    verdicts: list[Verdict] = []
    trouble = ""
    try:
        verdicts = _verdicts(subject, agent.strip(), url.strip(), site)
    except InputError as error:
        trouble = str(error)
    return CheckerReport(subject.url or "robots.txt", check(subject), lines, verdicts, trouble, site, url.strip())


def text_of(site: SiteRobots) -> str:
    """What the site's robots.txt says, as far as a form may send it back; nothing, if robots do not read it."""
    if site.answer.status is None or not 200 <= site.answer.status < 300:
        return ""
    return decode(site.body)[: TEXT_MOST_BYTES // 4] if len(site.body) > TEXT_MOST_BYTES else decode(site.body)


def same_text(one: str, other: str) -> bool:
    """Whether a form gave back what was put into it: it has its own ends of lines."""
    return one.splitlines() == other.splitlines()


def _verdicts(subject: Subject, agent: str, url: str, site: SiteRobots | None) -> list[Verdict]:
    """Of every dialect. Raises InputError if half of the question is missing or too long, or of another site."""
    if not agent and not url:
        return []
    if not agent or not url:
        missing = "the robot's name, such as Googlebot" if url else "the URL, absolute or a path such as /private/"
        raise InputError(f"to ask whether a robot may fetch a URL, give {missing}")
    if len(agent) > AGENT_CHARS or len(url) > URL_CHARS:
        raise InputError(f"the robot's name has {AGENT_CHARS} characters at most, the URL {URL_CHARS:,}")
    if site is None:
        wanted = requested(url)
        if wanted is None:
            raise InputError(
                f"{shown(url)} is no URL that robots fetch: give an http or https one, or a path that begins with `/`"
            )
        return list(subject.parsed.compare(wanted, agent).values())
    target = resolve(site.url, url)
    if target is None or target.origin != site.url.origin:
        raise InputError(f"{shown(url)} is not of {shown(site.url.origin)}, whose robots.txt was asked for")
    return [site.access.in_dialect(name).verdict(target.text, agent) for name in DIALECTS]


def _view(finding: Finding, lines: tuple[SourceLine, ...]) -> FindingView:
    whole = finding.line == 1 and finding.column == 1 and finding.end_column is None
    if whole or not 1 <= finding.line <= len(lines):
        return FindingView(finding, None, ())
    text = lines[finding.line - 1].text
    return FindingView(finding, finding.line, tuple(_excerpt(text, finding.column - 1, finding.end_column)))


def _excerpt(text: str, start: int, end_column: int | None) -> Iterable[tuple[str, bool]]:
    """A line around what is marked; what cannot be seen is an escape."""
    end = len(text) if end_column is None else end_column - 1
    first = max(0, start - _BEFORE_CHARS) if len(text) > _EXCERPT_CHARS else 0
    cut = text[first : first + _EXCERPT_CHARS]
    ahead, behind = "…" if first else "", "…" if first + len(cut) < len(text) else ""
    begin, stop = start - first, max(start, end) - first
    before, marked, after = cut[:begin], cut[begin:stop], cut[stop:]
    parts = ((ahead + visible(before), False), (visible(marked), True), (visible(after) + behind, False))
    return [part for part in parts if part[0]]


def _verdict_json(typed: str, verdict: Verdict) -> dict[str, object]:
    return {
        "url": typed,
        "requested_as": verdict.url,
        "agent": verdict.agent,
        "dialect": verdict.dialect,
        "allowed": verdict.allowed,
        "line": verdict.line,
        "rule": verdict.rule,
        "section": verdict.section,
        "reason": verdict.reason,
        "access": verdict.access,
        "delay_s": verdict.delay_s,
    }
