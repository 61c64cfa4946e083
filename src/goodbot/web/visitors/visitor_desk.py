"""What the pages for visitors need of the crawl that is served."""

from collections.abc import Sequence
from typing import Protocol

from goodbot.search_values import Hidden
from goodbot.url import Url
from goodbot.visitor_values import (
    CachedCopy,
    IndexNowOutcome,
    NoCopy,
    Removal,
    RemovalAnswer,
    Story,
    Submission,
    TokenFile,
)
from goodbot.web.visitors.indexnow import IndexNowRequest


class TypedUrls(Protocol):
    """Reads URLs as visitors type them. May be called from several threads."""

    def read(self, text: str) -> Url:
        """Returns the URL that a visitor typed, perhaps without its scheme. Raises UrlError, in one sentence, if it is
        not the URL of a page."""
        ...


class Submissions(Protocol):
    """Submits URLs to the crawl. May be called from several threads."""

    def submit(self, text: str) -> Submission:
        """Submits the URL that a visitor typed. Raises UrlError, in one sentence, if it is not a URL that can be
        submitted; RunError if the crawl does not answer."""
        ...


class IndexNowReports(Protocol):
    """Takes reports of sites by IndexNow."""

    def knows(self, host: str) -> bool:
        """Returns whether the crawl knows a host, given with its port if that is not the default. May be called from
        several threads."""
        ...

    async def take(self, request: IndexNowRequest) -> IndexNowOutcome:
        """Checks the key of the request, and submits its URLs."""
        ...


class Removals(Protocol):
    """Removes pages from the search for the owners of their sites. Methods raise UrlError, in one sentence, if `text`
    is not a URL."""

    def why_not(self, url: Url) -> str:
        """Says in one sentence why this server cannot check a proof about a page; empty if it can."""
        ...

    def token_file(self, text: str, *, site: bool = False) -> TokenFile:
        """Returns the file that would prove a request about a page, or about its whole site."""
        ...

    async def request(self, text: str, *, site: bool = False) -> RemovalAnswer:
        """Looks for a proof, and removes the page or its site if there is one. Also raises `TooManyRequestsError`."""
        ...

    def hidden(self) -> Hidden:
        """Returns what is removed now."""
        ...

    def granted(self) -> Sequence[Removal]:
        """Returns the removals in force, for the operator."""
        ...

    def lift(self, id_: str) -> bool:
        """Lifts a removal; returns False if there is none with this id."""
        ...


class Copies(Protocol):
    """Reads copies of pages from the archive. May be called from several threads."""

    def copy_of(self, url: Url) -> CachedCopy | NoCopy:
        """Returns the last copy of a page that may be shown, or why there is none."""
        ...


class Stories(Protocol):
    """Finds out what became of URLs. May be called from several threads."""

    def story_of(self, url: Url) -> Story:
        """Returns the story of a URL, even of one that the crawl does not know."""
        ...


class VisitorDesk(Protocol):
    """The services of one crawl for visitors and for owners of sites."""

    @property
    def typed_urls(self) -> TypedUrls: ...

    @property
    def submissions(self) -> Submissions: ...

    @property
    def indexnow(self) -> IndexNowReports: ...

    @property
    def removals(self) -> Removals: ...

    @property
    def copies(self) -> Copies: ...

    @property
    def stories(self) -> Stories: ...
