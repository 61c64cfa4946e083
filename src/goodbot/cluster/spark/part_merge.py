"""Merges the changes of a cycle into one part of the crawl table. Rows that do not change are copied without being
read."""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby
from operator import attrgetter
from typing import Final, NamedTuple, Protocol

import pyarrow as pa

from goodbot.cluster.spark.changes import Change, HostChange
from goodbot.cluster.spark.host_merge import merged_host
from goodbot.cluster.spark.sorted_batches import Key, SortedBatches
from goodbot.cluster.spark.sweep import Reconsider, Sweep
from goodbot.cluster.spark.table_columns import host_batch, host_rows, url_batch, url_rows
from goodbot.partitions import partition_of
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.store.merge.limits import budget_reason
from goodbot.store.merge.row_rules import Settlement, linked, settled
from goodbot.values import Discovery

_ROWS_AT_ONCE: Final = 4096


class MergeRules(NamedTuple):
    """What a merge follows besides the changes. At most `host_pages` pages of a host are visited (None: no limit).
    `reconsider`: judges all URLs that are out of scope, after the scope has changed; None: it has not."""

    host_pages: int | None = None
    reconsider: Reconsider | None = None


class PartOutput(Protocol):
    """Takes the rows of the new part, in order."""

    def add_urls(self, batch: pa.RecordBatch) -> None: ...

    def add_hosts(self, batch: pa.RecordBatch) -> None: ...


def merge_part(
    urls: Iterator[pa.RecordBatch],
    hosts: Iterator[pa.RecordBatch],
    changes: Iterable[Change],
    rules: MergeRules,
    output: PartOutput,
) -> None:
    """Writes the part of `urls` and `hosts` with the `changes`, all of them sorted, to `output`. Memory does not grow
    with the part. Raises DamagedError for rows that goodbot has not written."""
    _PartMerge(urls, hosts, rules, output).merge(changes)


class _PartMerge:
    def __init__(
        self,
        urls: Iterator[pa.RecordBatch],
        hosts: Iterator[pa.RecordBatch],
        rules: MergeRules,
        output: PartOutput,
    ) -> None:
        self._urls = SortedBatches(urls, ("host", "url"), url_rows)
        self._hosts = SortedBatches(hosts, ("host",), host_rows)
        self._rules = rules
        self._output = output
        self._rows: list[UrlRow] = []
        self._host_rows: list[HostRow] = []

    def merge(self, changes: Iterable[Change]) -> None:
        for host, of_host in groupby(changes, attrgetter("host")):
            self._pass_hosts(host)
            self._merge_host(host, of_host)
        self._pass_hosts(None)
        self._flush_rows()
        self._flush_hosts()

    def _pass_hosts(self, end: str | None) -> None:
        """Passes hosts without changes, and their URLs, up to the host `end`, which is not included."""
        key = None if end is None else (end,)
        if self._rules.host_pages is None or self._rules.reconsider is None:
            self._pass_urls(key, Sweep(reconsider=self._rules.reconsider))
            for batch in self._hosts.before(key):
                self._flush_hosts()
                self._output.add_hosts(batch)
            return
        for batch in self._hosts.before(key):  # each host has a limit, and the scope may have grown
            for row in host_rows(batch):
                self._merge_urls(row, iter(()), Sweep(reconsider=self._rules.reconsider))

    def _merge_host(self, host: str, changes: Iterator[Change]) -> None:
        own, of_urls = _divided(changes)
        first = next(of_urls, None)
        of_urls = of_urls if first is None else chain((first,), of_urls)
        known = self._hosts.take((host,)) or _new_host(host, first)
        row = merged_host(known, own)
        freed = frozenset(url for change in own for url in change.freed)
        lapsed = tuple(lesson.evidence for change in own for lesson in change.lessons if lesson.lapsed)
        if row.forgotten_at is not None:
            of_urls = iter(())
        self._merge_urls(row, of_urls, Sweep(freed, lapsed, self._rules.reconsider))

    def _merge_urls(self, host: HostRow, changes: Iterator[Change], sweep: Sweep) -> None:
        most = self._rules.host_pages
        sweep.closing = budget_reason(most) if most is not None and host.pages >= most else None
        for url, of_url in groupby(changes, attrgetter("url")):
            self._pass_urls((host.host, url), sweep)
            row = _merged(self._urls.take((host.host, url)), of_url)
            if row is not None:
                self._put(sweep.apply(row))
        self._pass_urls((host.host + "\0",), sweep)
        self._host_rows.append(host._replace(pages=host.pages - sweep.pages_lost))
        if len(self._host_rows) >= _ROWS_AT_ONCE:
            self._flush_hosts()

    def _pass_urls(self, end: Key | None, sweep: Sweep) -> None:
        """Passes URLs without changes up to the key `end`, which is not included."""
        for batch in self._urls.before(end):
            if sweep.concerns(batch):
                for row in url_rows(batch):
                    self._put(sweep.apply(row))
            else:
                self._flush_rows()
                self._output.add_urls(batch)

    def _put(self, row: UrlRow) -> None:
        self._rows.append(row)
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._flush_rows()

    def _flush_rows(self) -> None:
        if self._rows:
            self._output.add_urls(url_batch(self._rows))
            self._rows = []

    def _flush_hosts(self) -> None:
        if self._host_rows:
            self._output.add_hosts(host_batch(self._host_rows))
            self._host_rows = []


def _divided(changes: Iterator[Change]) -> tuple[list[HostChange], Iterator[Change]]:
    """Returns the changes of the host, which come first, and those of its URLs."""
    own: list[HostChange] = []
    for change in changes:
        if not isinstance(change.value, HostChange):
            return own, chain((change,), changes)
        own.append(change.value)
    return own, iter(())


def _new_host(host: str, first: Change | None) -> HostRow:
    """Returns the row of a host that was not known: one that a link has found waits since then; a seed comes first."""
    is_link = first is not None and isinstance(first.value, Discovery) and first.value.source is not None
    return HostRow(host, partition_of(host), first.at if first is not None and is_link else 0.0)


def _merged(row: UrlRow | None, changes: Iterable[Change]) -> UrlRow | None:
    for change in changes:
        if isinstance(change.value, Discovery):
            row = linked(row, change.value, change.at, change.place)
        elif isinstance(change.value, Settlement) and row is not None:
            row = settled(row, change.value)
    return row
