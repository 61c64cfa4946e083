"""Serves the sample web: three small sites on loopback, each on a port of its own. Pages come from memory only."""

from collections.abc import Sequence
from contextlib import ExitStack
from email.utils import format_datetime, parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from goodbot.demo.demo_pages import Resource, SampleSite, load_site
from goodbot.web import running
from goodbot.web.server.connections import ConnectionLimit

EXAMPLE_QUERIES = ("choosing a torch", "winding clocks", "вежливых роботов")
"""Queries with good answers on the sample web. The pages that the last one finds use other forms of its words."""

HOST = "127.0.0.1"

_FOLDER = Path(__file__).with_name("sites")
_TITLES = {
    "hardware": "Millbrook Hardware",
    "antiques": "Lantern Lane Antiques",
    "handbook": "Robots, a handbook",
}


class DemoSite(NamedTuple):
    """One site of the sample web; `url` is its home page."""

    name: str
    title: str
    url: str


class DemoWeb:
    """Serves the sample web while a `with` block runs, to this machine only.

    `ports` are those of the hardware store, the antiques store and the handbook; 0 takes a free one. `limit` bounds the
    connections of each site, and how long a client may take to send a request.
    """

    def __init__(self, ports: Sequence[int] = (0, 0, 0), *, limit: ConnectionLimit | None = None) -> None:
        if len(ports) != len(_TITLES):
            raise ValueError(f"the sample web has {len(_TITLES)} sites: give as many ports")
        self._ports = tuple(ports)
        self._limit = limit
        self._servers = ExitStack()
        self.sites: tuple[DemoSite, ...] = ()

    def __enter__(self) -> Self:
        """Starts the servers. Raises RunError if a port is taken."""
        with ExitStack() as servers:
            apps = {name: _SiteApp() for name in _TITLES}
            addresses = {
                name: servers.enter_context(running(app, HOST, port, self._limit)).rstrip("/")
                for (name, app), port in zip(apps.items(), self._ports, strict=True)
            }
            for name, app in apps.items():  # pages link to all three sites, so all ports must be known
                app.site = load_site(_FOLDER / name, addresses[name], addresses)
            self.sites = tuple(DemoSite(name, title, f"{addresses[name]}/") for name, title in _TITLES.items())
            self._servers = servers.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._servers.close()


class _SiteApp:
    """Answers GET and HEAD (RFC 9110 §9.3). It looks paths up as sent, without decoding, and opens no file."""

    site: SampleSite | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await _response(self.site, Request(scope))(scope, receive, send)


def _response(site: SampleSite | None, request: Request) -> Response:
    if request.method not in ("GET", "HEAD"):  # RFC 9110 §15.5.6
        return PlainTextResponse("This server answers GET and HEAD.\n", 405, {"Allow": "GET, HEAD"})
    if site is None:
        return PlainTextResponse("The sample web is not ready yet.\n", 503)
    resource = site.answer(str(request.scope["raw_path"], "ascii"))
    headers = _headers(resource)
    if _is_unmodified(resource, request):
        return Response(status_code=304, headers=headers)
    if resource.gzipped is not None and _accepts_gzip(request):
        return Response(resource.gzipped, resource.status, {**headers, "Content-Encoding": "gzip"})
    return Response(resource.body, resource.status, headers)


def _headers(resource: Resource) -> dict[str, str]:
    headers = {"Content-Type": resource.content_type, **dict(resource.headers)}
    if resource.modified is not None:
        headers["Last-Modified"] = format_datetime(resource.modified, usegmt=True)
    if resource.gzipped is not None:
        headers["Vary"] = "Accept-Encoding"
    return headers


def _accepts_gzip(request: Request) -> bool:
    """Whether Accept-Encoding names gzip, and not with weight 0 (RFC 9110 §12.5.3)."""
    for item in ",".join(request.headers.getlist("accept-encoding")).lower().split(","):
        coding, _, weight = item.partition(";")
        if coding.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def _is_unmodified(resource: Resource, request: Request) -> bool:
    """Whether the resource is as old as If-Modified-Since (RFC 9110 §13.1.3). Ignores a date that is not valid."""
    since = request.headers.get("if-modified-since")
    if since is None or resource.modified is None or resource.status != 200:
        return False
    try:
        return resource.modified <= parsedate_to_datetime(since)
    except (TypeError, ValueError):  # ValueError: not a date; TypeError: a date without a time zone
        return False
