"""Runs Chromium through Playwright. The browser shows the documents it is given and cannot reach the network.

Only this module and `chromium_page` use Playwright and Chromium. They are loaded only for crawls that render pages.

There are two barriers. First, every request of a page is intercepted, and the robot answers it or it fails. Second,
what Playwright does not intercept (WebSockets of workers, shared workers, preconnects, Chromium's own requests to its
makers) has to go through a proxy, loopback addresses too. The proxy address is a local port where no program listens,
no host name resolves, and WebRTC may use that proxy only.
"""

import asyncio
import logging
import os
import resource
import shutil
import socket
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final

import psutil
from playwright.async_api import (
    Browser,
    BrowserContext,
    BrowserType,
    Error,
    async_playwright,
)

from goodbot.errors import InputError
from goodbot.robot.render.chromium_page import READ_TIMEOUT_S, ChromiumPage, first_line
from goodbot.robot.render.rendering import RenderedDom, ResourceLoader, ServedResource

MEMORY_BYTES: Final = 1536 * 1024 * 1024
"""Memory limit of each browser process (Linux only). The tab of a page that needs more crashes."""

_ON_PATH: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_ARGUMENTS: Final = (
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--dns-prefetch-disable",
    "--disable-shared-workers",
    "--disable-webgl",
    "--disable-gpu",
    "--no-pings",
    "--blink-settings=imagesEnabled=false",
    "--js-flags=--max-old-space-size=256",
)
_REMOVED_ARGUMENTS: Final = ("--disable-popup-blocking", "--disable-hang-monitor", "--enable-unsafe-swiftshader")
_LOG: Final = logging.getLogger(__name__)

_REMEDY: Final = "apt install chromium, or playwright install chromium, or name one by the setting render_executable"


async def open_chromium(executable: str | None, user_agent: str, *, proxy_port: int | None = None) -> "Chromium":
    """Starts a browser. `executable`: its file; if None, Playwright's own or one on PATH. `user_agent`: the name that
    scripts see. `proxy_port`: the port of the proxy, for tests that listen there; if None, a port where no program
    listens.

    Raises InputError, saying what to install, if there is no browser or it does not start.
    """
    browser = Chromium(executable, user_agent, proxy_port)
    await browser.start()
    return browser


class Chromium:
    """Runs one headless browser, and restarts it when it has ended. Each page has a context of its own, without cookies
    and cache."""

    def __init__(self, executable: str | None, user_agent: str, proxy_port: int | None) -> None:
        self._executable = executable
        self._user_agent = user_agent
        self._proxy_port = proxy_port
        self._running: _Running | None = None
        self._starting = asyncio.Lock()

    async def start(self) -> "_Running":
        """Returns the running browser, after starting it if necessary. Raises InputError if it does not start."""
        async with self._starting:
            if self._running is None or not self._running.is_alive:
                if self._running is not None:
                    _LOG.warning("the rendering browser ended (process %d): starting another", self._running.pid)
                await self._end()
                self._running = await _Running.start(self._executable, self._user_agent, self._proxy_port)
            return self._running

    async def show(self, url: str, document: ServedResource, answers: ResourceLoader, time_s: float) -> RenderedDom:
        """Shows `document` as the page at `url`, and returns its DOM. Takes at most `time_s`, and some seconds to start
        or end a browser. Never raises, whatever the page does."""
        try:
            running, context = await self._open_context()
            try:
                async with asyncio.timeout(time_s + 2 * READ_TIMEOUT_S):
                    return await _show(running, context, url, document, answers, time_s)
            except TimeoutError:
                running.kill()
                raise
        except InputError as error:
            return RenderedDom(None, "lost", detail=str(error))
        except Error as error:
            return RenderedDom(None, "lost", detail=first_line(error))
        except TimeoutError:
            return RenderedDom(None, "lost", detail="the browser does not answer")

    async def _open_context(self) -> tuple["_Running", BrowserContext]:
        """Returns a new context for one page, and the browser that it belongs to. If the browser has ended and
        Playwright has not noticed yet, another is started. Raises InputError, TimeoutError or Playwright's Error."""
        running = await self.start()
        try:
            return running, await running.context()
        except (Error, TimeoutError):
            running.kill()
        running = await self.start()
        return running, await running.context()

    async def close(self) -> None:
        """Ends the browser."""
        async with self._starting:
            await self._end()

    async def _end(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            await running.end()


class _Running:
    """A running browser, with its processes and the port of its proxy."""

    def __init__(self, browser: Browser, user_agent: str, pid: int, stack: AsyncExitStack) -> None:
        self.browser = browser
        self._user_agent = user_agent
        self.pid = pid
        self._stack = stack
        self._killed = False

    @classmethod
    async def start(cls, executable: str | None, user_agent: str, proxy_port: int | None) -> "_Running":
        stack = AsyncExitStack()
        try:
            playwright = await async_playwright().start()
            stack.push_async_callback(playwright.stop)
            if proxy_port is None:
                port = stack.enter_context(socket.socket())
                port.bind(("127.0.0.1", 0))  # nothing listens there: connections are refused
                proxy_port = port.getsockname()[1]
            file = _browser_file(executable, playwright.chromium.executable_path)
            browser = await _launch(playwright.chromium, file, proxy_port)
            pid = await _pid_of(browser)
            _limit_memory(pid)
        except Error as error:
            await stack.aclose()
            raise InputError(f"Chromium does not start: {first_line(error)}; {_REMEDY}") from error
        except BaseException:
            await stack.aclose()
            raise
        return cls(browser, user_agent, pid, stack)

    @property
    def is_alive(self) -> bool:
        return not self._killed and self.browser.is_connected()

    async def context(self) -> BrowserContext:
        """Returns a new context for one page. Raises TimeoutError if the browser does not answer."""
        async with asyncio.timeout(READ_TIMEOUT_S):
            return await self.browser.new_context(
                user_agent=self._user_agent, service_workers="block", accept_downloads=False, locale="en-US"
            )

    def kill(self) -> None:
        """Kills all processes of the browser."""
        self._killed = True  # Playwright notices later
        for process in _processes(self.pid):
            try:
                process.kill()
            except psutil.NoSuchProcess:
                pass  # it has just ended

    async def end(self) -> None:
        """Closes the browser, or kills it if it does not close in time."""
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                await self.browser.close()
        except TimeoutError:
            self.kill()
        finally:
            await self._stack.aclose()


# ---- one page -------------------------------------------------------------------------------------------------------


async def _show(
    running: _Running,
    context: BrowserContext,
    url: str,
    document: ServedResource,
    answers: ResourceLoader,
    time_s: float,
) -> RenderedDom:
    """Closes `context` at the end. Raises Playwright's Error if the tab is lost."""
    tab = None
    try:
        page = await context.new_page()
        tab = ChromiumPage(page, document, answers)
        await tab.prepare(context)
        return await tab.show(url, time_s)
    finally:
        if tab is not None:
            tab.leave()
        await _close(running, context)


async def _close(running: _Running, context: BrowserContext) -> None:
    """Closes a context with its processes. If that fails, kills the whole browser."""
    try:
        async with asyncio.timeout(READ_TIMEOUT_S):
            await context.close()
    except (Error, TimeoutError):
        running.kill()


async def _launch(chromium: BrowserType, file: str, proxy_port: int) -> Browser:
    """Starts the browser process. It gets none of the signals of this process, since pages in flight finish first."""
    return await chromium.launch(
        executable_path=file,
        args=[f"--proxy-server=http://127.0.0.1:{proxy_port}", *_ARGUMENTS],
        ignore_default_args=list(_REMOVED_ARGUMENTS),
        chromium_sandbox=os.geteuid() != 0,  # Chromium has none for root
        handle_sigint=False,
        handle_sigterm=False,
        handle_sighup=False,
    )


# ---- its file, processes and memory --------------------------------------------------------------------------------


def _browser_file(executable: str | None, own: str) -> str:
    """Returns the file of the browser: the one given, Playwright's own, or one on PATH. Raises InputError if there is
    none."""
    if executable is not None:
        if not os.access(executable, os.X_OK):
            raise InputError(f"no browser can be run at {executable}")
        return executable
    if Path(own).exists():
        return own
    found = next(filter(None, map(shutil.which, _ON_PATH)), None)
    if found is None:
        raise InputError(f"rendering needs Chromium: {_REMEDY}")
    return found


async def _pid_of(browser: Browser) -> int:
    session = await browser.new_browser_cdp_session()
    processes = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    return next(int(process["id"]) for process in processes["processInfo"] if process["type"] == "browser")


def _processes(pid: int) -> list[psutil.Process]:
    try:
        browser = psutil.Process(pid)
        return [*browser.children(recursive=True), browser]
    except psutil.NoSuchProcess:
        return []


def _limit_memory(pid: int) -> None:
    """Limits the memory of each browser process, and of those that they will start."""
    if sys.platform != "linux":
        return
    for process in _processes(pid):
        try:
            resource.prlimit(process.pid, resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
        except (ProcessLookupError, PermissionError):
            pass  # it has just ended, or already runs in a sandbox as another user
