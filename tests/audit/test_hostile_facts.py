"""Hostile pages and URLs, from their bytes to every report: nothing fails, and what is reported is well-formed."""

import json

from hypothesis import given
from hypothesis import strategies as st

from goodbot.audit.judging import (
    canonical_problems,
    content_problems,
    link_problem,
    listed_problems,
    noindex_problems,
    weight_problems,
)
from goodbot.audit.page_places import find_places
from goodbot.audit.reading import (
    DisallowedUrls,
    RequestedUrls,
    engine_directives,
    links_but,
    noindex_of,
    page_facts,
    url_facts,
)
from goodbot.audit.report import as_sarif, finding_json
from goodbot.audit.site_facts import URL_STATES, PageFacts, UrlFacts
from goodbot.audit.staging import Staging, VisitedUrl, open_staging
from goodbot.exclusion import Access
from goodbot.exclusion.text.shown_text import visible
from goodbot.page import Body
from goodbot.page.document import read_extract
from goodbot.page.page_building import page_of
from goodbot.url import Url, parse_url
from goodbot.values import Response, UrlRecord
from goodbot.web.operator.audit_page import audit_page

HOST = "http://site.example"
URLS = st.text(max_size=20).map(lambda text: parse_url(f"{HOST}/{text}")).filter(lambda url: url is not None)
PIECES = """<a href=|<link rel=canonical href=|<link rel=alternate hreflang=de href=|<html lang=|<title>|</title>|>|"|'
|/a|/b|?x=1&utm_source=2|<meta name=robots content=noindex>|<base href=|\0|\ud800|&#xd800;|&#0;|<noscript>
|</noscript>|{0}
|{target}|%s|\x1b[2J|\u202e"""
PAGES = st.lists(st.sampled_from(PIECES.split("|"))).map("".join) | st.text()
ROBOTS = Access.from_response(200, (), b"User-agent: Googlebot\nDisallow: /a\nClean-param: x\n", 1.0)
STATES = st.sampled_from(URL_STATES)


def stage(staging: Staging, url: Url, markup: str, state: str, why: str, target: str | None) -> None:
    facts = UrlFacts(url.text, state, 301, why, target if state == "redirect" else None)  # type: ignore[arg-type]
    staging.add_urls([VisitedUrl(facts, url.host_key, url.origin, None, None, 1, False)])
    response = Response(200, (("Content-Type", "text/html"), ("X-Robots-Tag", why)), markup.encode("utf-8", "replace"))
    kind, found, encoding = read_extract(Body(response, 10_000), url=url, text=False)
    page = page_of(url, response, "goodbot", found, encoding)
    noindex = noindex_of(engine_directives(found.metas, response.headers))
    read = page_facts(page, is_html=kind == "html", lang=found.language, noindex=noindex, size_bytes=1, taken_s=9.0)
    links = RequestedUrls(lambda origin: ROBOTS).both(links_but(page, found, {"canonical", "alternate"}))
    problems = staging.add_page(read, links, [(language, each.text) for language, each in page.alternates])
    staging.note_problem(url.text, problems, 3)
    staging.add_entries(f"{HOST}/s.xml", [url.text])
    staging.read_list(f"{HOST}/s.xml")
    for link in find_places(markup, url).links:
        assert link.place.line > 0


@given(st.lists(st.tuples(URLS, PAGES, STATES, st.text(), URLS), min_size=1, max_size=5))
def test_nothing_fails(pages: list[tuple[Url, str, str, str, Url]]) -> None:
    disallowed = DisallowedUrls(lambda origin: ROBOTS)
    with open_staging() as staging:
        for url, markup, state, why, target in pages:
            stage(staging, url, markup, state, why.encode("utf-8", "replace").decode(), target.text)
        staging.end_urls()
        store = staging.findings
        for page in list(staging.pages(None)):
            store.add(content_problems(page, has_content=True))
            store.add(weight_problems(page, 1.0, 0))
            store.add(noindex_problems(page, disallowed))
            store.add(canonical_problems(page, staging.url, staging.page, disallowed))
        for entry in list(staging.entries(None)):
            facts = staging.url(entry.url)
            assert facts is not None
            store.add(listed_problems(entry.sitemap, facts, staging.page(entry.url), staging.url, disallowed))
        for facts in list(staging.problems()):
            problem = link_problem(facts, staging.url)
            assert problem is not None
            store.add([problem.at(f"{HOST}/x", "{text}", 3)])
        found = list(store.select())
        assert sum(count for _, _, count, _ in store.counts()) == len(found)
        for each in found:
            assert json.loads(json.dumps(finding_json(each)))["url"] == each.url
            assert (each.message, each.fix) == (visible(each.message), visible(each.fix))
        as_sarif(found, sorted({each.code for each in found}), "1")
        audit_page(store, (), 1, (), 1.0)


@given(STATES, st.integers(0, 999), st.text(), st.lists(URLS, max_size=4))
def test_any_redirects_end(state: str, status: int, why: str, targets: list[Url]) -> None:
    chain = {each.text: other.text for each, other in zip(targets, targets[1:] + targets[:1], strict=True)}

    def known(url: str) -> UrlFacts | None:
        return UrlFacts(url, "redirect", status, why, chain[url]) if url in chain else None

    first = UrlFacts(f"{HOST}/", state, status, why, targets[0].text if targets else None)  # type: ignore[arg-type]
    link_problem(first, known)
    page = PageFacts(f"{HOST}/", is_html=True, canonical=f"{HOST}/b")
    list(
        canonical_problems(
            page,
            lambda url: None,
            lambda url: PageFacts(url, True, canonical=chain.get(url)),
            DisallowedUrls(lambda origin: None),
        )
    )


def test_states_of_the_crawl() -> None:
    url = Url(f"{HOST}/")
    cases = [
        (UrlRecord(url, "visited", 0, 200, why="status 200"), "page"),
        (UrlRecord(url, "visited", 0, 304, why="status 304: not modified"), "page"),
        (UrlRecord(url, "visited", 0, 302, why=f"status 302, to {HOST}/b"), "redirect"),
        (UrlRecord(url, "failed", 0, 302, why="more than 10 redirects in a row"), "failed"),
        (UrlRecord(url, "failed", 0, None, why="timeout: no answer"), "failed"),
        (UrlRecord(url, "failed", 0, None, why="private-address: 10.0.0.1"), None),
        (UrlRecord(url, "gone", 0, 410, why="status 410"), "gone"),
        (UrlRecord(url, "disallowed", 0, None, why="line 2"), "disallowed"),
        (UrlRecord(url, "ready", 0), None),
        (UrlRecord(url, "out-of-scope", 0, why="another host"), None),
    ]
    for record, state in cases:
        facts = url_facts(record)
        assert (None if facts is None else facts.state) == state
