"""Serves the page on which owners of a site have its pages removed from the search, and explains how to prove that it
is theirs."""

from dataclasses import dataclass
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError, UrlError
from goodbot.index.keys import site_terms
from goodbot.search_values import Hidden
from goodbot.url import Url
from goodbot.visitor_urls import MAX_TYPED_CHARS
from goodbot.visitor_values import RemovalAnswer, RemovalResult, TokenFile
from goodbot.web.pages.posted_forms import check_same_origin, read_form
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import reader_of, translatable
from goodbot.web.pages.url_errors import url_status
from goodbot.web.public_sites import TooManyRequestsError
from goodbot.web.visitors.visitor_desk import Removals, Stories, TypedUrls

MAX_FORM_BYTES: Final = 32 * 1024
SITE: Final = "site"
"""The value of the field `scope` for a whole site; any other means the page alone."""

_ANSWERS: Final[dict[RemovalResult, tuple[str, str]]] = {
    "unknown": (
        translatable("There is nothing to remove."),
        translatable("If search finds your page, copy its URL from the results: it may differ a little."),
    ),
    "not proved": (
        translatable("Not removed yet: no proof was found."),
        translatable(
            "Follow one of the three ways below. Open the changed page or file in your browser to check that the "
            "change is visible, then press the button again."
        ),
    ),
    "not checked": (
        translatable("This service cannot check who owns this page."),
        translatable("Write to the operator of this service, and give the URL of the page."),
    ),
}
"""What happened, and what the visitor can do."""
_SITE_NOT_PROVED: Final = (
    _ANSWERS["not proved"][0],
    translatable(
        "Put the file below on your server. Open it in your browser to check that it is visible, then press the button "
        "again."
    ),
)
"""The same for a whole site, for which only the file counts."""


@dataclass(frozen=True, slots=True)
class _Asked:
    """What a visitor typed: the text of a URL, and whether it stands for its whole site."""

    text: str
    is_site: bool

    @property
    def state(self) -> dict[str, str]:
        """The parameters of the page about it."""
        return {"url": self.text, "scope": SITE if self.is_site else ""}


@dataclass(frozen=True, slots=True)
class _Proofs:
    """What the owner of `url` may do; it is the one that the crawl requests. `disallow` are the lines for robots.txt,
    `token` the file. `in_index`: search can find the page now; None: unknown."""

    url: Url
    token: TokenFile
    disallow: tuple[str, ...]
    in_index: bool | None


class RemovalPage:
    """The page for removals."""

    def __init__(self, typed_urls: TypedUrls, removals: Removals, stories: Stories, pages: Templates) -> None:
        self._typed_urls = typed_urls
        self._removals = removals
        self._stories = stories
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of the page. If the operator takes no requests, there are none."""
        if not self._pages.site.removals:
            return ()
        return Route("/removal", self.show), Route("/removal", self.act, methods=["POST"])

    def show(self, request: Request) -> Response:
        """GET /removal: explains removals; with `?url=`, says what to do for this URL, or that it is removed."""
        asked = _Asked(request.query_params.get("url", "").strip(), request.query_params.get("scope") == SITE)
        if not asked.text:
            return self._page(request, asked)
        try:
            proofs = self._proofs(asked)
        except UrlError as error:
            return self._page(request, asked, trouble=str(error), status=url_status(error))
        if is_hidden(proofs.url, self._removals.hidden(), as_site=asked.is_site):
            return self._removed(request, asked, proofs)
        if reason := self._removals.why_not(proofs.url):
            return self._not_checked(request, asked, reason)
        return self._page(request, asked, proofs=proofs)

    async def act(self, request: Request) -> Response:
        """POST /removal: looks for a proof at once. After a success, redirects to the page that says so."""
        check_same_origin(request)
        fields = await read_form(request, MAX_FORM_BYTES)
        asked = _Asked(fields.get("url", "").strip(), fields.get("scope") == SITE)
        try:
            answer = await self._removals.request(asked.text, site=asked.is_site)
        except InputError as error:
            return await run_in_threadpool(self._failed, request, asked, error)
        if answer.removal is not None:
            found = _Asked(answer.removal.url.text, is_site=False) if answer.removal.url is not None else asked
            link = self._pages.link(reader_of(request))
            return RedirectResponse(link("/removal", found.state), status_code=303)
        return await run_in_threadpool(self._not_removed, request, asked, answer)

    def _failed(self, request: Request, asked: _Asked, error: InputError) -> Response:
        """Says what is wrong with the request, or with the site, and keeps the instructions if the URL is one."""
        if isinstance(error, UrlError):
            return self._page(request, asked, trouble=str(error), status=url_status(error))
        status = 429 if isinstance(error, TooManyRequestsError) else 422
        proofs = self._proofs(asked)
        return self._page(request, asked, proofs=proofs, trouble=str(error), status=status)

    def _not_checked(self, request: Request, asked: _Asked, reason: str, status: int = 200) -> Response:
        lead, advice = _ANSWERS["not checked"]
        answer = (lead, advice if self._pages.site.contact else "")
        return self._page(request, asked, answer=answer, trouble=reason, status=status)

    def _not_removed(self, request: Request, asked: _Asked, answer: RemovalAnswer) -> Response:
        if answer.result == "not checked":
            return self._not_checked(request, asked, answer.reason, 422)
        return self._page(
            request,
            asked,
            proofs=self._proofs(asked),
            answer=_SITE_NOT_PROVED if asked.is_site and answer.result == "not proved" else _ANSWERS[answer.result],
            trouble=answer.reason,
            status=404 if answer.result == "unknown" else 422,
        )

    def _proofs(self, asked: _Asked) -> _Proofs:
        """Raises UrlError if the text is not a URL."""
        url = self._typed_urls.read(asked.text)
        token = self._removals.token_file(asked.text, site=asked.is_site)
        if asked.is_site:
            return _Proofs(url, token, (), None)
        story = self._stories.story_of(url)
        lines = disallow_lines(self._pages.site.token, story.requested_as)
        return _Proofs(story.requested_as, token, lines, story.in_index)

    def _removed(self, request: Request, asked: _Asked, proofs: _Proofs) -> Response:
        return self._render(request, "removed.html", asked=asked, proofs=proofs)

    def _page(
        self,
        request: Request,
        asked: _Asked,
        *,
        proofs: _Proofs | None = None,
        answer: tuple[str, str] = ("", ""),
        trouble: str = "",
        status: int = 200,
    ) -> Response:
        response = self._render(
            request, "removal.html", status, asked=asked, proofs=proofs, answer=answer, trouble=trouble
        )
        if status == 429:
            response.headers["Retry-After"] = "60"
        return response

    def _render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        response = self._pages.page(request, template, status, query="", url_chars=MAX_TYPED_CHARS, **values)
        response.headers["Cache-Control"] = "no-store"
        if request.query_params.get("url"):
            response.headers["X-Robots-Tag"] = "noindex"
        return response


def is_hidden(url: Url, hidden: Hidden, *, as_site: bool = False) -> bool:
    """Returns whether a page is hidden, alone or with its site; `as_site`: whether its site is."""
    return not hidden.sites.isdisjoint(site_terms(url)) or (not as_site and url.text in hidden.urls)


def disallow_lines(token: str, url: Url) -> tuple[str, ...]:
    """Returns the lines of a robots.txt that disallow exactly this URL to the robot (RFC 9309 §2.2.3)."""
    path = url.target.replace("*", "%2A").replace("$", "%24")
    return f"User-agent: {token}", f"Disallow: {path}$"
