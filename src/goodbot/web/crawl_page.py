"""The page of a crawl: its numbers for everyone, its control for who has the token.

The link that `goodbot serve` prints has the token; opening it leaves a cookie, which only serves to write the token
into the forms. What is posted is judged by the form's token alone, so no other site can have a visitor's browser post.
"""

import hashlib
import hmac
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
from goodbot.web.posted_forms import read_form
from goodbot.web.templates_env import Templates

FORM_MOST_BYTES: Final = 256 * 1024
URLS_MOST: Final = 100

Order = Literal["pause", "resume", "stop"]

_SAID: Final = {
    "pause": "The crawl is pausing. Pages in flight finish first.",
    "resume": "The crawl is running again.",
    "stop": "The crawl is stopping. Pages in flight finish first.",
    "rests": "No crawl is running.",
}


class CrawlDesk(Protocol):
    """A crawl: a look at it, and where it is told what to do. `token` None: nobody may."""

    @property
    def token(self) -> str | None: ...

    @property
    def desk(self) -> RemoteControl: ...

    def look(self) -> CrawlView: ...

    def hosts(self) -> list[HostAhead]: ...


class CrawlPage:
    """The endpoints of one crawl."""

    def __init__(self, crawl: CrawlDesk, pages: Templates) -> None:
        self._crawl = crawl
        self._pages = pages
        # Browsers keep one jar for all ports of a host: a name for each crawl, so that two do not take turns.
        self._cookie = "goodbot-" + hashlib.sha256((crawl.token or "").encode()).hexdigest()[:12]

    def show(self, request: Request) -> Response:
        """GET /crawl"""
        token = request.query_params.get("token")
        if token is not None:
            return self._let_in(token)
        said = _SAID.get(request.query_params.get("said", ""), "")
        return self._page(may=self._is_token(request.cookies.get(self._cookie, "")), said=said)

    async def act(self, request: Request) -> Response:
        """POST /crawl/pause, resume, stop and submit."""
        form = await read_form(request, FORM_MOST_BYTES)
        if not self._is_token(form.get("token", "")):
            raise HTTPException(403)
        order = request.path_params["order"]
        if order == "submit":
            return await run_in_threadpool(self._submit, form.get("urls", ""))
        if order in get_args(Order):
            return await run_in_threadpool(self._tell, order)
        raise HTTPException(404)

    def _let_in(self, token: str) -> Response:
        if not self._is_token(token):
            raise HTTPException(403)
        response = RedirectResponse("/crawl", status_code=303)
        response.set_cookie(self._cookie, token, path="/crawl", httponly=True, samesite="strict")
        return response

    def _is_token(self, given: str) -> bool:
        return self._crawl.token is not None and hmac.compare_digest(given.encode(), self._crawl.token.encode())

    def _tell(self, order: Order) -> Response:
        try:
            told = self._crawl.desk.tell(order)
        except RunError as error:
            return self._page(may=True, trouble=str(error), status=503)
        return RedirectResponse(f"/crawl?said={order if told else 'rests'}", status_code=303)

    def _submit(self, text: str) -> Response:
        try:
            submitted = self._crawl.desk.submit(_urls(text))
        except InputError as error:
            return self._page(may=True, trouble=str(error), urls=text, status=400)
        except RunError as error:
            return self._page(may=True, trouble=str(error), urls=text, status=503)
        return self._page(may=True, submitted=submitted)

    def _page(
        self,
        *,
        may: bool,
        said: str = "",
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
            hosts=self._crawl.hosts(),
            now=time.time(),
            token=self._crawl.token if may else None,
            said=said,
            trouble=trouble,
            urls=urls,
            submitted=submitted or [],
        )
        response.headers["Cache-Control"] = "no-store"
        return response


def _urls(text: str) -> list[Url]:
    """One a line. Raises InputError for what is none, and for none or too many."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= URLS_MOST:
        raise InputError(f"write 1 to {URLS_MOST} URLs, each on a line of its own")
    return parse_seeds(lines)
