"""R7: checks the directives of a page in META and header fields, also against the robots.txt of its site."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, NamedTuple

from goodbot import registry
from goodbot.check.findings import Finding, Kind, Severity
from goodbot.check.page_tags import PageTag, page_text, read_tags
from goodbot.check.raw_bytes import MAX_EACH
from goodbot.check.subject import HttpAnswer, PageFile, Subject
from goodbot.exclusion import RobotsTxt, Verdict
from goodbot.exclusion.page.directive_words import KNOWN
from goodbot.exclusion.page.page_metas import PAGE_METAS
from goodbot.exclusion.page.robots_tags import read_meta, read_robots_tag, read_x_robots_tag, unread_terms
from goodbot.exclusion.text.shown_text import shown
from goodbot.page import read_page
from goodbot.url import parse_url
from goodbot.values import Response

SEARCH_ENGINES: Final = ("Googlebot", "Bingbot")
"""A page counts as disallowed if robots.txt disallows it for one of these robots."""

_PERMITS: Final = {
    "index": ("index",),
    "follow": ("follow",),
    "all": ("index", "follow"),
    "archive": ("archive",),
    "snippet": ("snippet",),
}
"""Directives that permit something, and the fields of `Directives` that they set."""

_WITH_VALUE: Final = {
    "max-snippet": "max-snippet:50",
    "max-image-preview": "max-image-preview:large",
    "max-video-preview": "max-video-preview:-1",
    "unavailable_after": "unavailable_after: 2030-12-31",
}
"""Examples of the directives that need a value."""

_FIELDS: Final = {"x-robots-tag": read_x_robots_tag, "robots-tag": read_robots_tag}
_MAX_AUDIENCES: Final = 20
"""The most robots for which the header fields of one page are read."""

_LIMITS: Final = frozenset({"max_snippet", "max_image_preview", "max_video_preview"})
_RARE: Final = frozenset({"noyaca", "nopreview", "noimageclick", "nomediaindex", "noydir", "noodyp"})
"""Directives that some robot used to read, and that are therefore not misspelt."""

_READ_BYTES: Final = 16 * 1024 * 1024
_HERE: Final = "https://example.org/old/page.html"
_DISALLOWING: Final = b"User-agent: *\nDisallow: /old/\n"
_ALLOWING: Final = b"User-agent: *\nDisallow: /private/\n"


def _page(head: bytes, body: bytes = b"<p>Text", **more: object) -> Subject:
    """Returns an example."""
    html = (
        b"<!DOCTYPE html>\n<html><head><title>Old</title>\n"
        + head
        + b"\n</head><body>\n"
        + body
        + b"\n</body></html>\n"
    )
    return Subject(html, _HERE, is_page=True, **more)  # type: ignore[arg-type]


_NOINDEX: Final = b'<meta name="robots" content="noindex">'
_INDEX: Final = b'<meta name="robots" content="index, follow">'

CONFLICT = Kind(
    "R701",
    "META robots in conflict",
    "warning",
    "`{one}` contradicts `{other}` (line {line}): the stricter one applies",
    "{affected}; robots of the 1990s may apply the other one",
    "remove the one you do not mean",
    "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
    _page(b'<meta name="robots" content="index, noindex">'),
    _page(b'<meta name="robots" content="index, nofollow">\n<meta name="googlebot" content="noindex">'),
)
REPEATED = Kind(
    "R702",
    "META robots repeated",
    "info",
    "there is already a META {name} in line {line}: robots combine both",
    "robots that read only the first one",
    "put everything in one tag",
    "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
    _page(_INDEX + b"\n" + _INDEX),
    _page(_INDEX + b'\n<meta name="googlebot" content="nosnippet">'),
)
OUTSIDE = Kind(
    "R703",
    "META robots outside HEAD",
    "warning",
    "META {name} is in the body of the page, where not every robot looks for it",
    "robots that read only the head",
    "move it between <head> and </head>, before anything visible: visible content ends the head",
    "https://developers.google.com/search/docs/crawling-indexing/valid-page-metadata",
    _page(b"", _NOINDEX),
    _page(b"<noscript>" + _NOINDEX + b"</noscript>", b"<template>" + _NOINDEX + b"</template>"),
)
UNKNOWN = Kind(
    "R704",
    "unknown directive in META robots",
    "info",
    "no known robot reads `{term}` in META {name}",
    "every robot: all of them ignore it",
    "{fix}",
    "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
    _page(b'<meta name="robots" content="no-index">'),
    _page(b'<meta name="robots" content="NOINDEX, max-snippet:-1, unavailable_after: 25 Jun 2027 15:00:00 GMT">'),
    "Reported as a warning if the directive resembles a known one.",
)
NOINDEX_UNREAD = Kind(
    "R705",
    "noindex on a page that robots.txt disallows",
    "warning",
    "`{rule}` (line {line} of robots.txt) keeps {agent} from this page, so it never sees `{word}`",
    "search engines: they may still list the URL without having seen the page",
    "allow the page in robots.txt until search engines have dropped it, or remove its noindex",
    "https://developers.google.com/search/docs/crawling-indexing/block-indexing",
    _page(_NOINDEX, robots=_DISALLOWING),
    _page(_NOINDEX, robots=_ALLOWING),
)
HEADER = Kind(
    "R706",
    "X-Robots-Tag contradicts META",
    "warning",
    "META {name} says `{stated}`, but the {field} header says `{other}`: the stricter one applies",
    "{affected}",
    "make both say the same, or use only one of them",
    "https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag",
    _page(_INDEX, answer=HttpAnswer(200, (("X-Robots-Tag", "noindex"),))),
    _page(_INDEX, answer=HttpAnswer(200, (("X-Robots-Tag", "noarchive, otherbot: noindex"),))),
)
CANONICAL = Kind(
    "R707",
    "canonical URL that robots.txt disallows",
    "warning",
    "the canonical URL {url} is disallowed for {agent} by `{rule}` (line {line} of robots.txt)",
    "search engines: they cannot read the page that they should list instead of this one",
    "allow that page, or name a canonical URL that is allowed",
    "RFC 6596 3; https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls",
    _page(b'<link rel="canonical" href="/old/other.html">', robots=_DISALLOWING),
    _page(b'<link rel="canonical" href="https://www.example.org/old/other.html">', robots=_DISALLOWING),
)

KINDS = (CONFLICT, REPEATED, OUTSIDE, UNKNOWN, NOINDEX_UNREAD, HEADER, CANONICAL)


def find(subject: Subject) -> Iterator[Finding]:
    """Yields findings about each tag, about tags and header fields together, and about both against robots.txt."""
    if not subject.is_read:
        return
    headers = subject.answer.headers if subject.answer is not None else ()
    tags = read_tags(page_text(subject.body, headers))
    robots = _robots_tags(tags)
    directives = _directives(headers, robots)
    for findings in (_repeated(robots), _outside(robots), _unknown(robots), _conflicts(directives)):
        yield from islice(findings, MAX_EACH)
    if subject.robots is not None and subject.url is not None:
        yield from _against_robots(subject, directives, tags)


def _robots_tags(tags: Iterable[PageTag]) -> list[PageTag]:
    return [tag for tag in tags if not tag.is_canonical and _is_robots(tag.name)]


def _is_robots(name: str) -> bool:
    """Returns whether a META of this name is for robots: for all, or for a known one."""
    return name == "robots" or (name not in PAGE_METAS and registry.find_token(name) is not None)


def _at(kind: Kind, tag: PageTag | None, *, severity: Severity | None = None, **words: Any) -> Finding:
    """Returns a finding at a tag, or at line 1 for a header field, which has no place in the page."""
    place = (1, 1, None) if tag is None else (tag.line, tag.column, tag.end_column)
    return kind.at(*place, severity=severity, **words)


# ---- tag by tag -----------------------------------------------------------------------------------------------------


def _repeated(tags: Iterable[PageTag]) -> Iterator[Finding]:
    first: dict[str, PageTag] = {}
    for tag in tags:
        if first.setdefault(tag.name, tag) is not tag:
            yield _at(REPEATED, tag, name=shown(tag.name), line=first[tag.name].line)


def _outside(tags: Iterable[PageTag]) -> Iterator[Finding]:
    return (_at(OUTSIDE, tag, name=shown(tag.name)) for tag in tags if not tag.in_head)


def _unknown(tags: Iterable[PageTag]) -> Iterator[Finding]:
    for tag in tags:
        for term in unread_terms(tag.content):
            close = _meant(term)
            fix = f"did you mean `{close}`?" if close else "remove it"
            severity: Severity | None = "warning" if close else None
            yield _at(UNKNOWN, tag, severity=severity, term=shown(term), name=shown(tag.name), fix=fix)


def _meant(term: str) -> str | None:
    name, colon, _ = term.lower().partition(":")
    if name in _RARE or len(name) > 40:
        return None
    if name in KNOWN:  # its value is malformed
        return _WITH_VALUE.get(name, name)
    return next(iter(get_close_matches(name if colon else term.lower(), sorted(KNOWN), 1, 0.8)), None)


# ---- what contradicts what ------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Directive:
    """One directive of a page: its text and its effects, the robot that it addresses (`robots`: all), and the META tag
    that contains it; in a header field `tag` is None and `field` names the field."""

    text: str
    effects: dict[str, object]
    audience: str
    tag: PageTag | None = None
    field: str = ""


def directives_of(page: PageFile) -> list[_Directive]:
    """Returns the directives of a page. Never raises on content."""
    return _directives(page.headers, _robots_tags(read_tags(page_text(page.body, page.headers))))


def _directives(headers: Iterable[tuple[str, str]], tags: list[PageTag]) -> list[_Directive]:
    """Returns the directives of header fields and META tags; of header fields those for all robots, for search engines
    and for the robots that a META tag names."""
    named = dict.fromkeys([*(agent.lower() for agent in SEARCH_ENGINES), *(tag.name for tag in tags)])
    audiences = [name for name in islice(named, _MAX_AUDIENCES) if name != "robots"]
    return [*_of_headers(headers, audiences), *_of_metas(tags)]


def _of_metas(tags: Iterable[PageTag]) -> Iterator[_Directive]:
    for tag in tags:
        for text, effects in islice(read_meta(tag.content), MAX_EACH):
            yield _Directive(text, dict(effects), tag.name, tag)


def _of_headers(headers: Iterable[tuple[str, str]], audiences: Iterable[str]) -> Iterator[_Directive]:
    """Yields the directives for all robots, then those for each audience alone."""
    for name, value in headers:
        read = _FIELDS.get(name.strip().lower())
        if read is None:
            continue
        general = list(islice(read(value, ""), MAX_EACH))
        for text, effects in general:
            yield _Directive(text, dict(effects), "robots", field=name.strip())
        for audience in audiences:
            left = Counter(text for text, _ in general)
            for text, effects in islice(read(value, audience), MAX_EACH):
                left[text] -= 1
                if left[text] < 0:
                    yield _Directive(text, dict(effects), audience, field=name.strip())


def _conflicts(directives: list[_Directive]) -> Iterator[Finding]:
    """Finds the first contradiction about each field for each robot. To forbid one robot what others may do is not a
    contradiction."""
    reported: set[tuple[str, str]] = set()
    for field, one, other in _contradictions(directives):
        audience = one.audience if one.audience != "robots" else other.audience
        if (field, audience) in reported or (one.tag is None and other.tag is None):
            continue
        reported.add((field, audience))
        yield _against_header(one, other) if one.tag is None or other.tag is None else _in_metas(one, other)


def _contradictions(directives: list[_Directive]) -> Iterator[tuple[str, _Directive, _Directive]]:
    """Yields contradictions: the field, the directive that permits and the one that forbids."""
    forbidding: dict[tuple[str, str], _Directive] = {}
    limits: dict[tuple[str, str], _Directive] = {}
    for directive in directives:
        for field, value in directive.effects.items():
            if value is False:
                forbidding.setdefault((field, directive.audience), directive)
            elif field in _LIMITS:
                before = limits.setdefault((field, directive.audience), directive)
                if before.effects[field] != value:
                    yield field, before, directive
    for directive in directives:
        for field in _PERMITS.get(directive.text, ()):
            other = forbidding.get((field, directive.audience)) or forbidding.get((field, "robots"))
            if other is not None:
                yield field, directive, other


def _in_metas(permitting: _Directive, forbidding: _Directive) -> Finding:
    """Returns a finding at the later of two directives in META tags."""
    pair = [permitting, forbidding]
    places = [(tag.line, tag.column) if (tag := directive.tag) else (1, 1) for directive in pair]
    early, late = pair if places[0] <= places[1] else reversed(pair)
    assert early.tag is not None and late.tag is not None  # noqa: S101, PT018  (`_conflicts` checks this)
    words: dict[str, Any] = {"one": shown(late.text), "other": shown(early.text), "affected": _robots_of(early, late)}
    return _at(CONFLICT, late.tag, line=early.tag.line, **words)


def _robots_of(one: _Directive, other: _Directive) -> str:
    """Names the robots to which both directives apply."""
    audience = one.audience if one.audience != "robots" else other.audience
    return "search engines" if audience == "robots" else shown(audience)


def _against_header(one: _Directive, other: _Directive) -> Finding:
    meta, header = (one, other) if one.tag is not None else (other, one)
    assert meta.tag is not None  # noqa: S101  (`_conflicts` checks this)
    stated = header.text if header.audience == "robots" else f"{header.audience}: {header.text}"
    words: dict[str, Any] = {"name": shown(meta.tag.name), "stated": shown(meta.text), "other": shown(stated)}
    return _at(HEADER, meta.tag, field=shown(header.field), affected=_robots_of(meta, header), **words)


# ---- against robots.txt ---------------------------------------------------------------------------------------------


def _against_robots(subject: Subject, directives: list[_Directive], tags: tuple[PageTag, ...]) -> Iterator[Finding]:
    robots, url = RobotsTxt.parse(subject.robots or b""), subject.url or ""
    unread = unread_noindex(robots, url, directives)
    if unread is not None:
        yield _at(
            NOINDEX_UNREAD, unread.directive.tag, word=shown(unread.directive.text), **_template_words(unread.verdict)
        )
    canonical = _canonical(subject)
    if canonical is not None and canonical != url and (verdict := _disallowing(robots, canonical)) is not None:
        stated = next((tag for tag in tags if tag.is_canonical), None)
        yield _at(CANONICAL, stated, url=shown(canonical), **_template_words(verdict))


class _UnreadNoindex(NamedTuple):
    """A noindex directive, and the verdict that keeps its search engine from reading it."""

    directive: _Directive
    verdict: Verdict


def unread_noindex(robots: RobotsTxt, url: str, directives: Iterable[_Directive]) -> _UnreadNoindex | None:
    """Returns the first noindex that robots.txt keeps a search engine from reading, or None."""
    noindex = [directive for directive in directives if directive.effects.get("index") is False]
    for agent in SEARCH_ENGINES:
        found = next((each for each in noindex if each.audience in ("robots", agent.lower())), None)
        if found is not None and (verdict := _disallowing(robots, url, (agent,))) is not None:
            return _UnreadNoindex(found, verdict)
    return None


def _disallowing(robots: RobotsTxt, url: str, agents: Iterable[str] = SEARCH_ENGINES) -> Verdict | None:
    """Returns the first verdict that keeps a search engine from a URL, or None."""
    verdicts = (robots.verdict(url, agent) for agent in agents)
    return next((verdict for verdict in verdicts if not verdict.allowed), None)


def _template_words(verdict: Verdict) -> dict[str, Any]:
    return {"rule": shown(verdict.rule or ""), "line": verdict.line, "agent": verdict.agent}


def _canonical(subject: Subject) -> str | None:
    """Returns the canonical URL, if it has the origin of the page; the robots.txt of another origin is not known."""
    url = parse_url(subject.url or "")
    if url is None:
        return None
    headers = subject.answer.headers if subject.answer is not None else ()
    typed = headers if any(name.lower() == "content-type" for name, _ in headers) else (*headers, _HTML)
    named = read_page(url, Response(200, typed, subject.body), "*", _READ_BYTES, text=False).canonical
    return named.text if named is not None and named.origin == url.origin else None


_HTML: Final = ("Content-Type", "text/html")
