"""The values of search: documents to index, and hits. All are frozen."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """A page as it is indexed. `id` is the URL unless the document was imported under another name.

    Searches look in `text`. Snippets are taken from `shown`, or from `text` if `shown` is None. They have at most
    `snippet_chars` characters; 0: neither snippet nor description is shown; None: no limit.
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


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document ready for the index, as (field, value) pairs: `texts` (stemmed terms) are searched, `stored` is
    shown."""

    id: str
    texts: tuple[tuple[str, str], ...]
    stored: tuple[tuple[str, bytes], ...]


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
class Hit:
    """One result. `snippet` is plain text; `highlights` are the (start, end) positions of matching words in it."""

    id: str
    url: str
    title: str
    snippet: str
    score: float
    highlights: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """One page of hits; `total` counts all matching documents."""

    query: str
    total: int
    took_ms: float
    hits: tuple[Hit, ...] = field(default=())
