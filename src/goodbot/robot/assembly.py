"""The parts of one robot process put together: the same for a crawl in one process and for each of its workers."""

from typing import Protocol

from goodbot.archived import Encoded
from goodbot.config import Settings
from goodbot.live import Asked
from goodbot.ports import Clock, LessonStore, RobotsStore, Transport
from goodbot.robot.bodies import Bodies
from goodbot.robot.courtesy import Witness
from goodbot.robot.crawler import Crawler
from goodbot.robot.guard import AddressGuard
from goodbot.robot.identity import Identity
from goodbot.robot.left import LeavesAlone
from goodbot.robot.mark import Mark
from goodbot.robot.messages import Setup
from goodbot.robot.pace import Pace
from goodbot.robot.permission import MEMORY_BYTES, Permission
from goodbot.robot.politeness import Politeness
from goodbot.robot.reading import Reader
from goodbot.robot.recent import part_of
from goodbot.robot.rendering import Browser, Renderer
from goodbot.robot.resolver import NameResolver
from goodbot.robot.rounds import Leases, Sink
from goodbot.robot.signing import Signer, signer_of
from goodbot.robot.subresources import Paced, Subresources
from goodbot.robot.transport import KEPT_MOST, CurlTransport
from goodbot.values import Capture


class Keeper(Sink, Protocol):
    """A `Sink` that also takes records of robots.txt files, and what hosts were asked."""

    def keep(self, encoded: Encoded) -> object: ...

    def note(self, asked: Asked) -> None: ...


def transport_of(
    settings: Settings,
    guard: AddressGuard,
    identity: Identity,
    clock: Clock,
    signer: Signer | None = None,
    bodies: Bodies | None = None,
    *,
    kept_most: int = KEPT_MOST,
) -> CurlTransport:
    """What fetches, under this name. To be closed."""
    resolver = NameResolver(settings, clock)
    named = settings, guard, identity.user_agent, identity.from_, clock, signer
    return CurlTransport(*named, resolver=resolver, bodies=bodies, kept_most=kept_most)


def crawler_of(
    setup: Setup,
    leases: Leases,
    sink: Keeper,
    robots: RobotsStore,
    clock: Clock,
    browser: Browser | None = None,
    lessons: LessonStore | None = None,
    mark: Mark | None = None,
    transport: Transport | None = None,
    *,
    keeps_answers: bool = False,
) -> tuple[Crawler, Witness]:
    """A crawler, and its transport, which is to be closed. With a `browser`, which is to be closed too, pages are
    rendered. `mark` says which page is being read; `transport` is what fetches, if not libcurl. `keeps_answers`: they
    go to a program that may keep them all, so that none waits for another. Raises InputError for a key that cannot be
    used."""
    settings, identity, encode = setup.settings, setup.identity, setup.encode
    bodies = None if keeps_answers or browser is not None else Bodies(settings.bodies_limit)
    kept_most = part_of(KEPT_MOST, setup.processes)
    fetching = transport or transport_of(
        *(settings, setup.guard, identity, clock, signer_of(settings), bodies), kept_most=kept_most
    )
    gate = LeavesAlone(fetching, clock, setup.forgotten)
    witness = Witness(gate, clock, sink.note)
    pace = Pace(settings, clock)

    def keep(capture: Capture, headers_only: bool = False) -> None:
        if encode is not None:
            sink.keep(encode(capture, headers_only))

    memory_bytes = part_of(MEMORY_BYTES, setup.processes)
    permission = Permission(
        *(settings, identity.token, witness, robots, clock), keep=keep, pace=pace, memory_bytes=memory_bytes
    )
    renderer = None
    if browser is not None:
        subresources = Subresources(settings, identity.token, permission, Paced(witness, pace), clock, keep)
        renderer = Renderer(settings, setup.scope, browser, subresources, clock)

    crawler = Crawler(
        settings,
        leases=leases,
        sink=sink,
        transport=witness,
        permission=permission,
        politeness=Politeness(settings),
        reader=Reader(
            *(settings, identity.token, setup.scope, encode, setup.prepare, permission.forbids, mark),
            evidence=setup.evidence,
            processes=setup.processes,
        ),
        lessons=lessons,
        clock=clock,
        renderer=renderer,
        left=gate.left,
    )
    return crawler, witness
