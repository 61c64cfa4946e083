"""Serves the dashboard of a crawl, on which its operator sees its figures and controls it."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, Protocol, cast, get_args

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, RunError
from goodbot.exclusion.text.shown_text import shown
from goodbot.report_values import HostAhead, MachineView
from goodbot.robot.crawl.remote_control import CrawlFigures, CrawlView, RemoteControl, Submitted
from goodbot.url import Url, parse_url
from goodbot.web.operator.crawl_reports import CrawlReports
from goodbot.web.operator.crawl_view import MACHINE_STATES, MEANINGS, error_groups, notice, progress
from goodbot.web.operator.operator_access import HOME, OperatorAccess
from goodbot.web.pages.translations import translatable

MAX_FORM_BYTES: Final = 256 * 1024
MAX_URLS: Final = 100
BAD_LINES_SHOWN: Final = 5
SUBMISSIONS_KEPT: Final = 16
"""Results of submissions kept for the pages that show them."""

Order = Literal["pause", "resume", "stop"]
_SUBMIT: Final = "submit"


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


class _BadCountError(InputError):
    """The visitor submitted no URL, or too many."""


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why an order was not carried out: a `heading` that is translatable, and a `reason` in English."""

    heading: str = ""
    reason: str = ""


_NO_TROUBLE: Final = _Trouble()
_NOT_SUBMITTED: Final = translatable("Nothing was submitted.")
_NOT_DONE: Final = translatable("The command failed.")


class CrawlDesk(Protocol):
    """Reads the state of a crawl and controls it. `token` None: nobody may see the pages about it."""

    @property
    def token(self) -> str | None: ...

    @property
    def path(self) -> Path: ...

    @property
    def control(self) -> RemoteControl: ...

    @property
    def reports(self) -> CrawlReports: ...

    def look(self) -> CrawlView: ...

    def figures(self) -> CrawlFigures: ...

    def hosts(self) -> list[HostAhead]: ...

    def machines(self) -> Sequence[MachineView]: ...


class CrawlPage:
    """The dashboard of one crawl, and the endpoints that control it."""

    def __init__(self, crawl: CrawlDesk, access: OperatorAccess) -> None:
        self._crawl = crawl
        self._access = access
        self._submissions: OrderedDict[str, list[Submitted]] = OrderedDict()

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of all endpoints."""
        return (
            Route(HOME, self._access.guarded(self.show)),
            *(Route(f"{HOME}/{order}", self.act, methods=["POST"]) for order in (*get_args(Order), _SUBMIT)),
        )

    def show(self, request: Request) -> Response:
        """GET /crawl: shows the state of the crawl."""
        submitted = self._submissions.get(request.query_params.get("submitted", ""), [])
        return self._page(request, done=request.query_params.get("done", ""), submitted=submitted)

    async def act(self, request: Request) -> Response:
        """POST /crawl/pause, resume, stop and submit: controls the crawl."""
        form = await self._access.form(request, MAX_FORM_BYTES)
        if isinstance(form, Response):
            return form
        order = request.url.path.rpartition("/")[2]
        if order == _SUBMIT:
            return await run_in_threadpool(self._submit, request, form.get("urls", ""))
        return await run_in_threadpool(self._control, request, cast("Order", order))

    def _control(self, request: Request, order: Order) -> Response:
        try:
            is_running = self._crawl.control.send(order)
        except RunError as error:
            return self._page(request, trouble=_Trouble(_NOT_DONE, str(error)), status=503)
        done = order if is_running else "not-running"
        return RedirectResponse(self._access.link(request)(HOME, done=done), status_code=303)

    def _submit(self, request: Request, text: str) -> Response:
        try:
            submitted = self._crawl.control.submit(_urls(text))
        except _BadLinesError as error:
            return self._page(request, bad_lines=error, urls=text, status=400)
        except _BadCountError:
            return self._page(request, bad_count=True, urls=text, status=400)
        except (InputError, RunError) as error:
            trouble = _Trouble(_NOT_SUBMITTED, str(error))
            return self._page(request, trouble=trouble, urls=text, status=400 if isinstance(error, InputError) else 503)
        link = self._access.link(request)
        return RedirectResponse(link(HOME, submitted=self._remember(submitted)), status_code=303)

    def _remember(self, submitted: list[Submitted]) -> str:
        """Keeps the result of a submission for the page that the browser loads next. Returns its key."""
        key = secrets.token_urlsafe(8)
        self._submissions[key] = submitted
        while len(self._submissions) > SUBMISSIONS_KEPT:
            self._submissions.popitem(last=False)
        return key

    def _page(
        self,
        request: Request,
        *,
        done: str = "",
        trouble: _Trouble = _NO_TROUBLE,
        urls: str = "",
        bad_lines: _BadLinesError | None = None,
        bad_count: bool = False,
        submitted: Sequence[Submitted] = (),
        status: int = 200,
    ) -> Response:
        view = self._crawl.look()
        return self._access.page(
            request,
            "crawl.html",
            HOME,
            status,
            crawl=view.status,
            running=view.running,
            live=view.live,
            progress=progress(view.status),
            errors=error_groups(view.live) if view.live else [],
            meanings=MEANINGS,
            hosts=self._crawl.hosts(),
            machines=self._crawl.machines(),
            machine_states=MACHINE_STATES,
            now=time.time(),
            notice=notice(done, view),
            trouble=trouble,
            bad_lines=bad_lines,
            bad_count=bad_count,
            max_urls=MAX_URLS,
            urls=urls,
            submitted=submitted,
        )


def _urls(text: str) -> list[Url]:
    """Parses one URL per line. Raises InputError if a line is not a URL, or if there are none or too many."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not 1 <= len(lines) <= MAX_URLS:
        raise _BadCountError(f"give 1 to {MAX_URLS} URLs, one per line")
    bad = [line for line in lines if parse_url(line) is None]
    if bad:
        raise _BadLinesError([_BadLine(shown(line), _meant(line)) for line in bad[:BAD_LINES_SHOWN]], len(bad))
    return [url for url in map(parse_url, lines) if url is not None]


def _meant(line: str) -> str:
    """Returns the https URL that a line such as `example.org/a` may mean; empty if it means none."""
    url = parse_url(f"https://{line}") if "://" not in line and "." in line.partition("/")[0] else None
    return shown(url.text) if url is not None else ""
