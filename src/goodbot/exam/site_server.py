"""Serves the web of hard sites: each origin has a port on loopback and a name behind the proxy. Every request is
recorded."""

import asyncio
import contextlib
import socket
import ssl
import struct
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Final, Self

from goodbot.exam.exam_values import (
    MAIN,
    NOT_FOUND,
    TEXT,
    ExamRequest,
    ExamSite,
    Observed,
    Pages,
    Reply,
    Route,
    upper_escapes,
)
from goodbot.exam.listener import BUFFER_BYTES, Listener, begin_tls
from goodbot.exam.request_head import Head, linger, parse_absolute, read_head
from goodbot.ports import Clock

MOST_RECORDED: Final = 100_000
"""The number of requests kept for one site. A crawler that sends more gets responses, and is judged by these."""
MOST_RECORDED_BYTES: Final = 64 * 1024 * 1024
"""The memory for requests kept in full, over all sites. Of later requests only the beginning is kept."""
_KEPT_CHARS: Final = 1000
_KEPT_FIELDS: Final = frozenset(("user-agent", "from", "if-none-match", "if-modified-since", "cookie"))
"""The header fields that rules judge."""
_FIELD_BYTES: Final = 200
"""The approximate memory a header field takes besides its characters."""

NAMES_HINT: Final = "the command must contain {proxy}"

ROBOTS_DELAY_S: Final = 0.05
"""How long the first robots.txt of an origin is delayed: a request that arrives meanwhile did not wait for it."""
OTHER_PORT: Final = 8080
"""The port, behind the proxy, of an origin that shares the host name of its site's main origin."""

DOMAIN: Final = "exam.test"
"""The domain of all sites; names under `test` are reserved (RFC 6761 6.2)."""


@dataclass(slots=True)
class Origin:
    """One server of a site: its pages, and its address."""

    site: ExamSite
    label: str
    pages: Pages
    name: str
    secure: bool = False
    port: int = 0
    named_port: int = 80
    """The port behind the proxy."""
    host: str = "127.0.0.1"
    busy: int = 0
    most_busy: int = 0
    connections: int = 0
    most_connections: int = 0
    connection_numbers: set[int] = field(default_factory=set)
    """The numbers of all connections that reached it."""
    delayed_in: int = 0
    """The last visit in which its robots.txt was delayed."""
    request_counts: Counter[int] = field(default_factory=Counter)
    """The number of requests by visit, including those that were not recorded."""

    def __post_init__(self) -> None:
        self.pages = {upper_escapes(key): route for key, route in self.pages.items()}

    @property
    def url(self) -> str:
        """The URL by address."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}"

    @property
    def named_url(self) -> str:
        """The URL by name, behind the proxy."""
        port = "" if self.named_port in {80, 443} else f":{self.named_port}"
        return f"{'https' if self.secure else 'http'}://{self.name}{port}"

    def route(self, target: str) -> Route:
        target = upper_escapes(target)
        for key in (target, target.partition("?")[0], "*"):
            if key in self.pages:
                return self.pages[key]
        return NOT_FOUND


@dataclass(slots=True)
class Conversation:
    """An `Exchange` over a socket."""

    request: ExamRequest
    clock: Clock
    origins: Mapping[str, str]
    earlier: int
    requests: list[ExamRequest] = field(repr=False)
    reader: asyncio.StreamReader = field(repr=False)
    writer: asyncio.StreamWriter = field(repr=False)

    def before(self, path: str | None = None) -> int:
        """See `Exchange.before`."""
        if path is None:
            return self.earlier
        request = self.request
        return sum(
            each is not request and each.origin == request.origin and each.visit == request.visit and path == each.path
            for each in self.requests
        )

    async def reply(self, reply: Reply) -> None:
        """See `Exchange.reply`."""
        await self.send(reply.encode(self.origins, head_only=self.request.method == "HEAD"))

    async def send(self, data: bytes) -> None:
        """See `Exchange.send`."""
        if self.request.status is None and data.startswith(b"HTTP/1."):
            self.request.status = int(data[9:12])
        if self.writer.is_closing():
            raise ConnectionResetError
        for start in range(0, len(data), BUFFER_BYTES):
            piece = data[start : start + BUFFER_BYTES]
            self.writer.write(piece)
            await self.writer.drain()
            self.request.sent_bytes += len(piece)

    async def client_left(self) -> None:
        """See `Exchange.client_left`."""
        while await self.reader.read(BUFFER_BYTES):
            pass

    def close(self) -> None:
        """Closes the connection normally (FIN)."""
        self.writer.close()

    def reset(self) -> None:
        """Resets the connection, as a crash does (RST)."""
        end = self.writer.get_extra_info("socket")
        if end is not None:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()


class ExamWeb:
    """Serves `sites` while the `async with` block lasts, on consecutive ports from `base_port` on, or on any.

    `skipped` maps each site that cannot be served here to the reason. With `by_name`, sites link to each other by name
    (the crawler uses the proxy); `names_hint` says how the user can get that. `contexts` are the TLS contexts by kind
    of certificate. `absent` lists the needs of sites that the crawler does not meet. `unread_s` returns for how many
    seconds the data just read from a connection had been waiting. Raises RunError if a port is unavailable.
    """

    def __init__(
        self,
        sites: Iterable[ExamSite],
        clock: Clock,
        *,
        base_port: int | None = None,
        by_name: bool = False,
        names_hint: str = NAMES_HINT,
        contexts: Mapping[str, ssl.SSLContext] | None = None,
        absent: frozenset[str] = frozenset(),
        unread_s: Callable[[socket.socket | None], float] = lambda _: 0.0,
    ) -> None:
        self.clock = clock
        self.by_name = by_name
        self.names_hint = names_hint
        self.visit = 1
        self.skipped: dict[str, str] = {}
        self.sites: list[ExamSite] = []
        self.requests: dict[str, list[ExamRequest]] = {}
        self._contexts = contexts or {}
        self._absent = absent
        self._unread_s = unread_s
        self._next_port = base_port
        self.listener = Listener()
        self._recorded_bytes = 0
        self._connections = 0
        self._places: dict[tuple[str, int], Origin] = {}
        self._origins: dict[str, dict[str, Origin]] = {}
        for site in sites:
            why = self._missing_for(site)
            if why:
                self.skipped[site.name] = why
            else:
                self.sites.append(site)
                self.requests[site.name] = []
                self._origins[site.name] = {label: self._origin(site, label) for label in site.labels}

    # ---- where the sites are ----

    def origin(self, site: ExamSite, label: str = MAIN) -> str:
        """Returns scheme, host and port of one origin, as the crawler has to use them: by address for [::1], always."""
        origin = self._origins[site.name][label]
        return origin.named_url if self.by_name and label not in site.ipv6 else origin.url

    def seeds(self) -> list[str]:
        """Returns the URLs that a crawler starts from, site by site."""
        return [self.origin(site) + path for site in self.sites for path in site.seeds]

    def find(self, host: str, port: int) -> Origin | None:
        """Finds the origin with this name and port (80, or 443 with TLS, or another), or with this address and port."""
        return self._places.get((host.lower(), port))

    @property
    def busy(self) -> int:
        """The number of requests in progress."""
        return sum(origin.busy for origins in self._origins.values() for origin in origins.values())

    def seen(self, site: ExamSite) -> Observed:
        """Returns what was observed at a site up to now."""
        origins = self._origins[site.name]
        return Observed(
            tuple(self.requests[site.name]),
            self.visit,
            {label: origin.most_busy for label, origin in origins.items()},
            {label: origin.most_connections for label, origin in origins.items()},
            {label: len(origin.connection_numbers) for label, origin in origins.items()},
        )

    def _missing_for(self, site: ExamSite) -> str | None:
        if "names" in site.needs and not self.by_name:
            return f"needs names: {self.names_hint}"
        if "ipv6" in site.needs and not _has_ipv6():
            return "needs IPv6, which this machine does not have"
        if "ca-file" in site.needs & self._absent:
            return "needs {ca-file} in the command: the crawler must trust the authority of the exam"
        if site.tls and site.tls not in self._contexts:
            return "needs certificates"
        return None

    def _origin(self, site: ExamSite, label: str) -> Origin:
        pages = site.others[label] if label else site.pages
        shares_host = label in site.other_ports
        name = f"{site.name}.{DOMAIN}" if shares_host or not label else f"{label}.{site.name}.{DOMAIN}"
        origin = Origin(site, label, pages, name, secure=bool(site.tls) and not label)
        origin.named_port = OTHER_PORT if shares_host else 443 if origin.secure else 80
        origin.host = "::1" if label in site.ipv6 else "127.0.0.1"
        return origin

    # ---- serving ----

    async def __aenter__(self) -> Self:
        try:
            for origins in self._origins.values():
                for origin in origins.values():
                    await self._listen(origin)
        except BaseException:
            await self.listener.stop()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.listener.stop()

    async def _listen(self, origin: Origin) -> None:
        port = 0
        if self._next_port is not None:
            port = self._next_port
            self._next_port += 1

        async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self.converse(origin, self.new_connection(), reader, writer)

        origin.port = await self.listener.listen(origin.host, port, handle)
        for place in ((origin.host, origin.port), (origin.name, origin.named_port)):
            self._places[place] = origin

    def new_connection(self) -> int:
        """Returns a number for a connection that was just opened."""
        self._connections += 1
        return self._connections

    @contextlib.contextmanager
    def connected(self, origin: Origin, number: int) -> Iterator[None]:
        """Counts a connection to an origin while it is used."""
        origin.connection_numbers.add(number)
        origin.connections += 1
        origin.most_connections = max(origin.most_connections, origin.connections)
        try:
            yield
        finally:
            origin.connections -= 1

    async def converse(
        self, origin: Origin, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answers the requests on one connection to an origin until it ends. The TLS handshake comes first."""
        with self.connected(origin, number):
            if origin.secure:
                await begin_tls(writer, self._contexts[origin.site.tls or ""])
            while not writer.is_closing():
                head = await read_head(reader)
                if head is None:
                    break
                parsed = parse_absolute(head.target)
                if parsed and parsed.secure == origin.secure and self.find(parsed.host, parsed.port) is origin:
                    head = replace(head, target=parsed.target)
                await self.answer(origin, head, number, reader, writer)
                if head.closes:
                    break

    async def answer(
        self,
        origin: Origin,
        head: Head,
        connection: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Records one request and answers it. A request that breaks the rules of HTTP gets a status that says so."""
        request = ExamRequest(
            origin.label, head.method, head.target, head.headers, connection, self.clock.now(), self.visit
        )
        request.unread_s = self._unread_s(writer.get_extra_info("socket"))
        requests = self.requests[origin.site.name]
        if len(requests) < MOST_RECORDED:
            requests.append(request)
        origins = {label: self.origin(origin.site, label) for label in origin.site.labels}
        exchange = Conversation(
            request, self.clock, origins, origin.request_counts[self.visit], requests, reader, writer
        )
        origin.request_counts[self.visit] += 1
        origin.busy += 1
        origin.most_busy = max(origin.most_busy, origin.busy)
        try:
            if head.target == "/robots.txt" and origin.delayed_in != self.visit:
                origin.delayed_in = self.visit
                await self.clock.sleep(ROBOTS_DELAY_S)
            route = _refusal(head.fault) if head.fault else origin.route(head.target)
            await (exchange.reply(route) if isinstance(route, Reply) else route(exchange))
        finally:
            origin.busy -= 1
            request.ended_at = self.clock.now()
            self._limit_record(request)
        if head.fault:
            await linger(reader, writer)

    def _limit_record(self, request: ExamRequest) -> None:
        """Shortens the record of an answered request once the memory for records is full."""
        self._recorded_bytes += len(request.target) + sum(
            len(name) + len(value) + _FIELD_BYTES for name, value in request.headers
        )
        if self._recorded_bytes > MOST_RECORDED_BYTES:
            request.method, request.target = request.method[:_KEPT_CHARS], request.target[:_KEPT_CHARS]
            request.headers = tuple(
                (name, value[:_KEPT_CHARS]) for name, value in request.headers if name.lower() in _KEPT_FIELDS
            )[: len(_KEPT_FIELDS)]


def _refusal(status: int) -> Reply:
    return Reply(b"This is not a valid HTTP request.\n", status, (TEXT, ("Connection", "close")))


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True
