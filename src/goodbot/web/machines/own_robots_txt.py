"""What robots may do here: robots.txt and the sitemap of this server, and noindex for pages that repeat other pages."""

from collections.abc import Collection, Iterable
from typing import Final
from xml.etree import ElementTree as ET

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from goodbot.web.pages.translations import LANGUAGES, PARAMETER
from goodbot.web.pages.xml_text import add, xml_bytes
from goodbot.web.site import Site

PUBLIC_PAGES: Final = ("/", "/help", "/about", "/check", "/robots", "/submit", "/removal")
"""Pages that robots may index, if the site has them."""
CLOSED: Final = (
    *("/search", "/api/", "/cached", "/why", "/explain", "/robots/", "/crawl", "/indexnow", "/metrics", "/healthz"),
)
"""Paths that robots must leave alone, with all that begin so: pages of results are countless, and only repeat other
pages; pages about robots are the same on every server."""
MAX_AGE_S: Final = 3600

_SITEMAP: Final = "http://www.sitemaps.org/schemas/sitemap/0.9"
_XHTML: Final = "http://www.w3.org/1999/xhtml"


class OwnRobotsTxt:
    """The endpoints for robots that visit this server."""

    def __init__(self, site: Site, routes: Iterable[BaseRoute]) -> None:
        paths = {getattr(route, "path", "") for route in routes}
        self._site = site
        self._pages = [page for page in PUBLIC_PAGES if page in paths]

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        return Route("/robots.txt", self.robots_txt), Route("/sitemap.xml", self.sitemap)

    def robots_txt(self, request: Request) -> Response:
        """GET /robots.txt. Under a path prefix no robot reads it; the operator may copy its lines into the file of the
        host."""
        rules = "".join(f"Disallow: {self._site.prefix}{path}\n" for path in CLOSED)
        sitemap = self._site.absolute(request, "/sitemap.xml")
        return _kept(PlainTextResponse(f"User-agent: *\n{rules}\nSitemap: {sitemap}\n"))

    def sitemap(self, request: Request) -> Response:
        """GET /sitemap.xml: the public pages, each in every language and in the one that the browser asks for."""
        urls = [self._site.absolute(request, page) for page in self._pages]
        return _kept(Response(sitemap_xml(urls), media_type="application/xml"))


def sitemap_xml(pages: Iterable[str]) -> bytes:
    """Returns a sitemap (sitemaps.org 0.9) of pages that take the language as a parameter."""
    root = ET.Element("urlset", {"xmlns": _SITEMAP, "xmlns:xhtml": _XHTML})
    for page in pages:
        versions = {"x-default": page, **{code: f"{page}?{PARAMETER}={code}" for code in LANGUAGES}}
        for url in versions.values():
            entry = add(root, "url")
            add(entry, "loc", url)
            for code, version in versions.items():
                add(entry, "xhtml:link", rel="alternate", hreflang=code, href=version)
    return xml_bytes(root)


def _kept(response: Response) -> Response:
    response.headers["Cache-Control"] = f"max-age={MAX_AGE_S}"
    return response


class NoIndex:
    """ASGI middleware: adds `X-Robots-Tag: noindex` to every response except those for `pages`. It is for robots that
    do not read robots.txt."""

    def __init__(self, app: ASGIApp, pages: Collection[str]) -> None:
        self._app = app
        self._pages = frozenset(pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in self._pages:
            await self._app(scope, receive, send)
            return

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["X-Robots-Tag"] = "noindex"
            await send(message)

        await self._app(scope, receive, send_marked)
