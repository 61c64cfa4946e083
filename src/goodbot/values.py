"""The values that the packages of goodbot exchange. All are frozen; none knows how it is made, stored or sent."""

from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Final, Literal, NamedTuple

from goodbot.exclusion import Directives, Verdict, parse_rel
from goodbot.url import Url

Headers = tuple[tuple[str, str], ...]
"""Header fields in the order received: names as received, values without surrounding white space."""

State = Literal["ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone"]
STATES: tuple[State, ...] = ("ready", "leased", "visited", "disallowed", "out-of-scope", "failed", "gone")

FailureKind = Literal[
    "dns",
    "connect",
    "timeout",
    "reset",
    "tls",
    "too-many-redirects",
    "private-address",
    "no-contact",
    "protocol",
    "forgotten",
]
"""Why there is no answer. `protocol`: the bytes received are not HTTP. Three are refusals of this robot:
`private-address`: it may not connect there; `no-contact`: the host is public, and no contact is set; `forgotten`:
`goodbot forget` bars the crawl from this host."""

OWN_REFUSALS: Final[frozenset[str]] = frozenset({"private-address", "no-contact", "forgotten"})
"""The kinds of failure that the robot itself decides: they say nothing about the site, and waiting does not change
them."""

Method = Literal["GET", "HEAD", "POST"]

WALLED = "wall: "
"""Begins `Outcome.why` if a bot wall answered in place of the page; the wall's name and ` (status 403)` follow."""

NOT_INDEXED = "this crawl does not index"
"""The reason that a crawl with `--no-index` records for every page it fetches, in the page's `index` event."""


# ---- fetching -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Request:
    """A permitted request: no `Request` exists without the `Verdict` that allows it.

    `public_only` forbids private addresses even where the crawl may use them, as after a redirect from a public host.
    `method` HEAD requests the header fields alone (RFC 9110 §9.3.2); only POST has a `body`. `fresh` requires a new
    connection, after an attempt that failed. Raises ValueError if the verdict forbids the URL or is about another one,
    or for a body of another method.
    """

    url: Url
    verdict: Verdict
    headers: Headers = ()
    public_only: bool = False
    method: Method = "GET"
    fresh: bool = False
    body: bytes = b""

    def __post_init__(self) -> None:
        if not self.verdict.allowed or self.verdict.url != self.url.text:
            raise ValueError(f"no permission to fetch {self.url}: {self.verdict.reason}")
        if self.body and self.method != "POST":
            raise ValueError(f"a request by {self.method} has no body")


REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""The statuses that lead to another URL (RFC 9110 §15.4). 304 is not one of them."""


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Response:
    """A server's answer. `body` is as received: its content coding is kept, its transfer coding (chunks) removed.

    `truncated` says why the body ends early: `length` (our size limit) or `disconnect` (fewer bytes than announced).
    """

    status: int
    headers: Headers
    body: bytes
    version: str = "HTTP/1.1"
    reason: str = ""
    truncated: Literal["length", "disconnect"] | None = None

    def header(self, name: str) -> str | None:
        """Returns the first field of that name in any case, or None."""
        # This runs about twenty times for a page. The loop takes 0.3 µs, half the time of `next` with a generator.
        lower = name.lower()
        for key, value in self.headers:
            if key.lower() == lower:
                return value
        return None

    def all_headers(self, name: str) -> list[str]:
        """Returns every field of that name in any case, in order."""
        lower = name.lower()
        return [value for key, value in self.headers if key.lower() == lower]

    @property
    def location(self) -> str | None:
        """`Location`, decoded as UTF-8 if it is valid UTF-8, else as Latin-1."""
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
    """A request that got no answer: `kind` for programs, one line of `detail` for people. `lasting`: another attempt
    within a minute would fail the same way."""

    kind: FailureKind
    detail: str
    lasting: bool = False


@dataclass(frozen=True, slots=True)
class Capture:
    """One request with its response or failure.

    The server received the request after `fetched_at`, and ended its answer before `fetched_at + elapsed_s`. A name
    lookup counts as elapsed time only if it failed. `request_head` is the request as sent, `peer` the address connected
    to (None if no connection was made).
    """

    request: Request
    result: Response | Failure
    fetched_at: float
    elapsed_s: float
    peer: str | None = None
    request_head: bytes = b""


# ---- reading --------------------------------------------------------------------------------------------------------


class Link(NamedTuple):
    """A link found on a page. `rel` is in lower case; a META refresh has rel `("refresh",)`.

    `fragments` are pairs of a fragment that the page links to and the text of that link.

    It is a tuple because a page has about a hundred links, and a tuple is made in half the time of a dataclass.
    """

    url: Url
    anchor: str = ""
    rel: tuple[str, ...] = ()
    fragments: tuple[tuple[str, str], ...] = ()

    @property
    def follow(self) -> bool:
        """Whether `rel` permits robots to follow the link."""
        if not self.rel:
            return True
        is_short = len(self.rel) <= _MAX_CACHED_WORDS and max(map(len, self.rel)) <= _MAX_CACHED_CHARS
        return _is_followed(self.rel) if is_short else parse_rel(self.rel).follow


_MAX_CACHED_WORDS, _MAX_CACHED_CHARS = 8, 64
"""A `rel` of more words, or of longer ones, is not cached: it may be as long as a page."""


@lru_cache(maxsize=256)
def _is_followed(rel: tuple[str, ...]) -> bool:
    """Caches `follow`: the same few values of rel occur again and again."""
    return parse_rel(rel).follow


class Section(NamedTuple):
    """A place in a page that a fragment addresses: its anchor, and its heading or, if `is_term`, the term that is
    defined there."""

    anchor: str
    text: str
    is_term: bool = False


class ListedUrl(NamedTuple):
    """A URL listed in a sitemap or feed, with what the list says about it: when it last changed (Unix seconds), how
    often it changes (seconds), and its priority within the site (0 to 1). `odd_date`: what is written in place of the
    time of its last change, if that cannot be read."""

    url: Url
    title: str = ""
    modified_at: float | None = None
    interval_s: float | None = None
    priority: float | None = None
    odd_date: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """The content of a document. `language` is its BCP 47 tag as stated, `canonical` its canonical URL; None if the
    document does not state them.

    `shown` is the part of `text` that snippets may be taken from (`data-nosnippet`); None: all of it. `listed` has the
    entries of a sitemap, a sitemap index or a feed, which then has no `links`. `terms` are those of definition lists,
    `sections` the places that fragments address, without what `data-nosnippet` hides. `menus` are the (start, end)
    ranges of the displayed text (`shown`, or else `text`) that are menus, headers or footers. `alternates` are pairs of
    a language tag in lower case and the URL of a translation. `unread` says why the document, or a part of it, could
    not be read (encrypted, damaged, too long); it is empty if everything was read.
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
    terms: tuple[str, ...] = ()
    alternative_texts: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    menus: tuple[tuple[int, int], ...] = ()
    alternates: tuple[tuple[str, Url], ...] = ()


# ---- the frontier ---------------------------------------------------------------------------------------------------


class Discovery(NamedTuple):
    """A URL that was discovered: a seed (`source` is None) or a link. `refused` says why it is out of scope, or None.

    `hops` counts the consecutive redirects, sitemaps and feeds that led here. `lists` is 1 for an entry of a sitemap
    index, 2 for an entry of a sitemap or feed, also after redirects. `expects_list`: a robots.txt or a sitemap index
    says that the URL is a sitemap; such URLs take turns with the pages of their host. `can_wait`: the page may belong
    to a trap, so the other pages of the host are fetched first. `priority` is a hint that came with the link; higher
    goes first. `inlinks` is how often the URL was found so far. `modified_at` and `interval_s` are what a sitemap says:
    when the page last changed, and how often it does; a page visited before `modified_at` is due at once. With
    `modified_at` and without a source it is a report: the site's owner or a visitor says that the page has changed.
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

    @property
    def is_report(self) -> bool:
        """Whether it reports that the page has changed."""
        return self.source is None and self.modified_at is not None


class FoundLinks(NamedTuple):
    """Some of the links of one page, committed before the page itself is settled; `at` is when the page was fetched."""

    links: tuple[Discovery, ...]
    at: float


@dataclass(frozen=True, slots=True)
class LastVisit:
    """The facts about a URL's last visit that the next visit needs.

    `at`: when the server last answered; `due_at`: when the next visit is due; `interval_s`: the wait that was chosen
    for it; `changed_at`: when the page was last found changed. `etag` and `modified` are the validators as received;
    `digest`, `record` and `title` belong to the last answer that carried the page. `gone` counts consecutive answers
    404 and 410. `available_until` is the page's `unavailable_after`. `indexed`: the page was added to the index. `text`
    is a digest of the page's text, which stays the same when only markup changes. `rendered`: a browser rendered the
    page, so its text is not in the archive. `wishes` is what the header fields of the last answer that carried the page
    state about how search may show it, and what robots.txt states at the last visit, as short text. `whole_at`: when
    the server last sent the whole page; None: unknown, but not before `changed_at`."""

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
    wishes: str = ""
    whole_at: float | None = None


class LeasedUrl(NamedTuple):
    """One URL of a lease. `tries` counts earlier attempts that failed. `seen`: the URL was visited before and is due
    again. `interval_s`: how often the page changes, according to a sitemap. `same_as`: the page of which this one was a
    copy at the last visit; None if that other page has changed or is not in the index. `lists`, `expects_list`: see
    `Discovery`."""

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
    """A host, with a few of its URLs that are due now. Only the holder may send it requests until the lease is
    released.

    `backoff_s` is the delay added because the host answered 429 or 503. `cut_at`: when the lease before this one was
    cut off, if it was; the host may have received requests until then. `is_full`: the lease could hold no more URLs, so
    the host may have others that are due. `token` is another one after a lease of the host was taken away from a
    process that seemed dead. What that process settles later, under the old token, is rejected, since the host may
    belong to another process now. `partition`: that of the host (see `partitions`)."""

    host: str
    urls: tuple[LeasedUrl, ...]
    backoff_s: float = 0.0
    cut_at: float | None = None
    is_full: bool = False
    token: int = 0
    partition: int = 0


class Event(NamedTuple):
    """One decision about one URL, for `goodbot why`. `line` is the robots.txt line that decided, if one did."""

    at: float
    step: Literal["found", "scope", "permission", "fetch", "read", "keep", "follow", "index", "settle"]
    decision: str
    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class RecordRef:
    """The place of a capture in the archive: file name, and byte offset of its response record."""

    file: str
    offset: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of visiting one leased URL.

    `state` is its new state; `ready` means one more attempt, not before `ready_at`. `why` is one sentence. `to_index`:
    the page may be indexed and is not in a committed index yet; `from_index`: it must be removed from the index;
    `unchanged`: the page is as before (304), and so is its index entry. `links` are committed with this outcome. `seen`
    is kept for the next visit; None drops what was known. `same_as`: the page of which this one is a copy, and which
    represents it in the index; `alike`: that was found by comparison, not stated by a canonical link. `revisit`: the
    URL had been visited before. `rereads`: the whole page is requested at once, and if it leaves the index, then only
    until the answer. `token`: see `Lease`."""

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
    rereads: bool = False
    token: int = 0


@dataclass(frozen=True, slots=True)
class Release:
    """Ends a lease: the host may receive requests again at `ready_at`; its URLs without an outcome are ready again.

    `cut_at` is passed to the next lease: the time when this lease was cut off, or, if this lease sent no request, the
    `Lease.cut_at` that it got itself. `next_urls`: how many URLs the next lease can use, at least 1; None: unknown, so
    the number stated before stays. `token`: see `Lease`. `partition`: the one that the host is in from now on; None: it
    is not known to change."""

    host: str
    ready_at: float
    backoff_s: float = 0.0
    cut_at: float | None = None
    next_urls: int | None = None
    token: int = 0
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class Status:
    """The state of a crawl in numbers. `states` has every state; `next_ready_at` is None when nothing is ready."""

    states: dict[State, int]
    pages: int
    bytes: int
    hosts: int
    next_ready_at: float | None

    @property
    def finished(self) -> bool:
        """Whether no URL has the state `ready` or `leased`. A URL can be `ready` before it is due, so a crawl with
        nothing due at the moment need not be finished."""
        return not (self.states["ready"] or self.states["leased"])


@dataclass(frozen=True, slots=True)
class UrlRecord:
    """Everything the frontier knows about one URL."""

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

    @property
    def is_closed(self) -> bool:
        """Whether it is gone or disallowed, and no other visit is planned."""
        return self.state in ("gone", "disallowed") and (self.seen is None or self.seen.due_at == inf)
