"""Describes the search to browsers, which then offer it in their address bar (OpenSearch 1.1)."""

from typing import Final
from xml.etree import ElementTree as ET

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.machines.own_robots_txt import MAX_AGE_S
from goodbot.web.pages.view import clipped
from goodbot.web.pages.xml_text import add, xml_bytes
from goodbot.web.search.atom import MEDIA_TYPE as ATOM
from goodbot.web.search.search_pages import SUGGESTIONS
from goodbot.web.site import Site

MEDIA_TYPE: Final = "application/opensearchdescription+xml"
_NAMESPACE: Final = "http://a9.com/-/spec/opensearch/1.1/"
_TERMS: Final = "?q={searchTerms}"
_PAGE: Final = "&page={startPage?}"


class OpenSearch:
    """The endpoint of the description. Its URLs are absolute, as browsers keep the description without its URL."""

    def __init__(self, site: Site) -> None:
        self._site = site

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/opensearch.xml", self.show),)

    def show(self, request: Request) -> Response:
        """GET /opensearch.xml: the description."""
        body = description_xml(self._site.name, self._site.absolute(request, ""))
        return Response(body, media_type=MEDIA_TYPE, headers={"Cache-Control": f"max-age={MAX_AGE_S}"})


def description_xml(name: str, base: str) -> bytes:
    """Returns the description of a search whose home page is `base`, without a slash at its end."""
    root = ET.Element("OpenSearchDescription", {"xmlns": _NAMESPACE})
    add(root, "ShortName", clipped(name, 16))
    add(root, "LongName", clipped(name, 48))
    add(root, "Description", clipped(f"Search {name}", 1024))
    add(root, "Url", type="text/html", method="get", template=f"{base}/search{_TERMS}{_PAGE}")
    add(root, "Url", type=ATOM, template=f"{base}/search.atom{_TERMS}{_PAGE}")
    add(root, "Url", type=SUGGESTIONS, rel="suggestions", template=f"{base}/api/suggest{_TERMS}")
    add(root, "Url", type=MEDIA_TYPE, rel="self", template=f"{base}/opensearch.xml")
    add(root, "Image", f"{base}/static/icon.svg", type="image/svg+xml", width="16", height="16")
    add(root, "Language", "*")
    add(root, "OutputEncoding", "UTF-8")
    add(root, "InputEncoding", "UTF-8")
    return xml_bytes(root)
