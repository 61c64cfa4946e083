"""Three small HTTP servers on loopback, one for each site. They send what was loaded at the start, and nothing else."""

import io
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from email.utils import format_datetime, parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self

from goodbot.demo.demo_pages import Resource, SampleSite, load_site
from goodbot.errors import RunError

EXAMPLE_QUERIES = ("choosing a torch", "winding clocks", "вежливых роботов")
"""Queries with good answers on the sample web. The last one is inflected otherwise than the pages it finds."""

HOST = "127.0.0.1"
IDLE_S = 30.0
"""An unused connection is closed after this long, and one whose client does not read its answer."""
HEAD_S = 10.0
"""For the head of a request, from its first byte, or from the beginning of the connection."""

_FOLDER = Path(__file__).with_name("sites")
_TITLES = {
    "hardware": "Millbrook Hardware",
    "antiques": "Lantern Lane Antiques",
    "handbook": "The Robot Handbook",
}


class DemoSite(NamedTuple):
    """`url` is the home page."""

    name: str
    title: str
    url: str


class DemoWeb:
    """The sample web: served from the beginning of a `with` block to its end, to this machine only.

    `ports` are those of the hardware store, the antiques store and the handbook; 0 takes a free one. A connection whose
    request has no whole head after `head_s` seconds is closed.
    """

    def __init__(self, ports: Sequence[int] = (0, 0, 0), *, head_s: float = HEAD_S) -> None:
        if len(ports) != len(_TITLES):
            raise ValueError(f"the sample web has {len(_TITLES)} sites: give as many ports")
        self._ports = tuple(ports)
        self._head_s = head_s
        self._servers: list[_Server] = []
        self.sites: tuple[DemoSite, ...] = ()

    def __enter__(self) -> Self:
        """Raises RunError if a port is taken."""
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def _start(self) -> None:
        """Every page links to all three sites, so all ports are taken before the first page is made."""
        for port in self._ports:
            self._servers.append(_bound(port, self._head_s))
        addresses = {name: server.address for name, server in zip(_TITLES, self._servers, strict=True)}
        for name, server in zip(_TITLES, self._servers, strict=True):
            server.start(load_site(_FOLDER / name, server.address, addresses))
        self.sites = tuple(DemoSite(name, title, f"{addresses[name]}/") for name, title in _TITLES.items())

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()

    def _stop(self) -> None:
        while self._servers:
            self._servers.pop().stop()


def _bound(port: int, head_s: float) -> "_Server":
    try:
        return _Server((HOST, port), _Handler, head_s)
    except (OSError, OverflowError) as error:
        raise RunError(f"cannot serve the sample web on port {port}: {error}; give another port, or 0") from error


class _Server(ThreadingHTTPServer):
    """A server with a site. It knows its open connections, so that stopping does not wait for idle clients."""

    site: SampleSite
    daemon_threads = False
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], head_s: float) -> None:
        super().__init__(address, handler)
        self.head_s = head_s
        self.address = f"http://{HOST}:{self.server_port}"
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def server_bind(self) -> None:
        """As of a TCP server: the HTTP server's own asks the resolver for the name of this machine."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def start(self, site: SampleSite) -> None:
        self.site = site
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        if self._thread:
            self.shutdown()
            self._thread.join()
        with self._lock:
            for connection in self._open:
                _hang_up(connection)
        self.server_close()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Quiet: a client that goes away is no news."""


def _hang_up(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass  # the client was faster


class _Requests(io.RawIOBase):
    """What a client sends. Reading raises TimeoutError once the client has taken too long, however often it has sent a
    byte meanwhile."""

    def __init__(self, connection: socket.socket, head_s: float) -> None:
        self._connection = connection
        self._head_s = head_s
        self._until = time.monotonic() + head_s
        self._is_idle = False

    def readable(self) -> bool:
        return True

    def wait_for_next(self) -> None:
        """The client has its answer, and may send one more request in its own time."""
        self._until = time.monotonic() + IDLE_S
        self._is_idle = True

    def readinto(self, buffer: Any) -> int:
        left_s = self._until - time.monotonic()
        if left_s <= 0:
            raise TimeoutError("the head of the request is not complete")
        self._connection.settimeout(left_s)
        count = self._connection.recv_into(buffer)
        if self._is_idle:
            self._until = time.monotonic() + self._head_s
            self._is_idle = False
        return count


class _Handler(BaseHTTPRequestHandler):
    """GET and HEAD (RFC 9110 §9.3). Paths are looked up as sent: nothing is opened, nothing decoded."""

    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    wbufsize = -1  # head and body in one packet
    disable_nagle_algorithm = True
    error_content_type = "text/plain; charset=utf-8"
    error_message_format = "%(code)d %(message)s\n"
    allowed: ClassVar[Mapping[str, str]] = {"Allow": "GET, HEAD"}

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self._requests = _Requests(self.connection, self.server.head_s)
        self.rfile = io.BufferedReader(self._requests)

    def parse_request(self) -> bool:
        """The whole head is read here. Bodies are not read at all."""
        is_good = super().parse_request()
        self.connection.settimeout(IDLE_S)
        return is_good

    def handle_one_request(self) -> None:
        super().handle_one_request()
        self._requests.wait_for_next()

    def version_string(self) -> str:
        return "goodbot-demo"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _refuse(self) -> None:
        """RFC 9110 §15.5.6. The body of the request is not read, so the connection ends."""
        body = b"This server answers GET and HEAD.\n"
        self.close_connection = True
        self._send_head(405, {**self.allowed, "Content-Type": "text/plain", "Connection": "close"}, len(body))
        self.wfile.write(body)

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_TRACE = do_CONNECT = _refuse  # noqa: N815 - names the base class looks for

    def _answer(self, *, with_body: bool) -> None:
        resource = self._found()
        if self._is_unmodified(resource):
            self._send_head(304, _fields(resource), None)
            return
        fields = _fields(resource)
        body = resource.body
        if resource.gzipped is not None and self._takes_gzip():
            body = resource.gzipped
            fields["Content-Encoding"] = "gzip"
        self._send_head(resource.status, fields, len(body))
        if with_body:
            self.wfile.write(body)

    def _found(self) -> Resource:
        path = self.path.removeprefix(self.server.address).partition("?")[0]  # RFC 9112 §3.2.2: a whole URL will do
        return self.server.site.resources.get(path, self.server.site.missing)

    def _takes_gzip(self) -> bool:
        """RFC 9110 §12.5.3, as far as clients use it: gzip named, and not with weight 0."""
        for item in ",".join(self.headers.get_all("Accept-Encoding", ())).lower().split(","):
            coding, _, weight = item.partition(";")
            if coding.strip() == "gzip":
                return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
        return False

    def _is_unmodified(self, resource: Resource) -> bool:
        """RFC 9110 §13.1.3; a date that is none is ignored."""
        since = self.headers.get("If-Modified-Since")
        if since is None or resource.modified is None or resource.status != 200:
            return False
        try:
            return resource.modified <= parsedate_to_datetime(since)
        except (TypeError, ValueError):  # ValueError: no date; TypeError: a date without a time zone
            return False

    def _send_head(self, status: int, fields: Mapping[str, str], length: int | None) -> None:
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


def _fields(resource: Resource) -> dict[str, str]:
    fields = {"Content-Type": resource.content_type, **dict(resource.headers)}
    if resource.modified is not None:
        fields["Last-Modified"] = format_datetime(resource.modified, usegmt=True)
    if resource.gzipped is not None:
        fields["Vary"] = "Accept-Encoding"
    return fields
