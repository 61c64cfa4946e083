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
    Operator(
        "robot -spider",
        translatable("pages without the second word; works before phrases, groups, fields and filters too"),
    ),
    Operator("robot NOT spider", translatable("NOT means the same as a minus")),
    Operator("robot OR spider", translatable('pages with at least one of the two; in "a b OR c", OR joins b and c')),
    Operator("robot | spider", translatable("a vertical bar means the same as OR")),
    Operator(
        "(robot OR spider) delay",
        translatable("pages with a word of the group in parentheses; those with the other word too come first"),
    ),
    Operator("crawl*", translatable("pages with words that begin with these letters (two letters or more)")),
    Operator(
        "os.path.join",
        translatable(
            "any part of a joined word; pages with the parts together, or with the whole in a title, come first"
        ),
    ),
    Operator("robot site:example.org", translatable("pages of this host and its subdomains")),
    Operator("intitle:robots", translatable("pages with this word, phrase or group in the title")),
    Operator("inurl:robots", translatable("pages with this word, phrase or group in the URL")),
    Operator("robot filetype:pdf", translatable("documents with this extension or of this media type")),
    Operator("robot lang:en", translatable("pages in this language, by its code of two letters")),
    Operator("robot after:2024-05-01", translatable("pages dated on this day or later; a month or a year works too")),
    Operator("robot before:2024-05", translatable("pages dated before this month; a day or a year works too")),
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
