"""Small indexes and snapshots of them, for tests of copies."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from goodbot.errors import RunError
from goodbot.index import TantivyIndex, refresh_links
from goodbot.index.copies import Contents, Origin, Snapshot, hold_index, take_snapshot
from goodbot.places.folder_place import FolderPlace
from goodbot.places.place import Place, ReadablePlace, TooSlowError
from goodbot.ports import Search
from goodbot.search_values import Document, Hidden
from goodbot.url import Url
from goodbot.values import Link

ORIGIN = Origin("MyBot", "MyBot/1.0", "me@example.org", "https://search.example/")


def page(number: int, text: str = "zebra") -> Document:
    url = f"https://pages.example/{number}"
    links = (Link(Url(f"https://pages.example/{number + 1}"), f"crossing {number}"),)
    return Document(url, url, f"Page {number}", f"A {text} on page {number}.", links=links)


@dataclass
class Original:
    """An index that grows. `hidden` and `synonyms` go with its snapshots."""

    folder: Path
    hidden: Hidden = field(default_factory=Hidden)
    synonyms: bytes = b""

    def add(self, documents: Iterable[Document]) -> None:
        index = TantivyIndex(self.folder)
        for document in documents:
            index.add(document)
        index.commit()
        index.close()
        refresh_links(self.folder)

    def snapshot(self, target: Place | Path, keep: int = 3, *, verify: bool = False) -> Snapshot:
        place = FolderPlace(target) if isinstance(target, Path) else target
        with hold_index(self.folder) as held:
            contents = Contents(self.hidden, self.synonyms, ORIGIN)
            return take_snapshot(held, contents, place, keep, lambda copying: None, verify=verify)


def urls(search: Search, query: str = "zebra") -> list[str]:
    return [hit.url for hit in search.search(query, 100).hits]


class Recorded:
    """A `ReadablePlace` that records what was read, and may be `cut` after so many bytes of contents. Parts of
    `slow_from` bytes do not arrive in time."""

    def __init__(self, source: ReadablePlace) -> None:
        self._source = source
        self.read_bytes = 0
        self.lengths: list[int] = []
        self.cut: int | None = None
        self.slow_from: int | None = None
        self.is_away = False

    @property
    def name(self) -> str:
        return self._source.name

    def read(self, path: str, start: int, length: int) -> bytes | None:
        if self.is_away:
            raise RunError("the source is away")
        if self.slow_from is not None and length >= self.slow_from:
            raise TooSlowError("no complete answer in time")
        found = self._source.read(path, start, length)
        if found is not None and path.startswith("files/"):
            if self.cut is not None and self.read_bytes + len(found) > self.cut:
                raise RunError("the connection is cut")
            self.read_bytes += len(found)
            self.lengths.append(len(found))
        return found

    def close(self) -> None:
        self._source.close()
