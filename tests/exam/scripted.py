"""A crawler that does exactly what a script says: good and bad drivers for the examiner's tests.

A script is a sequence of steps: `"GET /a"`, `"GET other:/a"` (an origin by label), `"GET /a If-None-Match: x"`,
`"wait 2"` (seconds of the fake clock), `"visit"` (the next visit begins), `"5 at once /a"`, `"take 1000 /endless"` (so
many bytes of the answer, then the connection is closed), or an async function of the `Driver`.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

from goodbot.exam.authority import Authority
from goodbot.exam.card import SiteCard, judge_site
from goodbot.exam.exam_values import MAIN, ExamSite
from goodbot.exam.site_server import ExamWeb
from goodbot.testing import FakeClock

ALL = 10**9
AGENT = "ScriptBot/1.0 (+mailto:script@example.org)"
PATIENCE_S = 120
"""Nothing takes so long that comes at all."""


async def until(met: Callable[[], bool]) -> None:
    """Waits for what is sure to come. Raises TimeoutError if it does not."""
    async with asyncio.timeout(PATIENCE_S):
        while not met():  # noqa: ASYNC110  (of what others keep nobody is told)
            await asyncio.sleep(0.001)


class ScriptClock(FakeClock):
    """A fake clock that can be held: what is on its way over a socket takes real time, of which a fake one knows
    nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._may_go = lambda: True

    @contextmanager
    def held_until(self, met: Callable[[], bool]) -> Iterator[None]:
        """In this block nobody falls asleep, and no time passes, before `met` was true once."""
        was_met = False

        def may_go() -> bool:
            nonlocal was_met
            was_met = was_met or met()
            return was_met

        self._may_go = may_go
        try:
            yield
        finally:
            self._may_go = lambda: True

    async def sleep(self, seconds: float) -> None:
        await until(self._may_go)
        await super().sleep(seconds)


@dataclass
class Driver:
    """One connection per origin, kept while the server keeps it."""

    web: ExamWeb
    site: ExamSite
    clock: ScriptClock
    trust: ssl.SSLContext | None = None
    _open: dict[str, tuple[asyncio.StreamReader, asyncio.StreamWriter]] = field(default_factory=dict)

    async def get(
        self, target: str, origin: str = MAIN, *headers: str, most_bytes: int = ALL, method: str = "GET"
    ) -> bytes:
        """What came back, head and body, as received; empty if the server said nothing."""
        for _ in range(2):  # a kept connection may have been closed meanwhile
            fresh = origin not in self._open
            try:
                answer = await self._exchange(target, origin, headers, most_bytes, method)
            except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                answer = b""
            if answer or fresh:
                return answer
        return b""

    async def _exchange(self, target: str, origin: str, headers: Iterable[str], most_bytes: int, method: str) -> bytes:
        if origin not in self._open:
            self._open[origin] = await self.connect(origin)
        reader, writer = self._open[origin]
        lines = [f"{method} {target} HTTP/1.1", "Host: x", f"User-Agent: {AGENT}", *headers]
        answer = b""
        try:
            writer.write("\r\n".join(lines).encode("latin-1") + b"\r\n\r\n")
            await writer.drain()
            async with asyncio.timeout(PATIENCE_S):
                answer = await _one_answer(reader, most_bytes)
        finally:
            if not answer or len(answer) >= most_bytes or b"\r\nContent-Length:" not in answer[:65536]:
                await self.leave(origin)
        return answer

    async def connect(self, origin: str = MAIN) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        scheme, _, rest = self.web.origin(self.site, origin).partition("://")
        named = self.web.find(rest, 443 if scheme == "https" else 80)
        host, _, port = (named.url if named else rest).rpartition("/")[2].rpartition(":")
        tls = self.trust if scheme == "https" else None
        return await asyncio.open_connection(host.strip("[]"), int(port), ssl=tls, limit=2**22)

    async def leave(self, origin: str = MAIN) -> None:
        """Closes the connection."""
        _, writer = self._open.pop(origin, (None, None))
        if writer is not None:
            writer.close()
            try:
                await writer.wait_closed()
            except (ConnectionError, ssl.SSLError):
                pass

    async def run(self, steps: Iterable["Step"]) -> None:
        for step in steps:
            if callable(step):
                await step(self)
                continue
            verb, _, rest = step.partition(" ")
            if verb == "wait":
                self.clock.advance(float(rest))
            elif verb == "visit":
                self.web.visit += 1
            elif verb == "take":
                most, _, target = rest.partition(" ")
                await self._take(target, int(most))
            elif verb.isdigit():
                await self._at_once(int(verb), rest.removeprefix("at once "))
            else:
                target, _, header = rest.partition(" ")
                await self.get(*_target(target), *([header] if header else []), method=verb)
        for origin in list(self._open):
            await self.leave(origin)

    async def _take(self, target: str, most_bytes: int) -> None:
        """Leaves before any time has passed."""
        with self.clock.held_until(lambda: not self.web.busy):
            await self.get(*_target(target), most_bytes=most_bytes)
            await until(lambda: not self.web.busy)

    async def _at_once(self, count: int, target: str) -> None:
        path, origin = _target(target)
        drivers = [Driver(self.web, self.site, self.clock, self.trust) for _ in range(count)]
        with self.clock.held_until(lambda: self.web.busy == count):
            await asyncio.gather(*(driver.get(path, origin) for driver in drivers))
        for driver in drivers:
            await driver.leave(origin)


Step = str | Callable[[Driver], Awaitable[None]]


@dataclass(frozen=True)
class Script:
    """`good` passes the site; `bad` fails it, and what the card observes holds `reason`."""

    good: Sequence[Step]
    bad: Sequence[Step]
    reason: str


def gets(*targets: str) -> list[Step]:
    """A GET of each."""
    return [f"GET {target}" for target in targets]


async def examine(site: ExamSite, steps: Iterable[Step], **web_options: object) -> SiteCard:
    """The card of a crawler that does this."""
    clock = ScriptClock()
    if site.tls:
        web_options.setdefault("contexts", certificates()[0])
    trust = certificates()[1] if site.tls else None
    web_options.setdefault("by_name", "names" in site.needs)
    async with ExamWeb([site], clock, **web_options) as web:  # type: ignore[arg-type]
        assert web.skipped == {}
        await Driver(web, site, clock, trust).run(steps)
        await until(lambda: not web.busy)  # the server has seen the connections end
        return judge_site(site, web.seen(site))


@lru_cache(maxsize=1)
def certificates() -> tuple[dict[str, ssl.SSLContext], ssl.SSLContext]:
    """What servers show, and what a client that knows the authority trusts."""
    with TemporaryDirectory() as folder:
        authority = Authority.create(Path(folder))
        return authority.contexts(), ssl.create_default_context(cafile=authority.file)


def _target(text: str) -> tuple[str, str]:
    origin, separator, path = text.partition(":/")
    return ("/" + path, origin) if separator and "/" not in origin else (text, MAIN)


async def _one_answer(reader: asyncio.StreamReader, most_bytes: int) -> bytes:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if b": " in line)
    if head[9:12] == b"304":
        return head
    wanted = min(int(fields.get(b"content-length", ALL)), max(most_bytes - len(head), 0))
    body = bytearray()
    while len(body) < wanted:
        piece = await reader.read(min(65536, wanted - len(body)))
        if not piece:
            break
        body += piece
    return head + bytes(body)
