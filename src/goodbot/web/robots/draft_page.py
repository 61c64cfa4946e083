"""Serves the form that drafts a record for a robot. It stores nothing; the URL carries the fields of the form."""

from collections.abc import Callable
from datetime import date
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.registry import KnownRobot, Registry
from goodbot.web.pages.templates_env import Templates
from goodbot.web.robots.directory_page import today_utc
from goodbot.web.robots.record_draft import FIELDS, NAMES, Draft, draft_record
from goodbot.web.robots.robot_view import robot_path

_EMPTY: Final = Draft("", "", {})


class DraftPage:
    """The endpoint of the form. `registry` has the robots that need no record."""

    def __init__(self, pages: Templates, registry: Registry, today: Callable[[], date] = today_utc) -> None:
        self._pages = pages
        self._today = today
        self._by_name = {robot.name.lower(): robot for robot in registry.robots}

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/robots/draft", self.show),)

    def show(self, request: Request) -> Response:
        """GET /robots/draft: the form, and the record if it was sent. Answers 400, with the form still filled in, if a
        field is wrong."""
        typed = {name: request.query_params.get(name, "") for name in NAMES}
        is_sent = any(name in request.query_params for name in NAMES)
        draft = draft_record(typed, self._today().year) if is_sent else _EMPTY
        response = self._pages.page(
            request,
            "robots_draft.html",
            400 if draft.errors else 200,
            fields=FIELDS,
            typed={field.name: typed[field.name].strip()[: field.most] for field in FIELDS},
            draft=draft,
            known=self._known(typed) if is_sent else None,
            path_of=robot_path,
        )
        response.headers["Cache-Control"] = "no-store"
        return response

    def _known(self, typed: dict[str, str]) -> KnownRobot | None:
        """Returns the robot that has a record of this name already."""
        return self._by_name.get(typed["name"].strip().lower())
