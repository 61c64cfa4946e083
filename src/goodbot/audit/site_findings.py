"""Writes the findings about a site: passes the facts to the functions of `judging`."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from goodbot.audit import index_kinds, page_kinds
from goodbot.audit.audited_crawl import AuditedCrawl
from goodbot.audit.findings import AuditFinding, finding
from goodbot.audit.judging import (
    canonical_problems,
    content_problems,
    link_problem,
    listed_problems,
    noindex_problems,
    weight_problems,
)
from goodbot.audit.options import AuditOptions
from goodbot.audit.page_places import LinkPlace
from goodbot.audit.place_finding import PlaceFinder
from goodbot.audit.reading import DisallowedUrls, RequestedUrls, source_of
from goodbot.audit.site_facts import follow
from goodbot.audit.staging import Staging
from goodbot.url import Url


class SiteFindings:
    """Finds what is wrong in one crawl. `places` is None if the crawl keeps no archive: then only the frontier is
    known."""

    def __init__(
        self,
        staging: Staging,
        ledger: AuditedCrawl,
        requested: RequestedUrls,
        places: PlaceFinder | None,
        options: AuditOptions,
    ) -> None:
        self._staging = staging
        self._ledger = ledger
        self._requested = requested
        self._places = places
        self._options = options
        self._disallowed = DisallowedUrls(ledger.load_robots)

    def find_links(self) -> None:
        """Writes the findings about links."""
        if self._places is None:
            self._staging.findings.add(self._sources_of_problems())
            return
        for page, rows in groupby(self._staging.problem_pages(), key=itemgetter(0)):
            if self._options.includes(page):
                self._staging.findings.add(self._link_findings(page, [(target, pages) for _, target, pages in rows]))

    def _link_findings(self, page: str, targets: Iterable[tuple[str, int]]) -> Iterator[AuditFinding]:
        places = self._places.in_page(page) if self._places is not None else None
        links: dict[str, list[LinkPlace]] = {}
        for link in places.links if places is not None else ():
            for requested in self._requested.both([Url(link.url)]):
                links.setdefault(requested, []).append(link)
        for target, pages in targets:
            facts = self._staging.url(target)
            problem = None if facts is None else link_problem(facts, self._staging.url)
            if problem is None:
                continue
            if places is None:
                yield problem.at(page, None, pages)
                continue
            for link in links.get(target, ()):
                yield problem.at(page, link.text, pages, link.place)

    def _sources_of_problems(self) -> Iterator[AuditFinding]:
        """Yields a finding for each problem at the page where the crawl first found its URL. Redirects and sitemaps are
        not pages."""
        for facts in self._staging.problems():
            record = self._ledger.record(Url(facts.url))
            source = None if record is None else source_of(record)
            problem = link_problem(facts, self._staging.url)
            at = None if source is None else self._staging.url(source)
            if at is None or at.state != "page" or self._staging.is_named_list(at.url):
                continue
            if problem is not None and self._options.includes(at.url):
                yield problem.at(at.url, None, None)

    def find_in_sitemaps(self) -> None:
        """Writes the findings about sitemaps."""
        staging, options = self._staging, self._options
        for entry in staging.entries(options.site):
            facts, page = staging.url(entry.url), staging.page(entry.url)
            if facts is not None:
                staging.findings.add(listed_problems(entry.sitemap, facts, page, staging.url, self._disallowed))
        for url, flaw in staging.flaws():
            if options.includes(url):
                found = finding(index_kinds.UNREAD_SITEMAP, url, "", url, problem=f"has an error: {flaw.what}")
                staging.findings.add([replace(found, line=flaw.line, column=flaw.column)])
        unknown = {Url(url).host_key for url in self._unread_sitemaps()}
        hosts = dict.fromkeys(Url(url).host_key for url in staging.read_lists())
        for each in hosts:
            if each not in unknown and options.host in (None, each):
                urls = filter(options.includes, staging.unlisted(each))
                missing = (url for url in urls if self._disallowed(url) is None)
                staging.findings.add(finding(index_kinds.UNLISTED, url) for url in missing)

    def _unread_sitemaps(self) -> Iterator[str]:
        """Writes the findings about sitemaps that cannot be read; yields those of which nothing is known, and what
        names them."""
        staging = self._staging
        has_content = self._places is not None
        for url, named_by in staging.unread_lists():
            end = follow(url, lambda each: facts.redirect if (facts := staging.url(each)) is not None else None).end
            facts = staging.url(end)
            if end != url and staging.is_read_list(end):
                continue
            is_other = facts is not None and facts.state == "page"
            if facts is None or (is_other and not (has_content and staging.page(end) is not None)):
                yield from (url, named_by or url)
            elif self._options.includes(url):
                problem = f"could not be read: {'it is not a sitemap' if is_other else facts.why}"
                found = finding(index_kinds.UNREAD_SITEMAP, named_by or url, "entry", url, problem=problem)
                staging.findings.add([found])

    def find_on_pages(self) -> None:
        """Writes the findings about single pages, their canonical URLs, titles and translations."""
        staging, options = self._staging, self._options
        has_content = self._places is not None
        for page in staging.pages(options.site):
            staging.findings.add(content_problems(page, has_content=has_content))
            staging.findings.add(weight_problems(page, options.slow_s, options.heavy_bytes))
            staging.findings.add(noindex_problems(page, self._disallowed))
            staging.findings.add(canonical_problems(page, staging.url, staging.page, self._disallowed))
        for group in staging.repeated_titles(options.site, options.places):
            related = {"title": group.title, "urls": list(group.urls), "count": group.pages}
            words: dict[str, Any] = {"title": f"`{group.title}`", "count": f"{group.pages:,}"}
            staging.findings.add(
                finding(page_kinds.REPEATED_TITLE, url, "title", "", related=related, **words) for url in group.urls
            )
        staging.findings.add(
            finding(
                page_kinds.NO_RETURN_LINK,
                page,
                "translation",
                target,
                related={"language": language},
                language=language,
            )
            for page, target, language in staging.one_sided_translations(options.site)
        )

    def find_orphans(self) -> None:
        """Writes the findings about pages to which no page links."""
        for url, is_listed, depth in self._staging.orphans(self._options.site):
            if Url(url).path != "/":
                origin = "from a sitemap" if is_listed else "as a seed" if depth == 0 else "from a feed or a submission"
                self._staging.findings.add([finding(page_kinds.ORPHAN, url, origin=origin)])
