"""The help for people who search: the query language, filters and keys."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable


@dataclass(frozen=True, slots=True)
class Operator:
    """A way to write queries: an example, and what it finds."""

    example: str
    meaning: str


OPERATORS: Final = (
    Operator("robot exclusion", translatable("any of these words, in any form; pages with all of them come first")),
    Operator('"crawl delay"', translatable("these words in any form, one directly after the other")),
    Operator("robot -spider", translatable("pages without the second word; works before phrases and groups too")),
    Operator("robot OR spider", translatable('either word; in "a b OR c", OR joins b and c')),
    Operator("(robot OR spider) delay", translatable("a group counts as one word")),
    Operator("crawl*", translatable("words that begin with these letters, at least two")),
    Operator("robot site:example.org", translatable("pages of this host and its subdomains")),
    Operator("intitle:robots", translatable("pages with this word, phrase or group in the title")),
    Operator("inurl:robots", translatable("pages with this word in the URL")),
    Operator("robot filetype:pdf", translatable("documents of this type")),
    Operator("robot lang:en", translatable("pages in this language, by its code of two letters")),
    Operator("robot after:2024-05-01", translatable("pages changed on this day or later")),
    Operator("robot before:2024-05", translatable("pages last changed before this month; a year or a day works too")),
    Operator("link:https://example.org/", translatable("pages that link to this URL")),
)
"""What the query language can do; `goodbot.index.query` defines it."""


class HelpPage:
    """The endpoint of the help."""

    def __init__(self, pages: Templates) -> None:
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/help", self.show),)

    def show(self, request: Request) -> Response:
        """GET /help: the page."""
        return self._pages.page(request, "help.html", operators=OPERATORS)
