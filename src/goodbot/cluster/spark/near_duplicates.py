"""Finds pages with equal and almost equal texts on Spark, with the fingerprints by which a crawl finds copies.

Equal texts are grouped first. Of each group only one page, its first by URL, is compared with others, and only with
pages that share a band of its sketch (`Fingerprint.bands`). So the work is linear in the number of pages, also if
millions of them have the same text or are made from the same template.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import msgspec
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  (its usual name)

from goodbot.cluster.spark.worker_process import in_task
from goodbot.errors import DamagedError
from goodbot.index.stored_page import decode_page
from goodbot.page.fingerprint import BAND, SLOTS, stable_fingerprint
from goodbot.robot.lessons.copies import ALIKE, LONG_WORDS

NEIGHBOURS: Final = 32
"""Pages of one band that a page is compared with: the next ones in the order of their sketches."""

_SLOT_BYTES: Final = 4
_MARK: Final = "url string, exact binary, chars bigint, sketch binary, bands array<bigint>"
_MARKS: Final = pa.schema(
    [
        ("url", pa.string()),
        ("exact", pa.binary()),
        ("chars", pa.int64()),
        ("sketch", pa.binary()),
        ("bands", pa.list_(pa.int64())),
    ]
)
_PAIR: Final = "url_1 string, url_2 string, likeness double"
_PAIRS: Final = pa.schema([("url_1", pa.string()), ("url_2", pa.string()), ("likeness", pa.float64())])


class _Stored(msgspec.Struct):
    """What a `PreparedDocument` stores to be shown; its other fields are skipped."""

    stored: tuple[tuple[str, bytes], ...]


_DOCUMENT: Final = msgspec.msgpack.Decoder(_Stored)


def near_duplicate_pairs(
    pages: DataFrame, *, likeness: float = ALIKE, words: int = LONG_WORDS, neighbours: int = NEIGHBOURS
) -> DataFrame:
    """Returns pairs of pages with equal or almost equal texts: `url_1`, which is less than `url_2`, and their
    `likeness`, 1.0 if the texts are equal. Each pair once. `pages` has each page once, with columns `url` and
    `document` (the msgpack of a `PreparedDocument`); it is read once.

    What is compared is the text that the index stores to be shown, with menus, up to 200,000 characters: what
    `data-nosnippet` marks is left out, and so are all pages that forbid snippets. A crawl compares the whole text of
    pages, within one origin, and demands equal titles (of almost equal texts, equal headings too), which this does
    not. As there, texts of fewer than `words` words (at least `SHORT_WORDS`) must be equal, and a text that is a
    twentieth longer than another is not like it.

    Of n pages with equal texts, the first by URL represents all: n - 1 pairs, and only it is compared with other texts.
    Whoever wants groups of pages joins pairs that have a page in common.

    Almost equal texts are found if they share a band: 99 % of the pairs with a likeness of 0.95, 89 % at 0.9, 52 % at
    0.8. Pages that share one are sorted by the rest of their sketches, and each is compared with the `neighbours` next
    ones. So up to `neighbours` + 1 pages are all compared with each other. Of more pages, such as those made from one
    template, pairs are missed that are further apart in the order of each band they share; adjacent pages are always
    compared. One task compares all pages of a band, with a batch of them in memory at a time.

    The result reads a table that stays persisted until the session ends. A Spark task raises DamagedError if it cannot
    read a document.
    """
    marks = (
        pages.select("url", "document")
        .mapInArrow(in_task(partial(_marks, words=words)), _MARK)
        .persist(StorageLevel.DISK_ONLY)
    )
    texts = marks.groupBy("exact").agg(
        F.min("url").alias("first"),
        F.count("*").alias("pages"),
        F.min("chars").alias("chars"),
        F.first("sketch").alias("sketch"),
        F.first("bands").alias("bands"),
    )
    firsts = texts.where("pages > 1").select("exact", "first")
    equal = (
        marks.select("exact", "url")
        .join(firsts, "exact")
        .where("url != first")
        .select(F.col("first").alias("url_1"), F.col("url").alias("url_2"), F.lit(1.0).alias("likeness"))
    )
    rest = F.expr(f"substring(sketch, (number + 1) * {BAND * _SLOT_BYTES} + 1)")
    near = (
        texts.select(F.col("first").alias("url"), "chars", "sketch", F.posexplode("bands").alias("number", "band"))
        .repartition("band")
        .sortWithinPartitions("band", rest, "url")
        .select("band", "url", "chars", "sketch")
        .mapInArrow(in_task(partial(_neighbours, likeness=likeness, neighbours=neighbours)), _PAIR)
        .dropDuplicates(["url_1", "url_2"])
    )
    return equal.union(near)


def _marks(batches: Iterable[pa.RecordBatch], words: int) -> Iterator[pa.RecordBatch]:
    """Makes the fingerprints of pages that have a text."""
    for batch in batches:
        pages = zip(batch.column("url").to_pylist(), batch.column("document").to_pylist(), strict=True)
        yield _batch([row for url, document in pages for row in _mark(url, document, words)], _MARKS)


def _mark(url: str, document: bytes, words: int) -> Iterator[tuple[object, ...]]:
    text = _text_of(url, document)
    if text and not text.isspace():
        mark = stable_fingerprint(text)
        is_long = mark.words >= words and len(mark.sketch) > 0
        sketch = mark.sketch.tobytes() if is_long else None
        yield url, mark.exact.to_bytes(16, "big"), mark.chars, sketch, mark.bands() if is_long else ()


def _text_of(url: str, document: bytes) -> str:
    try:
        shown = dict(_DOCUMENT.decode(document).stored).get("shown")
        return "" if shown is None else decode_page(shown).text
    except ValueError as error:  # also what msgspec raises
        raise DamagedError(f"the document of {url} in the segments of pages cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _Rows:
    """Consecutive pages, sorted by bands, in columns."""

    bands: NDArray[np.int64]
    chars: NDArray[np.int64]
    sketches: NDArray[np.uint32]
    urls: list[str]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> "_Rows":
        """Reads the columns of a batch."""
        sketches = np.frombuffer(b"".join(batch.column("sketch").to_pylist()), np.uint32)
        bands, chars = (batch.column(name).to_numpy() for name in ("band", "chars"))
        return cls(bands, chars, sketches.reshape(-1, SLOTS), batch.column("url").to_pylist())

    def then(self, more: "_Rows") -> "_Rows":
        """Returns these pages and those that follow them."""
        return _Rows(
            np.concatenate([self.bands, more.bands]),
            np.concatenate([self.chars, more.chars]),
            np.concatenate([self.sketches, more.sketches]),
            self.urls + more.urls,
        )

    def last(self, count: int) -> "_Rows":
        """Returns the last pages, at most `count`."""
        first = max(0, len(self.urls) - count)
        return _Rows(self.bands[first:], self.chars[first:], self.sketches[first:], self.urls[first:])

    def likenesses(self, ones: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.float64]:
        """Returns the likeness of each of `ones` and the page at the same place in `others`: `Fingerprint.likeness` of
        texts that are not equal."""
        equal = np.sum(self.sketches[ones] == self.sketches[others], axis=1)
        shares: NDArray[np.float64] = np.minimum(equal / SLOTS, 0.999)
        chars, more_chars = self.chars[ones], self.chars[others]
        shares[np.abs(chars - more_chars) * 20 > np.maximum(chars, more_chars)] = 0.0
        return shares


def _neighbours(batches: Iterable[pa.RecordBatch], likeness: float, neighbours: int) -> Iterator[pa.RecordBatch]:
    """Compares each page with the `neighbours` pages before it that have the same band."""
    before: _Rows | None = None
    for batch in batches:
        rows = _Rows.of(batch)
        known = 0 if before is None else len(before.urls)
        if before is not None:
            rows = before.then(rows)
        yield _batch(list(_alike(rows, known, likeness, neighbours)), _PAIRS)
        before = rows.last(neighbours)


def _alike(rows: _Rows, known: int, likeness: float, neighbours: int) -> Iterator[tuple[str, str, float]]:
    """Yields the pairs of which one page is after the first `known` ones: those were compared with each other."""
    for step in range(1, neighbours + 1):
        later = np.arange(max(step, known), len(rows.urls))
        later = later[rows.bands[later] == rows.bands[later - step]]
        if not len(later):
            return  # a band has its pages in one piece, so none has pages that are further apart
        shares = rows.likenesses(later, later - step)
        for place, share in zip(later[shares >= likeness], shares[shares >= likeness], strict=True):
            one, other = sorted((rows.urls[place], rows.urls[place - step]))
            if one != other:
                yield one, other, float(share)


def _batch(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.RecordBatch:
    columns: Iterable[Sequence[object]] = zip(*rows, strict=True) if rows else ((),) * len(schema)
    arrays = [pa.array(column, one.type) for column, one in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
