"""Makes the answers of a site, by path, from the files in its folder. All are made at the start and held in memory.

    torches/index.html   /torches/       a page: fields (`title: …`), an empty line, the HTML of its main part
    torches/propane.html /torches/propane
    groups.md            /groups         a page in Markdown, see `markdown_pages`
    robots.txt           /robots.txt     anything else: sent as plain text
    _layout.html                         the layout of the pages in its folder and below
    _404.html                            the page for paths in its folder and below that do not exist
    (made)               /torches        a redirect to /torches/
    (made)               /sitemap.xml    the pages that search engines should find

`{{name}}` is replaced by the address of a site, in layouts also by a field of the page. Fields: title, description,
keywords, updated (a date), lang, charset, robots (a META tag), x-robots-tag (a header field), canonical,
translation (the same page in the other language), location (the page is a redirect), listed (`no`: not in the sitemap).
"""

import gzip
import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from goodbot.demo.markdown_pages import read_markdown

COMPRESSED_FROM_BYTES = 3000
"""Answers of at least this size also exist gzipped, so that the sample web has both kinds."""

_PAGES = (".html", ".md")
_PLACE = re.compile(r"\{\{([a-z0-9_]+)\}\}")


@dataclass(frozen=True, slots=True)
class Resource:
    """An answer that is ready to be sent. `modified` is None if the answer has no date."""

    status: int
    content_type: str
    body: bytes
    modified: datetime | None = None
    headers: tuple[tuple[str, str], ...] = ()
    gzipped: bytes | None = None


@dataclass(frozen=True, slots=True)
class SampleSite:
    """The answers of a site by path, and those for any other path by the path of its folder."""

    resources: Mapping[str, Resource]
    missing: Mapping[str, Resource]

    def answer(self, path: str) -> Resource:
        """Returns the answer for a path, as sent."""
        folder = max((folder for folder in self.missing if path.startswith(folder)), key=len, default="/")
        return self.resources.get(path) or self.missing[folder]


@dataclass(frozen=True, slots=True)
class _Source:
    """A page as its file has it."""

    path: str
    fields: Mapping[str, str]
    body: str
    layout: str

    @property
    def language(self) -> str:
        return self.fields.get("lang", "en")

    @property
    def is_listed(self) -> bool:
        return not any(name in self.fields for name in ("location", "listed", "robots"))


def load_site(folder: Path, base: str, addresses: Mapping[str, str]) -> SampleSite:
    """Loads the site in `folder`, served at `base` (`http://127.0.0.1:8021`). `addresses` replace `{{name}}`."""
    pages = {page.path: page for page in _sources(folder)}
    values = {**addresses, "style": (folder / "_style.css").read_text(encoding="utf-8")}
    resources = {page.path: _resource(page, pages, base, values) for page in pages.values()}
    for file in sorted(folder.rglob("*")):
        if file.is_file() and file.suffix not in _PAGES and not file.name.startswith("_"):
            text = _filled(file.read_text(encoding="utf-8"), addresses)
            resources["/" + file.relative_to(folder).as_posix()] = _plain("text/plain; charset=utf-8", text)
    resources["/sitemap.xml"] = _plain("application/xml; charset=utf-8", _sitemap(pages.values(), base))
    for path in pages:
        if path != "/":
            resources.setdefault(path.removesuffix("/"), _redirect(path))
    return SampleSite(resources, {path: _resource(page, pages, base, values, 404) for path, page in _missing(folder)})


# ---- files ----------------------------------------------------------------------------------------------------------


def _sources(folder: Path) -> Iterator[_Source]:
    for file in sorted(folder.rglob("*")):
        if file.suffix in _PAGES and not file.name.startswith("_"):
            name = file.relative_to(folder).with_suffix("").as_posix()
            yield _read(folder, file, "/" + (name.removesuffix("index") if file.stem == "index" else name))


def _missing(folder: Path) -> Iterator[tuple[str, _Source]]:
    for file in folder.rglob("_404.html"):
        path = "/" + file.relative_to(folder).as_posix().removesuffix(file.name)
        yield path, _read(folder, file, path + "404")


def _read(folder: Path, file: Path, path: str) -> _Source:
    text = file.read_text(encoding="utf-8")
    layout = _layout(folder, file.parent)
    if file.suffix == ".md":
        return _Source(path, *read_markdown(text, path), layout)
    head, _, body = text.partition("\n\n")
    return _Source(path, dict(line.split(": ", 1) for line in head.splitlines()), body, layout)


def _layout(root: Path, folder: Path) -> str:
    """Returns the nearest layout, from the page's folder upwards."""
    file = folder / "_layout.html"
    if file.exists() or folder == root:
        return file.read_text(encoding="utf-8")
    return _layout(root, folder.parent)


# ---- answers --------------------------------------------------------------------------------------------------------


def _resource(
    page: _Source, pages: Mapping[str, _Source], base: str, values: Mapping[str, str], status: int = 200
) -> Resource:
    fields = page.fields
    charset = fields.get("charset", "utf-8")
    headers = [(name, fields[key]) for key, name in _HEADERS.items() if key in fields]
    text = _filled(
        page.layout,
        {
            **values,
            "title": html.escape(fields["title"]),
            "description": html.escape(fields["description"]),
            "keywords": html.escape(fields["keywords"]),
            "lang": page.language,
            "charset": charset,
            "translation": fields.get("translation", ""),
            "head": "\n".join(_head(page, pages, base)),
            "body": _filled(page.body, values),
        },
    )
    # koi8-r has neither quotation marks nor dashes: characters that a charset lacks become character references
    body = text.encode(charset, "xmlcharrefreplace")
    return Resource(
        301 if "location" in fields else status,
        f"text/html; charset={charset}",
        body,
        _date(fields["updated"]) if "updated" in fields else None,
        (*headers, ("Content-Language", page.language)),
        gzip.compress(body, mtime=0) if len(body) >= COMPRESSED_FROM_BYTES else None,
    )


_HEADERS = {"x-robots-tag": "X-Robots-Tag", "location": "Location"}


def _head(page: _Source, pages: Mapping[str, _Source], base: str) -> Iterator[str]:
    """Yields the elements that only some pages have in their head."""
    if "robots" in page.fields:
        yield f'<meta name="robots" content="{page.fields["robots"]}">'
    if "canonical" in page.fields:
        yield f'<link rel="canonical" href="{base}{page.fields["canonical"]}">'
    other = pages.get(page.fields.get("translation", ""))
    if other and other.fields.get("translation") == page.path:  # hreflang counts only if each page names the other
        for one in (page, other):
            yield f'<link rel="alternate" hreflang="{one.language}" href="{base}{one.path}">'


def _plain(content_type: str, text: str) -> Resource:
    return Resource(200, content_type, text.encode())


def _redirect(path: str) -> Resource:
    return Resource(301, "text/plain; charset=utf-8", f"{path}\n".encode(), headers=(("Location", path),))


def _sitemap(pages: Iterable[_Source], base: str) -> str:
    """Makes a sitemap (Sitemaps 0.9) of the pages that a search engine should show."""
    entries = "\n".join(
        f"  <url><loc>{base}{page.path}</loc><lastmod>{page.fields['updated']}</lastmod></url>"
        for page in pages
        if page.is_listed
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}\n</urlset>\n'
    )


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACE.sub(lambda match: values[match[1]], text)


def _date(day: str) -> datetime:
    return datetime.fromisoformat(day).replace(hour=9, tzinfo=UTC)
