"""Reads OpenSearch 1.1 descriptions, and the link to one in a page. Pure; expands no entities, fetches nothing."""

from dataclasses import dataclass
from typing import Final

from goodbot.exclusion.text.shown_text import shown
from goodbot.federate.plain_text import one_line
from goodbot.federate.template import UTF_8, Template, codec_of, template_fault
from goodbot.page.entries import local_name
from goodbot.page.markup import Markup, MarkupTag, attributes_of

MEDIA_TYPE: Final = "application/opensearchdescription+xml"
MAX_DESCRIPTION_CHARS: Final = 256 * 1024
"""More of a description, or of a page with a link to one, is not read."""
MAX_NAME_CHARS: Final = 48
_MAX_URLS: Final = 50
_MAX_ENCODINGS: Final = 20
_MAX_OFFSET: Final = 1_000
_PREFERENCE: Final = {
    "application/json": 0,
    "application/atom+xml": 1,
    "application/rss+xml": 2,
    "application/rdf+xml": 3,
    "application/xml": 4,
    "text/xml": 4,
}
"""The media types of answers that can be read, the preferred ones first."""


@dataclass(frozen=True, slots=True)
class Description:
    """A description: the name of the service, and its usable templates, the preferred one first. Without one, `fault`
    says why, in one clause."""

    name: str
    templates: tuple[Template, ...] = ()
    fault: str = ""


def read_description(text: str) -> Description | None:
    """Reads a description; None if the text is something else. Never raises; linear and bounded."""
    tags = Markup().tags([text[:MAX_DESCRIPTION_CHARS]])
    root = next((tag for tag in tags if not tag.closing), None)
    if root is None or local_name(root.name) != "opensearchdescription":
        return None
    name, urls, encodings = "", list[MarkupTag](), list[str]()
    for tag in tags:
        kind = local_name(tag.name)
        if kind == "shortname" and tag.closing and not name:
            name = one_line(tag.text, MAX_NAME_CHARS)
        elif kind == "inputencoding" and tag.closing and len(encodings) < _MAX_ENCODINGS:
            encodings += [label] if (label := tag.text.strip()) else []
        elif kind == "url" and not tag.closing and len(urls) < _MAX_URLS:
            urls.append(tag)
    encoding = _encoding(encodings)
    if encoding is None:
        fault = f"its description wants queries in an encoding that cannot be used: {shown(encodings[0])}"
        return Description(name, fault=fault)
    readable = [template for tag in urls if (template := _template(tag, encoding)) is not None]
    faults = [fault for template in readable if (fault := template_fault(template.text))]
    usable = [template for template in readable if not template_fault(template.text)]
    usable.sort(key=lambda template: _PREFERENCE[template.media_type])
    return Description(name, tuple(usable), "" if usable else _fault(faults))


def _fault(faults: list[str]) -> str:
    if faults:
        return f"the template in its description cannot be used: {faults[0]}"
    return "its description has no results that programs can read: neither goodbot's JSON nor Atom nor RSS"


def _encoding(stated: list[str]) -> str | None:
    """Returns the encoding of queries: UTF-8 if it is among the stated ones or none is stated, else the first that is
    known; None if none is."""
    codecs = {label: codec_of(label) for label in stated}
    if not stated or "utf-8" in codecs.values():
        return UTF_8
    return next((label for label, codec in codecs.items() if codec is not None), None)


def _template(tag: MarkupTag, encoding: str) -> Template | None:
    """Returns the template of results in a form that can be read."""
    values = attributes_of(tag)
    media_type = values.get("type", "").partition(";")[0].strip().lower()
    roles = values.get("rel", "results").lower().split()
    if media_type not in _PREFERENCE or "results" not in roles or values.get("method", "get").lower() != "get":
        return None
    text = values.get("template", "").strip()
    return Template(text, media_type, _offset(values.get("indexoffset")), _offset(values.get("pageoffset")), encoding)


def _offset(text: str | None) -> int:
    """Returns the number of the first hit or page: 1 unless stated."""
    if text and text.isascii() and text.isdigit() and len(text) <= 4 and int(text) <= _MAX_OFFSET:
        return int(text)
    return 1


def description_link(html: str) -> str | None:
    """Returns the target of a page's link to a description, as written; None if there is none. Never raises; linear and
    bounded."""
    for tag in Markup().tags([html[:MAX_DESCRIPTION_CHARS]]):
        if not tag.closing and tag.name.lower() == "link":
            values = attributes_of(tag)
            is_search = "search" in values.get("rel", "").lower().split()
            if is_search and values.get("type", "").strip().lower() == MEDIA_TYPE and values.get("href"):
                return values["href"].strip()
    return None
