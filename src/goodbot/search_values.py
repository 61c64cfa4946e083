"""The values of search: documents to index, conditions, hits and explanations. All are frozen."""

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from goodbot.values import Link, Section


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it is indexed. `id` is the URL unless the document was imported under another name.

    Searches look in `text`. Snippets are taken from `shown`, or from `text` if `shown` is None; `menus` are ranges of
    that text that are menus, headers or footers. Snippets have at most `snippet_chars` characters; 0: neither snippet
    nor description is shown; None: no limit. `terms` are those of definition lists, one on each line; `sections` are
    places with an anchor, `links` those of the page. `alternates` are pairs of a language and the URL of a translation.
    `size_bytes` is the size of the body as received. `has_copy`: its author allows showing a cached copy. From
    `available_until` on, the document is not found any more; None: no limit. Times are in Unix seconds.
    """

    id: str
    url: str
    title: str
    text: str
    headings: str = ""
    description: str = ""
    keywords: str = ""
    language: str | None = None
    fetched_at: float = 0.0
    shown: str | None = None
    snippet_chars: int | None = None
    terms: str = ""
    alternative_texts: str = ""
    sections: tuple[Section, ...] = ()
    links: tuple[Link, ...] = ()
    menus: tuple[tuple[int, int], ...] = ()
    alternates: tuple[tuple[str, str], ...] = ()
    media_type: str = ""
    modified_at: float | None = None
    size_bytes: int = 0
    has_copy: bool = False
    available_until: float | None = None


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready for the index, as (field, value) pairs: `texts` (stemmed terms and exact values) are searched,
    `stored` is shown, `numbers` serve to order and group hits."""

    id: str
    texts: tuple[tuple[str, str], ...]
    stored: tuple[tuple[str, bytes], ...]
    numbers: tuple[tuple[str, int], ...] = ()


class IndexMark(NamedTuple):
    """The state of an index after a commit: its identity, and how far it was written. `written` never decreases."""

    identity: str
    written: int

    def fault_for(self, known: "IndexMark") -> str | None:
        """Returns why an index in this state may lack documents that it had in the state `known`; None: it has them
        all."""
        if self.identity != known.identity:
            return "the search index is not the one that this crawl wrote"
        return "the search index is an older copy" if self.written < known.written else None


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that hits must meet besides the query, each as text in the form that the operator takes: `site:`,
    `lang:`, `filetype:`, `after:`, `before:`. Empty: no condition."""

    site: str = ""
    language: str = ""
    filetype: str = ""
    after: str = ""
    before: str = ""


NO_FILTERS: Final = Filters()


@dataclass(frozen=True, slots=True)
class Hidden:
    """Pages that no search shows. `urls` are ids of documents; `sites` are hosts (with their subdomains), or hosts with
    a port, as in `site:`. Each that is in the index takes about 8 µs of a search, so there may be a few thousand."""

    urls: frozenset[str] = frozenset()
    sites: frozenset[str] = frozenset()


NOTHING_HIDDEN: Final = Hidden()


class SectionLink(NamedTuple):
    """A place in a page that answers a query: its URL with a fragment, and its heading or term."""

    url: str
    text: str


class OtherPage(NamedTuple):
    """A translation or copy of a page. `language` is its two-letter code, empty if unknown."""

    url: str
    language: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One result. `snippet` is plain text; `highlights` are the (start, end) positions of matching words in it.

    `sections` are places in the page that match best, `others` its translations and copies, which are not listed
    separately. `language` is a two-letter code, empty if unknown. `fetched_at` and `modified_at` (Last-Modified, if
    that can be true) are in Unix seconds, 0 and None if unknown. `size_bytes` is the size of the body as received, 0 if
    unknown; `media_type` is empty if unknown. `has_copy`: a cached copy may be shown.
    """

    id: str
    url: str
    title: str
    snippet: str
    score: float
    highlights: tuple[tuple[int, int], ...] = ()
    sections: tuple[SectionLink, ...] = ()
    others: tuple[OtherPage, ...] = ()
    language: str = ""
    fetched_at: float = 0.0
    modified_at: float | None = None
    size_bytes: int = 0
    media_type: str = ""
    has_copy: bool = False

    def one_of_each_language(self) -> list[OtherPage]:
        """Returns the first translation into each other language, and the first copy."""
        first: dict[str, OtherPage] = {}
        for other in self.others:
            first.setdefault(other.language, other)
        return list(first.values())


@dataclass(frozen=True, slots=True)
class Results:
    """One page of hits. `total` counts all matching documents, `complete` those that have every word of the query,
    `listed` the hits that they make, since translations and copies are one hit; None: not counted, at most `total`.

    `searched_for` is the query in plain words; `notes` list what could not be read as typed. `corrected` is the query
    that was searched for instead, because one of the words typed is on no page; `suggestion` is one that the user may
    have meant. `as_of` is when the index was last written, in Unix seconds; 0: there is none.
    """

    query: str
    total: int
    took_ms: float
    hits: tuple[Hit, ...] = field(default=())
    complete: int = 0
    listed: int | None = None
    searched_for: str = ""
    notes: tuple[str, ...] = ()
    corrected: str | None = None
    suggestion: str | None = None
    as_of: float = 0.0


@dataclass(frozen=True, slots=True)
class Choices:
    """Values that filters may have, each with the number of documents that have it, the most frequent first:
    `languages` by two-letter code (at most 40), `types` as `filetype:` takes them (at most 20)."""

    languages: tuple[tuple[str, int], ...] = ()
    types: tuple[tuple[str, int], ...] = ()


class ExplainedWord(NamedTuple):
    """A word or phrase of a query, as typed. `fields` has the fields of the page in which it is, each with what it adds
    to the score, most first; it is empty if the page does not have the word. Field `links` is the texts of links to the
    page.

    The best of the other fields adds its whole score, each further one the share `OTHER_FIELDS` of its score. These
    shares are what `fields` has, so they only need to be added up. A stem or a synonym of the word counts like a field:
    the scores of all those in one field are listed together.
    """

    word: str
    fields: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a page is where it is among the hits of a query.

    `position` counts from 1; None: the page is not among the first 1,000 hits. If it is a translation or copy of the
    page that a hit shows, it has the position of that hit. `bonuses` and `factors` are named by `REASONS` of the
    ranking. `score` is the sum of all scores in `words` and `bonuses`, times all `factors`. A page that the query does
    not find has score 0, no bonuses and no factors, and `notes` say why; `words` say which words it has.
    """

    url: str
    title: str
    is_found: bool
    score: float = 0.0
    position: int | None = None
    words: tuple[ExplainedWord, ...] = ()
    bonuses: tuple[tuple[str, float], ...] = ()
    factors: tuple[tuple[str, float], ...] = ()
    notes: tuple[str, ...] = ()


class CopyState(NamedTuple):
    """The state of a copy of an index that is served and brought up to date: its version, and when that was taken from
    the original; None: there is none yet. `checked_at` is when the source was last asked with success, `problem` says
    in one line what is wrong since. Times are Unix seconds."""

    version: str | None
    taken_at: float | None
    checked_at: float | None
    problem: str | None
