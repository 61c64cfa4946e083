"""The values that the search service exchanges with visitors and owners of sites: submissions, removals, cached copies,
and the story of a URL. All are frozen."""

from dataclasses import dataclass
from typing import Literal

from goodbot.lesson_values import Lesson
from goodbot.url import Url
from goodbot.values import Event, State, UrlRecord

# ---- submissions ----------------------------------------------------------------------------------------------------

SubmissionResult = Literal["submitted", "known", "out of scope", "private", "disallowed", "forgotten"]
"""`submitted`: the crawl will request the URL. `known`: it was known before, and stays in its state. `private`: its
host may be on a private network. `disallowed`: the site's robots.txt forbids it. `forgotten`: the operator has barred
its host. With the last four results, nothing was added to the crawl."""


@dataclass(frozen=True, slots=True)
class Submission:
    """The result of submitting `url`, which is what the crawl requests for the URL submitted (without its session id,
    for example). `reason` says in one sentence why it was not submitted, and is empty otherwise. `state_before` and
    `state` are None if the crawl does not know the URL. `visited_at`: when its server last answered; `due_at`: when the
    next visit is due; both in Unix seconds."""

    url: Url
    result: SubmissionResult
    reason: str = ""
    state_before: State | None = None
    state: State | None = None
    visited_at: float | None = None
    due_at: float | None = None


IndexNowStatus = Literal[200, 202, 400, 403, 422, 429]


@dataclass(frozen=True, slots=True)
class IndexNowOutcome:
    """The answer to an IndexNow request: its HTTP status, the reason in one sentence, and what happened to each URL.

    200: the key is right; 202: the key was not checked; 400: the request cannot be read; 403: the key is wrong, or
    not for these URLs, or the crawl takes none of them; 422: the URLs are not of the host, or the key is not
    well-formed; 429: too many requests."""

    status: IndexNowStatus
    reason: str
    submissions: tuple[Submission, ...] = ()


# ---- removals -------------------------------------------------------------------------------------------------------

Proof = Literal["robots.txt", "page", "token file"]
"""What proved that the owner of a site wants a page removed: robots.txt disallows it, the page says so or is gone, or
the site has a file with a token."""

RemovalResult = Literal["removed", "unknown", "not proved", "not checked"]
"""`unknown`: the crawl does not know the page or the site. `not checked`: this server could not fetch what would prove
the request."""


@dataclass(frozen=True, slots=True)
class Removal:
    """A page (`url`) or a `site` that no search shows; the other one is None. A `site` is a host, with its subdomains,
    or a host with a port. `at`: when the removal was granted, in Unix seconds. `reason`: what was found as proof."""

    id: str
    at: float
    proof: Proof
    reason: str
    url: Url | None = None
    site: str | None = None

    @property
    def subject(self) -> str:
        """The page's URL, or the site."""
        return self.url.text if self.url is not None else self.site or ""

    @property
    def is_temporary(self) -> bool:
        """Whether it ends with the next visit, because that finds the same proof and takes the page out of the
        index."""
        return self.proof != "token file"


@dataclass(frozen=True, slots=True)
class RemovalAnswer:
    """The answer to a request for removal. `reason` is one sentence; `removal` is None unless the result is
    `removed`."""

    subject: str
    result: RemovalResult
    reason: str
    removal: Removal | None = None


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that proves that the owner of a site wants `subject` removed: a text file at `url` that has only
    `content`."""

    subject: str
    url: Url
    content: str


# ---- cached copies --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CachedCopy:
    """The last copy of a page in the archive, fetched at `fetched_at` (Unix seconds). Either `html` or `text` is set:
    HTML as its author wrote it, decoded; the text of other documents. `base` is the URL that relative links of the page
    refer to."""

    url: Url
    fetched_at: float
    media_type: str
    title: str
    base: Url
    html: str | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class NoCopy:
    """There is no copy to show; `reason` says why in one sentence."""

    reason: str


# ---- the story of a URL ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class UrlReport:
    """What a crawl knows about a URL. `requested_as` is the URL after the crawl's cleaning; `lesson` is the one that
    leaves the URL out, or that makes the crawl request it under another name. `trap` says why the crawl does not follow
    links to `requested_as`, because it is part of a trap or of a mirror; it is empty if the crawl follows them."""

    requested_as: Url
    record: UrlRecord | None
    lesson: Lesson | None
    trap: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """What became of `url`, from its discovery to the search index. `requested_as`, `lesson`: see `UrlReport`.

    `summary` says in one sentence whether it can be found by a search and, if not, why; `advice` says what would help,
    and is empty if nothing would. `in_index` is None if there is no index to look into. `same_as` is the page that is
    shown in its place. `visited_at`: when its server last answered; `next_visit_at`: when the next visit is due, None
    if none is planned; both in Unix seconds. `has_copy`: a cached copy may be shown, as far as that is known without
    reading the archive."""

    url: Url
    requested_as: Url
    state: State | Literal["unknown"]
    in_index: bool | None
    summary: str
    advice: str = ""
    next_visit_at: float | None = None
    visited_at: float | None = None
    title: str = ""
    same_as: Url | None = None
    events: tuple[Event, ...] = ()
    lesson: Lesson | None = None
    has_copy: bool = False
