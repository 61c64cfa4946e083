"""Serves the page of a crawl. Everyone sees its figures; visitors with the token can control it.

The link that `goodbot serve` prints contains the token. Opening it sets a cookie, for which the page writes the token
into its forms; the cookie has no other use. A posted form is accepted only if it contains the token, so no other site
can make a visitor's browser control the crawl.
"""

import hashlib
import hmac
import logging
import time
from typing import Final, Literal, Protocol, get_args

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from goodbot.errors import InputError, RunError
from goodbot.robot.crawl.remote_control import CrawlView, RemoteControl, Submitted
from goodbot.robot.scope.seeding import parse_seeds
from goodbot.store.sqlite.host_queries import HostAhead
from goodbot.url import Url
from goodbot.web.crawl_view import MEANINGS, error_groups, progress
from goodbot.web.posted_forms import read_form
from goodbot.web.request_log import LOGGER
from goodbot.web.security_headers import SCRIPT_POLICY
from goodbot.web.templates_env import Templates

MAX_FORM_BYTES: Final = 256 * 1024
MAX_URLS: Final = 100
_LOG: Final = logging.getLogger(LOGGER)

Order = Literal["pause", "resume", "stop"]

_NOTICES: Final = {
    "pause": "The crawl is pausing. Pages in flight finish first.",
    "resume": "The crawl is running again.",
    "stop": "The crawl is stopping. Pages in flight finish first.",
    "not-running": "The crawl is not running.",
}
"""The messages shown after a form was posted, by the `done` parameter of the URL."""


class CrawlDesk(Protocol):
    """Reads the state of a crawl and controls it. `token` None: nobody may control it."""

    @property
    def token(self) -> str | None: ...

    @property
    def control(self) -> RemoteControl: ...

    def look(self) -> CrawlView: ...

    def hosts(self) -> list[HostAhead]: ...


class CrawlPage:
    """The endpoints of one crawl."""

    def __init__(self, crawl: CrawlDesk, pages: Templates) -> None:
        self._crawl = crawl
        self._pages = pages
        # Cookies of one host are shared by all its ports, so each crawl has its own cookie name.
        self._cookie = "goodbot-" + hashlib.sha256((crawl.token or "").encode()).hexdigest()[:12]

    def show(self, request: Request) -> Response:
        """GET /crawl: shows the page; with `?token=`, sets the cookie first."""
        token = request.query_params.get("token")
        if token is not None:
            return self._log_in(request, token)
        notice = _NOTICES.get(request.query_params.get("done", ""), "")
        return self._page(may_control=self._is_token(request.cookies.get(self._cookie, "")), notice=notice)

    async def act(self, request: Request) -> Response:
        """POST /crawl/pause, resume, stop and submit: controls the crawl."""
        form = await read_form(request, MAX_FORM_BYTES)
        self._check_token(request, form.get("token", ""))
        order = request.path_params["order"]
        if order == "submit":
            return await run_in_threadpool(self._submit, form.get("urls", ""))
        if order in get_args(Order):
            return await run_in_threadpool(self._control, order)
        raise HTTPException(404)

    def _log_in(self, request: Request, token: str) -> Response:
        self._check_token(request, token)
        response = RedirectResponse("/crawl", status_code=303)
        response.set_cookie(self._cookie, token, path="/crawl", httponly=True, samesite="strict")
        return response

    def _check_token(self, request: Request, token: str) -> None:
        if not self._is_token(token):
            client = request.client.host if request.client else "an unknown address"
            _LOG.warning("refused a control request from %s: %s without the token", client, request.url.path)
            raise HTTPException(403)

    def _is_token(self, given: str) -> bool:
        return self._crawl.token is not None and hmac.compare_digest(given.encode(), self._crawl.token.encode())

    def _control(self, order: Order) -> Response:
        try:
            is_running = self._crawl.control.send(order)
        except RunError as error:
            return self._page(may_control=True, trouble=str(error), status=503)
        return RedirectResponse(f"/crawl?done={order if is_running else 'not-running'}", status_code=303)

    def _submit(self, text: str) -> Response:
        try:
            submitted = self._crawl.control.submit(_urls(text))
        except InputError as error:
            return self._page(may_control=True, trouble=str(error), urls=text, status=400)
        except RunError as error:
            return self._page(may_control=True, trouble=str(error), urls=text, status=503)
        return self._page(may_control=True, submitted=submitted)

    def _page(
        self,
        *,
        may_control: bool,
        notice: str = "",
        trouble: str = "",
        urls: str = "",
        submitted: list[Submitted] | None = None,
        status: int = 200,
    ) -> Response:
        view = self._crawl.look()
        response = self._pages.page(
            "crawl.html",
            status,
            query="",
            crawl=view.status,
            running=view.running,
            live=view.live,
            progress=progress(view.status),
            errors=error_groups(view.live) if view.live else [],
            meanings=MEANINGS,
            hosts=self._crawl.hosts(),
            now=time.time(),
            token=self._crawl.token if may_control else None,
            notice=notice,
            trouble=trouble,
            urls=urls,
            submitted=submitted or [],
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Security-Policy"] = SCRIPT_POLICY
        return response


def _urls(text: str) -> list[Url]:
    """Parses one URL per line. Raises InputError if a line is not a URL, or if there are none or too many."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= MAX_URLS:
        raise InputError(f"give 1 to {MAX_URLS} URLs, one per line")
    return parse_seeds(lines)
