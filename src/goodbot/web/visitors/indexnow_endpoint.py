"""Answers IndexNow requests, in which a site reports pages that have changed (https://www.indexnow.org/documentation)."""

import logging
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.announce.batches import MAX_BODY_BYTES
from goodbot.errors import RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.visitor_values import IndexNowOutcome
from goodbot.web.pages.posted_forms import check_same_origin, read_body
from goodbot.web.server.request_log import LOGGER
from goodbot.web.visitors.indexnow import (
    IndexNowRequest,
    MisplacedUrls,
    parse_indexnow,
    read_indexnow_query,
)
from goodbot.web.visitors.submission_page import OFF
from goodbot.web.visitors.visitor_desk import IndexNowReports

RETRY_AFTER_S: Final = 60
_TOO_LONG: Final = f"send at most {MAX_BODY_BYTES // 1024**2} MiB at a time"
_NO_ANSWER: Final = "the crawl does not answer; try again in a minute"
_LOG: Final = logging.getLogger(LOGGER)


class IndexNowEndpoint:
    """The endpoint /indexnow. Unless it `is_open`, it answers 403."""

    def __init__(self, reports: IndexNowReports, *, is_open: bool) -> None:
        self._reports = reports
        self._is_open = is_open

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes for GET and POST."""
        if not self._is_open:
            return (Route("/indexnow", _refuse, methods=["GET", "POST"]),)
        return Route("/indexnow", self.query), Route("/indexnow", self.body, methods=["POST"])

    async def query(self, request: Request) -> Response:
        """GET /indexnow?url=&key=: takes one URL."""
        return await self._answer(read_indexnow_query(request.query_params))

    async def body(self, request: Request) -> Response:
        """POST /indexnow: takes up to 10,000 URLs of one host as JSON."""
        check_same_origin(request)
        body = await read_body(request, MAX_BODY_BYTES, _TOO_LONG)
        return await self._answer(await run_in_threadpool(parse_indexnow, body))

    async def _answer(self, asked: IndexNowRequest | MisplacedUrls | IndexNowOutcome) -> Response:
        try:
            outcome = await self._outcome(asked)
        except RunError as error:
            _LOG.error("the URLs of an IndexNow request were not submitted: %s", error)
            return JSONResponse({"error": _NO_ANSWER}, 503, {"Retry-After": str(RETRY_AFTER_S)})
        key = "message" if outcome.status in (200, 202) else "error"
        headers = {"Retry-After": str(RETRY_AFTER_S)} if outcome.status == 429 else None
        return JSONResponse({key: outcome.reason.replace("`", "")}, outcome.status, headers)

    async def _outcome(self, asked: IndexNowRequest | MisplacedUrls | IndexNowOutcome) -> IndexNowOutcome:
        """Carries out a request. One for a host that the crawl does not know is refused as such, whatever its URLs."""
        match asked:
            case IndexNowRequest():
                return await self._reports.take(asked)
            case MisplacedUrls(host) if host and not await run_in_threadpool(self._reports.knows, host):
                return IndexNowOutcome(403, f"this crawl does not know the host {shown(host)}")
            case MisplacedUrls(_, reason):
                return IndexNowOutcome(422, reason)
        return asked


def _refuse(request: Request) -> Response:
    return JSONResponse({"error": OFF}, 403)
