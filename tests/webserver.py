"""A small real HTTP server for tests. The test chooses every byte it sends.

    async with WebServer({"/": answer(b"<p>hi"), "/old": closing(b"HTTP/1.0 200 OK\\r\\n\\r\\nhi")}) as server:
        server.url("/")

A route is either the bytes to send or an async function that takes the `Exchange`. The connection stays open after
an answer until the route closes or resets it, the client closes it, or the server stops.
"""

import asyncio
import socket
import ssl
import struct
import subprocess
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Self

from listening import Listening

NOT_FOUND = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


@dataclass(slots=True)
class Exchange:
    """One request, and methods to answer it. `head` is its head as received; `connection` counts from 1."""

    head: bytes
    connection: int
    reader: asyncio.StreamReader = field(repr=False)
    writer: asyncio.StreamWriter = field(repr=False)

    @property
    def target(self) -> str:
        """Path and query, as in the request line."""
        return self.head.split(b" ", 2)[1].decode("latin-1")

    def header(self, name: str) -> str | None:
        """Returns the first request header of that name (any case), or None."""
        for line in self.head.decode("latin-1").split("\r\n")[1:]:
            key, _, value = line.partition(":")
            if key.lower() == name.lower():
                return value.strip()
        return None

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def client_left(self) -> None:
        """Waits until the client has closed the connection."""
        while await self.reader.read(65536):
            pass

    async def close(self) -> None:
        """Closes the connection normally (FIN)."""
        self.writer.close()

    async def reset(self) -> None:
        """Resets the connection, as after a crash (RST)."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


Handler = Callable[[Exchange], Awaitable[None]]
Route = bytes | Handler


def answer(
    body: bytes = b"",
    status: int = 200,
    headers: Iterable[tuple[str, str]] = (("Content-Type", "text/html; charset=utf-8"),),
) -> bytes:
    """Returns a well-formed answer with Content-Length."""
    fields = (*headers, ("Content-Length", str(len(body))))
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def closing(data: bytes) -> Handler:
    """Returns a route that sends these bytes and closes the connection."""

    async def handler(exchange: Exchange) -> None:
        await exchange.send(data)
        await exchange.close()

    return handler


def resetting(data: bytes = b"") -> Handler:
    """Returns a route that sends these bytes, lets them arrive, and resets the connection."""

    async def handler(exchange: Exchange) -> None:
        await exchange.send(data)
        await asyncio.sleep(0.05)  # a reset discards bytes that the receiver has not read yet
        await exchange.reset()

    return handler


async def silence(exchange: Exchange) -> None:
    """Never answers, however long the client waits."""
    await exchange.client_left()


class WebServer(Listening):
    """Serves `routes` by target, `fallback` for other targets, on a free loopback port during the `async with` block.

    `exchanges` lists all requests in the order received, and `connections` counts the accepted connections. `busy` is
    the number of requests being answered now, `most_busy` its maximum so far.
    """

    def __init__(
        self,
        routes: Mapping[str, Route] | None = None,
        *,
        fallback: Route = NOT_FOUND,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__(tls, host)
        self.routes: dict[str, Route] = dict(routes or {})
        self.fallback = fallback
        self.exchanges: list[Exchange] = []
        self.busy = 0
        self.most_busy = 0
        self._news = asyncio.Event()

    @property
    def targets(self) -> list[str]:
        """The targets of all requests, in order."""
        return [exchange.target for exchange in self.exchanges]

    async def received(self, count: int) -> None:
        """Waits until that many requests have been received."""
        while len(self.exchanges) < count:
            self._news.clear()
            await self._news.wait()

    async def deserted(self) -> None:
        """Waits until every connection has ended."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        try:
            while not writer.is_closing():
                head = await reader.readuntil(b"\r\n\r\n")
                await self._answer(Exchange(head, number, reader, writer))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()

    async def _answer(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        self._news.set()
        self.busy += 1
        self.most_busy = max(self.most_busy, self.busy)
        try:
            route = self.routes.get(exchange.target, self.fallback)
            await (exchange.send(route) if isinstance(route, bytes) else route(exchange))
        finally:
            self.busy -= 1


def has_ipv6() -> bool:
    """Returns whether this machine has `::1`."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@contextmanager
def kept_port() -> Iterator[int]:
    """Reserves a loopback port. Connections to it are refused unless a server of the test listens there (Linux permits
    that, as both set SO_REUSEADDR)."""
    with socket.socket() as kept:
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        kept.bind(("127.0.0.1", 0))
        yield kept.getsockname()[1]


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority for a test, made with `openssl`. `file` is the certificate that clients trust."""

    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "ca.pem"

    @classmethod
    def create(cls, folder: Path) -> Self:
        made = cls(folder)
        made._openssl("req", "-x509", *_NEW_KEY, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Authority")
        return made

    def server_context(self, name: str, *, expired: bool = False) -> ssl.SSLContext:
        """Returns the TLS context of a server called `name` (host name or IP address); `expired`: valid until 2020."""
        kind = "IP" if name.replace(":", "").replace(".", "").isdigit() else "DNS"
        end = "20200201000000Z" if expired else "21200101000000Z"
        (self.folder / "ca.cnf").write_text(_CA_CONFIG.format(kind=kind, name=name))
        (self.folder / "ca.index").write_text("")
        self._openssl("req", *_NEW_KEY, "-keyout", "leaf.key", "-out", "leaf.csr", "-subj", f"/CN={name}")
        self._openssl(
            *("ca", "-batch", "-notext", "-config", "ca.cnf", "-startdate", "20200101000000Z", "-enddate", end),
            *("-in", "leaf.csr", "-out", "leaf.pem"),
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "leaf.pem", self.folder / "leaf.key")
        return context

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")

_CA_CONFIG = """
[ca]
default_ca = authority
[authority]
certificate = ca.pem
private_key = ca.key
database = ca.index
rand_serial = yes
new_certs_dir = .
default_md = sha256
policy = anything
x509_extensions = leaf
[anything]
commonName = supplied
[leaf]
subjectAltName = {kind}:{name}
"""
