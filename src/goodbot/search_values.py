"""The values of search: documents to index, and hits. All are frozen."""

from dataclasses import dataclass, field
from typing import NamedTuple

from goodbot.values import Link, Section


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it is indexed. `id` is the URL unless the document was imported under another name.

    Searches look in `text`. Snippets are taken from `shown`, or from `text` if `shown` is None; `menus` are ranges of
    that text that are menus, headers or footers. Snippets have at most `snippet_chars` characters; 0: neither snippet
    nor description is shown; None: no limit. `terms` are those of definition lists, one on each line; `sections` are
    places with an anchor, `links` those of the page. `alternates` are pairs of a language and the URL of a translation.
    Times are in Unix seconds.
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
    separately. `language` is a two-letter code, empty if unknown; `fetched_at` is in Unix seconds, 0 if unknown.
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
    have meant.
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
