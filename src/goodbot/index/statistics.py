"""Measures an index: documents, languages, sizes."""

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from goodbot.index.index_reader import IndexReader
from goodbot.index.integrity import META_FILE, load_mark
from goodbot.index.link_texts import refreshed_mark
from goodbot.index.schema import SCHEMA_VERSION
from goodbot.index.version_file import LINKS_FOLDER

_PARTS = {"store": "texts", "term": "terms", "idx": "postings", "pos": "positions", "fast": "numbers"}


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """The figures of an index. Sizes are in bytes; `parts` has the bytes for each purpose. `languages` counts
    documents by code of two letters, without those whose language is unknown. `refreshed`: the link texts are those of
    the current state; None: there are no link texts."""

    schema: int
    documents: int
    segments: int
    size: int
    parts: dict[str, int]
    languages: dict[str, int]
    refreshed: bool | None


def index_statistics(folder: Path) -> IndexStatistics:
    """Measures the index in `folder`. Raises the errors of `IndexReader`."""
    reader = IndexReader(folder)
    searcher = reader.current()[1]
    sizes = Counter[str]()
    for file in folder.rglob("*"):
        if file.is_file():
            is_link = any(part.startswith(LINKS_FOLDER) for part in file.relative_to(folder).parts)
            part = "links" if is_link else _PARTS.get(file.suffix[1:], "other")
            sizes[part] += file.stat().st_size
    before = refreshed_mark(folder)
    with reader.translated():
        counts = [(name, count) for name, count in searcher.terms_with_prefix("language", "") if len(name) == 2]
        segments = len(json.loads((folder / META_FILE).read_bytes())["segments"])
    return IndexStatistics(
        SCHEMA_VERSION,
        int(searcher.num_docs),
        segments,
        sizes.total(),
        dict(sorted(sizes.items(), key=lambda item: -item[1])),
        dict(sorted(counts, key=lambda item: -item[1])),
        None if before is None else before == load_mark(folder),
    )
