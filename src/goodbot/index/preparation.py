"""Prepares documents for the index: which terms and numbers a page gets in each field."""

from collections.abc import Iterable, Sequence
from itertools import chain

import tantivy

from goodbot.index import analysis
from goodbot.index.change_dates import believed_change, date_of
from goodbot.index.keys import (
    REGIONAL,
    address_words,
    cleaned,
    depth_of,
    document_key,
    extension_of,
    hash_of,
    language_in,
    site_terms,
    target_of,
    tongue_of,
    untranslated,
)
from goodbot.index.languages import language_of
from goodbot.index.stored_page import MAX_STORED_LINKS, StoredLink, StoredPage, encode_links, encode_page
from goodbot.search_values import Document, PreparedDocument
from goodbot.url import Url, parse_url

MAX_INDEXED_CHARS = 1_000_000
"""The limit for a document's text; the rest cannot be found."""

MAX_STORED_CHARS = 200_000
"""The limit for the text stored for snippets, about as long as a few chapters of a novel."""

MAX_FIELD_CHARS = 10_000
"""The limit for any other field."""

MAX_TERMS_CHARS = 50_000
"""The limit for the terms of definition lists: the reference of a large module has as many."""

MAX_MEDIA_TYPE_CHARS = 100

NAMING_FIELDS = ("title", "headings", "terms")
"""The fields that say what a page is about."""

_MAX_TIME = float(1 << 62)
_LIST_LINKS = 30
_LIST_SHARE = 0.5
_MIN_TWIN_CHARS = 200
"""Shorter texts are often the same by chance."""


def prepare(document: Document) -> PreparedDocument:
    """Prepares a document for the index. Lone surrogates become `?`. This is the costly half of adding a document; any
    process may do it."""
    url = parse_url(document.url)
    language = language_of(document.language, document.text)
    texts = _searched_texts(document, address_words(url) if url else "")
    labels = [("key", document_key(document.id)), *_labels(document, url, language)]
    if names := _names(texts):
        labels.append(("names", names))
    searched = [(name, terms) for name, text in texts.items() if text and (terms := analysis.terms(text, language))]
    stored = [("shown", encode_page(_stored_page(document, language)))]
    if links := _stored_links(document):
        labels.append(("targets", " ".join(dict.fromkeys(target_of(url) for url, _, _ in links))))
        stored.append(("links", _encoded_links(links, document.url)))
    return PreparedDocument(document.id, (*labels, *searched), tuple(stored), _numbers(document, url, language))


def to_tantivy(prepared: PreparedDocument) -> tantivy.Document:
    """Converts a prepared document for the engine."""
    made = tantivy.Document()
    for name, text in prepared.texts:
        made.add_text(name, text)
    for name, data in prepared.stored:
        made.add_bytes(name, data)
    for name, number in prepared.numbers:
        made.add_unsigned(name, number)
    return made


def _searched_texts(document: Document, address: str) -> dict[str, str]:
    anchors = (section.anchor for section in document.sections if section.is_term)
    return {
        "title": document.title[:MAX_FIELD_CHARS],
        "headings": document.headings[:MAX_FIELD_CHARS],
        "terms": "\n".join([document.terms, *anchors])[:MAX_TERMS_CHARS],
        "body": document.text[:MAX_INDEXED_CHARS],
        "summary": document.description[:MAX_FIELD_CHARS],
        "address": address,
        "alternatives": document.alternative_texts[:MAX_FIELD_CHARS],
        "keywords": document.keywords[:MAX_FIELD_CHARS],
    }


def _names(texts: dict[str, str]) -> str:
    """Returns the joined words that name a page or a part of it."""
    found = (name for field in NAMING_FIELDS for name in analysis.identifiers(texts[field]))
    return " ".join(dict.fromkeys(chain.from_iterable(map(analysis.identifier_endings, found))))


def _labels(document: Document, url: Url | None, language: str) -> Iterable[tuple[str, str]]:
    if url is not None:
        yield from (("site", site) for site in site_terms(url))
        if extension := extension_of(url):
            yield "kind", extension
    if media_type := _media_type(document):
        yield "kind", media_type
    stated = cleaned((document.language or "").lower())[:35]
    is_same = tongue_of(stated) == tongue_of(language)
    yield from (("language", tag) for tag in {language, stated if is_same else ""} if tag)


def _numbers(document: Document, url: Url | None, language: str) -> tuple[tuple[str, int], ...]:
    stated = (document.language or "")[:2].lower()
    named = stated if stated and untranslated(document.url, stated) != document.url else ""
    tongue = language_in(document.url) or named or language
    group = _translations(document, language, stated)
    text = document.text
    return (
        ("number", hash_of(document_key(document.id))),
        ("host", hash_of(url.host_key) if url else 0),
        ("group", hash_of(group) if url else 0),
        ("twin", hash_of(text) if len(text) >= _MIN_TWIN_CHARS else 0),
        ("tongue", tongue_of(tongue)),
        ("depth", min(max(depth_of(url), 0), 100) if url else 0),
        ("list", int(_is_list(document))),
        ("date", _whole_seconds(date_of(document.modified_at, document.fetched_at))),
        *_until(document.available_until),
    )


def _until(end: float | None) -> Iterable[tuple[str, int]]:
    """Yields the time from which on a document must not be found, at least 1: an index finds no document by 0."""
    if end is not None and end < _MAX_TIME:
        yield "until", int(max(end, 1.0))


def _translations(document: Document, *languages: str) -> str:
    """Returns what the translations of a page have in common: their URLs without languages. An English page in the
    folder of a language into which it has not been translated belongs to them, though they do not name it."""
    if not document.alternates:
        return untranslated(document.url, *languages)
    codes = {*languages, *(code[:2].lower() for code, _ in document.alternates)}
    found = {untranslated(url, *codes) for _, url in document.alternates}
    if untranslated(document.url, *REGIONAL) not in found:
        found.add(untranslated(document.url, *codes))
    return " ".join(sorted(found))


def _whole_seconds(at: float) -> int:
    return int(at) if 0.0 <= at < _MAX_TIME else 0


def _is_list(document: Document) -> bool:
    """Whether a page is hardly more than links, as an index or a table of contents is."""
    if len(document.links) < _LIST_LINKS:
        return False
    return sum(len(link.anchor) for link in document.links) > _LIST_SHARE * len(document.text)


def _stored_page(document: Document, language: str) -> StoredPage:
    """Returns what may be displayed; nothing else is stored."""
    is_silent = document.snippet_chars is not None and document.snippet_chars <= 0
    text = "" if is_silent else document.text if document.shown is None else document.shown
    text = cleaned(text[:MAX_STORED_CHARS])
    return StoredPage(
        id=cleaned(document.id),
        url=cleaned(document.url),
        title=cleaned(document.title[:MAX_FIELD_CHARS]),
        text=text,
        description="" if is_silent else cleaned(document.description[:MAX_FIELD_CHARS]),
        language=language,
        fetched_at=document.fetched_at,
        snippet_chars=document.snippet_chars,
        menus=() if is_silent else tuple(span for span in document.menus if span[1] <= len(text)),
        sections=_stored_sections(document),
        modified_at=believed_change(document.modified_at, document.fetched_at),
        size_bytes=document.size_bytes,
        media_type=_media_type(document),
        has_copy=document.has_copy,
    )


def _stored_sections(document: Document) -> tuple[tuple[str, str], ...]:
    """Returns the places to which hits may link. A page that limits its snippets has none: their headings would show
    more of it."""
    if document.snippet_chars is not None:
        return ()
    return tuple((cleaned(one.anchor), cleaned(one.text)) for one in document.sections)


def _media_type(document: Document) -> str:
    return cleaned(document.media_type.lower())[:MAX_MEDIA_TYPE_CHARS]


def _stored_links(document: Document) -> tuple[StoredLink, ...]:
    """Returns the links that count for the pages they lead to: those that their author lets robots follow."""
    return tuple(
        (link.url.text, link.anchor, link.fragments) for link in document.links[:MAX_STORED_LINKS] if link.follow
    )


def _encoded_links(links: Sequence[StoredLink], page_url: str) -> bytes:
    """Encodes links. Lone surrogates are so rare that they are looked for only if encoding fails."""
    try:
        return encode_links(links, page_url)
    except UnicodeEncodeError:
        return encode_links(
            [
                (cleaned(url), cleaned(anchor), tuple((cleaned(name), cleaned(text)) for name, text in fragments))
                for url, anchor, fragments in links
            ],
            cleaned(page_url),
        )
