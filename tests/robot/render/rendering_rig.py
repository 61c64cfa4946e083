"""Sets up a real Chromium, the robot around it and a real server, for the tests of rendering."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.page import Body
from goodbot.page.rendered import Rendered, read_rendered
from goodbot.robot.crawl.assembly import transport_of
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.manners.pace import Pace
from goodbot.robot.manners.permission import Permission
from goodbot.robot.render import chromium
from goodbot.robot.render import chromium_page as tab
from goodbot.robot.render.chromium import Chromium, open_chromium
from goodbot.robot.render.rendering import Renderer
from goodbot.robot.render.subresources import PacedFetcher, Subresources
from goodbot.robot.scope.scope import Scope
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.url import Url
from goodbot.values import Capture, Page, Request, Response
from webserver import Route, WebServer, answer

CHROMIUM = Path("/usr/bin/chromium")
NEEDS_CHROMIUM = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"needs {CHROMIUM}: apt install chromium")

PATIENCE_S = 60.0
NAME = "Mozilla/5.0 (compatible; goodbot/1)"
SCRIPT = [("Content-Type", "text/javascript")]
JSON = [("Content-Type", "application/json")]
TEXT = [("Content-Type", "text/plain")]
OPEN_TO_ALL = answer(b"", headers=TEXT)


class Rig:
    """A renderer over a browser, and everything between it and a server."""

    def __init__(self, server: WebServer, browser: Chromium, settings: Settings) -> None:
        self.server = server
        self.settings = settings
        self.clock = SystemClock()
        self.browser = browser
        self.kept: list[tuple[Capture, bool]] = []
        clock = self.clock
        guard = AddressGuard([ip_network("127.0.0.0/8")])
        identity = identity_of(settings, "1")
        self.transport = PacedFetcher(transport_of(settings, guard, identity, clock), Pace(settings, clock))
        self.permission = Permission(settings, identity.token, self.transport, MemoryFrontier(), clock)
        self.subresources = Subresources(
            settings, identity.token, self.permission, self.transport, clock, lambda *kept: self.kept.append(kept)
        )
        self.scope = Scope(settings, [Url(server.url("/"))], guard)
        self.renderer = self._renderer(settings)

    def _renderer(self, settings: Settings) -> Renderer:
        return Renderer(settings, self.scope, self.browser, self.subresources, self.clock)

    async def fetch(self, target: str = "/") -> Capture:
        url = Url(self.server.url(target))
        permit = await self.permission.check(url)
        return await self.transport.send(Request(url, permit.verdict))

    async def after(self) -> str:
        """The title of a page that changes it, however long that takes: whether all is well again."""
        self.server.routes["/after"] = scripted("document.title = 'well'")
        self.renderer = self._renderer(Settings(render_time=PATIENCE_S))
        page, _ = await self.render("/after")
        return page.title

    async def render(self, target: str = "/") -> tuple[Page, Rendered]:
        """The page, and how it was rendered."""
        capture = await self.fetch(target)
        rendered = await self.renderer.render(capture)
        assert rendered is not None
        assert isinstance(capture.result, Response)
        return read_rendered(capture.request.url, Body(capture.result, 2**21), rendered, "goodbot"), rendered


@asynccontextmanager
async def rig(
    routes: dict[str, Route], *, wall: int | None = None, patience_s: float = PATIENCE_S, **settings: object
) -> AsyncIterator[Rig]:
    """However slow Chromium is here, a page is waited for; `render_time` is for those that never end, `patience_s` for
    those that keep it from being stopped."""
    given = Settings(**{"render_time": PATIENCE_S, **settings})  # type: ignore[arg-type]
    with pytest.MonkeyPatch.context() as patch:
        for module in (tab, chromium):
            patch.setattr(module, "READ_TIMEOUT_S", patience_s)
        patch.setattr(tab, "QUIET_S", 2.0)
        browser = await open_chromium(str(CHROMIUM), "goodbot/1", proxy_port=wall)
        try:
            async with WebServer({"/robots.txt": OPEN_TO_ALL, **routes}) as server:
                made = Rig(server, browser, given)
                try:
                    yield made
                finally:
                    await made.transport.close()
        finally:
            await browser.close()


def scripted(script: str, body: str = "", head: str = "") -> bytes:
    """A page with a script at its end."""
    html = f"<!doctype html><title>as it came</title>{head}<body>{body}<script>{script}</script>"
    return answer(html.encode())


def story(rendered: Rendered) -> str:
    return " | ".join(f"{event.decision}: {event.reason}" for event in rendered.events)
