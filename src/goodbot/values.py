"""The nouns: what one room hands to another. All are frozen; none knows how it is made, kept or sent."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from goodbot.exclusion import Directives, Verdict, parse_rel
from goodbot.url import Url

Headers = tuple[tuple[str, str], ...]
"""Header fields in the order received, names as received, values without surrounding blanks."""

State = Literal["ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone"]
STATES: tuple[State, ...] = ("ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone")

FailureKind = Literal[
    "dns", "connect", "timeout", "reset", "tls", "too-many-redirects", "private-address", "protocol", "forgotten"
]
"""Why there is no answer. `private-address`: our own guard refused; `protocol`: the bytes received are not HTTP;
`forgotten`: the crawl may ask this host nothing (`goodbot forget`)."""

Method = Literal["GET", "HEAD"]

WALLED = "wall: "
"""Begins `Outcome.why` of a page in whose place a bot wall answered; the wall's name and ` (status 403)` follow."""

NOT_INDEXED = "this crawl does not index"
"""The reason of the `index` event of every page that a crawl without an index fetched."""


# ---- fetching -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A fetch that is permitted: there is no `Request` without the `Verdict` that allows it.

    `public_only` forbids private addresses even where the crawl may use them (a redirect that came from a public host).
    HEAD asks for the header fields alone (RFC 9110 §9.3.2). `fresh` asks for a new connection, after a try
    that failed. Raises ValueError if the verdict forbids the URL or speaks of another one.
    """

    url: Url
    verdict: Verdict
    headers: Headers = ()
    public_only: bool = False
    method: Method = "GET"
    fresh: bool = False

    def __post_init__(self) -> None:
        if not self.verdict.allowed or self.verdict.url != self.url.text:
            raise ValueError(f"no permission to fetch {self.url}: {self.verdict.reason}")


@dataclass(frozen=True, slots=True, weakref_slot=True)
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
    def location(self) -> str | None:
        """`Location`, read as UTF-8 if it is that (browsers percent-encode the bytes, whatever they are)."""
        value = self.header("location")
        if value is None or value.isascii():
            return value
        try:
            return value.encode("latin-1").decode("utf-8")
        except UnicodeError:
            return value

    @property
    def media_type(self) -> str:
        """Type and subtype in lower case, without parameters; empty if not stated."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()


@dataclass(frozen=True, slots=True)
class Failure:
    """No answer: the kind for programs, one line of detail for people. `lasting`: asking again within a minute would
    give the same result."""

    kind: FailureKind
    detail: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """What one request brought: request, response or failure, when, from which address.

    `fetched_at` is no later than the server saw the request, `fetched_at + elapsed_s` no earlier than it ended its
    answer; looking a name up counts only where that failed. `request_head` is the request as sent, `peer` the address
    connected to (None if no connection was made).
    """

    request: Request
    result: Response | Failure
    fetched_at: float
    elapsed_s: float
    peer: str | None = None
    request_head: bytes = b""


# ---- reading --------------------------------------------------------------------------------------------------------


class Link(NamedTuple):
    """A reference found on a page. `rel` is in lower case; a META refresh has rel `("refresh",)`.

    A page makes a hundred of them, and a tuple is made in half the time of a dataclass.
    """

    url: Url
    anchor: str = ""
    rel: tuple[str, ...] = ()

    @property
    def follow(self) -> bool:
        """Whether who set the link lets robots follow it."""
        if not self.rel:
            return True
        is_short = len(self.rel) <= _WORDS_MOST and max(map(len, self.rel)) <= _WORD_MOST
        return _is_followed(self.rel) if is_short else parse_rel(self.rel).follow


_WORDS_MOST, _WORD_MOST = 8, 64
"""A `rel` of more or longer words is not remembered: it may be as long as a page."""


@lru_cache(maxsize=256)
def _is_followed(rel: tuple[str, ...]) -> bool:
    """Most links with a rel have one of a few; asked twice of each."""
    return parse_rel(rel).follow


class ListedUrl(NamedTuple):
    """A URL that a sitemap or a feed names, and what is said of it: when it changed last (Unix seconds), how often it
    does (seconds), how much it matters to its site (0 to 1)."""

    url: Url
    title: str = ""
    modified_at: float | None = None
    interval_s: float | None = None
    priority: float | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """What a document says. `language` is a BCP 47 tag as stated, or None; `canonical` None if not stated.

    `shown` is the part of `text` that extracts may be taken from (`data-nosnippet`), None: all of it. `listed` is what
    a sitemap, a sitemap index or a feed names; such a document has no links beside. `unread` says why the document, or
    a part of it, could not be read (encrypted, damaged, too long); empty if all of it was.
    """

    url: Url
    directives: Directives
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    shown: str | None = None
    links: tuple[Link, ...] = ()
    canonical: Url | None = None
    language: str | None = None
    encoding: str = "utf-8"
    listed: tuple[ListedUrl, ...] = ()
    unread: str = ""


# ---- the frontier ---------------------------------------------------------------------------------------------------


class Discovery(NamedTuple):
    """A URL someone named: a seed (`source` None) or a link found. `refused` says why it is out of scope, or None.

    `hops` counts the redirects, sitemaps and feeds in a row that led here. `lists`: 1 for what a sitemap index names, 2
    for what a sitemap or a feed does, after redirects too. `expects_list`: a robots.txt or a sitemap index says that a
    sitemap is there; such URLs take turns with the pages of their host. `can_wait`: the page may belong to a trap, so
    the other pages of the host are asked for first. `priority` is a hint given with the link,
    higher first; `inlinks` how often the URL was found up to now. `modified_at` and `interval_s` are what a sitemap
    says: when it changed last, and how often it does; a page visited before `modified_at` is due at once.
    """

    url: Url
    depth: int
    source: Url | None = None
    refused: str | None = None
    public_only: bool = False
    hops: int = 0
    priority: int = 0
    inlinks: int = 1
    modified_at: float | None = None
    interval_s: float | None = None
    lists: int = 0
    expects_list: bool = False
    can_wait: bool = False


class FoundLinks(NamedTuple):
    """A part of what one page names, committed before the page itself is done; `at` is when the page was fetched."""

    links: tuple[Discovery, ...]
    at: float


@dataclass(frozen=True, slots=True)
class LastVisit:
    """What a visit leaves for the next one of the same URL.

    `at`: when it was last answered; `due_at`: when it is to be asked again; `interval_s`: the wait that was chosen;
    `changed_at`: when it was last found to differ. `etag` and `modified` are the validators as received, `digest`,
    `record` and `title` those of the last answer that brought the page. `gone` counts answers 404 and 410 in a row.
    `available_until`: `unavailable_after`. `indexed`: the page was given to the index. `text`: a digest of what the
    page says, which stays when only its bytes change. `rendered`: a browser made the page, and what it said is not in
    the archive.
    """

    at: float
    due_at: float
    interval_s: float
    changed_at: float
    etag: str | None = None
    modified: str | None = None
    digest: str | None = None
    record: "RecordRef | None" = None
    title: str | None = None
    gone: int = 0
    available_until: float | None = None
    indexed: bool = False
    text: str | None = None
    rendered: bool = False


class LeasedUrl(NamedTuple):
    """One URL of a lease. `tries` counts fetches that failed before. `seen`: it was visited before, and is due again.
    `interval_s`: how often it changes, as a sitemap says. `same_as`: whose copy its text showed it to be, if that one
    is in the index and says what it said then. `lists`, `expects_list`: see `Discovery`."""

    url: Url
    depth: int
    tries: int = 0
    public_only: bool = False
    hops: int = 0
    seen: LastVisit | None = None
    interval_s: float | None = None
    same_as: Url | None = None
    lists: int = 0
    expects_list: bool = False


@dataclass(frozen=True, slots=True)
class Lease:
    """A host that is ours until it is released, and a few of its URLs, due now. `backoff_s`: what its trouble has
    added. `cut_at`: a lease before this one was cut off, in which the host may have been asked until then.
    """

    host: str
    urls: tuple[LeasedUrl, ...]
    backoff_s: float = 0.0
    cut_at: float | None = None


class Event(NamedTuple):
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
    page may be indexed and is not in a committed index yet; `from_index`: what the index has of it is to go;
    `unchanged`: neither, the page is what it was (304), and so is its place in the index. `links` are known URLs from
    now on, committed with this outcome. `seen` is for the next visit; None: there is none, what was known before is
    dropped. `same_as`: the page says nothing but what that one does, its representative; `alike`:
    that was found by comparing them, not by its own word. `revisit`: it had been visited before.
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
    seen: LastVisit | None = None
    from_index: bool = False
    unchanged: bool = False
    same_as: Url | None = None
    alike: bool = False
    revisit: bool = False


@dataclass(frozen=True, slots=True)
class Release:
    """The end of a lease: the host may be asked again at `ready_at`; its URLs without an outcome are ready again.
    `cut_at` goes to the next lease: that of this one if nothing was asked in it, or when this one was cut off."""

    host: str
    ready_at: float
    backoff_s: float = 0.0
    cut_at: float | None = None


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
    seen: LastVisit | None = None
    same_as: Url | None = None
