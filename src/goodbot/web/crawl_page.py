"""Serves the page of a crawl. Everyone sees its figures; visitors with the token can control it.

The link that `goodbot serve` prints contains the token. Opening it sets a cookie, for which the page writes the token
into its forms; the cookie has no other use. A posted form is accepted only if it contains the token, so no other site
can make a visitor's browser control the crawl.
"""

import hashlib
import hmac
import logging
import secrets
import shlex
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, get_args

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.robot.crawl.remote_control import CrawlView, RemoteControl, Submitted
from goodbot.store.sqlite.host_queries import HostAhead
from goodbot.url import Url, parse_url
from goodbot.web.crawl_view import MEANINGS, error_groups, notice, progress
from goodbot.web.posted_forms import read_form
from goodbot.web.request_log import LOGGER
from goodbot.web.security_headers import SCRIPT_POLICY
from goodbot.web.templates_env import Templates

MAX_FORM_BYTES: Final = 256 * 1024
MAX_URLS: Final = 100
BAD_LINES_SHOWN: Final = 5
SUBMISSIONS_KEPT: Final = 16
"""Results of submissions kept for the pages that show them."""
_LOG: Final = logging.getLogger(LOGGER)

Order = Literal["pause", "resume", "stop"]


@dataclass(frozen=True, slots=True)
class _BadLine:
    """A submitted line that is not a URL, and the URL that may be meant (empty: none)."""

    text: str
    meant: str


class _BadLinesError(InputError):
    """Some submitted lines are not URLs; `lines` are the first of `count`."""

    def __init__(self, lines: list[_BadLine], count: int) -> None:
        super().__init__(f"{count} lines are not URLs")
        self.lines = lines
        self.count = count


class CrawlDesk(Protocol):
    """Reads the state of a crawl and controls it. `token` None: nobody may control it."""

    @property
    def token(self) -> str | None: ...

    @property
    def path(self) -> Path: ...

    @property
    def control(self) -> RemoteControl: ...

    def look(self) -> CrawlView: ...

    def hosts(self) -> list[HostAhead]: ...


class CrawlPage:
    """The endpoints of one crawl."""

    def __init__(self, crawl: CrawlDesk, pages: Templates) -> None:
        self._crawl = crawl
        self._pages = pages
        self._submissions: OrderedDict[str, list[Submitted]] = OrderedDict()
        # Cookies of one host are shared by all its ports, so each crawl has its own cookie name.
        self._cookie = "goodbot-" + hashlib.sha256((crawl.token or "").encode()).hexdigest()[:12]

    def show(self, request: Request) -> Response:
        """GET /crawl: shows the page; with `?token=`, sets the cookie first."""
        token = request.query_params.get("token")
        if token is not None:
            return self._log_in(request, token)
        if not self._is_token(request.cookies.get(self._cookie, "")):
            return self._page(may_control=False)
        submitted = self._submissions.get(request.query_params.get("submitted", ""), [])
        return self._page(may_control=True, done=request.query_params.get("done", ""), submitted=submitted)

    async def act(self, request: Request) -> Response:
        """POST /crawl/pause, resume, stop and submit: controls the crawl."""
        form = await read_form(request, MAX_FORM_BYTES)
        if refusal := self._refusal(request, form.get("token", "")):
            return refusal
        order = request.path_params["order"]
        if order == "submit":
            return await run_in_threadpool(self._submit, form.get("urls", ""))
        if order in get_args(Order):
            return await run_in_threadpool(self._control, order)
        raise HTTPException(404)

    def _log_in(self, request: Request, token: str) -> Response:
        if refusal := self._refusal(request, token):
            return refusal
        response = RedirectResponse("/crawl", status_code=303)
        response.set_cookie(self._cookie, token, path="/crawl", httponly=True, samesite="strict")
        return response

    def _refusal(self, request: Request, token: str) -> Response | None:
        """Logs and answers a request with a wrong token; None if it is right."""
        if self._is_token(token):
            return None
        client = request.client.host if request.client else "an unknown address"
        _LOG.warning("refused a control request from %s: %s without the token", client, request.url.path)
        response = self._pages.page(
            "message.html",
            403,
            query="",
            heading="Wrong token" if token else "Not allowed",
            line=f"{'this token is not the one of the crawl' if token else 'this request has no token'}; open the link "
            "that `goodbot serve` printed when it started",
            link=("/crawl", "Read the page without control"),
        )
        response.headers["Cache-Control"] = "no-store"
        return response

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
        except _BadLinesError as error:
            return self._page(may_control=True, bad_lines=error, urls=text, status=400)
        except InputError as error:
            return self._page(may_control=True, trouble=f"nothing was submitted: {error}", urls=text, status=400)
        except RunError as error:
            return self._page(may_control=True, trouble=f"nothing was submitted: {error}", urls=text, status=503)
        return RedirectResponse(f"/crawl?submitted={self._remember(submitted)}", status_code=303)

    def _remember(self, submitted: list[Submitted]) -> str:
        """Keeps the result of a submission for the page that the browser loads next. Returns its key."""
        key = secrets.token_urlsafe(8)
        self._submissions[key] = submitted
        while len(self._submissions) > SUBMISSIONS_KEPT:
            self._submissions.popitem(last=False)
        return key

    def _page(
        self,
        *,
        may_control: bool,
        done: str = "",
        trouble: str = "",
        urls: str = "",
        bad_lines: _BadLinesError | None = None,
        submitted: Sequence[Submitted] = (),
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
            folder=shlex.quote(str(self._crawl.path)) if may_control else "DIR",
            notice=notice(done, view),
            trouble=trouble,
            bad_lines=bad_lines,
            urls=urls,
            submitted=submitted,
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers["Content-Security-Policy"] = SCRIPT_POLICY
        return response


def _urls(text: str) -> list[Url]:
    """Parses one URL per line. Raises InputError if a line is not a URL, or if there are none or too many."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= MAX_URLS:
        raise InputError(f"give 1 to {MAX_URLS} URLs, one per line")
    bad = [line for line in lines if parse_url(line) is None]
    if bad:
        raise _BadLinesError([_BadLine(shown(line), _meant(line)) for line in bad[:BAD_LINES_SHOWN]], len(bad))
    return [url for url in map(parse_url, lines) if url is not None]


def _meant(line: str) -> str:
    """Returns the https URL that a line such as `example.org/a` may mean; empty if it means none."""
    url = parse_url(f"https://{line}") if "://" not in line and "." in line.partition("/")[0] else None
    return shown(url.text) if url is not None else ""
