"""A response → `Page`: title, headings, text, links, META, canonical, language.

Read from the tokens of the WHATWG tokenizer, in one pass, without a tree. Rejected: the tree builder. It repeats open
formatting elements in every paragraph that follows: 126 kB of `<font>` and `<p>` became 15 million elements and
1.9 GB. Tokens are as many as the tags. What is lost is the repair of misplaced markup, which moves text but few links.
"""

import re
from dataclasses import dataclass
from typing import Literal

from goodbot.exclusion import Directives
from goodbot.page.coding import decode_content
from goodbot.page.encoding import decode_text
from goodbot.page.tokens import MAX_LINKS, Extract, extract, folded
from goodbot.url import Url, resolve
from goodbot.values import Headers, Link, Page, Response

MAX_TEXT_CHARS = 5_000_000
"""A long book; what follows is not read."""

MAX_META_CHARS = 2_000

_HTML_TYPES = ("text/html", "application/xhtml+xml")
_UNKNOWN_TYPES = ("", "*/*", "unknown/unknown", "application/unknown")
"""WHATWG MIME Sniffing §7: as good as none."""

_LOOKS_LIKE_HTML = re.compile(
    rb"(?:\xef\xbb\xbf)?+(?>\s*+(?:<!--(?>.*?-->)|<\?xml[^>]*+>))*+\s*+"
    rb"<(?:!doctype\s+html|html|head|title|meta|body|script|style|link|base|frameset|iframe|table|div|h1|p|a|b|br)[\s>/]",
    re.IGNORECASE | re.DOTALL,
)
"""WHATWG MIME Sniffing §7.1, and a few more tags. Possessive, so that nothing is tried twice."""

_LINK_FIELD = re.compile(r"<([^<>]*)>([^<]*)")
_REL_PARAMETER = re.compile(r""";\s*rel\s*=\s*(?:"([^"]*)"|([^\s";,]+))""", re.IGNORECASE)
_REFRESH = re.compile(
    r"""\s*(?:\d+(?:\.[\d.]*)?|\.[\d.]*)(?:\s*[;,]\s*|\s+)(?:url\s*=\s*)?+(?:"([^"]*)|'([^']*)|(.*))""",
    re.IGNORECASE | re.DOTALL,
)
_LANGUAGE = re.compile(r"\s*([A-Za-z]{1,8}(?:[-_][A-Za-z0-9]{1,8}){0,5})\s*")


def read_page(url: Url, response: Response, token: str, limit_bytes: int) -> Page:
    """What the response at `url` says to the robot named `token`. Never raises.

    At most `limit_bytes` of the decoded body are read. Anything but HTML and plain text gives an empty page with what
    the headers say: directives, canonical URL, language, the target of Refresh.
    """
    kind = _kind(response)
    if kind == "html":
        return _read_html(url, response, token, limit_bytes)
    if kind == "text":
        text, encoding = decode_text(
            decode_content(response, limit_bytes).body, response.header("content-type"), html=False
        )
        text = text.replace("\0", "")[:MAX_TEXT_CHARS].strip()
        return _page(url, response, token, Extract(), text=text, encoding=encoding)
    return _page(url, response, token, Extract(), text="", encoding="utf-8")


def _kind(response: Response) -> Literal["html", "text", "other"]:
    kind = response.media_type
    if kind in _HTML_TYPES:
        return "html"
    if kind == "text/plain":
        return "text"
    if kind in _UNKNOWN_TYPES and _LOOKS_LIKE_HTML.match(decode_content(response, 2048).body):
        return "html"
    return "other"


def _read_html(url: Url, response: Response, token: str, limit_bytes: int) -> Page:
    text, encoding = decode_text(decode_content(response, limit_bytes).body, response.header("content-type"))
    found = extract(text)
    return _page(url, response, token, found, text=found.text[:MAX_TEXT_CHARS].rstrip(), encoding=encoding)


def _page(url: Url, response: Response, token: str, found: Extract, *, text: str, encoding: str) -> Page:
    links = _Resolver(url, found.base)
    for target in (_refresh_target(value) for value in response.all_headers("refresh")):
        if target:
            links.add(target, "", ("refresh",))
    for link in found.links:
        target = _refresh_target(link.href) if link.rel == ("refresh",) else link.href
        if target is not None:
            links.add(target, link.anchor, link.rel)
    return Page(
        url=url,
        directives=Directives.parse(found.metas, response.headers, token),
        title=found.title,
        headings=tuple(found.headings),
        text=text,
        links=tuple(links.found.values()),
        canonical=_canonical(url, links, found, response.headers),
        language=_language(found, response),
        description=_meta(found, "description"),
        keywords=_meta(found, "keywords"),
        encoding=encoding,
    )


@dataclass(slots=True)
class _Resolver:
    """References → links, each resolved once; a URL is kept once, twice if both followable and not."""

    base: Url
    found: dict[tuple[Url, bool], Link]
    _known: dict[str, Url | None]

    def __init__(self, url: Url, base: str | None) -> None:
        self.base = (resolve(url, base) if base is not None else None) or url
        self.found = {}
        self._known = {}

    def url(self, reference: str) -> Url | None:
        reference = reference.partition("#")[0]
        if reference not in self._known:
            self._known[reference] = resolve(self.base, reference)
        return self._known[reference]

    def add(self, reference: str, anchor: str, rel: tuple[str, ...]) -> None:
        url = self.url(reference)
        if url is None or len(self.found) >= MAX_LINKS:
            return
        key = (url, "nofollow" in rel)
        before = self.found.get(key)
        if before is None:
            self.found[key] = Link(url, anchor, rel)
        elif anchor and not before.anchor:
            self.found[key] = Link(url, anchor, before.rel)


def _refresh_target(content: str) -> str | None:
    """WHATWG HTML §4.2.5.3: the reference in `5; url=next.html`; None if the page only reloads itself."""
    found = _REFRESH.match(content)
    if found is None:
        return None
    return next((part for part in found.groups() if part is not None), "").strip() or None


def _canonical(url: Url, links: _Resolver, found: Extract, headers: Headers) -> Url | None:
    """RFC 6596. The page is heard before the header; a Link field is relative to the page's URL (RFC 8288 §3.2)."""
    if found.canonical is not None and (stated := links.url(found.canonical)):
        return stated
    for name, value in headers:
        if name.lower() == "link":
            for reference, parameters in _LINK_FIELD.findall(value):
                rel = _REL_PARAMETER.search(parameters)
                if rel and "canonical" in (rel[1] or rel[2]).lower().split():
                    return resolve(url, reference.strip())
    return None


def _language(found: Extract, response: Response) -> str | None:
    """Of `html lang`, else META, else the header; a list of several languages is the language of nobody."""
    stated = (found.language, found.content_language, response.header("content-language"))
    first = next((value for value in stated if value and value.strip()), "")
    tag = _LANGUAGE.fullmatch(first)
    return tag[1].replace("_", "-") if tag else None


def _meta(found: Extract, wanted: str) -> str:
    """The first META of that name that says something."""
    contents = (content for name, content in found.metas if name.strip().lower() == wanted)
    return next(filter(None, (folded(content, MAX_META_CHARS) for content in contents)), "")
