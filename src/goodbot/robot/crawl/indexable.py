"""Decides whether a page is indexed, and which parts of it."""

from goodbot.exclusion import parse_http_date
from goodbot.robot.crawl.following import directive_sources, unread_note
from goodbot.search_values import Document
from goodbot.values import NOT_INDEXED, Event, Page, Response


def indexing(page: Page, response: Response, at: float, *, is_wanted: bool) -> tuple[bool, Event]:
    """Returns whether a page fetched at `at` is indexed, and the event that says why. `is_wanted`: this crawl has an
    index; if it has none, the text of the page was not read."""
    reason = index_refusal(page, response, at) if is_wanted else _own_refusal(page, at) or NOT_INDEXED
    if reason is not None:
        return False, Event(at, "index", "no", reason)
    return True, Event(at, "index", "yes", f"the page allows indexing{unread_note(page)}")


def index_refusal(page: Page, response: Response, at: float) -> str | None:
    """Why a page is not indexed: its directives, or because it has no text. None: it is indexed."""
    if (reason := _own_refusal(page, at)) is not None:
        return reason
    if page.text or page.title:
        return None
    if page.listed:
        return "a sitemap: the pages that it lists are indexed, not the list"
    return f"no text found in {response.media_type or 'a document without type'}{unread_note(page)}"


def _own_refusal(page: Page, at: float) -> str | None:
    """Why the directives of a page forbid indexing it; None: they allow it."""
    if not page.directives.index:
        return f"the page asks not to be indexed: {directive_sources(page, 'index')}"
    if not page.directives.is_available(at):
        return f"the page asks not to be shown any longer: {directive_sources(page, 'unavailable_after')}"
    return None


def document_of(page: Page, response: Response, fetched_at: float) -> Document:
    """Returns the document to index for a page."""
    directives = page.directives
    stated = response.header("last-modified")
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
        snippet_chars=directives.max_snippet if directives.snippet else 0,
        terms="\n".join(page.terms),
        alternative_texts="\n".join(page.alternative_texts),
        sections=page.sections,
        links=page.links if directives.follow else (),
        menus=page.menus,
        alternates=tuple((language, url.text) for language, url in page.alternates),
        media_type=response.media_type,
        modified_at=parse_http_date(stated) if stated else None,
    )
