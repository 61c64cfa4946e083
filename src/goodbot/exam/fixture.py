"""Serves the hard sites in other people's tests, from a separate thread, while a `with` block lasts."""

import asyncio
import threading
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from goodbot.clock import SystemClock
from goodbot.errors import InputError
from goodbot.exam.card import SiteCard
from goodbot.exam.card_report import request_line
from goodbot.exam.drive import DriveGround, open_ground
from goodbot.exam.sites import chosen_sites

T = TypeVar("T")


class Exam:
    """The sites being served, and what was observed at them so far. Any thread may use it.

    `urls` are the seeds, site by site, and `url` is the first of them. `ca_file` holds the certificate to trust (PEM).
    `proxy` is the URL of the proxy, if the sites are served by name. `skipped` maps each site that is not served here
    to the reason.
    """

    def __init__(self, ground: DriveGround, ca_file: Path, loop: asyncio.AbstractEventLoop) -> None:
        self.urls: tuple[str, ...] = tuple(ground.web.seeds())
        self.url: str = next(iter(self.urls), "")
        self.ca_file = ca_file
        self.proxy = ground.proxy
        self.skipped: Mapping[str, str] = dict(ground.web.skipped)
        self._ground = ground
        self._loop = loop
        self._last: tuple[SiteCard, ...] | None = None

    def next_visit(self) -> None:
        """Starts the next visit, for sites that judge a second one. Call it before the crawler runs again."""
        self._ground.web.visit += 1

    def cards(self) -> dict[str, SiteCard]:
        """Returns the card of every site by name, judged by the requests so far, or by all requests of an ended block.

        Waits up to a second for requests in progress.
        """
        sites = {site.name for site in self._ground.sites}
        cards = self._last or asyncio.run_coroutine_threadsafe(self._judged(), self._loop).result()
        return {card.name: card for card in cards if card.name in sites}

    def card(self, name: str | None = None) -> SiteCard:
        """Returns the card of one site, judged by the requests so far. The name is optional if only one site is served.

        Raises InputError if no site with that name is served.
        """
        cards = self.cards()
        if name is None and len(cards) == 1:
            return next(iter(cards.values()))
        if name not in cards:
            problem = f"no site {name!r} is served" if name else "several sites are served"
            raise InputError(f"{problem}: name one of {', '.join(cards)}")
        return cards[name]

    def check(self) -> None:
        """Raises AssertionError, with the reasons, unless the crawler passed every site that is served."""
        failed = [_reasons(card) for card in self.cards().values() if card.passed is False]
        if failed:
            raise AssertionError("\n".join(failed))

    async def end(self) -> None:
        """Judges the sites for the last time."""
        self._last = await self._judged()

    async def _judged(self) -> tuple[SiteCard, ...]:
        await self._ground.settle()
        return self._ground.card("tests").sites


@contextmanager
def site(*names: str, by_name: bool = False) -> Iterator[Exam]:
    """Serves the sites with these names, or all, on loopback. With `by_name` each site has a name behind a proxy.

    Raises InputError if a name is unknown or its site cannot be served here, RunError if ports or files are
    unavailable.
    """
    sites = chosen_sites(names)
    with TemporaryDirectory(prefix="goodbot-exam-", ignore_cleanup_errors=True) as folder, _Thread() as thread:
        stack = AsyncExitStack()
        try:
            opened = open_ground(
                sites, SystemClock(), Path(folder), by_name=by_name, names_hint="call site(…, by_name=True)"
            )
            ground = thread.run(stack.enter_async_context(opened))
            for name in names:
                if name in ground.web.skipped:
                    raise InputError(f"{name} cannot be served: it {ground.web.skipped[name]}")
            assert ground.ca_file  # noqa: S101  (it is made because `trusts` is on)
            exam = Exam(ground, ground.ca_file, thread.loop)
            stack.push_async_callback(exam.end)
            yield exam
        finally:
            thread.run(stack.aclose())


class _Thread:
    """An event loop in a separate thread: the crawler under test may block, or run a loop itself."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, name="goodbot-exam", daemon=True)

    def __enter__(self) -> "_Thread":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()


def _reasons(card: SiteCard) -> str:
    lines = [f"{card.name} was not passed: {card.observed}", f"  expected: {card.expected}"]
    if card.offending:
        answered = "no answer" if card.offending.status is None else f"answered {card.offending.status}"
        lines.append(f"  first offending request: {request_line(card.offending)} ({answered})")
    return "\n".join([*lines, f"  {card.teaches} ({card.source})"])
