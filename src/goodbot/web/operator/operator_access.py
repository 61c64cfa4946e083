"""Restricts the crawl pages to holders of its token.

The link that `goodbot serve` prints contains the token. Opening it, or typing the token into the form, sets a cookie.
The pages show the crawl only to requests with this cookie, and write the token into their forms; the cookie has no
other use. A posted form is accepted only if it contains the token, so no other site can make a visitor's browser
control the crawl.
"""

import hashlib
import hmac
import logging
import math
import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Lock
from typing import Any, Final, Protocol
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from goodbot.web.pages.posted_forms import check_same_origin, read_form
from goodbot.web.pages.templates_env import Link, Templates
from goodbot.web.pages.translations import PARAMETER, reader_of, translatable
from goodbot.web.pages.waits import Wait, wait_of
from goodbot.web.server.rate_limits import RateLimit, client_of
from goodbot.web.server.request_log import LOGGER
from goodbot.web.site import Rate

WRONG_TOKENS: Final = Rate(per_minute=6, burst=10)
"""How many wrong tokens one client may send. After that it must wait, except with the right one, which is too long to
be found by trying."""
MAX_LOGIN_BYTES: Final = 16 * 1024
HOME: Final = "/crawl"

_PAGE: Final = re.compile(r"/crawl(/(hosts|host|refused|courtesy|removals|watch))?(\?[!-~]{1,2000})?")
"""The pages to which a visitor returns after logging in."""
_LOG: Final = logging.getLogger(LOGGER)

Page = Callable[[Request], Response]


class TokenHolder(Protocol):
    """A crawl with the secret of its operator. `token` None: nobody can read it, so nobody may use the pages."""

    @property
    def token(self) -> str | None: ...

    @property
    def path(self) -> Path: ...


class OperatorAccess:
    """Guards the pages about one crawl, and renders them. `sections` are their paths and translatable names."""

    def __init__(self, crawl: TokenHolder, pages: Templates, sections: Sequence[tuple[str, str]] = ()) -> None:
        self._crawl = crawl
        self._pages = pages
        self._sections = sections
        self._wrong = RateLimit(WRONG_TOKENS)
        self._lock = Lock()

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes for logging in and out."""
        return (
            Route("/crawl/login", self.guarded(self._home)),
            Route("/crawl/login", self.log_in, methods=["POST"]),
            Route("/crawl/logout", self.log_out, methods=["POST"]),
        )

    def guarded(self, page: Page) -> Page:
        """Returns an endpoint that shows `page` to the operator, and the form to log in to everybody else. With
        `?token=`, it logs in and redirects to the address without the token."""

        def guard(request: Request) -> Response:
            token = request.query_params.get("token")
            if token is not None:
                return self._enter(request, token, _address(request))
            return page(request) if self._is_operator(request) else self._login_page(request)

        return guard

    async def form(self, request: Request, most_bytes: int = MAX_LOGIN_BYTES) -> dict[str, str] | Response:
        """Reads a form that the operator posted; returns the refusal if it does not contain the token."""
        form = await read_form(request, most_bytes)
        refusal = await run_in_threadpool(self._refusal, request, form.get("token", ""))
        return form if refusal is None else refusal

    def page(self, request: Request, template: str, current: str, status: int = 200, **values: Any) -> Response:
        """Renders a page for the operator. `current` is its path, for the navigation."""
        return self._render(
            request,
            template,
            status,
            current=current,
            sections=self._sections,
            token=self._crawl.token,
            folder=shlex.quote(str(self._crawl.path)),
            **values,
        )

    def link(self, request: Request) -> Link:
        """Returns the function that makes links in the language of the reader."""
        return self._pages.link(reader_of(request))

    async def log_in(self, request: Request) -> Response:
        """POST /crawl/login: sets the cookie if the token is right, and redirects to the page that was asked for."""
        check_same_origin(request)
        form = await read_form(request, MAX_LOGIN_BYTES)
        target = form.get("to", "")
        target = target if _PAGE.fullmatch(target) else HOME
        return await run_in_threadpool(self._enter, request, form.get("token", "").strip(), target)

    async def log_out(self, request: Request) -> Response:
        """POST /crawl/logout: deletes the cookie."""
        form = await self.form(request)
        if isinstance(form, Response):
            return form
        response = RedirectResponse(self.link(request)(HOME), status_code=303)
        response.delete_cookie(self._cookie, **self._cookie_options)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _home(self, request: Request) -> Response:
        return RedirectResponse(self.link(request)(HOME), status_code=303)

    def _enter(self, request: Request, token: str, target: str) -> Response:
        if refusal := self._refusal(request, token, target):
            return refusal
        response = RedirectResponse(self._pages.site.prefix + target, status_code=303)
        response.set_cookie(self._cookie, token, **self._cookie_options)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _refusal(self, request: Request, token: str, target: str = HOME) -> Response | None:
        """Answers a request with a wrong token; None if the token is right."""
        if self._is_token(token):
            return None
        client = request.client.host if request.client else ""
        with self._lock:
            wait_s = 0.0 if self._is_operator(request) else self._wrong.waiting_s(client_of(client))
            if not wait_s and token:
                self._wrong.wait_s(client_of(client))
        what = "after too many wrong tokens" if wait_s else "without the token"
        _LOG.warning("refused a control request from %s: %s %s", client or "an unknown address", request.url.path, what)
        if self._crawl.token is None:
            return self._login_page(request)
        if wait_s:
            return self._too_many(request, wait_s, target)
        missing = translatable("This request has no token. Log in and try again.")
        wrong = translatable("This is not the token of the crawl.")
        return self._login_page(request, target, wrong if token else missing)

    def _too_many(self, request: Request, wait_s: float, target: str) -> Response:
        trouble = translatable("Your address has sent too many wrong tokens.")
        response = self._login_page(request, target, trouble, 429, wait_of(wait_s))
        response.headers["Retry-After"] = str(math.ceil(wait_s))
        return response

    def _login_page(
        self, request: Request, target: str = "", trouble: str = "", status: int = 403, wait: Wait | None = None
    ) -> Response:
        has_token = self._crawl.token is not None
        to = target or (_address(request) if request.method in ("GET", "HEAD") else HOME)
        return self._render(request, "crawl_login.html", status, has_token=has_token, to=to, trouble=trouble, wait=wait)

    def _render(self, request: Request, template: str, status: int, **values: Any) -> Response:
        response = self._pages.page(request, template, status, query="", **values)
        response.headers["Cache-Control"] = "no-store"
        return response

    def _is_operator(self, request: Request) -> bool:
        return self._is_token(request.cookies.get(self._cookie, ""))

    def _is_token(self, given: str) -> bool:
        token = self._crawl.token
        return token is not None and hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())

    @property
    def _cookie(self) -> str:
        """The name of the cookie. Cookies of one host are shared by all its ports, so each crawl has its own name."""
        return "goodbot-" + hashlib.sha256((self._crawl.token or "").encode()).hexdigest()[:12]

    @property
    def _cookie_options(self) -> dict[str, Any]:
        site = self._pages.site
        return {"path": f"{site.prefix}{HOME}", "httponly": True, "samesite": "strict", "secure": site.is_secure}


def _address(request: Request) -> str:
    """Returns the path and query of a request, without the token."""
    kept = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
    address = f"{request.url.path}?{urlencode(kept)}" if kept else request.url.path
    if _PAGE.fullmatch(address):
        return address
    language = request.query_params.get(PARAMETER, "")
    return f"{HOME}?{urlencode({PARAMETER: language[:10]})}" if language else HOME
