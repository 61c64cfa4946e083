"""The nouns of search: what is indexed, and what is found again. All are frozen."""

from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Document:
    """What is indexed of a page. `id` is the URL unless the document was imported under another name.

    `text` is searched; extracts are taken from `shown` if it is not None, and are at most `snippet_chars` long; 0: no
    extract is shown, the description neither.
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
    """A document ready for the index: terms made, what is shown put together. `fields` are (name, value) pairs."""

    id: str
    fields: tuple[tuple[str, str | bytes], ...]


class IndexMark(NamedTuple):
    """A state of an index: which one it is, and how far it was written at a commit. `written` never falls."""

    identity: str
    written: int

    def fault_for(self, known: "IndexMark") -> str | None:
        """Why an index in this state does not hold all that one in the state `known` held; None: it does."""
        if self.identity != known.identity:
            return "the search index is not the one that this crawl wrote"
        return "the search index is an older copy" if self.written < known.written else None


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
