"""Renders single pages for a program: runs their scripts in a browser, which starts with the first page."""

import asyncio
from collections.abc import Awaitable, Callable

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.page.rendered import Rendered
from goodbot.ports import Clock
from goodbot.robot.client.answer import Answer
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.permission import Permission
from goodbot.robot.render.rendering import Browser, Renderer
from goodbot.robot.render.subresources import PacedFetcher, Subresources
from goodbot.robot.scope.scope import Scope
from goodbot.url import Url
from goodbot.values import Capture, Request


async def no_browser() -> Browser:
    """Raises InputError: this client has no browser."""
    raise InputError("this client cannot render pages: it was made without a browser")


class PageRendering:
    """Renders the pages of one client in one event loop. `browse` starts the browser, or raises InputError."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        permission: Permission,
        transport: PacedFetcher,
        clock: Clock,
        browse: Callable[[], Awaitable[Browser]],
    ) -> None:
        self._settings = settings
        self._subresources = Subresources(settings, token, permission, transport, clock)
        self._clock = clock
        self._browse = browse
        self._starting = asyncio.Lock()
        self._renderer: Renderer | None = None

    async def render(self, answer: Answer, *, public_only: bool) -> Rendered | None:
        """Renders the page of an answer; None if there is nothing to run. `public_only`: the page may not request
        private addresses. Raises InputError if there is no browser."""
        if answer.response is None:
            return None
        request = Request(Url(answer.url), answer.verdict, public_only=public_only or answer.from_public)
        capture = Capture(request, answer.response, answer.fetched_at, answer.elapsed_s)
        return await (await self._started()).render(capture)

    async def _started(self) -> Renderer:
        async with self._starting:
            if self._renderer is None:
                scope = Scope(self._settings, (), AddressGuard())
                parts = self._settings, scope, await self._browse(), self._subresources, self._clock
                self._renderer = Renderer(*parts)
            return self._renderer

    async def close(self) -> None:
        """Ends the browser, if it was started."""
        async with self._starting:
            renderer, self._renderer = self._renderer, None
        if renderer is not None:
            await renderer.close()
