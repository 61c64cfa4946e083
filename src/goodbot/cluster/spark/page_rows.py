"""Writes the pages of a segment, with their documents: what the index of a crawl, PageRank and the search for
duplicates are made of."""

from typing import Any, Final

import msgspec
import pyarrow as pa

from goodbot.exports.parquet_file import parquet_writer
from goodbot.search_values import PreparedDocument
from goodbot.url import Url

PAGE_SCHEMA: Final = pa.schema(
    [
        ("url", pa.string()),
        ("host", pa.string()),
        ("at", pa.float64()),
        ("links", pa.binary()),
        ("document", pa.binary()),
    ]
)
"""One row for each page that may be indexed. `at`: when it was fetched. `links` is as `encode_links` makes them,
`document` a `PreparedDocument` as MessagePack."""

_PAGES_AT_ONCE: Final = 500
_ENCODER: Final = msgspec.msgpack.Encoder()


class PageWriter:
    """Writes rows of PAGE_SCHEMA to a file. `count` is their number."""

    def __init__(self, file: Any) -> None:
        self._writer = parquet_writer(file, PAGE_SCHEMA)
        self._rows: list[tuple[str, str, float, bytes, bytes]] = []
        self.count = 0

    def add(self, prepared: PreparedDocument, at: float) -> None:
        """Writes the document of a page that was fetched at `at`."""
        url, links = Url(prepared.id), dict(prepared.stored).get("links", b"")
        self._rows.append((url.text, url.host_key, at, links, _ENCODER.encode(prepared)))
        self.count += 1
        if len(self._rows) >= _PAGES_AT_ONCE:
            self._flush()

    def close(self) -> None:
        """Ends the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            columns = zip(*self._rows, strict=True)
            typed = [pa.array(column, item.type) for column, item in zip(columns, PAGE_SCHEMA, strict=True)]
            self._writer.write_batch(pa.record_batch(typed, schema=PAGE_SCHEMA))
            self._rows = []
