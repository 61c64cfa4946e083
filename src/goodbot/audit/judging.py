"""Judges links, sitemap entries, canonical URLs and pages. Pure: facts in, findings out."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final

from goodbot.audit import index_kinds, link_kinds, page_kinds
from goodbot.audit.findings import AuditFinding, Part, finding
from goodbot.audit.kind import AuditKind
from goodbot.audit.page_places import Place
from goodbot.audit.site_facts import Chain, Disallowed, PageFacts, UrlFacts, follow, is_language_tag
from goodbot.check import Severity
from goodbot.exclusion import Verdict
from goodbot.human import human_bytes

Known = Callable[[str], UrlFacts | None]
"""Returns what is known about a URL; None if it was not visited."""

_TEMPORARY: Final = (302, 303, 307)


class LinkProblem:
    """What is wrong with the target of a link: a kind, and the words of its message. Each link to that target is a
    finding of its own (`at`)."""

    def __init__(self, kind: AuditKind, target: UrlFacts, chain: Chain, severity: Severity, why: str) -> None:
        self.kind = kind
        self.severity = severity
        self._target = target
        self._chain = chain
        self._why = why

    def at(self, page: str, text: str | None, pages: int | None, place: Place | None = None) -> AuditFinding:
        """Returns the finding about a link with this text (None: unknown) on `page`, one of this many pages."""
        target, chain = self._target, self._chain
        related: dict[str, Any] = {"status": target.status, "text": text, "pages": pages}
        if target.state == "redirect":
            related["hops"] = list(chain.urls)
        found = finding(
            self.kind,
            page,
            "link",
            target.url,
            severity=self.severity,
            related=related,
            why=self._why,
            end=chain.end,
            hops=chain.text,
            count=len(chain.urls) - 1,
        )
        return found if place is None else replace(found, line=place.line, column=place.column)


def link_problem(target: UrlFacts, known: Known) -> LinkProblem | None:
    """Returns what is wrong with links to `target`; None: nothing."""
    alone = Chain((target.url,))
    if target.state == "gone":
        return _problem(link_kinds.BROKEN_LINK, target, alone, target.why)
    if target.state == "failed":
        return _problem(link_kinds.FAILING_LINK, target, alone, target.why)
    if target.state != "redirect":
        return None
    chain = follow(target.url, lambda url: _redirect(known(url)))
    end = known(chain.end)
    if chain.is_loop:
        return _problem(link_kinds.LOOPING_LINK, target, chain, "")
    if end is not None and (why := _leads_nowhere(end)):
        return _problem(link_kinds.LOST_LINK, target, chain, why)
    if len(chain.urls) > 2:
        return _problem(link_kinds.CHAINED_LINK, target, chain, "")
    severity: Severity = "info" if target.status in _TEMPORARY else "warning"
    return LinkProblem(link_kinds.REDIRECTED_LINK, target, chain, severity, f"status {target.status}")


def _problem(kind: AuditKind, target: UrlFacts, chain: Chain, why: str) -> LinkProblem:
    return LinkProblem(kind, target, chain, kind.severity, why)


def _redirect(facts: UrlFacts | None) -> str | None:
    return facts.redirect if facts is not None and facts.state == "redirect" else None


def _leads_nowhere(end: UrlFacts) -> str:
    """Says why a URL is no page; empty if it is one, or may be."""
    if end.state in ("gone", "failed"):
        return end.why
    return end.why if end.state == "redirect" and end.redirect is None else ""


# ---- sitemaps -------------------------------------------------------------------------------------------------------


def listed_problems(
    sitemap: str, target: UrlFacts, page: PageFacts | None, known: Known, disallowed: Disallowed
) -> Iterator[AuditFinding]:
    """Yields what is wrong with `target` as an entry of a sitemap. `page`: what was read of it, if it was."""
    url = target.url
    if (verdict := disallowed(url)) is not None:
        yield finding(index_kinds.LISTED_DISALLOWED, sitemap, "entry", url, **_rule_words(verdict))
    if target.state == "gone":
        yield finding(index_kinds.LISTED_GONE, sitemap, "entry", url, why=target.why)
    elif target.state == "failed":
        yield finding(index_kinds.LISTED_FAILING, sitemap, "entry", url, why=target.why)
    elif target.state == "redirect":
        chain = follow(url, lambda each: _redirect(known(each)))
        related = {"hops": list(chain.urls)}
        yield finding(
            index_kinds.LISTED_REDIRECT, sitemap, "entry", url, related=related, hops=chain.text, end=chain.end
        )
    elif page is not None and page.noindex is not None:
        yield finding(index_kinds.LISTED_NOINDEX, sitemap, "entry", url, directive=page.noindex)
    elif page is not None and page.is_copy:
        named = {"canonical": page.canonical}
        yield finding(index_kinds.LISTED_COPY, sitemap, "entry", url, related=named, canonical=page.canonical)


def _rule_words(verdict: Verdict) -> dict[str, Any]:
    return {
        "rule": verdict.rule or "robots.txt",
        "rule_line": verdict.line if verdict.line is not None else "?",
        "agent": verdict.agent,
    }


# ---- indexing -------------------------------------------------------------------------------------------------------


def noindex_problems(page: PageFacts, disallowed: Disallowed) -> Iterator[AuditFinding]:
    """Yields what keeps search engines from reading the page's noindex."""
    if page.noindex is not None and (verdict := disallowed(page.url)) is not None:
        words = _rule_words(verdict)
        yield finding(index_kinds.UNREAD_NOINDEX, page.url, "robots", "", directive=page.noindex, **words)


def canonical_problems(
    page: PageFacts, known: Known, read: Callable[[str], PageFacts | None], disallowed: Disallowed
) -> Iterator[AuditFinding]:
    """Yields what is wrong with the canonical URL of a page. `read` returns the facts of a page that was read."""
    target = page.canonical
    if target is None or target == page.url:
        return
    place: tuple[str, Part, str] = (page.url, "canonical", target)
    facts = known(target)
    if facts is not None and (why := _leads_nowhere(facts)):
        yield finding(index_kinds.CANONICAL_LOST, *place, why=why)
        return
    if facts is not None and facts.state == "redirect":
        chain = follow(target, lambda url: _redirect(known(url)))
        related = {"hops": list(chain.urls)}
        yield finding(index_kinds.CANONICAL_REDIRECT, *place, related=related, hops=chain.text, end=chain.end)
        return
    if (verdict := disallowed(target)) is not None:
        yield finding(index_kinds.CANONICAL_DISALLOWED, *place, **_rule_words(verdict))
    other = read(target)
    if other is not None and other.noindex is not None:
        yield finding(index_kinds.CANONICAL_NOINDEX, *place, directive=other.noindex)
    if other is not None and other.is_copy:
        yield _canonical_chain(page.url, target, follow(page.url, lambda url: _canonical(read(url))))


def _canonical_chain(url: str, target: str, chain: Chain) -> AuditFinding:
    related = {"hops": list(chain.urls)}
    kind = index_kinds.CANONICAL_LOOP if chain.is_loop else index_kinds.CANONICAL_CHAIN
    return finding(kind, url, "canonical", target, related=related, hops=chain.text, end=chain.end)


def _canonical(page: PageFacts | None) -> str | None:
    return page.canonical if page is not None and page.is_copy else None


# ---- pages ----------------------------------------------------------------------------------------------------------


def content_problems(page: PageFacts, *, has_content: bool) -> Iterator[AuditFinding]:
    """Yields what is wrong with title and language of a page. Without `has_content` only its title is known."""
    if not page.is_html:
        return
    if not page.title:
        yield finding(page_kinds.UNTITLED, page.url)
    if not has_content:
        return
    lang = (page.lang or "").strip()
    if not lang and page.language is None:
        yield finding(page_kinds.NO_LANGUAGE, page.url, "html", "")
    elif lang and not is_language_tag(lang):
        yield finding(page_kinds.BAD_LANGUAGE, page.url, "html", "", lang=f"`{lang}`", related={"lang": lang[:200]})


def weight_problems(page: PageFacts, slow_s: float, heavy_bytes: int) -> Iterator[AuditFinding]:
    """Yields whether a page took longer than `slow_s`, or is larger than `heavy_bytes`."""
    if page.taken_s is not None and page.taken_s > slow_s:
        words: dict[str, Any] = {"taken_s": f"{page.taken_s:.1f}", "limit_s": f"{slow_s:g}"}
        yield finding(page_kinds.SLOW, page.url, related={"seconds": round(page.taken_s, 3)}, **words)
    if page.is_html and page.size_bytes > heavy_bytes:
        words = {"size": human_bytes(page.size_bytes), "limit": human_bytes(heavy_bytes)}
        yield finding(page_kinds.HEAVY, page.url, related={"bytes": page.size_bytes}, **words)
