"""The checker page: a robots.txt pasted, or a site's own, judged while it is typed; and what it says to one robot.

Without JavaScript the forms do everything. With it, /check/report answers the same form with the report alone.
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

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.registry import robots
from goodbot.web.checker_report import (
    AGENT_CHARS,
    FINDINGS_SHOWN,
    TEXT_MOST_BYTES,
    URL_CHARS,
    CheckerReport,
    judge,
    same_text,
    text_of,
)
from goodbot.web.posted_forms import check_own, read_form, read_json
from goodbot.web.robots_asker import SITE_CHARS, SiteRobots, TooManyError
from goodbot.web.shield import POLICY
from goodbot.web.templates_env import Templates

SENT_MOST_BYTES: Final = 3 * TEXT_MOST_BYTES + 16 * 1024
"""Of a form, in which a character may take three."""
AT_ONCE: Final = 2
"""Files judged at the same time; others wait their turn."""
WAITING_MOST: Final = 20

_POLICY: Final = f"{POLICY}; script-src 'self'; connect-src 'self'"
"""This page alone has a script: a file of ours."""
_FIELDS: Final = ("robots", "site", "of", "agent", "url")
_TOO_LONG: Final = (
    f"a robots.txt of more than {TEXT_MOST_BYTES // 1024} KiB is not looked at: robots read the first 500 KiB of it"
)


class Asker(Protocol):
    """Where the robots.txt of a site comes from: see `RobotsAsker`."""

    async def ask(self, text: str) -> SiteRobots: ...

    def remembered(self, origin: str) -> SiteRobots | None: ...


@dataclass(frozen=True)
class _Sent:
    """What was asked: a text, or (`site`) a site; `of` is the origin that the text came from."""

    robots: str = ""
    site: str = ""
    of: str = ""
    agent: str = ""
    url: str = ""


class CheckerPage:
    """The endpoints of the checker. `asker` None: no site can be asked."""

    def __init__(self, pages: Templates, asker: Asker | None) -> None:
        self._pages = pages
        self._asker = asker
        self._turns = asyncio.Semaphore(AT_ONCE)
        self._waiting = 0

    def routes(self) -> tuple[Route, ...]:
        """All of them."""
        return (
            Route("/check", self.show),
            Route("/check", self.act, methods=["POST"]),
            Route("/check/report", self.report, methods=["POST"]),
            Route("/api/check", self.api, methods=["POST"]),
        )

    def show(self, request: Request) -> Response:
        """GET /check"""
        return self._page(_Sent())

    async def act(self, request: Request) -> Response:
        """POST /check, by a form."""
        sent = await _from_form(request)
        try:
            report = await self._judge(request, sent)
        except InputError as error:
            return self._page(sent, trouble=str(error), status=_status(error))
        status = 400 if report.trouble else 200
        return self._page(_filled(sent, report.site), report, trouble=report.trouble, status=status)

    async def report(self, request: Request) -> Response:
        """POST /check/report: what stands below the form, for the page's script."""
        sent = await _from_form(request)
        try:
            report = await self._judge(request, replace(sent, site=""))
        except InputError as error:
            return self._render("check_report.html", report=None, trouble=str(error))
        return self._render("check_report.html", report=report, trouble=report.trouble)

    async def api(self, request: Request) -> Response:
        """POST /api/check `{"robots": TEXT}` or `{"site": URL}`, and if wanted `"agent"` and `"url"`."""
        check_own(request)
        fields = await read_json(request, SENT_MOST_BYTES, _TOO_LONG)
        try:
            report = await self._judge(request, _from_json(fields))
        except InputError as error:
            return JSONResponse({"error": str(error)}, _status(error))
        return JSONResponse({"error": report.trouble}, 400) if report.trouble else JSONResponse(report.as_json())

    async def _judge(self, request: Request, sent: _Sent) -> CheckerReport:
        site = await self._site(sent)
        text = sent.robots.encode("utf-8", "replace")
        if len(text) > TEXT_MOST_BYTES:
            raise HTTPException(413, _TOO_LONG)
        if self._waiting >= WAITING_MOST:
            raise TooManyError("too many files are being checked: try again in a moment")
        self._waiting += 1
        try:
            async with self._turns:
                if await request.is_disconnected():  # who types on sends the next one
                    raise ClientDisconnect
                return await run_in_threadpool(judge, text, sent.agent, sent.url, site)
        finally:
            self._waiting -= 1

    async def _site(self, sent: _Sent) -> SiteRobots | None:
        """The site asked for, or the one that the text came from, if it is still the same."""
        if sent.site:
            if self._asker is None:
                raise InputError("this server asks no site: paste the file")
            return await self._asker.ask(sent.site)
        site = self._asker.remembered(sent.of) if self._asker and sent.of else None
        return site if site is not None and same_text(text_of(site), sent.robots) else None

    def _page(
        self, sent: _Sent, report: CheckerReport | None = None, *, trouble: str = "", status: int = 200
    ) -> Response:
        return self._render("check.html", status, sent=sent, report=report, trouble=trouble, tokens=_tokens())

    def _render(self, template: str, status: int = 200, **values: Any) -> Response:
        bounds = {"agent_chars": AGENT_CHARS, "url_chars": URL_CHARS, "site_chars": SITE_CHARS}
        response = self._pages.page(
            template, status, query="", bounds=bounds, most=FINDINGS_SHOWN, asks=self._asker is not None, **values
        )
        response.headers["Content-Security-Policy"] = _POLICY
        response.headers["Cache-Control"] = "no-store"
        return response


async def _from_form(request: Request) -> _Sent:
    check_own(request)
    fields = await read_form(request, SENT_MOST_BYTES, _TOO_LONG)
    return _Sent(**{name: fields.get(name, "") for name in _FIELDS})


def _from_json(fields: dict[str, Any]) -> _Sent:
    """Raises InputError for what is not known, and for neither or both of a text and a site."""
    known = {name: fields[name] for name in ("robots", "site", "agent", "url") if fields.get(name) is not None}
    if unknown := sorted(fields.keys() - {"robots", "site", "agent", "url"}):
        raise InputError(f"unknown: {shown(unknown[0])}; known are robots, site, agent and url")
    if not all(isinstance(value, str) for value in known.values()):
        raise InputError("robots, site, agent and url are strings")
    if ("robots" in known) == ("site" in known):
        raise InputError("give robots (the text of a robots.txt), or site (whose robots.txt is fetched)")
    return _Sent(**{name: text.encode("utf-8", "replace").decode() for name, text in known.items()})  # no surrogates


def _filled(sent: _Sent, site: SiteRobots | None) -> _Sent:
    """The form as it is shown again: what was fetched is there to be edited."""
    if site is None:
        return replace(sent, of="")
    return replace(sent, robots=text_of(site), site=sent.site or site.url.origin, of=site.url.origin)


def _status(error: InputError) -> int:
    return 429 if isinstance(error, TooManyError) else 400


@cache
def _tokens() -> list[str]:
    """Names to choose from."""
    known = (robot.token for robot in robots() if robot.recorded and not robot.retired)
    return sorted({token for token in known if token}, key=str.lower)
