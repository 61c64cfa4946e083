"""Serves the directory of robots: the list with its filters, a page for each robot, and the same for programs."""

from collections.abc import Callable
from datetime import UTC, date, datetime
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.errors import InputError
from goodbot.registry import AddressBook, KnownRobot, Registry
from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import PARAMETER
from goodbot.web.robots.robot_selection import (
    MAX_CHARS,
    ROBOTS_PER_PAGE,
    Selection,
    choices_of,
    page_of,
    pages_for,
    read_selection,
    selected,
)
from goodbot.web.robots.robot_view import robot_json, robot_path, view_robot
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS, WAY_WORDS, ways_of

MAX_TYPED_SHOWN: Final = 200
"""How many characters of a User-Agent are read to suggest a name."""


def today_utc() -> date:
    """Returns the day of today, in UTC."""
    return datetime.now(UTC).date()


class DirectoryPage:
    """The endpoints of the directory. `registry` has the robots, `book` their addresses. None of them fetches
    anything."""

    def __init__(
        self, pages: Templates, registry: Registry, book: AddressBook, today: Callable[[], date] = today_utc
    ) -> None:
        self._pages = pages
        self._registry = registry
        self._book = book
        self._today = today
        self._by_name = {robot.name.lower(): robot for robot in reversed(registry.robots)}
        self._choices = choices_of(registry.robots)

    def routes(self) -> tuple[Route, ...]:
        """Returns the routes of all endpoints. `/robots/{name}` takes every path below, so it comes last."""
        return (
            Route("/robots", self.show),
            Route("/api/robots", self.api),
            Route("/robots/{name}", self.one),
        )

    def show(self, request: Request) -> Response:
        """GET /robots: the robots that the form selects, all of them without a form."""
        wanted = _wanted(request)
        found = selected(self._registry, wanted)
        page = page_of(request.query_params.get("page", ""), len(found))
        first = (page - 1) * ROBOTS_PER_PAGE
        response = self._pages.page(
            request,
            "robots.html",
            wanted=wanted,
            choices=self._choices,
            found=found[first : first + ROBOTS_PER_PAGE],
            first=first + 1,
            total=len(found),
            known=len(self._registry.robots),
            page=page,
            pages=pages_for(len(found)),
            unrecorded=self._unrecorded(wanted, found),
            similar=self._similar(wanted, found),
            max_chars=MAX_CHARS,
            words=(PURPOSE_WORDS, OBEYS_WORDS, WAY_WORDS),
            ways_of=ways_of,
            path_of=robot_path,
        )
        if set(request.query_params) - {PARAMETER}:  # a part of the list
            response.headers["X-Robots-Tag"] = "noindex"
        return response

    def one(self, request: Request) -> Response:
        """GET /robots/NAME: the page about a robot; the case of the name does not matter."""
        robot = self._by_name.get(request.path_params["name"].lower())
        if robot is None:
            raise HTTPException(404)
        return self._pages.page(
            request,
            "robots_one.html",
            robot=robot,
            view=view_robot(robot, self._book, self._today()),
            purpose=PURPOSE_WORDS[robot.purpose],
            obeys=OBEYS_WORDS[robot.obeys],
        )

    def api(self, request: Request) -> Response:
        """GET /api/robots: the robots that the parameters select, as JSON."""
        found = selected(self._registry, _wanted(request))
        return JSONResponse({"robots": [robot_json(robot, self._registry.lists) for robot in found]})

    def _unrecorded(self, wanted: Selection, found: list[KnownRobot]) -> KnownRobot | None:
        """Returns the robot that is named, if it has no record and no record was found."""
        named = self._registry.find(wanted.q) if wanted.q and not found else None
        return named if named is not None and not named.recorded else None

    def _similar(self, wanted: Selection, found: list[KnownRobot]) -> list[str]:
        return [] if found or not wanted.q else self._registry.similar_tokens(wanted.q[:MAX_TYPED_SHOWN])


def _wanted(request: Request) -> Selection:
    """Reads the parameters. Raises HTTPException 400 for a value that does not exist."""
    try:
        return read_selection(request.query_params)
    except InputError as error:
        raise HTTPException(400, str(error)) from error
