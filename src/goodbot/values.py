"""The nouns: what one room hands to another. All are frozen; none knows how it is made, kept or sent."""

from dataclasses import dataclass, field
from typing import Literal

from goodbot.exclusion import Directives, Verdict
from goodbot.url import Url

Headers = tuple[tuple[str, str], ...]
"""Header fields in the order received, names as received, values without surrounding blanks."""

State = Literal["ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone"]
STATES: tuple[State, ...] = ("ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone")

FailureKind = Literal["dns", "connect", "timeout", "reset", "tls", "too-many-redirects", "private-address", "protocol"]
"""Why there is no answer. `private-address`: our own guard refused; `protocol`: the bytes received are not HTTP."""


# ---- fetching -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A fetch that is permitted: there is no `Request` without the `Verdict` that allows it.

    `public_only` forbids private addresses even where the crawl may use them (a redirect that came from a public host).
    Raises ValueError if the verdict forbids the URL or speaks of another one.
    """

    url: Url
    verdict: Verdict
    headers: Headers = ()
    public_only: bool = False

    def __post_init__(self) -> None:
        if not self.verdict.allowed or self.verdict.url != self.url.text:
            raise ValueError(f"no permission to fetch {self.url}: {self.verdict.reason}")


@dataclass(frozen=True, slots=True)
class Response:
    """An answer. `body` is as received: content coding kept, transfer coding (chunks) removed.

    `truncated` says why the body ends early: `length` (our size limit) or `disconnect` (fewer bytes than announced).
    """

    status: int
    headers: Headers
    body: bytes
    version: str = "HTTP/1.1"
    reason: str = ""
    truncated: Literal["length", "disconnect"] | None = None

    def header(self, name: str) -> str | None:
        """The first field of that name (any case), or None."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def all_headers(self, name: str) -> list[str]:
        """Every field of that name (any case), in order."""
        wanted = name.lower()
        return [value for key, value in self.headers if key.lower() == wanted]

    @property
    def media_type(self) -> str:
        """Type and subtype in lower case, without parameters; empty if not stated."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer: the kind for programs, one line of detail for people."""

    kind: FailureKind
    detail: str


@dataclass(frozen=True, slots=True)
class Capture:
    """What one request brought: request, response or failure, when, from which address.

    `request_head` is the request as sent, `peer` the address connected to (None if no connection was made).
    """

    request: Request
    result: Response | Failure
    fetched_at: float
    elapsed_s: float
    peer: str | None = None
    request_head: bytes = b""


# ---- reading --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Link:
    """A reference found on a page. `rel` is in lower case; a META refresh has rel `("refresh",)`."""

    url: Url
    anchor: str = ""
    rel: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """What a document says. `language` is a BCP 47 tag as stated, or None; `canonical` None if not stated."""

    url: Url
    directives: Directives
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    links: tuple[Link, ...] = ()
    canonical: Url | None = None
    language: str | None = None
    description: str = ""
    keywords: str = ""
    encoding: str = "utf-8"


# ---- the frontier ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Discovery:
    """A URL someone named: a seed (`source` None) or a link found. `refused` says why it is out of scope, or None.

    `hops` counts the redirects in a row that led here.
    """

    url: Url
    depth: int
    source: Url | None = None
    refused: str | None = None
    public_only: bool = False
    hops: int = 0


@dataclass(frozen=True, slots=True)
class LeasedUrl:
    """One URL of a lease. `tries` counts fetches that failed before."""

    url: Url
    depth: int
    tries: int = 0
    public_only: bool = False
    hops: int = 0


@dataclass(frozen=True, slots=True)
class Lease:
    """A host that is ours until it is released, and a few of its URLs, due now. `backoff_s`: what its trouble has
    added. `cut_at`: the lease before this one ended with its process, which may have asked the host until then.
    """

    host: str
    urls: tuple[LeasedUrl, ...]
    backoff_s: float = 0.0
    cut_at: float | None = None


@dataclass(frozen=True, slots=True)
class Event:
    """One decision about one URL, for `why`. `line` is the line of the robots.txt that decided, if one did."""

    at: float
    step: Literal["found", "scope", "permission", "fetch", "read", "keep", "follow", "index", "settle"]
    decision: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RecordRef:
    """Where a capture lies in the archive: file name, and byte offset of its response record."""

    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one leased URL.

    `state` is where it goes: `ready` is one more try, not before `ready_at`. `why` is one sentence. `to_index`: the
    page may be indexed and is not in a committed index yet. `links` are known URLs from now on, committed with this
    outcome.
    """

    url: Url
    state: State
    at: float
    why: str
    status: int | None = None
    size_bytes: int = 0
    digest: str | None = None
    title: str | None = None
    record: RecordRef | None = None
    to_index: bool = False
    ready_at: float = 0.0
    tries: int = 0
    events: tuple[Event, ...] = ()
    links: tuple[Discovery, ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """The end of a lease: the host may be asked again at `ready_at`; its URLs without an outcome are ready again."""

    host: str
    ready_at: float
    backoff_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Status:
    """A crawl in numbers. `states` has every state; `next_ready_at` is None when nothing is ready."""

    states: dict[State, int]
    pages: int
    bytes: int
    hosts: int
    next_ready_at: float | None

    @property
    def finished(self) -> bool:
        """Empty is not finished: only when nothing is ready or leased."""
        return not (self.states["ready"] or self.states["leased"])


@dataclass(frozen=True, slots=True)
class UrlRecord:
    """What the frontier knows of one URL."""

    url: Url
    state: State
    depth: int
    status: int | None = None
    fetched_at: float | None = None
    digest: str | None = None
    title: str | None = None
    why: str = ""
    record: RecordRef | None = None
    events: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Archived:
    """A response read back from the archive. `headers_only`: the page asked not to be archived (noarchive)."""

    url: Url
    fetched_at: float
    response: Response
    record: RecordRef
    headers_only: bool = False


# ---- search ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """What is indexed of a page. `id` is the URL unless the document was imported under another name."""

    id: str
    url: str
    title: str
    text: str
    headings: str = ""
    description: str = ""
    keywords: str = ""
    language: str | None = None
    fetched_at: float = 0.0


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `snippet` is plain text; `highlights` are the (start, end) of the words found in it."""

    id: str
    url: str
    title: str
    snippet: str
    score: float
    highlights: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """One page of hits; `total` counts all documents that match."""

    query: str
    total: int
    took_ms: float
    hits: tuple[Hit, ...] = field(default=())
