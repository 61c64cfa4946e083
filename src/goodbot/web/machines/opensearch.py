"""Describes the search to browsers, which then offer it in their address bar (OpenSearch 1.1)."""

from typing import Final
from xml.etree import ElementTree as ET

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.machines.api_values import JSON
from goodbot.web.machines.own_robots_txt import MAX_AGE_S
from goodbot.web.pages.messages import Message
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import LANGUAGES, PARAMETER, Reader, reader_of, translatable
from goodbot.web.pages.view import clipped
from goodbot.web.pages.xml_text import add, xml_bytes
from goodbot.web.search.atom import MEDIA_TYPE as ATOM
from goodbot.web.search.search_pages import SUGGESTIONS

MEDIA_TYPE: Final = "application/opensearchdescription+xml"
_NAMESPACE: Final = "http://a9.com/-/spec/opensearch/1.1/"
_TERMS: Final = "?q={searchTerms}"
_PAGE: Final = "&page={startPage?}"


class OpenSearch:
    """The endpoint of the description. Its URLs are absolute, as browsers keep the description without its URL."""

    def __init__(self, pages: Templates) -> None:
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/opensearch.xml", self.show),)

    def show(self, request: Request) -> Response:
        """GET /opensearch.xml: the description, in the language of the reader."""
        site, reader = self._pages.site, reader_of(request)
        about = self._pages.said(reader, Message(translatable("Search %(name)s"), {"name": site.name}))
        body = description_xml(site.name, about, site.absolute(request, ""), reader)
        headers = {
            "Cache-Control": f"max-age={MAX_AGE_S}",
            "Content-Language": reader.language,
            "Vary": "Accept-Language",
        }
        return Response(body, media_type=MEDIA_TYPE, headers=headers)


def description_xml(name: str, about: str, base: str, reader: Reader) -> bytes:
    """Returns the description of a search whose home page is `base`, without a slash at its end. Its pages keep the
    language that the reader has chosen; otherwise the browser says which one it wants. Results may be in any."""
    chosen = f"{PARAMETER}={reader.language}" if reader.has_chosen else ""
    root = ET.Element("OpenSearchDescription", {"xmlns": _NAMESPACE})
    add(root, "ShortName", clipped(name, 16))
    add(root, "LongName", clipped(name, 48))
    add(root, "Description", clipped(about, 1024))
    add(
        root,
        "Url",
        type="text/html",
        method="get",
        template=f"{base}/search{_TERMS}{_PAGE}{'&' if chosen else ''}{chosen}",
    )
    add(root, "Url", type=ATOM, template=f"{base}/search.atom{_TERMS}{_PAGE}")
    add(root, "Url", type=JSON, template=f"{base}/api/search{_TERMS}{_PAGE}")
    add(root, "Url", type=SUGGESTIONS, rel="suggestions", template=f"{base}/api/suggest{_TERMS}")
    add(root, "Url", type=MEDIA_TYPE, rel="self", template=f"{base}/opensearch.xml{'?' if chosen else ''}{chosen}")
    add(root, "Image", f"{base}/static/icon.svg", type="image/svg+xml", width="16", height="16")
    for language in dict.fromkeys((reader.language, *LANGUAGES, "*")):
        add(root, "Language", language)
    add(root, "OutputEncoding", "UTF-8")
    add(root, "InputEncoding", "UTF-8")
    return xml_bytes(root)
