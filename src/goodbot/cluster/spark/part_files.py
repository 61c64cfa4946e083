"""Writes the two files of one part of a crawl table, and counts what they hold."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.cluster.spark.table_columns import HOST_SCHEMA, URL_SCHEMA
from goodbot.exports.parquet_file import parquet_writer
from goodbot.store.merge.coding import AGAIN, CODED, LATER, READY

ROWS_AT_ONCE: Final = 65_536
"""Rows of a row group. Choosing reads only the groups that have something to visit."""
_HOSTS_AT_ONCE: Final = 4096


class PartNote(msgspec.Struct, frozen=True):
    """The files of one part, by their paths, and what they hold. `states` counts its URLs by state, `due` those that
    are ready, or due again. `ready_at`: the earliest time at which one may be requested (Unix seconds; 0: now); None:
    never. `again_at`: when the first page is due again; None: none is."""

    part: int
    urls: str
    hosts: str
    states: dict[str, int]
    host_count: int
    ready_at: float | None
    again_at: float | None
    bytes: int


class PartWriter:
    """Implements `PartOutput`. Writes to the folder `local`, then moves the files into the store. `rows_at_once`: the
    URLs of a row group, which are in memory together."""

    def __init__(self, local: Path, rows_at_once: int = ROWS_AT_ONCE) -> None:
        self._local = local
        self._rows_at_once = rows_at_once
        self._urls = parquet_writer(str(local / "urls"), URL_SCHEMA)
        self._hosts = parquet_writer(str(local / "hosts"), HOST_SCHEMA)
        self._url_batches: list[pa.RecordBatch] = []
        self._host_batches: list[pa.RecordBatch] = []
        self._states: Counter[int] = Counter()
        self._host_count = 0
        self._later: list[float] = []
        self._again: list[float] = []

    def add_urls(self, batch: pa.RecordBatch) -> None:
        """See `PartOutput`."""
        self._url_batches.append(batch)
        if sum(each.num_rows for each in self._url_batches) >= self._rows_at_once:
            self._flush_urls()

    def add_hosts(self, batch: pa.RecordBatch) -> None:
        """See `PartOutput`."""
        self._host_batches.append(batch)
        if sum(each.num_rows for each in self._host_batches) >= _HOSTS_AT_ONCE:
            self._flush_hosts()

    def finish(self, files: StoreFiles, path: str, part: int, now: float) -> PartNote:
        """Ends the files, moves them to `path` in the store, and returns their note. `now`: the time for which it says
        what is ready."""
        self._flush_urls()
        self._flush_hosts()
        self._urls.close()
        self._hosts.close()
        urls, hosts = self._local / "urls", self._local / "hosts"
        times = [*([] if not self._later else [min(self._later)]), *_ready_at(urls, hosts, now)]
        note = PartNote(
            part=part,
            urls=f"{path}.urls.parquet",
            hosts=f"{path}.hosts.parquet",
            states=_by_name(self._states),
            host_count=self._host_count,
            ready_at=min(times, default=None),
            again_at=min(self._again, default=None),
            bytes=urls.stat().st_size + hosts.stat().st_size,
        )
        files.upload(urls, note.urls)
        files.upload(hosts, note.hosts)
        return note

    def _flush_urls(self) -> None:
        if not self._url_batches:
            return
        table = pa.Table.from_batches(self._url_batches).combine_chunks()
        self._url_batches = []
        self._count(table)
        self._urls.write_table(table, row_group_size=2 * self._rows_at_once)

    def _flush_hosts(self) -> None:
        if not self._host_batches:
            return
        table = pa.Table.from_batches(self._host_batches)
        self._host_batches = []
        self._host_count += table.num_rows
        self._hosts.write_table(table)

    def _count(self, table: pa.Table) -> None:
        states = table.column("state")
        for item in pc.value_counts(states).to_pylist():
            self._states[item["values"]] += item["counts"]
        times = table.column("ready_at")
        for kept, mask in ((self._later, pc.equal(states, LATER)), (self._again, pc.greater_equal(states, AGAIN))):
            least = pc.min(times.filter(mask)).as_py()
            if least is not None:
                kept[:] = [min((least, *kept))]


def _by_name(states: Counter[int]) -> dict[str, int]:
    named: Counter[str] = Counter()
    for code, count in states.items():
        named[CODED[code]] += count
    return dict(named)


def _ready_at(urls: Path, hosts: Path, now: float) -> Iterator[float]:
    """Yields when hosts with ready URLs may be requested: 0 for now."""
    waiting: dict[str, float] = {}
    for batch in pq.ParquetFile(hosts).iter_batches(columns=["host", "ready_at"]):
        late = batch.filter(pc.greater(batch.column("ready_at"), now))
        waiting.update(zip(late.column("host").to_pylist(), late.column("ready_at").to_pylist(), strict=True))
    for batch in pq.ParquetFile(urls).iter_batches(columns=["host", "state"]):
        ready = pc.unique(batch.filter(pc.equal(batch.column("state"), READY)).column("host"))
        yield from (waiting.get(host, 0.0) for host in ready.to_pylist())
