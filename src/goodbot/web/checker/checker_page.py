"""Serves the checker page, which shows what is wrong with a robots.txt, and whether it lets a robot fetch a URL.

The forms work without JavaScript. With it, the page's script posts the same form to /check/report while the visitor
types, and gets the report alone.
"""

import asyncio
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, UrlError
from goodbot.exclusion.text.shown_text import shown
from goodbot.registry import robots
from goodbot.web.checker.checker_report import (
    AGENT_CHARS,
    FINDINGS_SHOWN,
    MAX_TEXT_BYTES,
    SEVERITIES,
    URL_CHARS,
    CheckerReport,
    TroubleError,
    has_text,
    judge,
    same_text,
    text_of,
)
from goodbot.web.checker.site_robots import SITE_CHARS, SiteRobots, TooManyRequestsError
from goodbot.web.pages.messages import Message
from goodbot.web.pages.posted_forms import check_same_origin, read_form, read_json
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable
from goodbot.web.pages.url_errors import url_status
from goodbot.web.public_sites import NoAnswerError, RefusedVisitError

MAX_FORM_BYTES: Final = 3 * MAX_TEXT_BYTES + 16 * 1024
"""Limits a form, where percent-encoding may triple the bytes of a text."""
CHECKS_AT_ONCE: Final = 2
"""This many files are checked at the same time; others wait."""
CHECKS_WAITING: Final = 20
RETRY_AFTER_S: Final = 60

_FIELDS: Final = ("robots", "site", "shown_site", "button", "of", "agent", "url")
_TOO_LONG: Final = translatable("a robots.txt of more than 528 KiB is not checked: robots read only the first 500 KiB")
"""`MAX_TEXT_BYTES` in words."""
_NO_SOURCE: Final = translatable("this server does not fetch from sites: paste the file")
_TOO_MANY: Final = translatable("too many files are being checked: try again in a moment")


class RobotsSource(Protocol):
    """Fetches the robots.txt of sites: see `RobotsFetcher`."""

    async def fetch(self, text: str) -> SiteRobots: ...

    def cached(self, origin: str) -> SiteRobots | None: ...

    @property
    def why_not(self) -> str: ...


@dataclass(frozen=True)
class _Form:
    """The fields of a form: the text of a robots.txt and a `site` to fetch it from, a robot and a URL. `of` is the
    origin that the text was fetched from, `shown_site` the site that the page showed before the visitor typed, `button`
    the button pressed: `fetch`, `check`, or empty for the Enter key."""

    robots: str = ""
    site: str = ""
    of: str = ""
    agent: str = ""
    url: str = ""
    shown_site: str = ""
    button: str = ""

    @property
    def fetches(self) -> bool:
        """Whether the visitor wants the file fetched. The Enter key fetches from a site that was just typed, and else
        checks the text."""
        if self.button:
            return self.button == "fetch"
        return bool(self.site) and self.site != self.shown_site


@dataclass(frozen=True, slots=True)
class _Trouble:
    """Why there is no report, or no verdict, in one sentence. `fetching`: no file was fetched."""

    sentence: Message | str
    fetching: bool = False


class _TooManyChecksError(TroubleError, TooManyRequestsError):
    """Too many files are being checked."""


class _NoSourceError(TroubleError, RefusedVisitError):
    """This server fetches from no site."""


class CheckerPage:
    """The endpoints of the checker. Without a `source` it cannot fetch from sites."""

    def __init__(self, pages: Templates, source: RobotsSource | None) -> None:
        self._pages = pages
        self._source = source
        self._slots = asyncio.Semaphore(CHECKS_AT_ONCE)
        self._waiting = 0

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of all endpoints."""
        return (
            Route("/check", self.show),
            Route("/check", self.act, methods=["POST"]),
            Route("/check/report", self.report, methods=["POST"]),
            Route("/api/check", self.api, methods=["POST"]),
        )

    def show(self, request: Request) -> Response:
        """GET /check: shows the empty form."""
        return self._page(request, _Form())

    async def act(self, request: Request) -> Response:
        """POST /check: shows the form and its report."""
        form = await _read_form(request)
        try:
            report = await self._judge(request, form)
        except InputError as error:
            trouble = _trouble(error, fetching=form.fetches)
            return self._page(request, form, trouble=trouble, status=_status(error))
        trouble = _trouble(report.trouble)
        status = _status(report.trouble) if report.trouble else 200
        return self._page(request, _filled(form, report.site), report, trouble=trouble, status=status)

    async def report(self, request: Request) -> Response:
        """POST /check/report: returns the report alone, for the page's script. Never fetches from a site."""
        form = await _read_form(request)
        try:
            report = await self._judge(request, replace(form, button="check"))
        except InputError as error:
            trouble = _trouble(error)
            return self._render(request, "check_report.html", report=None, trouble=trouble, keeps_text=False)
        trouble = _trouble(report.trouble)
        return self._render(request, "check_report.html", report=report, trouble=trouble, keeps_text=False)

    async def api(self, request: Request) -> Response:
        """POST /api/check: answers `{"robots": TEXT}` or `{"site": URL}`, optionally with `"agent"` and `"url"`."""
        check_same_origin(request)
        fields = await read_json(request, MAX_FORM_BYTES, _TOO_LONG)
        try:
            report = await self._judge(request, _from_json(fields))
        except InputError as error:
            status = _status(error)
            return JSONResponse({"error": str(error)}, status, _retry(status))
        if report.trouble is not None:
            return JSONResponse({"error": str(report.trouble)}, _status(report.trouble))
        return JSONResponse(report.as_json())

    async def _judge(self, request: Request, form: _Form) -> CheckerReport:
        site = await self._site(form)
        text = b"" if form.fetches else form.robots.encode("utf-8", "replace")
        if len(text) > MAX_TEXT_BYTES:
            raise HTTPException(413, _TOO_LONG)
        if self._waiting >= CHECKS_WAITING:
            raise _TooManyChecksError(_TOO_MANY)
        self._waiting += 1
        try:
            async with self._slots:
                if await request.is_disconnected():  # the script cancels a request when the visitor types on
                    raise ClientDisconnect
                return await run_in_threadpool(judge, text, form.agent, form.url, site)
        finally:
            self._waiting -= 1

    async def _site(self, form: _Form) -> SiteRobots | None:
        """Fetches the robots.txt of `form.site`. Without one, returns what the text was fetched from, unless the
        visitor has edited it."""
        if form.fetches:
            if self._source is None:
                raise _NoSourceError(_NO_SOURCE)
            return await self._source.fetch(form.site)
        site = self._source.cached(form.of) if self._source and form.of else None
        return site if site is not None and same_text(text_of(site), form.robots) else None

    def _page(
        self,
        request: Request,
        form: _Form,
        report: CheckerReport | None = None,
        *,
        trouble: _Trouble | None = None,
        status: int = 200,
    ) -> Response:
        keeps_text = bool(report and report.site and form.robots and not has_text(report.site))
        return self._render(
            request,
            "check.html",
            status,
            sent=form,
            report=report,
            trouble=trouble,
            keeps_text=keeps_text,
            tokens=_tokens(),
        )

    def _render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        bounds = {"agent_chars": AGENT_CHARS, "url_chars": URL_CHARS, "site_chars": SITE_CHARS}
        why_not = self._source.why_not if self._source else ""
        response = self._pages.page(
            request,
            template,
            status,
            query="",
            bounds=bounds,
            most=FINDINGS_SHOWN,
            severities=SEVERITIES,
            has_source=self._source is not None,
            why_not=why_not,
            **values,
        )
        response.headers["Cache-Control"] = "no-store"
        response.headers.update(_retry(status))
        return response


async def _read_form(request: Request) -> _Form:
    check_same_origin(request)
    fields = await read_form(request, MAX_FORM_BYTES, _TOO_LONG)
    return _Form(**{name: fields.get(name, "") for name in _FIELDS})


def _from_json(fields: dict[str, Any]) -> _Form:
    """Reads the keys of a JSON object. Raises InputError for an unknown key, for a value that is not a string, and
    unless there is either a text or a site."""
    known = {name: fields[name] for name in ("robots", "site", "agent", "url") if fields.get(name) is not None}
    if unknown := sorted(fields.keys() - {"robots", "site", "agent", "url"}):
        raise InputError(f"unknown key: {shown(unknown[0])}; the known keys are robots, site, agent and url")
    if not all(isinstance(value, str) for value in known.values()):
        raise InputError("robots, site, agent and url must be strings")
    if ("robots" in known) == ("site" in known):
        raise InputError("give either robots (the text of a robots.txt) or site (the site to fetch it from)")
    texts = {name: text.encode("utf-8", "replace").decode() for name, text in known.items()}  # no surrogates
    return _Form(**texts, button="fetch" if "site" in known else "check")


def _filled(form: _Form, site: SiteRobots | None) -> _Form:
    """Returns the form to show again, with the fetched text in it for editing. If the site sent no file, the visitor's
    text stays."""
    if site is None:
        return replace(form, of="")
    form = replace(form, site=form.site or site.url.origin)
    if form.robots and not has_text(site):
        return form
    return replace(form, robots=text_of(site), of=site.url.origin)


def _trouble(error: InputError | None, *, fetching: bool = False) -> _Trouble | None:
    """Says why there is no report. Messages of a fetch stay English."""
    if error is None:
        return None
    return _Trouble(error.message if isinstance(error, TroubleError) else str(error), fetching)


def _status(error: InputError) -> int:
    """Returns 400 if the request cannot be used, 403 if this server sends no request to the site, 429 or 503 if another
    attempt may succeed."""
    match error:
        case UrlError():
            return url_status(error)
        case TooManyRequestsError():
            return 429
        case RefusedVisitError():
            return 403
        case NoAnswerError():
            return 503
    return 400


def _retry(status: int) -> dict[str, str]:
    return {"Retry-After": str(RETRY_AFTER_S)} if status in (429, 503) else {}


@cache
def _tokens() -> list[str]:
    """Returns the product tokens that the form suggests."""
    known = (robot.token for robot in robots() if robot.recorded and not robot.retired)
    return sorted({token for token in known if token}, key=str.lower)
