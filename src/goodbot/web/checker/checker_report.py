"""Builds what the checker page shows: the findings in a robots.txt, and whether one robot may fetch one URL. Pure."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from goodbot.check import Finding, Severity, Subject, check
from goodbot.check.json_report import CheckedFile, as_json
from goodbot.check.source_lines import SourceLine
from goodbot.errors import InputError, UnusableUrlError
from goodbot.exclusion import DIALECTS, Verdict
from goodbot.exclusion.robotstxt.lines import decode
from goodbot.exclusion.text.shown_text import shown, visible
from goodbot.url import is_as_typed, requested, resolve
from goodbot.visitor_urls import named_host
from goodbot.web.checker.site_robots import SiteRobots
from goodbot.web.pages.messages import Message
from goodbot.web.pages.translations import translatable

MAX_TEXT_BYTES: Final = 528 * 1024
"""Limits a robots.txt that a visitor sends. Robots read the first 500 KiB (RFC 9309 §2.5); the rest is for showing
where they stop."""
AGENT_CHARS: Final = 500
URL_CHARS: Final = 2000
FINDINGS_SHOWN: Final = 100
FINDINGS_SENT: Final = 1000
_EXCERPT_CHARS: Final = 160
_BEFORE_CHARS: Final = 40
_MODERN: Final = {"rfc9309": "RFC 9309", "google": "Google"}
"""The dialects that robots read today, with their names for people."""
SEVERITIES: Final[dict[Severity, str]] = {
    "error": translatable("error"),
    "warning": translatable("warning"),
    "info": translatable("info"),
}
"""The names of severities; translatable."""

_NO_AGENT: Final = translatable("to see whether a robot may fetch a URL, also give the robot's name, such as Googlebot")
_NO_URL: Final = translatable(
    "to see whether a robot may fetch a URL, also give the URL, absolute or a path such as /private/"
)
_TOO_LONG: Final = translatable(
    "the robot's name may have %(agent_chars)s characters at most, and the URL %(url_chars)s characters"
)
_NOT_A_URL: Final = translatable(
    "`%(url)s` is not a URL that robots fetch: give an http or https URL, or a path that begins with `/`"
)
_NO_SUCH_URL: Final = translatable("no server can have the URL %(url)s")
_ANOTHER_SITE: Final = translatable("`%(url)s` is not a URL of %(origin)s, whose robots.txt was fetched")


class TroubleError(InputError):
    """The visitor's input cannot be used; `message` says why."""

    def __init__(self, text: str, **values: str | int) -> None:
        self.message = Message(text, values)
        super().__init__(str(self.message))


class _UnusableUrlTroubleError(TroubleError, UnusableUrlError):
    """No server can have the URL."""


@dataclass(frozen=True, slots=True)
class FindingView:
    """A finding, and an excerpt of its line as pieces (text, is marked). `line` is None if the finding is about the
    whole file."""

    finding: Finding
    line: int | None
    excerpt: tuple[tuple[str, bool], ...]


@dataclass(frozen=True)
class CheckerReport:
    """The findings in one file and, if a robot and a URL were given, the verdict of each dialect.

    `trouble` says why there are no verdicts, None if that is no mistake. `typed` is the URL as the visitor typed it;
    verdicts have it as robots request it.
    """

    name: str
    findings: list[Finding]
    lines: tuple[SourceLine, ...]
    verdicts: list[Verdict]
    trouble: TroubleError | None = None
    site: SiteRobots | None = None
    typed: str = ""

    @property
    def requested_as(self) -> str:
        """The URL that robots request, if it differs from the one typed; else empty."""
        urls = [verdict.url for verdict in self.verdicts[:1] if not is_as_typed(self.typed, verdict.url)]
        return "".join(urls)

    @property
    def modern(self) -> list[tuple[str, Verdict]]:
        """The verdicts of the dialects in use today, each with the dialect's name for people."""
        return [(_MODERN[verdict.dialect], verdict) for verdict in self.verdicts if verdict.dialect in _MODERN]

    @property
    def historic(self) -> list[tuple[str, Verdict]]:
        """The verdicts of the dialects of the 1990s, each with the dialect's name."""
        return [(verdict.dialect, verdict) for verdict in self.verdicts if verdict.dialect not in _MODERN]

    @property
    def historic_answers(self) -> tuple[int, int]:
        """Counts the verdicts of `historic`: how many dialects say yes, and how many no."""
        yes = sum(verdict.allowed for _, verdict in self.historic)
        return yes, len(self.historic) - yes

    @property
    def counts(self) -> Counter[Severity]:
        """The number of findings of each severity."""
        return CheckedFile(self.name, self.findings).counts

    @property
    def shown(self) -> list[FindingView]:
        """The first `FINDINGS_SHOWN` findings, the most severe first."""
        order: tuple[Severity, ...] = ("error", "warning", "info")
        ranked = sorted(self.findings, key=lambda finding: order.index(finding.severity))
        return [_view(finding, self.lines) for finding in ranked[:FINDINGS_SHOWN]]

    def as_json(self) -> dict[str, object]:
        """Returns the report for programs: findings as in `goodbot check --json`, verdicts much as in `goodbot allowed
        --json`."""
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
    """Checks a robots.txt: `text`, or the one fetched from `site` if given. If `agent` and `url` (absolute or a path)
    are not empty, also decides whether `agent` may fetch `url`."""
    subject = Subject(site.body, site.url.text, site.answer) if site else Subject(text)
    lines = subject.lines if subject.is_read else ()
    verdicts: list[Verdict] = []
    trouble = None
    try:
        verdicts = _verdicts(subject, agent.strip(), url.strip(), site)
    except TroubleError as error:
        trouble = error
    return CheckerReport(subject.url or "robots.txt", check(subject), lines, verdicts, trouble, site, url.strip())


def text_of(site: SiteRobots) -> str:
    """Returns the text of a site's robots.txt, cut to what a form may send back; empty if its status is not 2xx."""
    if not has_text(site):
        return ""
    return decode(site.body)[: MAX_TEXT_BYTES // 4] if len(site.body) > MAX_TEXT_BYTES else decode(site.body)


def has_text(site: SiteRobots) -> bool:
    """Returns whether the site answered with a file."""
    return site.answer.status is not None and 200 <= site.answer.status < 300


def same_text(one: str, other: str) -> bool:
    """Returns whether two texts are equal except for their line ends, which a form changes."""
    return one.splitlines() == other.splitlines()


def _verdicts(subject: Subject, agent: str, url: str, site: SiteRobots | None) -> list[Verdict]:
    """Returns the verdict of every dialect, or none if `agent` and `url` are empty. Raises TroubleError if only one is
    given, if one is too long, or if the URL belongs to another site."""
    if not agent and not url:
        return []
    if not agent:
        raise TroubleError(_NO_AGENT)
    if not url:
        raise TroubleError(_NO_URL)
    if len(agent) > AGENT_CHARS or len(url) > URL_CHARS:
        raise TroubleError(_TOO_LONG, agent_chars=AGENT_CHARS, url_chars=f"{URL_CHARS:,}")
    if site is None:
        request_url = requested(url)
        if request_url is None and named_host(url):
            raise _UnusableUrlTroubleError(_NO_SUCH_URL, url=shown(url))
        if request_url is None:
            raise TroubleError(_NOT_A_URL, url=shown(url))
        return list(subject.parsed.compare(request_url, agent).values())
    target = resolve(site.url, url)
    if target is None or target.origin != site.url.origin:
        raise TroubleError(_ANOTHER_SITE, url=shown(url), origin=shown(site.url.origin))
    return [site.access.in_dialect(name).verdict(target.text, agent) for name in DIALECTS]


def _view(finding: Finding, lines: tuple[SourceLine, ...]) -> FindingView:
    whole = finding.line == 1 and finding.column == 1 and finding.end_column is None
    if whole or not 1 <= finding.line <= len(lines):
        return FindingView(finding, None, ())
    text = lines[finding.line - 1].text
    return FindingView(finding, finding.line, tuple(_excerpt(text, finding.column - 1, finding.end_column)))


def _excerpt(text: str, start: int, end_column: int | None) -> Iterable[tuple[str, bool]]:
    """Cuts a line around its marked part. Escapes invisible characters."""
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
