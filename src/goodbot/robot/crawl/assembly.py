"""Assembles the parts of one crawling process: the same for a crawl in one process and for each worker."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import NamedTuple, Protocol

from goodbot.archive_values import EncodedRecords
from goodbot.config import Settings
from goodbot.live import HostRequest
from goodbot.logs import SILENT, LogSettings
from goodbot.lru import share_of
from goodbot.ports import Clock, Leases, LessonStore, RobotsStore, Sink, Transport
from goodbot.robot.crawl.crawler import Crawler
from goodbot.robot.crawl.following import Following
from goodbot.robot.crawl.outcome_of import Encode, OutcomeReader
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.fetch.body_budget import BodyBudget
from goodbot.robot.fetch.forgotten_hosts import ForgottenHostsGate
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import Identity
from goodbot.robot.fetch.resolver import NameResolver
from goodbot.robot.fetch.signing import Signer, signer_of
from goodbot.robot.fetch.standing import Standing
from goodbot.robot.fetch.transport import MAX_KEPT, CurlTransport
from goodbot.robot.lessons.site_knowledge import SiteKnowledge
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import MEMORY_BYTES, Permission
from goodbot.robot.manners.politeness import Politeness
from goodbot.robot.manners.request_recorder import RequestRecorder
from goodbot.robot.render.rendering import Browser, Renderer
from goodbot.robot.render.subresources import PacedFetcher, Subresources
from goodbot.robot.scope.scope import Scope
from goodbot.search_values import Document, PreparedDocument
from goodbot.url import Url
from goodbot.values import Capture


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """The first message to a worker. Pickle sends the functions by name, so a worker imports only the modules it
    needs."""

    settings: Settings
    identity: Identity
    guard: AddressGuard
    scope: Scope
    encode: Encode | None
    prepare: Callable[[Document], PreparedDocument] | None
    uncommitted_most: int = 0
    """The weight (`weight_of`) of the results of one worker that may wait for their commit. A kill costs these and the
    pages in flight."""
    processes: int = 1
    """The number of processes that share the memory limits of the crawl (`share_of`)."""
    forgotten: frozenset[str] = frozenset()
    """Hosts (`Url.host_key`) that get no request."""
    evidence: Encode | None = None
    """Encodes the answer of a page that may kill its reader. Set also for a crawl without an archive."""
    logs: LogSettings = SILENT
    """Where the worker sends its log messages."""
    clock_offset_s: float | None = None
    """That of the `SharedClock` of a crawl on several machines; None: the worker uses the clock of its machine."""
    until: float = inf
    """Until when the worker may send requests; see `Standing`."""


class RecordingSink(Sink, Protocol):
    """A `Sink` that also takes the archive records of robots.txt files, and the requests sent."""

    def keep(self, encoded: EncodedRecords) -> object: ...

    def note(self, request: HostRequest) -> None: ...


def transport_of(
    settings: Settings,
    guard: AddressGuard,
    identity: Identity,
    clock: Clock,
    signer: Signer | None = None,
    bodies: BodyBudget | None = None,
    *,
    kept_most: int = MAX_KEPT,
    standing: Standing | None = None,
) -> CurlTransport:
    """Makes the transport that sends requests under `identity`. The caller closes it."""
    resolver = NameResolver(settings, clock)
    named = settings, guard, identity.user_agent, identity.from_, clock, signer
    return CurlTransport(*named, resolver=resolver, bodies=bodies, kept_most=kept_most, standing=standing)


class Readers(NamedTuple):
    """The parts that read pages: what is known of sites, the decisions about links, and the outcomes of URLs."""

    knowledge: SiteKnowledge
    following: Following
    reader: OutcomeReader


def readers_of(
    settings: Settings,
    token: str,
    scope: Scope,
    forbids: Callable[[Url], bool] = lambda url: False,
    *,
    encode: Encode | None = None,
    prepare: Callable[[Document], PreparedDocument] | None = None,
    mark: PageMark | None = None,
    evidence: Encode | None = None,
    processes: int = 1,
    represents: Callable[[Url, int], bool] | None = None,
) -> Readers:
    """Assembles the parts that read pages. `forbids`: whether a robots.txt in memory or in the store forbids a URL.
    `represents`: whether a canonical URL at this depth may stand for the page that names it; by default, it may if the
    crawl may request it."""

    def allows(url: Url, depth: int) -> bool:
        return scope.refuse(url, depth) is None and not forbids(url)

    knowledge = SiteKnowledge(settings, represents or allows, processes)
    following = Following(settings, scope, knowledge, processes)
    parts = settings, token, scope, knowledge, following
    return Readers(
        knowledge, following, OutcomeReader(*parts, encode=encode, prepare=prepare, mark=mark, evidence=evidence)
    )


def crawler_of(
    setup: WorkerSetup,
    leases: Leases,
    sink: RecordingSink,
    robots: RobotsStore,
    clock: Clock,
    browser: Browser | None = None,
    lessons: LessonStore | None = None,
    mark: PageMark | None = None,
    transport: Transport | None = None,
    *,
    keeps_answers: bool = False,
    standing: Standing | None = None,
) -> tuple[Crawler, RequestRecorder]:
    """Assembles a crawler. Returns it with its transport, which the caller closes.

    With a `browser`, which the caller closes too, pages are rendered. `mark` records which page is being read.
    `transport` replaces libcurl. `keeps_answers`: a program gets the answers and may keep them all, so no answer waits
    until another frees its memory. `standing`: see `CurlTransport`. Raises InputError for a signing key that cannot be
    used.
    """
    settings, identity, encode = setup.settings, setup.identity, setup.encode
    bodies = None if keeps_answers or browser is not None else BodyBudget(settings.bodies_limit)
    kept_most = share_of(MAX_KEPT, setup.processes)
    fetching = transport or transport_of(
        *(settings, setup.guard, identity, clock, signer_of(settings), bodies), kept_most=kept_most, standing=standing
    )
    gate = ForgottenHostsGate(fetching, clock, setup.forgotten)
    recorder = RequestRecorder(gate, clock, sink.note, Politeness(settings))
    pace = Pace(settings, clock)

    def keep(capture: Capture, headers_only: bool = False) -> None:
        if encode is not None:
            sink.keep(encode(capture, headers_only))

    memory_bytes = share_of(MEMORY_BYTES, setup.processes)
    permission = Permission(
        *(settings, identity.token, recorder, robots, clock), keep=keep, pace=pace, memory_bytes=memory_bytes
    )
    renderer = None
    if browser is not None:
        subresources = Subresources(settings, identity.token, permission, PacedFetcher(recorder, pace), clock, keep)
        renderer = Renderer(settings, setup.scope, browser, subresources, clock)

    readers = readers_of(
        settings,
        identity.token,
        setup.scope,
        permission.forbids,
        encode=encode,
        prepare=setup.prepare,
        mark=mark,
        evidence=setup.evidence,
        processes=setup.processes,
    )
    crawler = Crawler(
        settings,
        leases=leases,
        sink=sink,
        transport=recorder,
        permission=permission,
        politeness=Politeness(settings),
        knowledge=readers.knowledge,
        following=readers.following,
        reader=readers.reader,
        lessons=lessons,
        clock=clock,
        renderer=renderer,
        left_hosts=gate.left,
    )
    return crawler, recorder
