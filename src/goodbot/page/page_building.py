"""Builds a `Page` from the content of a document and its headers: resolves references, and keeps each link once."""

import re
from urllib.parse import unquote

from goodbot.exclusion import Directives, parse_rel
from goodbot.page.extract import MAX_LINKS, Extract, Reference
from goodbot.url import Url, resolve, resolve_all
from goodbot.values import Headers, Link, Page, Response, Section

MAX_TEXT_CHARS = 5_000_000
"""The limit for the text of a page, the length of a long book; the rest is not read."""

_LINK_FIELD = re.compile(r"<([^<>]*)>([^<]*)")
_REL_PARAMETER = re.compile(r""";\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)
_REFRESH = re.compile(
    r"""\s*(?:\d+(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?+(?:"([^"]*)|'([^']*)|(.*))""",
    re.IGNORECASE | re.DOTALL,
)
_REFRESH_REL = ("refresh",)
_LANGUAGE = re.compile(r"\s*([A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,5})\s*")


def page_of(url: Url, response: Response, token: str, found: Extract, encoding: str) -> Page:
    """Builds the page at `url`. References are relative to its base; the limits are `MAX_LINKS` and
    `MAX_TEXT_CHARS`."""
    directives = Directives.parse(found.metas, response.headers, token)
    base = (resolve(url, found.base) if found.base is not None else None) or url
    return Page(
        url=url,
        directives=directives,
        title=found.title,
        headings=tuple(found.headings),
        text=found.text[:MAX_TEXT_CHARS].rstrip(),
        shown=None if found.shown is None else found.shown[:MAX_TEXT_CHARS].rstrip(),
        links=_links(base, found, response),
        canonical=_canonical(url, base, found, response.headers, directives.canonical),
        language=_language(found, response),
        encoding=encoding,
        unread=found.unread,
        terms=tuple(found.terms),
        alternative_texts=tuple(found.alternative_texts),
        sections=tuple(Section(unquote(place.anchor), place.text, place.is_term) for place in found.places),
        menus=tuple(found.menus),
        alternates=_alternates(base, found),
    )


def _links(base: Url, found: Extract, response: Response) -> tuple[Link, ...]:
    """Returns each URL once, or twice if it occurs with and without nofollow. A link gets its first anchor."""
    references = [Reference(value, "", _REFRESH_REL) for value in response.all_headers("refresh")]
    references += found.links
    targets = [refresh_target(href) if rel == _REFRESH_REL else href for href, _, rel in references]
    links: dict[tuple[str, bool], Link] = {}
    for (href, anchor, rel), url in zip(references, resolve_all(base, targets), strict=True):
        if url is None or len(links) >= MAX_LINKS:
            continue
        named = found.fragments.get(href)
        link = Link(url, anchor, rel, _named(named)) if named else Link(url, anchor, rel)
        key = (url.text, link.follow)
        before = links.setdefault(key, link)
        if before is not link and ((anchor and not before.anchor) or (named and not before.fragments)):
            links[key] = Link(url, before.anchor or anchor, before.rel, before.fragments or link.fragments)
    return tuple(links.values())


def _named(fragments: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """Returns fragments, decoded, with the texts of their links."""
    if "%" not in "".join(fragments):
        return tuple(fragments.items())
    return tuple((unquote(fragment, errors="replace"), text) for fragment, text in fragments.items())


def _alternates(base: Url, found: Extract) -> tuple[tuple[str, Url], ...]:
    """Returns the translations that a page states (WHATWG HTML §4.6.7.1)."""
    urls = resolve_all(base, [href for _, href in found.alternates])
    return tuple(
        (language.strip().lower().replace("_", "-"), url)
        for (language, _), url in zip(found.alternates, urls, strict=True)
        if url is not None and (_LANGUAGE.fullmatch(language) or language.strip().lower() == "x-default")
    )


def refresh_target(content: str) -> str | None:
    """Returns the reference in `5; url=next.html` (WHATWG HTML §4.2.5.3), or None if the page only reloads itself."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    return next((part for part in found.groups() if part is not None), "").strip() or None


def _canonical(url: Url, base: Url, found: Extract, headers: Headers, mirrored: str | None) -> Url | None:
    """Returns the canonical URL (RFC 6596). The page takes precedence over the header; a Link field is relative to the
    page's URL (RFC 8288 §3.2).

    `mirrored` is the value of META URL, the URL that this page mirrors. It is used if there is nothing else.
    """
    if found.canonical is not None and (stated := resolve(base, found.canonical)):
        return stated
    reference = _canonical_reference(headers)
    if reference is not None:
        return resolve(url, reference)
    return resolve(base, mirrored) if mirrored else None


def linked_canonical(url: Url, headers: Headers) -> Url | None:
    """Returns the canonical URL that a Link field of the page at `url` states."""
    reference = _canonical_reference(headers)
    return None if reference is None else resolve(url, reference)


def _canonical_reference(headers: Headers) -> str | None:
    for name, value in headers:
        if name.lower() == "link":
            for link in _LINK_FIELD.finditer(value):
                rel = _REL_PARAMETER.search(link[2])
                if rel and parse_rel(rel[1] or rel[2]).canonical:
                    return link[1].strip()
    return None


def _language(found: Extract, response: Response) -> str | None:
    """Returns the language from `html lang`, else META, else the header; a list of several languages counts as none."""
    stated = (found.language, found.content_language, response.header("content-language"))
    first = next((value for value in stated if value and value.strip()), "")
    tag = _LANGUAGE.fullmatch(first)
    return tag[1].replace("_", "-") if tag else None
