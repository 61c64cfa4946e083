"""Shows one page in Chromium: answers its requests, decides when it is finished, and reads its DOM."""

import asyncio
from typing import Final, Literal

from playwright.async_api import (
    BrowserContext,
    CDPSession,
    Error,
    Page,
    Request,
    Response,
    Route,
    WebSocketRoute,
)

from goodbot.robot.render.rendering import RenderedDom, ResourceLoader, ResourceRequest, ServedResource

QUIET_S: Final = 0.5
"""A page that has sent no request for this long, and runs no script, counts as finished."""
POLL_S: Final = 0.05
READ_TIMEOUT_S: Final = 5.0
"""Time limit for reading the document of a stopped page, for closing a tab, and for ending a browser."""
DOCUMENT_CHARS: Final = 2 * 1024 * 1024
"""UTF-16 code units read of a document; the rest is cut."""

_PREPARE: Final = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name];
for (const name of Object.keys(console)) console[name] = () => {};
Object.assign(globalThis, {alert() {}, confirm: () => false, prompt: () => null, print() {}});
"""
"""Runs in every frame before its scripts. It is not a security barrier, as the browser cannot reach the network anyway.
A page that finds another way to open one dialog after another is read as it was received."""
_READ: Final = f"""(() => {{
  const root = document.documentElement;
  const text = root ? root.outerHTML : "";
  return [document.readyState, text.length > {DOCUMENT_CHARS}, text.slice(0, {DOCUMENT_CHARS})];
}})()"""


class ChromiumPage:
    """One page in the browser, while it is shown."""

    def __init__(self, page: Page, document: ServedResource, answers: ResourceLoader) -> None:
        self._page = page
        self._document: ServedResource | None = document
        self._loader = answers
        self._navigations: dict[str, None] = {}
        self._under_way: set[asyncio.Task[ServedResource | None]] = set()
        self._lost = asyncio.Event()
        self._activities = 0
        self._active_at = 0.0

    async def prepare(self, context: BrowserContext) -> None:
        """Intercepts the requests of the page. Those of other pages in its context fail. Call it before `show`."""
        page = self._page
        page.on("crash", lambda _: self._lost.set())
        page.on("close", lambda _: self._lost.set())
        await context.route("**/*", _refuse)
        await context.route_web_socket("**/*", self._on_web_socket)
        await context.add_init_script(_PREPARE)
        await page.route("**/*", self._on_request)

    async def show(self, url: str, time_s: float) -> RenderedDom:
        """See `Chromium.show`. Raises Playwright's Error if the tab is lost."""
        ends_at = _now() + time_s
        session = await self._page.context.new_cdp_session(self._page)
        navigation = asyncio.ensure_future(self._page.goto(url, wait_until="commit", timeout=0))
        try:
            return await self._until_quiet(session, navigation, ends_at)
        finally:
            navigation.cancel()
            await asyncio.gather(navigation, return_exceptions=True)

    def leave(self) -> None:
        """Cancels the requests under way."""
        for task in self._under_way:
            task.cancel()

    # ---- its requests ------------------------------------------------------------------------------------------------

    async def _on_request(self, route: Route) -> None:
        self._note_activity()
        try:
            await self._answer(route)
        except Error:
            pass  # the page no longer waits for the answer
        finally:
            self._note_activity()

    async def _answer(self, route: Route) -> None:
        request = route.request
        if request.is_navigation_request() and self._replaces_page(request):
            await self._navigate(route)
            return
        task = asyncio.ensure_future(self._loader.answer(_resource_request(request)))
        self._under_way.add(task)
        try:
            served = await task
        except asyncio.CancelledError:
            served = None
        finally:
            self._under_way.discard(task)
        await (_fulfil(route, served) if served is not None else route.abort())

    def _replaces_page(self, request: Request) -> bool:
        """Whether a navigation would replace the page, not a frame in it."""
        try:
            return request.frame == self._page.main_frame
        except Error:  # the frame does not exist yet
            return False

    async def _navigate(self, route: Route) -> None:
        """Answers the first navigation with the document. Later ones, by scripts, are recorded as links and aborted."""
        document, self._document = self._document, None
        if document is not None:
            await _fulfil(route, document)
        else:
            if route.request.method == "GET" and len(self._navigations) < 100:
                self._navigations.setdefault(route.request.url)
            await route.abort("aborted")

    async def _on_web_socket(self, web_socket: WebSocketRoute) -> None:
        await self._loader.answer(ResourceRequest(web_socket.url, "websocket"))
        await web_socket.close()

    def _note_activity(self) -> None:
        self._activities += 1
        self._active_at = _now()

    # ---- its end ----------------------------------------------------------------------------------------------------

    async def _until_quiet(
        self, session: CDPSession, navigation: asyncio.Future[Response | None], ends_at: float
    ) -> RenderedDom:
        """Checks the page every `POLL_S` until it is finished, or has to be stopped."""
        self._note_activity()
        while True:
            if self._lost.is_set():
                return RenderedDom(None, "lost", navigations=tuple(self._navigations))
            if self._page.url == "about:blank" and navigation.done() and (error := navigation.exception()) is not None:
                return RenderedDom(None, "lost", detail=first_line(error))  # Chromium blocks unsafe ports
            if self._loader.is_flooded:
                return await self._stopped(session, "flood")
            if _now() >= ends_at:
                return await self._stopped(session, "time")
            if self._document is None and not self._under_way and _now() - self._active_at >= QUIET_S:
                moves = self._activities
                read = await self._read(session, ends_at - _now())
                if read is not None and read[0] != "loading" and moves == self._activities:
                    return RenderedDom(read[2], "quiet", read[1], tuple(self._navigations))
            await asyncio.sleep(POLL_S)

    async def _stopped(self, session: CDPSession, ended: Literal["time", "flood"]) -> RenderedDom:
        """Ends the scripts, also running ones, and reads the page as it is then."""
        halting = [
            asyncio.ensure_future(session.send("Emulation.setScriptExecutionDisabled", {"value": True})),
            asyncio.ensure_future(session.send("Runtime.terminateExecution")),
        ]
        try:
            read = await self._read(session, READ_TIMEOUT_S)
        finally:
            for task in halting:
                task.cancel()
            await asyncio.gather(*halting, return_exceptions=True)
        if read is None:
            return RenderedDom(None, ended, navigations=tuple(self._navigations), detail="its document cannot be read")
        return RenderedDom(read[2], ended, read[1], tuple(self._navigations))

    async def _read(self, session: CDPSession, time_s: float) -> tuple[str, bool, str] | None:
        """Reads the ready state, whether the document was cut, and the document, from a JavaScript world that scripts
        of the page cannot reach. None if that takes too long, because a script runs."""
        reading = asyncio.ensure_future(_document_of(session))
        stopping = asyncio.ensure_future(self._lost.wait())
        done, _ = await asyncio.wait((reading, stopping), timeout=time_s, return_when=asyncio.FIRST_COMPLETED)
        for task in (reading, stopping):
            task.cancel()
        await asyncio.gather(reading, stopping, return_exceptions=True)
        return reading.result() if reading in done else None


async def _document_of(session: CDPSession) -> tuple[str, bool, str]:
    tree = await session.send("Page.getFrameTree")
    frame = tree["frameTree"]["frame"]["id"]
    world = await session.send("Page.createIsolatedWorld", {"frameId": frame, "worldName": "goodbot"})
    call = {"expression": _READ, "contextId": world["executionContextId"], "returnByValue": True}
    answer = await session.send("Runtime.evaluate", call)
    if "value" not in answer["result"]:  # the document is longer than a JavaScript string may be
        raise Error("its document is too long")
    state, cut, html = answer["result"]["value"]
    return str(state), bool(cut), str(html)


async def _refuse(route: Route) -> None:
    """Aborts a request of a window that the page has opened."""
    await route.abort()


async def _fulfil(route: Route, served: ServedResource) -> None:
    headers: dict[str, str] = {}
    for name, value in served.headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    await route.fulfill(status=served.status, headers=headers, body=served.body)


def _resource_request(request: Request) -> ResourceRequest:
    return ResourceRequest(request.url, request.resource_type, request.method, tuple(request.headers.items()))


def first_line(error: BaseException) -> str:
    """Returns the first line of an error message, for people."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].removesuffix(".")[:200] if lines else type(error).__name__


def _now() -> float:
    return asyncio.get_running_loop().time()
