"""One page in Chromium while it is shown: what it asks for, how long it may, and what it has become in the end."""

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
"""A page that has asked for nothing for so long, and has nothing to do, is taken for finished."""
LOOK_S: Final = 0.05
READ_S: Final = 5.0
"""To read the document of a page that was told to stop; also to close a tab, and to end a browser."""
DOCUMENT_CHARS: Final = 2 * 1024 * 1024
"""UTF-16 units of a document read; the rest is cut."""

_PREPARE: Final = """
for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport"]) delete globalThis[name];
for (const name of Object.keys(console)) console[name] = () => {};
Object.assign(globalThis, {alert() {}, confirm: () => false, prompt: () => null, print() {}});
"""
"""In every frame before its scripts. Comfort only: what leads outside is walled off as well, and a page that finds
another way to open dialogs one after another is read as it came."""
_READ: Final = f"""(() => {{
  const root = document.documentElement;
  const text = root ? root.outerHTML : "";
  return [document.readyState, text.length > {DOCUMENT_CHARS}, text.slice(0, {DOCUMENT_CHARS})];
}})()"""


class ChromiumPage:
    """One page while it is shown."""

    def __init__(self, page: Page, document: ServedResource, answers: ResourceLoader) -> None:
        self._page = page
        self._document: ServedResource | None = document
        self._answers = answers
        self._wishes: dict[str, None] = {}
        self._under_way: set[asyncio.Task[ServedResource | None]] = set()
        self._lost = asyncio.Event()
        self._moves = 0
        self._moved_at = 0.0

    async def prepare(self, context: BrowserContext) -> None:
        """Before anything is shown: what the page asks for comes here, what others ask for goes nowhere."""
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
        going = asyncio.ensure_future(self._page.goto(url, wait_until="commit", timeout=0))
        try:
            return await self._until_quiet(session, going, ends_at)
        finally:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)

    def leave(self) -> None:
        """What it has asked for is no longer needed."""
        for task in self._under_way:
            task.cancel()

    # ---- what it asks for -------------------------------------------------------------------------------------------

    async def _on_request(self, route: Route) -> None:
        self._moved()
        try:
            await self._answer(route)
        except Error:
            pass  # the page has gone on and waits for it no more
        finally:
            self._moved()

    async def _answer(self, route: Route) -> None:
        request = route.request
        if request.is_navigation_request() and self._is_whole(request):
            await self._navigate(route)
            return
        task = asyncio.ensure_future(self._answers.answer(_wanted(request)))
        self._under_way.add(task)
        try:
            served = await task
        except asyncio.CancelledError:
            served = None
        finally:
            self._under_way.discard(task)
        await (_fulfil(route, served) if served is not None else route.abort())

    def _is_whole(self, request: Request) -> bool:
        """Whether it would replace the page, not a frame in it."""
        try:
            return request.frame == self._page.main_frame
        except Error:  # of a frame that is not there yet
            return False

    async def _navigate(self, route: Route) -> None:
        """The first time the page itself, later where its scripts want to go: that is a link, and the tab stays."""
        document, self._document = self._document, None
        if document is not None:
            await _fulfil(route, document)
        else:
            if route.request.method == "GET" and len(self._wishes) < 100:
                self._wishes.setdefault(route.request.url)
            await route.abort("aborted")

    async def _on_web_socket(self, web_socket: WebSocketRoute) -> None:
        await self._answers.answer(ResourceRequest(web_socket.url, "websocket"))
        await web_socket.close()

    def _moved(self) -> None:
        self._moves += 1
        self._moved_at = _now()

    # ---- how it ends ------------------------------------------------------------------------------------------------

    async def _until_quiet(
        self, session: CDPSession, going: asyncio.Future[Response | None], ends_at: float
    ) -> RenderedDom:
        """Looks at the page again and again until it rests, or may no longer."""
        self._moved()
        while True:
            if self._lost.is_set():
                return RenderedDom(None, "lost", wishes=tuple(self._wishes))
            if self._page.url == "about:blank" and going.done() and (error := going.exception()) is not None:
                return RenderedDom(None, "lost", detail=first_line(error))  # Chromium asks no port of the unsafe ones
            if self._answers.is_flooded:
                return await self._stopped(session, "flood")
            if _now() >= ends_at:
                return await self._stopped(session, "time")
            if self._document is None and not self._under_way and _now() - self._moved_at >= QUIET_S:
                moves = self._moves
                read = await self._read(session, ends_at - _now())
                if read is not None and read[0] != "loading" and moves == self._moves:
                    return RenderedDom(read[2], "quiet", read[1], tuple(self._wishes))
            await asyncio.sleep(LOOK_S)

    async def _stopped(self, session: CDPSession, ended: Literal["time", "flood"]) -> RenderedDom:
        """Scripts end, in their midst too; what they have made of the page by then is read."""
        halting = [
            asyncio.ensure_future(session.send("Emulation.setScriptExecutionDisabled", {"value": True})),
            asyncio.ensure_future(session.send("Runtime.terminateExecution")),
        ]
        try:
            read = await self._read(session, READ_S)
        finally:
            for task in halting:
                task.cancel()
            await asyncio.gather(*halting, return_exceptions=True)
        if read is None:
            return RenderedDom(None, ended, wishes=tuple(self._wishes), detail="its document cannot be read")
        return RenderedDom(read[2], ended, read[1], tuple(self._wishes))

    async def _read(self, session: CDPSession, time_s: float) -> tuple[str, bool, str] | None:
        """State, whether it was cut, and the document, from a world the page's scripts cannot reach. None if it does
        not come in time: a script runs."""
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
    asked = {"expression": _READ, "contextId": world["executionContextId"], "returnByValue": True}
    answer = await session.send("Runtime.evaluate", asked)
    if "value" not in answer["result"]:  # a document of more characters than a text may have
        raise Error("its document cannot be written out")
    state, cut, html = answer["result"]["value"]
    return str(state), bool(cut), str(html)


async def _refuse(route: Route) -> None:
    """Of windows that the page has opened."""
    await route.abort()


async def _fulfil(route: Route, served: ServedResource) -> None:
    headers: dict[str, str] = {}
    for name, value in served.headers:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    await route.fulfill(status=served.status, headers=headers, body=served.body)


def _wanted(request: Request) -> ResourceRequest:
    return ResourceRequest(request.url, request.resource_type, request.method, tuple(request.headers.items()))


def first_line(error: BaseException) -> str:
    """What went wrong, for people."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0].removesuffix(".")[:200] if lines else type(error).__name__


def _now() -> float:
    return asyncio.get_running_loop().time()
