"""Chooses the URLs of one part of the crawl table that a cycle visits, and makes the grants of their hosts.

The part is read twice: first the few columns that say what is due, then all that a visit needs, only where something
was chosen. Memory grows with what is chosen, not with the part.
"""

from collections.abc import Iterator, Mapping
from heapq import nlargest, nsmallest
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from goodbot.cluster.spark.grants import HostGrant
from goodbot.cluster.spark.host_merge import lists_before
from goodbot.cluster.spark.sorted_batches import SortedBatches
from goodbot.cluster.spark.table_columns import HOST_SCHEMA, SEEN_COLUMNS, encode_robots, host_rows
from goodbot.lesson_values import IndexedPage
from goodbot.store.merge.coding import AGAIN, LATER, READY
from goodbot.store.merge.crawl_rows import HostRow
from goodbot.store.merge.limits import FIRST_URLS, MAX_INDEXED_PAGES, by_turns, within
from goodbot.store.merge.outcome_rows import seen_of
from goodbot.store.merge.outcome_rules import seen_by_next_visit
from goodbot.store.merge.rank import BEHIND, LISTS, depth_of
from goodbot.url import Url, is_private_host
from goodbot.values import LastVisit, LeasedUrl

_LOOKED_AT: Final = ["host", "state", "rank", "found_at", "place", "ready_at", "was", "seen_indexed"]
_LEASED: Final = [
    *("host", "url", "state", "rank", "tries", "public_only", "hops", "lists", "interval_s", "was"),
    *("same_as", "compared_text", *SEEN_COLUMNS),
]


class ChoiceRules(NamedTuple):
    """What may be chosen at the time `now`: at most `host_urls` URLs of a host, `first_urls` of one whose address may
    be unknown, and `part_urls` of the part (None: no limit). `host_pages`, `host_lists`: see `Settings`. `revisits`:
    pages that are due again are visited again.

    A host of unknown address may be at that of another host, which another task requests: so it gets only a few
    requests until its address is known."""

    now: float
    host_urls: int
    first_urls: int = FIRST_URLS
    part_urls: int | None = None
    host_pages: int | None = None
    host_lists: int | None = None
    revisits: bool = False


class _Chosen(NamedTuple):
    """A host, the numbers of the rows to visit, in order, and those of indexed pages of it."""

    host: HostRow
    rows: list[int]
    indexed: list[int]


def choose(urls: pq.ParquetFile, hosts: pq.ParquetFile, rules: ChoiceRules) -> Iterator[HostGrant]:
    """Yields the grants of a part, hosts in the order of their names. Raises DamagedError for rows that goodbot has not
    written."""
    chosen = list(_due_hosts(urls, hosts, rules))
    if rules.part_urls is not None:
        chosen = _within_budget(chosen, rules.part_urls)
    yield from _granted(urls, hosts, chosen)


def _within_budget(chosen: list[_Chosen], most: int) -> list[_Chosen]:
    """Returns the hosts that have waited longest, with `most` URLs together."""
    kept: dict[str, _Chosen] = {}
    for item in sorted(chosen, key=lambda item: (item.host.ready_at, item.host.host)):
        if most <= 0:
            break
        kept[item.host.host] = item._replace(rows=item.rows[:most])
        most -= len(item.rows)
    return [kept[item.host.host] for item in chosen if item.host.host in kept]


# ---- what is due ----------------------------------------------------------------------------------------------------


class _Row(NamedTuple):
    """A row of the part that is due or is an indexed page. Rows are ordered as they are fetched."""

    rank: int
    found_at: float
    place: int
    number: int
    is_due: bool
    is_revisit: bool
    is_indexed: bool
    due_at: float


def _due_hosts(urls: pq.ParquetFile, hosts: pq.ParquetFile, rules: ChoiceRules) -> Iterator[_Chosen]:
    known = SortedBatches(hosts.iter_batches(columns=HOST_SCHEMA.names[:11]), ("host",), _plain_hosts)
    for name, looked_at in groupby(_looked_at(urls, rules), itemgetter(0)):
        rows: list[_Row] = []
        for _, some in looked_at:
            rows = _first_of([*rows, *some], rules.host_urls)
        for _ in known.before((name,)):
            pass
        host = known.take((name,))
        if host is None or host.forgotten_at is not None or host.ready_at > rules.now:
            continue
        due = sorted(row for row in rows if row.is_due)
        if chosen := _chosen_of(host, due, rules):
            indexed = nlargest(MAX_INDEXED_PAGES, (row for row in rows if row.is_indexed), key=attrgetter("due_at"))
            yield _Chosen(host, chosen, [row.number for row in indexed])


def _first_of(rows: list[_Row], most: int) -> list[_Row]:
    """Returns the rows that may be chosen: of each kind the first `most`, and the indexed pages due last."""
    if len(rows) <= most:
        return rows
    kinds = (0, BEHIND), (BEHIND, LISTS), (LISTS, 2 * LISTS)
    due = [row for row in rows if row.is_due]
    kept = [row for low, high in kinds for row in nsmallest(most, (row for row in due if low <= row.rank < high))]
    kept += nlargest(MAX_INDEXED_PAGES, (row for row in rows if row.is_indexed), key=attrgetter("due_at"))
    return list(dict.fromkeys(kept))


def _plain_hosts(batch: pa.RecordBatch) -> list[HostRow]:
    nothing = pa.nulls(batch.num_rows, pa.binary())
    columns = [*batch.columns, *(nothing for _ in HOST_SCHEMA.names[batch.num_columns :])]
    return host_rows(pa.record_batch(columns, schema=HOST_SCHEMA))


def _looked_at(urls: pq.ParquetFile, rules: ChoiceRules) -> Iterator[tuple[str, list[_Row]]]:
    """Yields hosts with their rows that are due, or are indexed pages; a host may come several times in succession."""
    first = 0
    for batch in urls.iter_batches(columns=_LOOKED_AT):
        yield from _looked_at_in(batch, first, rules)
        first += batch.num_rows


def _looked_at_in(batch: pa.RecordBatch, first: int, rules: ChoiceRules) -> Iterator[tuple[str, list[_Row]]]:
    states = batch.column("state").to_numpy()
    ready_at = batch.column("ready_at").to_numpy(zero_copy_only=False)
    is_on_time = ready_at <= rules.now
    due = (states == READY) | ((states == LATER) & is_on_time)
    if rules.revisits:
        due |= (states >= AGAIN) & is_on_time
    indexed = (states >= AGAIN) & pc.fill_null(batch.column("seen_indexed"), False).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(due | indexed)
    if not len(places):
        return
    is_revisit = (states >= AGAIN) | ~np.isnan(batch.column("was").cast(pa.float32()).to_numpy(zero_copy_only=False))
    some = batch.select(["host", "rank", "found_at", "place"]).take(pa.array(places))
    rows = map(
        _Row,
        some.column("rank").to_pylist(),
        some.column("found_at").to_pylist(),
        some.column("place").to_pylist(),
        (places + first).tolist(),
        due[places].tolist(),
        is_revisit[places].tolist(),
        indexed[places].tolist(),
        ready_at[places].tolist(),
    )
    for host, of_host in groupby(zip(some.column("host").to_pylist(), rows, strict=True), itemgetter(0)):
        yield host, [row for _, row in of_host]


def _chosen_of(host: HostRow, due: list[_Row], rules: ChoiceRules) -> list[int]:
    """Returns the numbers of the rows of a host that are visited, in order: pages and lists by turns; pages that can
    wait only if there are no others."""
    most = min(rules.first_urls, rules.host_urls) if _is_new_name(host) else rules.host_urls
    pages = [row for row in due if row.rank < BEHIND][:most] or [row for row in due if row.rank < LISTS][:most]
    lists = [row for row in due if row.rank >= LISTS][:most]
    if rules.host_lists is not None:
        lists = _most_new(lists, rules.host_lists - lists_before(host, rules.now))
    chosen = by_turns(pages, lists, host.turn)[:most]
    if rules.host_pages is not None:
        chosen = _most_new(chosen, rules.host_pages - host.pages)
    return [row.number for row in chosen]


def _most_new(rows: list[_Row], most: int) -> list[_Row]:
    """Returns the revisits, and at most so many others."""
    marked = [(row, None, row.is_revisit) for row in rows]
    return [row for row, *_ in within(marked, most)]


def _is_new_name(host: HostRow) -> bool:
    """Whether the address of the host may be unknown."""
    return host.next_urls is None and not is_private_host(_bare(host.host))


def _bare(host: str) -> str:
    """Returns the host of a `Url.host_key`, which may have a port."""
    return Url(f"http://{host}/").host


# ---- what a visit needs ---------------------------------------------------------------------------------------------


def _granted(urls: pq.ParquetFile, hosts: pq.ParquetFile, chosen: list[_Chosen]) -> Iterator[HostGrant]:
    wanted = sorted({number for item in chosen for number in (*item.rows, *item.indexed)})
    rows = _rows_at(urls, wanted, _LEASED)
    blobs = SortedBatches(hosts.iter_batches(), ("host",), host_rows)
    held: dict[int, Mapping[str, Any]] = {}
    texts = _Texts(urls)
    for item in chosen:
        needed = {*item.rows, *item.indexed}
        while not needed <= held.keys():
            number, row = next(rows)
            held[number] = row
        for _ in blobs.before((item.host.host,)):
            pass
        host = blobs.take((item.host.host,)) or item.host
        yield _grant_of(host, [held[number] for number in item.rows], [held[number] for number in item.indexed], texts)
        for number in needed:
            del held[number]


def _rows_at(file: pq.ParquetFile, numbers: list[int], columns: list[str]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yields rows with their numbers, which ascend. Row groups with none of them are not read."""
    first, at = 0, 0
    for group in range(file.num_row_groups):
        end = first + file.metadata.row_group(group).num_rows
        start = at
        while at < len(numbers) and numbers[at] < end:
            at += 1
        if at > start:
            places = pa.array([number - first for number in numbers[start:at]], pa.int64())
            table = file.read_row_group(group, columns=columns).take(places)
            for batch in table.to_batches(max_chunksize=1024):
                yield from zip(numbers[start : start + batch.num_rows], batch.to_pylist(), strict=True)
                start += batch.num_rows
        first = end


class _Texts:
    """Looks up `LastVisit.text` of indexed pages of the part."""

    def __init__(self, urls: pq.ParquetFile) -> None:
        self._urls = urls
        self._known: dict[str, str | None] | None = None

    def of(self, url: str) -> str | None:
        """Returns the digest of a page's text; None if it is not in the index, or in another part."""
        if self._known is None:
            self._known = {}
            for batch in self._urls.iter_batches(columns=["same_as", "compared_text"]):
                same_as = batch.filter(pc.is_valid(batch.column("compared_text"))).column("same_as")
                self._known.update(dict.fromkeys(same_as.to_pylist()))
            names = pa.array(self._known, pa.string())
            for batch in self._urls.iter_batches(columns=["url", "seen_indexed", "seen_text"]):
                found = batch.filter(pc.and_(pc.is_in(batch.column("url"), value_set=names), batch.column(1)))
                self._known.update(zip(found.column(0).to_pylist(), found.column(2).to_pylist(), strict=True))
        return self._known.get(url)


def _grant_of(
    host: HostRow, rows: list[Mapping[str, Any]], indexed: list[Mapping[str, Any]], texts: _Texts
) -> HostGrant:
    return HostGrant(
        *(host.host, host.partition, host.ready_at, host.backoff_s, host.cut_at),
        urls=tuple(_leased(row, texts) for row in rows),
        were=tuple(_was(row) for row in rows),
        robots=encode_robots(host.robots) if host.robots else b"",
        lessons=host.lessons,
        indexed_pages=tuple(IndexedPage(Url(row["url"]), row["seen_digest"], row["seen_text"]) for row in indexed),
    )


def _was(row: Mapping[str, Any]) -> int | None:
    was: int | None = row["state"] if row["state"] >= AGAIN else row["was"]
    return was


def _leased(row: Mapping[str, Any], texts: _Texts) -> LeasedUrl:
    is_again = row["state"] >= AGAIN
    leased = LeasedUrl(
        Url(row["url"]),
        depth_of(row["rank"]),
        0 if is_again else row["tries"],
        row["public_only"],
        row["hops"],
        interval_s=row["interval_s"],
        lists=row["lists"],
        expects_list=row["rank"] >= LISTS,
    )
    if row["seen_at"] is None:
        return leased
    seen, same_as = _seen(row), row["same_as"]
    if same_as is not None and not seen.indexed:
        text_then = row["compared_text"]
        text_now = texts.of(same_as) if text_then is not None else None
        seen, copied = seen_by_next_visit(seen, Url(same_as), text_then, text_now)
        return leased._replace(seen=seen, same_as=copied)
    return leased._replace(seen=seen)


def _seen(row: Mapping[str, Any]) -> LastVisit:
    return seen_of([row[name] for name in SEEN_COLUMNS])
