"""Serves the page on which visitors submit URLs to the crawl, and the same for programs."""

import logging
import time
from typing import Any, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from goodbot.errors import RunError, UrlError
from goodbot.exclusion.text.shown_text import shown, unicode_only
from goodbot.visitor_urls import MAX_TYPED_CHARS
from goodbot.visitor_values import Submission, SubmissionResult
from goodbot.web.pages.error_pages import ErrorPages
from goodbot.web.pages.posted_forms import check_same_origin, read_form, read_json
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import reader_of, translatable
from goodbot.web.pages.url_errors import url_status
from goodbot.web.server.request_log import LOGGER
from goodbot.web.visitors.public_story import public_story
from goodbot.web.visitors.story_view import queue_heading_of
from goodbot.web.visitors.visitor_desk import Stories, Submissions, TypedUrls

MAX_BODY_BYTES: Final = 32 * 1024
"""The limit for a form or JSON with one URL."""

OFF: Final = "the operator of this service accepts no URLs from visitors"
_NO_ANSWER: Final = (
    translatable("The crawl does not answer"),
    translatable("The URL was not submitted. Try again in a minute."),
)
_REFUSALS: Final[dict[SubmissionResult, str]] = {
    "out of scope": translatable("Not submitted: this URL is outside the scope of the crawl."),
    "private": translatable("Not submitted: this URL may lead into a private network."),
    "disallowed": translatable("Not submitted: the robots.txt of this site forbids the page to this robot."),
    "forgotten": translatable("Not submitted: this robot does not visit the site."),
}
_LOG: Final = logging.getLogger(LOGGER)


class SubmissionPage:
    """The page and the endpoint that submit a URL."""

    def __init__(
        self,
        typed_urls: TypedUrls,
        submissions: Submissions,
        stories: Stories,
        pages: Templates,
        errors: ErrorPages,
    ) -> None:
        self._typed_urls = typed_urls
        self._submissions = submissions
        self._stories = stories
        self._pages = pages
        self._errors = errors

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both. If the operator accepts no URLs, there is no page, and the endpoint answers
        403."""
        if not self._pages.site.submissions:
            return (Route("/api/submit", _refuse, methods=["POST"]),)
        return (
            Route("/submit", self.show),
            Route("/submit", self.act, methods=["POST"]),
            Route("/api/submit", self.api, methods=["POST"]),
        )

    def show(self, request: Request) -> Response:
        """GET /submit: shows the form; with `?url=` of a URL that the crawl knows, what it will do with it. So this is
        also the page after a submission, and it stays true when it is loaded again."""
        typed = request.query_params.get("url", "").strip()
        if not typed:
            return self._form(request)
        try:
            url = self._typed_urls.read(typed)
        except UrlError as error:
            return self._form(request, typed=typed, trouble=str(error), status=url_status(error))
        story = public_story(self._stories.story_of(url))
        if story.state == "unknown":
            return self._form(request, typed=url.text)
        heading = queue_heading_of(story)
        return self._page(request, "submitted.html", story=story, heading=heading, is_removed=None, now=time.time())

    async def act(self, request: Request) -> Response:
        """POST /submit: submits the URL, and redirects to the page about it; or says why it was not submitted."""
        check_same_origin(request)
        fields = await read_form(request, MAX_BODY_BYTES)
        return await run_in_threadpool(self._submit, request, fields.get("url", ""))

    async def api(self, request: Request) -> Response:
        """POST /api/submit: submits the URL of `{"url": "…"}`."""
        check_same_origin(request)
        fields = await read_json(request, MAX_BODY_BYTES)
        return await run_in_threadpool(self._submit_json, request, fields)

    def _submit(self, request: Request, typed: str) -> Response:
        try:
            done = self._submissions.submit(typed)
        except UrlError as error:
            return self._form(request, typed=typed, trouble=str(error), status=url_status(error))
        except RunError as error:
            return self._no_answer(request, error)
        if is_in_crawl(done):
            link = self._pages.link(reader_of(request))
            return RedirectResponse(link("/submit", url=done.url.text), status_code=303)
        return self._form(request, typed=typed, refusal=_REFUSALS[done.result], trouble=done.reason, status=403)

    def _submit_json(self, request: Request, fields: dict[str, Any]) -> Response:
        try:
            done = self._submissions.submit(_url_field(fields))
        except UrlError as error:
            return JSONResponse({"error": str(error)}, url_status(error))
        except RunError as error:
            return self._no_answer(request, error)
        return JSONResponse(submission_json(done), 200 if is_in_crawl(done) else 403)

    def _no_answer(self, request: Request, error: RunError) -> Response:
        _LOG.error("a URL was not submitted: %s", error)
        response = self._errors.error(request, 503, *_NO_ANSWER)
        response.headers["Retry-After"] = "60"
        return response

    def _form(
        self, request: Request, *, typed: str = "", refusal: str = "", trouble: str = "", status: int = 200
    ) -> Response:
        return self._page(request, "submit.html", status, typed=typed, refusal=refusal, trouble=trouble)

    def _page(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        response = self._pages.page(request, template, status, query="", url_chars=MAX_TYPED_CHARS, **values)
        response.headers["Cache-Control"] = "no-store"
        if request.query_params.get("url"):
            response.headers["X-Robots-Tag"] = "noindex"
        return response


def is_in_crawl(done: Submission) -> bool:
    """Whether the crawl has the URL now."""
    return done.result in ("submitted", "known")


def submission_json(done: Submission) -> dict[str, object]:
    """The result as JSON; times in Unix seconds. `done`: the crawl has the URL now."""
    return {
        "done": is_in_crawl(done),
        "url": done.url.text,
        "result": done.result,
        "reason": done.reason or None,
        "state_before": done.state_before,
        "state": done.state,
        "visited_at": done.visited_at,
        "due_at": done.due_at,
    }


def _url_field(fields: dict[str, Any]) -> str:
    """Returns the URL of a JSON object. Raises UrlError for an unknown key, and unless `url` is a string."""
    if unknown := sorted(fields.keys() - {"url"}):
        raise UrlError(f"unknown key: {shown(unknown[0])}; the only key is url")
    url = fields.get("url")
    if not isinstance(url, str):
        raise UrlError("url must be a string")
    return unicode_only(url)


def _refuse(request: Request) -> Response:
    return JSONResponse({"error": OFF}, 403)
