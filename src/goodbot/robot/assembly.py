"""The parts of one robot process put together: the same for a crawl in one process and for each of its workers."""

from typing import Protocol

from goodbot.config import Settings
from goodbot.live import Asked
from goodbot.ports import Clock, LessonStore, RobotsStore
from goodbot.robot.courtesy import Witness
from goodbot.robot.crawler import Crawler
from goodbot.robot.guard import AddressGuard
from goodbot.robot.identity import Identity
from goodbot.robot.messages import Setup
from goodbot.robot.pace import Pace
from goodbot.robot.permission import Permission
from goodbot.robot.politeness import Politeness
from goodbot.robot.reading import Reader
from goodbot.robot.rendering import Browser, Renderer
from goodbot.robot.resolver import NameResolver
from goodbot.robot.rounds import Leases, Sink
from goodbot.robot.signing import Signer, signer_of
from goodbot.robot.subresources import Paced, Subresources
from goodbot.robot.transport import CurlTransport
from goodbot.values import Capture, Encoded


class Keeper(Sink, Protocol):
    """A `Sink` that also takes records of robots.txt files, and what hosts were asked."""

    def keep(self, encoded: Encoded) -> object: ...

    def note(self, asked: Asked) -> None: ...


def transport_of(
    settings: Settings, guard: AddressGuard, identity: Identity, clock: Clock, signer: Signer | None = None
) -> CurlTransport:
    """What fetches, under this name. To be closed."""
    resolver = NameResolver(settings, clock)
    return CurlTransport(settings, guard, identity.user_agent, identity.from_, clock, signer, resolver=resolver)


def crawler_of(
    setup: Setup,
    leases: Leases,
    sink: Keeper,
    robots: RobotsStore,
    clock: Clock,
    browser: Browser | None = None,
    lessons: LessonStore | None = None,
) -> tuple[Crawler, Witness]:
    """A crawler, and its transport, which is to be closed. With a `browser`, which is to be closed too, pages are
    rendered. Raises InputError for a key that cannot be used."""
    settings, identity, encode = setup.settings, setup.identity, setup.encode
    fetching = transport_of(settings, setup.guard, identity, clock, signer_of(settings))
    witness = Witness(fetching, clock, sink.note)
    paced = Paced(witness, Pace(settings, clock)) if browser is not None else None
    transport = paced or witness

    def keep(capture: Capture, headers_only: bool = False) -> None:
        if encode is not None:
            sink.keep(encode(capture, headers_only))

    permission = Permission(settings, identity.token, transport, robots, clock, keep=keep)
    renderer = None
    if browser is not None and paced is not None:
        subresources = Subresources(settings, identity.token, permission, paced, clock, keep)
        renderer = Renderer(settings, setup.scope, browser, subresources, clock)

    crawler = Crawler(
        settings,
        leases=leases,
        sink=sink,
        transport=transport,
        permission=permission,
        politeness=Politeness(settings),
        reader=Reader(settings, identity.token, setup.scope, encode, setup.prepare, permission.forbids),
        lessons=lessons,
        clock=clock,
        renderer=renderer,
    )
    return crawler, witness
