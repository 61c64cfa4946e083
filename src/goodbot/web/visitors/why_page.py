"""Serves "Why is my page not here?": the story of a URL, from its discovery to the search index."""

import time
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import UrlError
from goodbot.url_story import story_json
from goodbot.visitor_urls import MAX_TYPED_CHARS
from goodbot.visitor_values import Story
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.url_errors import url_status
from goodbot.web.visitors.public_story import public_story
from goodbot.web.visitors.removal_page import is_hidden
from goodbot.web.visitors.story_view import REMOVED, advises_submission, heading_of, steps_of
from goodbot.web.visitors.visitor_desk import Removals, Stories, TypedUrls


class WhyPage:
    """The page and the endpoint for the story of a URL."""

    def __init__(self, typed_urls: TypedUrls, stories: Stories, removals: Removals, pages: Templates) -> None:
        self._typed_urls = typed_urls
        self._stories = stories
        self._removals = removals
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of both."""
        return Route("/why", self.show), Route("/api/why", self.api)

    def show(self, request: Request) -> Response:
        """GET /why: shows the form; with `?url=`, the story of the URL."""
        typed = request.query_params.get("url", "").strip()
        if not typed:
            return self._page(request)
        try:
            story = self._story(typed)
        except UrlError as error:
            return self._page(request, typed=typed, trouble=str(error), status=url_status(error))
        return self._page(request, typed=story.url.text, story=story)

    def api(self, request: Request) -> Response:
        """GET /api/why: the same as JSON."""
        try:
            story = self._story(request.query_params.get("url", ""))
        except UrlError as error:
            return JSONResponse({"error": str(error)}, url_status(error))
        return JSONResponse(story_json(story))

    def _story(self, typed: str) -> Story:
        return public_story(self._stories.story_of(self._typed_urls.read(typed)))

    def _page(
        self, request: Request, *, typed: str = "", story: Story | None = None, trouble: str = "", status: int = 200
    ) -> Response:
        values: dict[str, Any] = {"typed": typed, "trouble": trouble, "story": story, "url_chars": MAX_TYPED_CHARS}
        if story is not None:
            is_removed = is_hidden(story.requested_as, self._removals.hidden())
            heading = REMOVED if is_removed else heading_of(story)
            offers_form = self._pages.site.submissions and advises_submission(story)
            values |= {"heading": heading, "is_removed": is_removed, "offers_form": offers_form}
            values |= {"steps": steps_of(story), "now": time.time()}
        response = self._pages.page(request, "why.html", status, query="", **values)
        response.headers["Cache-Control"] = "no-store"
        return response
