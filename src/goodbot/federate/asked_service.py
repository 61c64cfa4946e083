"""One search service: finds its description, asks it within limits, and remembers its answers and its failures."""

from asyncio import Semaphore
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from goodbot.federate.answers import Answer, read_answer
from goodbot.federate.fetching import Document, Permit, Trouble, fetch
from goodbot.federate.sources import NO_SEARCH, NamedService, SearchService, service_in
from goodbot.federate.template import HITS_PER_ROUND, Question, search_url
from goodbot.lru import LruCache
from goodbot.ports import Clock, Transport
from goodbot.search_values import Hit
from goodbot.url import Url

IN_FLIGHT: Final = 4
"""Requests to one service at the same time; others wait for their turn."""
PER_MINUTE: Final = 60
"""Requests to one service within a minute, by all visitors together."""
FAILURES: Final = 3
"""After so many failures in a row the service is not asked for a while."""
PAUSE_S: Final = 60.0
"""How long the first time; each further failure doubles it, up to `MAX_PAUSE_S`."""
MAX_PAUSE_S: Final = 900.0
KEPT_S: Final = 300.0
"""How long an answer is used again, so that the pages of a search fit together and nobody is asked twice."""
MAX_ANSWERS: Final = 500
MAX_CACHE_BYTES: Final = 8 * 1024 * 1024
"""The limits for the answers of one service that are kept."""
ITSELF: Final = "it is this service itself"

BUSY: Final = f"it is busy: it gets no more than {IN_FLIGHT} requests at a time"

LeadsHere = Callable[[str], bool]
"""Whether a template leads to the service that asks."""


@dataclass(slots=True)
class Attempt:
    """The requests to a service for one search. `period` is the number of failures that had counted before;
    `has_waited`: a request waited for its turn, so the service had less time than the deadline."""

    period: int
    has_waited: bool = False


class AskedService:
    """A service that was named. `leads_here` recognizes a template that leads back to the service that asks. Such a
    service `is_left_out`; the caller sets this for one that is no search."""

    def __init__(self, named: NamedService, permit: Permit, clock: Clock, leads_here: LeadsHere) -> None:
        self.named = named
        self._permit = permit
        self._clock = clock
        self._leads_here = leads_here
        self._found: SearchService | None = None
        self._is_outdated = False
        self._choice = 0
        self._turns = Semaphore(IN_FLIGHT)
        self._sent: deque[float] = deque()
        self._failures = 0
        self._periods = 0
        self._in_flight = 0
        self._silent_since: float | None = None
        self._reason = ""
        self._paused_until = 0.0
        self.is_left_out = False
        self._answers: LruCache[tuple[Question, int], tuple[float, Answer]] = LruCache(
            MAX_ANSWERS, limit_bytes=MAX_CACHE_BYTES, weigh=lambda kept: sum(map(_weight, kept[1].hits))
        )
        if named.template is not None:
            self._found = SearchService("", (named.template,))

    @property
    def place(self) -> str:
        """The host, with its port, that receives the queries; before it is known, the one that was named."""
        if self._found is not None:
            url = search_url(self._found.templates[self._choice], Question("x"))
            if url is not None:
                return url.authority
        return self.named.url.authority

    @property
    def name(self) -> str:
        """The name that the service states, else its host."""
        return (self._found.name if self._found is not None else "") or self.named.url.authority

    def attempt(self) -> Attempt:
        """Begins a search."""
        return Attempt(self._periods)

    async def describe(self, transport: Transport, attempt: Attempt) -> Trouble | None:
        """Fetches the description, unless it is known. Returns what is wrong, if anything."""
        trouble = await self._described(transport, attempt)
        return trouble and self._failed(trouble, attempt)

    async def _described(self, transport: Transport, attempt: Attempt) -> Trouble | None:
        if self._found is None or self._is_outdated:
            found = await self._find(transport, attempt)
            if isinstance(found, Trouble):
                return found
            self._found, self._is_outdated, self._choice = found, False, 0
        if any(self._leads_here(template.text) for template in self._found.templates):
            self.is_left_out = True
            return Trouble(ITSELF, is_lasting=True)
        return None

    async def _find(self, transport: Transport, attempt: Attempt) -> SearchService | Trouble:
        """Fetches the document that was named, and the description that it links to."""
        url, public_only, found = self.named.url, False, None
        for _ in range(2):
            document = await self._fetch(transport, attempt, url, public_only=public_only)
            if isinstance(document, Trouble):
                return document
            found = service_in(document.body, document.content_type, document.url)
            if not isinstance(found, Url):
                return found if isinstance(found, SearchService) else Trouble(found, is_lasting=True)
            url, public_only = found, document.is_public
        return Trouble(NO_SEARCH, is_lasting=True)

    async def ask(self, transport: Transport, attempt: Attempt, question: Question) -> Answer | Trouble:
        """Returns an answer, which may be one of the last minutes; or why there is none."""
        if wait_s := max(0.0, self._paused_until - self._clock.now()):
            return Trouble(f"it is not asked for {ceil(wait_s)} s, since it failed: {self._reason}")
        trouble = await self.describe(transport, attempt)
        if trouble is not None:
            return trouble
        answer = await self._answer(transport, attempt, question)
        if isinstance(answer, Trouble):
            return self._failed(answer, attempt)
        self._failures = 0
        return answer

    async def _answer(self, transport: Transport, attempt: Attempt, question: Question) -> Answer | Trouble:
        """Asks by one template after the other until an answer can be read."""
        templates = self._found.templates if self._found is not None else ()
        fault = NO_SEARCH
        while self._choice < len(templates):
            template = templates[self._choice]
            if question.number > 1 and not template.has_pages:
                return Answer()
            asked = question if template.takes_all_at_once else replace(question, wanted=HITS_PER_ROUND)
            kept = self._answers.get((asked, self._choice))
            if kept is not None and self._clock.now() - kept[0] < KEPT_S:
                return kept[1]
            url = search_url(template, asked)
            if url is None:
                return Trouble("the query does not fit into its URL", is_ours=True)
            document = await self._fetch(transport, attempt, url)
            if isinstance(document, Trouble):
                return document
            answer = read_answer(document.body, document.content_type, document.url, is_public=document.is_public)
            if not answer.fault:
                self._answers.put((asked, self._choice), (self._clock.now(), answer))
                return answer
            fault = answer.fault
            self._choice += 1
        self._choice = 0
        return Trouble(fault)

    async def _fetch(
        self, transport: Transport, attempt: Attempt, url: Url, *, public_only: bool = False
    ) -> Document | Trouble:
        attempt.has_waited = attempt.has_waited or self._turns.locked()
        async with self._turns:
            now = self._clock.now()
            while self._sent and self._sent[0] <= now - 60.0:
                self._sent.popleft()
            if len(self._sent) >= PER_MINUTE:
                return Trouble(f"it gets no more than {PER_MINUTE} requests a minute", is_ours=True)
            self._sent.append(now)
            if self._silent_since is None or not self._in_flight:
                self._silent_since = now
            self._in_flight += 1
            try:
                document = await fetch(transport, self._permit, url, public_only=public_only)
            finally:
                self._in_flight -= 1
            self._silent_since = None
            return document

    def came_late(self, attempt: Attempt, deadline_s: float) -> Trouble:
        """Notes that no answer came in time. If the search waited for its turn, that is no failure of the service,
        unless it answered nobody for as long."""
        is_silent = self._silent_since is not None and self._clock.now() - self._silent_since >= deadline_s
        if attempt.has_waited and not is_silent:
            return Trouble(BUSY, is_ours=True)
        return self._failed(Trouble(late(deadline_s)), attempt)

    def _failed(self, trouble: Trouble, attempt: Attempt) -> Trouble:
        """Notes a failure. Those of searches that were under way at the same time count once."""
        if trouble.is_ours:
            return trouble
        wait_s = trouble.wait_s
        if attempt.period == self._periods:
            self._periods += 1
            self._failures += 1
            self._silent_since = None
            if self._failures >= FAILURES:
                wait_s = max(wait_s, min(PAUSE_S * 2 ** min(self._failures - FAILURES, 10), MAX_PAUSE_S))
                self._is_outdated = self.named.template is None  # it may have moved
        if wait_s:
            self._reason = trouble.why
            self._paused_until = max(self._paused_until, self._clock.now() + wait_s)
        return trouble


def late(deadline_s: float) -> str:
    """Says that no answer came in time."""
    return f"it did not answer within {deadline_s:g} s"


def _weight(hit: Hit) -> int:
    return 500 + 2 * (len(hit.url) + len(hit.title) + len(hit.snippet))
