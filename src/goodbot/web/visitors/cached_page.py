"""Serves copies of pages as the crawl received them, clearly marked.

A copy of HTML is a document of its own in a sandboxed frame. Its Content-Security-Policy keeps it sandboxed, without
scripts and without requests to other servers, even if it is opened alone. Of other documents our own page shows the
text.
"""

import asyncio
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import UrlError
from goodbot.url import Url
from goodbot.visitor_values import CachedCopy, NoCopy
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import reader_of, translatable
from goodbot.web.pages.url_errors import url_status
from goodbot.web.visitors.safe_document import COPY_POLICY, SANDBOX, safe_document
from goodbot.web.visitors.visitor_desk import Copies, TypedUrls

READ_AT_ONCE: Final = 2
"""This many copies are read at the same time; others wait."""
READS_WAITING: Final = 20
MAX_TEXT_CHARS: Final = 500_000
"""The limit for the text of a document that is not HTML. It is part of our own page."""

_BUSY: Final = translatable("Too many visitors are reading copies at the moment. Try again in a few seconds.")
_DOCUMENT_HEADERS: Final = {
    "Content-Security-Policy": f"{COPY_POLICY}; frame-ancestors 'self'",
    "Referrer-Policy": "no-referrer",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",
}


class CachedPage:
    """The page with a copy in its frame, and the copy itself."""

    def __init__(self, typed_urls: TypedUrls, copies: Copies, pages: Templates) -> None:
        self._typed_urls = typed_urls
        self._copies = copies
        self._pages = pages
        self._slots = asyncio.Semaphore(READ_AT_ONCE)
        self._waiting = 0

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both."""
        return Route("/cached", self.show), Route("/cached/document", self.document)

    async def show(self, request: Request) -> Response:
        """GET /cached?url=: the page around the copy; 404 if there is none."""
        typed = request.query_params.get("url", "").strip()
        try:
            url = await run_in_threadpool(self._typed_urls.read, typed)
        except UrlError as error:
            return self._page(request, url_status(error), typed=typed, reason=str(error))
        copy = await self._copy_of(request, url)
        if isinstance(copy, NoCopy):
            return self._page(request, 404, typed=url.text, is_url=True, reason=copy.reason)
        return self._page(request, 200, typed=url.text, is_url=True, copy=copy)

    async def document(self, request: Request) -> Response:
        """GET /cached/document?url=: the copy, for the frame. Opened alone, it redirects to the page that says that it
        is a copy."""
        typed = request.query_params.get("url", "")
        if request.headers.get("sec-fetch-dest") == "document":
            link = self._pages.link(reader_of(request))
            return RedirectResponse(link("/cached", url=typed), 303, {"Cache-Control": "no-store"})
        try:
            url = await run_in_threadpool(self._typed_urls.read, typed)
        except UrlError as error:
            return PlainTextResponse(f"{error}\n", url_status(error))
        copy = await self._copy_of(request, url)
        if isinstance(copy, NoCopy):
            return PlainTextResponse(f"{copy.reason}\n", 404)
        if copy.html is None:
            return PlainTextResponse(copy.text, headers=_DOCUMENT_HEADERS)
        html = await run_in_threadpool(safe_document, copy)
        return Response(html, media_type="text/html; charset=utf-8", headers=_DOCUMENT_HEADERS)

    async def _copy_of(self, request: Request, url: Url) -> CachedCopy | NoCopy:
        """Reads a copy. Only a few threads do that, because a PDF takes seconds. Raises HTTPException 429 if too many
        visitors wait."""
        if self._waiting >= READS_WAITING:
            raise HTTPException(429, _BUSY, {"Retry-After": "10"})
        self._waiting += 1
        try:
            async with self._slots:
                if await request.is_disconnected():
                    raise ClientDisconnect
                return await run_in_threadpool(self._copies.copy_of, url)
        finally:
            self._waiting -= 1

    def _page(
        self,
        request: Request,
        status: int,
        *,
        typed: str,
        is_url: bool = False,
        reason: str = "",
        copy: CachedCopy | None = None,
    ) -> Response:
        text = (copy.text or "") if copy is not None else ""
        response = self._pages.page(
            request,
            "cached.html",
            status,
            query="",
            typed=typed,
            is_url=is_url,
            reason=reason,
            copy=copy,
            sandbox=SANDBOX,
            text=text[:MAX_TEXT_CHARS],
            is_cut=len(text) > MAX_TEXT_CHARS,
        )
        response.headers["Cache-Control"] = "no-store"
        return response
