"""Decides whether a page is indexed, and which parts of it."""

from goodbot.exclusion import PreferenceSource, parse_http_date
from goodbot.robot.crawl.following import directive_sources, unread_note
from goodbot.robot.crawl.wishes import Refusal, no_search_refusal
from goodbot.search_values import Document
from goodbot.values import NOT_INDEXED, Event, Page, Response


def indexing(
    page: Page, response: Response, at: float, *, is_wanted: bool, no_search: PreferenceSource | None = None
) -> tuple[bool, Event]:
    """Returns whether a page fetched at `at` is indexed, and the event that says why. `is_wanted`: this crawl has an
    index; if it has none, the text of the page was not read. `no_search`: the statement, in robots.txt or in the
    answer, that keeps the page out of search."""
    refusal = _own_refusal(page, at, no_search)
    if refusal is None:
        refusal = _no_text(page, response) if is_wanted else Refusal(NOT_INDEXED)
    if refusal is not None:
        return False, Event(at, "index", "no", *refusal)
    return True, Event(at, "index", "yes", f"the page allows indexing{unread_note(page)}")


def index_refusal(
    page: Page, response: Response, at: float, no_search: PreferenceSource | None = None
) -> Refusal | None:
    """Why a page is not indexed: its directives, a preference, or because it has no text. None: it is indexed."""
    return _own_refusal(page, at, no_search) or _no_text(page, response)


def _no_text(page: Page, response: Response) -> Refusal | None:
    if page.text or page.title:
        return None
    if page.listed:
        return Refusal("a sitemap: the pages that it lists are indexed, not the list")
    return Refusal(f"no text found in {response.media_type or 'a document without type'}{unread_note(page)}")


def _own_refusal(page: Page, at: float, no_search: PreferenceSource | None) -> Refusal | None:
    """Why the directives of a page, or a preference of its site, forbid indexing it; None: they allow it."""
    if not page.directives.index:
        return Refusal(f"the page asks not to be indexed: {directive_sources(page, 'index')}")
    if not page.directives.is_available(at):
        return Refusal(f"the page asks not to be shown any longer: {directive_sources(page, 'unavailable_after')}")
    return None if no_search is None else no_search_refusal(no_search)


def document_of(page: Page, response: Response, fetched_at: float) -> Document:
    """Returns the document to index for a page."""
    directives = page.directives
    stated = response.header("last-modified")
    snippet_chars = directives.max_snippet if directives.snippet else 0
    return Document(
        id=page.url.text,
        url=page.url.text,
        title=page.title,
        text=page.text,
        headings="\n".join(page.headings),
        description=directives.description,
        keywords=directives.keywords,
        language=page.language,
        fetched_at=fetched_at,
        shown=page.shown,
        snippet_chars=snippet_chars,
        terms="\n".join(page.terms),
        alternative_texts="\n".join(page.alternative_texts) if directives.index_images else "",
        sections=page.sections,
        links=page.links if directives.follow else (),
        menus=page.menus,
        alternates=tuple((language, url.text) for language, url in page.alternates),
        media_type=response.media_type,
        modified_at=parse_http_date(stated) if stated else None,
        size_bytes=len(response.body),
        has_copy=directives.archive and snippet_chars != 0,
        available_until=directives.unavailable_after,
    )
