"""Serves the list of removals that owners of sites were granted, from which the operator can lift one."""

from collections.abc import Sequence
from typing import Final, Protocol

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from goodbot.visitor_values import Proof, Removal
from goodbot.web.operator.operator_access import OperatorAccess
from goodbot.web.pages.translations import translatable

REMOVALS: Final = "/crawl/removals"
PER_PAGE: Final = 50

_PROOFS: Final[dict[Proof, str]] = {
    "robots.txt": translatable("proved by robots.txt"),
    "page": translatable("proved by the page"),
    "token file": translatable("proved by a file"),
}


class GrantedRemovals(Protocol):
    """The removals in force. May be used in any thread."""

    def granted(self) -> Sequence[Removal]:
        """Returns all of them."""
        ...

    def lift(self, id_: str) -> bool:
        """Lifts a removal; returns False if there is none with this id."""
        ...


class GrantedRemovalsPage:
    """The endpoints of the list."""

    def __init__(self, removals: GrantedRemovals, access: OperatorAccess) -> None:
        self._removals = removals
        self._access = access

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both endpoints."""
        return (
            Route(REMOVALS, self._access.guarded(self.show)),
            Route(REMOVALS, self.lift, methods=["POST"]),
        )

    def show(self, request: Request) -> Response:
        """GET /crawl/removals: the removals, the latest first."""
        removals = sorted(self._removals.granted(), key=lambda removal: removal.at, reverse=True)
        pages = max(1, -(-len(removals) // PER_PAGE))
        page = min(_page_number(request.query_params.get("page", "")), pages)
        done = request.query_params.get("done", "")
        return self._access.page(
            request,
            "crawl_removals.html",
            REMOVALS,
            removals=removals[(page - 1) * PER_PAGE : page * PER_PAGE],
            page=page,
            pages=pages,
            proofs=_PROOFS,
            lifted=done == "lifted",
            missing=done == "missing",
        )

    async def lift(self, request: Request) -> Response:
        """POST /crawl/removals: lifts the removal with the id in the form."""
        form = await self._access.form(request)
        if isinstance(form, Response):
            return form
        is_lifted = await run_in_threadpool(self._removals.lift, form.get("id", ""))
        link = self._access.link(request)
        return RedirectResponse(link(REMOVALS, done="lifted" if is_lifted else "missing"), status_code=303)


def _page_number(text: str) -> int:
    return max(1, int(text)) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
