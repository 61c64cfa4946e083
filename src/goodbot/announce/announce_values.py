"""The values of this room: pages that changed, services, and what the services answered."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.url import Url
from goodbot.values import Request

GONE = "gone"
"""The mark of a page that was announced once and is gone now."""


GAP_S: Final = 1.0
"""Seconds between two requests to a public host: standard crawler etiquette."""

MakeGet = Callable[[Url], Request]
"""Makes a GET request for a document that the user named."""


class Change(NamedTuple):
    """A page to announce. `mark` stands for its content: if a service has accepted the URL with another mark, the page
    has changed since. The mark `GONE` is announced only to services that have accepted the URL before."""

    url: Url
    mark: str = ""


class Unread(NamedTuple):
    """A sitemap that was not read, or only in part, and why."""

    sitemap: str
    why: str


@dataclass(frozen=True, slots=True)
class Service:
    """A service that takes announcements: its name as the user gave it, and the URL for POST requests."""

    name: str
    url: Url


@dataclass(frozen=True, slots=True)
class Batch:
    """The pages of one request: 1 to `MAX_URLS`, all on `host` (with its port if that is not the default)."""

    host: str
    key: str
    key_location: Url
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class BatchReport:
    """What became of one batch of `urls` pages. `status` is that of the last answer; None: there was no answer, or
    nothing was sent (`tries` is 0). `answer` is the service's own text, harmless and short; `meaning` is one sentence.
    """

    host: str
    urls: int
    is_accepted: bool
    status: int | None
    tries: int
    answer: str
    meaning: str


@dataclass(frozen=True, slots=True)
class ServiceReport:
    """What became of all batches of one service. `left` pages are in no batch, since the run was interrupted."""

    service: Service
    batches: tuple[BatchReport, ...]
    left: int = 0

    @property
    def urls(self) -> int:
        """The number of pages to announce."""
        return sum(batch.urls for batch in self.batches) + self.left

    @property
    def accepted(self) -> int:
        """The number of pages that the service accepted."""
        return sum(batch.urls for batch in self.batches if batch.is_accepted)
