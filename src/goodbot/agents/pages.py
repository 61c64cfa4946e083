"""Defines what a tool needs from the robot. `goodbot.Robot` implements it, and so do fakes in tests."""

from collections.abc import Callable
from typing import Final, Protocol

from goodbot.errors import InputError
from goodbot.exclusion import Access
from goodbot.robot.client.reading import Reading
from goodbot.url import Url

NO_CONTACT: Final = (
    "no contact is set, so this server does not request public hosts: its operator has to start it with goodbot mcp "
    "--contact me@example.org, or set contact in goodbot.toml"
)


class Pages(Protocol):
    """Reads pages and robots.txt files as a polite robot does: it waits for the host, and obeys robots.txt.

    Failures of the Web are results, not exceptions. `read` and `rules` raise InputError if the host needs a contact,
    and none is set."""

    async def read(self, url: Url, *, whole: bool = False) -> Reading:
        """Fetches a page and reads its main text; `whole`: all of its text."""
        ...

    async def rules(self, url: Url) -> Access:
        """Returns the robots.txt in force at the origin of `url`."""
        ...

    def expected_at(self, url: Url) -> float:
        """Returns when a request for `url` could be sent, in Unix seconds."""
        ...


class PagesWithContact:
    """`Pages` that refuse URLs of hosts that need a contact (`lacks_contact`), with an InputError that says how the
    operator of the server sets one."""

    def __init__(self, pages: Pages, lacks_contact: Callable[[Url], bool]) -> None:
        self._pages = pages
        self._lacks_contact = lacks_contact

    async def read(self, url: Url, *, whole: bool = False) -> Reading:
        """See `Pages`."""
        self._check(url)
        return await self._pages.read(url, whole=whole)

    async def rules(self, url: Url) -> Access:
        """See `Pages`."""
        self._check(url)
        return await self._pages.rules(url)

    def expected_at(self, url: Url) -> float:
        """See `Pages`."""
        return self._pages.expected_at(url)

    def _check(self, url: Url) -> None:
        if self._lacks_contact(url):
            raise InputError(NO_CONTACT)
