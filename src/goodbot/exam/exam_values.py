"""Defines the values of the exam: sites, what they serve and expect, and the requests they got."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final, Protocol

from goodbot.ports import Clock

MAIN: Final = ""
"""The label of a site's main origin. Further origins have labels of their own."""

HTML: Final = ("Content-Type", "text/html; charset=utf-8")
TEXT: Final = ("Content-Type", "text/plain; charset=utf-8")

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")


def upper_escapes(text: str) -> str:
    """Returns the text with percent-escapes in upper case, which mean the same in lower case (RFC 3986 6.2.2.1)."""
    return _ESCAPE.sub(lambda found: found[0].upper(), text)


@dataclass(frozen=True, slots=True)
class Reply:
    """A well-formed response. `@label@` in body and header values is replaced by an origin of the site (`@@`: the main
    one)."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (HTML,)

    def encode(self, origins: Mapping[str, str], *, head_only: bool = False) -> bytes:
        """Returns the bytes to send, with Content-Length. The connection stays open."""
        body = self.body
        fields = list(self.headers)
        for label, origin in origins.items():
            body = body.replace(f"@{label}@".encode(), origin.encode())
            fields = [(name, value.replace(f"@{label}@", origin)) for name, value in fields]
        if not any(name.lower() == "content-length" for name, _ in fields):
            fields.append(("Content-Length", str(len(body))))
        lines = [f"HTTP/1.1 {self.status} {_phrase(self.status)}", *(f"{name}: {value}" for name, value in fields)]
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (b"" if head_only else body)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unassigned"


@dataclass(slots=True)
class ExamRequest:
    """One request as the examiner saw it. Times are Unix seconds; `connection` counts from 1 over the whole exam.

    `origin` is the label of the requested origin. `at` is when the request was read, `unread_s` how long it had been
    waiting by then. `ended_at` is when its response was complete or abandoned (None: still in progress), `status` the
    status sent (None: no response), `sent_bytes` the bytes that the client took.
    """

    origin: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    connection: int
    at: float
    visit: int = 1
    ended_at: float | None = None
    status: int | None = None
    sent_bytes: int = 0
    unread_s: float = 0.0

    @property
    def came_at(self) -> float:
        """When the request arrived: earlier than `at` if the examiner read it late."""
        return self.at - self.unread_s

    @property
    def path(self) -> str:
        """The target without its query."""
        return self.target.partition("?")[0]

    def header(self, name: str) -> str | None:
        """Returns the first header field with this name, in any letter case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


class Exchange(Protocol):
    """One request, and the ways to respond to it. Handlers get an exchange as their argument."""

    request: ExamRequest
    clock: Clock
    origins: Mapping[str, str]
    """Maps labels to origins (`http://127.0.0.1:8801`), for every origin of this site."""

    def before(self, path: str | None = None) -> int:
        """Returns how many requests this origin got earlier in this visit, for one path or for all."""
        ...

    async def reply(self, reply: Reply) -> None: ...

    async def send(self, data: bytes) -> None:
        """Sends raw bytes. Raises ConnectionError if the client has left."""
        ...

    async def client_left(self) -> None:
        """Returns when the client has closed the connection, or the exam ends."""
        ...

    def close(self) -> None: ...

    def reset(self) -> None: ...


Handler = Callable[[Exchange], Awaitable[None]]
Route = Reply | Handler
Pages = Mapping[str, Route]
"""Maps paths to routes: a path with its query comes first, then the path alone, then `*`, else 404."""

NOT_FOUND: Final = Reply(b"<p>There is no such page.", 404)


@dataclass(frozen=True, slots=True)
class Observed:
    """What the examiner observed at a site: all requests to its origins, in order of arrival.

    By origin, `most_busy` is the largest number of requests in progress at once, `most_connections` the largest number
    of connections open at once, and `connections` the number of all accepted ones, failed TLS handshakes included.
    """

    requests: tuple[ExamRequest, ...]
    visits: int = 1
    most_busy: Mapping[str, int] = field(default_factory=dict)
    most_connections: Mapping[str, int] = field(default_factory=dict)
    connections: Mapping[str, int] = field(default_factory=dict)

    def of(self, origin: str = MAIN, visit: int | None = None) -> list[ExamRequest]:
        """Returns the requests to one origin, of one visit or of all."""
        return [each for each in self.requests if each.origin == origin and visit in (None, each.visit)]


@dataclass(frozen=True, slots=True)
class SiteJudgement:
    """Whether an expectation was met, what the crawler did, and the first request that broke the expectation, if
    any."""

    passed: bool
    observed: str
    offending: ExamRequest | None = None


class Expectation(Protocol):
    """One thing a good robot does at a site. `rule` is the code of a rule in `rules.RULES`, which defines the
    points."""

    @property
    def rule(self) -> str: ...

    @property
    def origin(self) -> str | None:
        """The label of the origin that is judged; None if all are."""
        ...

    @property
    def expected(self) -> str:
        """What a good crawler does, in words: `fetches /, /a`."""
        ...

    def judge(self, seen: Observed) -> SiteJudgement: ...


@dataclass(frozen=True, slots=True)
class ExamSite:
    """One hard site.

    `name` is in kebab case. `teaches` says in an imperative sentence what the site teaches, `source` names the text or
    incident it rests on. `pages` are those of the main origin, `others` those of further origins by label; each origin
    has its own port, and its own name. `tls` names the certificate of the main origin: valid, expired, wrong-name.
    `needs` lists what the machine or the crawler must have: `ipv6`, `names` (the crawler uses the proxy), `ca-file`.
    `ipv6` lists the labels that listen on [::1], `other_ports` those that share the host name of the main origin.
    `seeds` are the paths a crawler starts from.
    """

    name: str
    teaches: str
    source: str
    pages: Pages
    expects: tuple[Expectation, ...]
    others: Mapping[str, Pages] = field(default_factory=dict)
    seeds: tuple[str, ...] = ("/",)
    tls: str | None = None
    needs: frozenset[str] = frozenset()
    ipv6: frozenset[str] = frozenset()
    other_ports: frozenset[str] = frozenset()

    @property
    def labels(self) -> tuple[str, ...]:
        return (MAIN, *self.others)


# ---- building sites -----------------------------------------------------------------------------------------------


def robots(text: str | bytes, status: int = 200, headers: Iterable[tuple[str, str]] = ()) -> Reply:
    """Returns a robots.txt."""
    return Reply(text.encode() if isinstance(text, str) else text, status, (TEXT, *headers))


def page(
    *links: str, title: str = "A page", head: str = "", text: str = "", headers: Iterable[tuple[str, str]] = ()
) -> Reply:
    """Returns an HTML page with these links, in order."""
    anchors = "".join(f'<p><a href="{link}">{link}</a>' for link in links)
    top = f"<!doctype html><html lang=en><head><title>{title}</title>{head}</head>"
    return Reply(f"{top}<body><h1>{title}</h1><p>{text}{anchors}".encode(), 200, (HTML, *headers))


def redirect(location: str, status: int = 302) -> Reply:
    return Reply(b"", status, (HTML, ("Location", location)))


def pages(robots_txt: Route | None, *names: str, start: Route | None = None) -> dict[str, Route]:
    """Returns robots.txt, a start page that links to `names`, and a plain page for each of them."""
    made: dict[str, Route] = {"/": start or page(*names, title="Start")}
    if robots_txt is not None:
        made["/robots.txt"] = robots_txt
    for name in names:
        made.setdefault(name, page(title=name))
    return made
