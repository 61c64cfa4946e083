"""The page about the robot: who runs it, and how sites stop it, slow it down or keep pages out of the search."""

from dataclasses import dataclass
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.web.pages.templates_env import Templates
from goodbot.web.pages.translations import translatable


@dataclass(frozen=True, slots=True)
class Wish:
    """A directive that the service obeys: how a page writes it, and what it does."""

    written: str
    effect: str


WISHES: Final = (
    Wish("noindex", translatable("Search does not find the page.")),
    Wish("nofollow", translatable("The robot does not follow the links of the page.")),
    Wish("none", translatable("Both: noindex and nofollow.")),
    Wish("noarchive", translatable("The page has no cached copy here.")),
    Wish("nocache", translatable("The same as noarchive.")),
    Wish("nosnippet", translatable("Results show the title and the URL of the page, but none of its text.")),
    Wish("max-snippet:50", translatable("Results show at most this many characters of its text (here 50).")),
    Wish("noimageindex", translatable("Search ignores the ALT texts of the page's images.")),
    Wish("unavailable_after: 2030-12-31", translatable("From this day on, search does not find the page.")),
)
"""The directives for META tags and for the header field X-Robots-Tag."""


class AboutPage:
    """The endpoint of the page about the robot."""

    def __init__(self, pages: Templates) -> None:
        self._pages = pages

    def routes(self) -> tuple[Route, ...]:
        """Returns the route of the endpoint."""
        return (Route("/about", self.show),)

    def show(self, request: Request) -> Response:
        """GET /about: the page."""
        contact = (self._pages.site.contact or "").strip()
        return self._pages.page(request, "about.html", wishes=WISHES, contact=contact, contact_url=contact_url(contact))


def contact_url(contact: str) -> str:
    """Returns the URL of a contact, which is a URL or a mail address; empty if it is neither."""
    if contact.lower().startswith(("http://", "https://", "mailto:")):
        return contact
    name, at, host = contact.partition("@")
    return f"mailto:{contact}" if name and at and "." in host and not set(contact) & set(" ?&<>\"'") else ""
