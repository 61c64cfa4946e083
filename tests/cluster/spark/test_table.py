"""Tests that cycles over a crawl table have the results of a frontier: merging as `settle`, choosing as `lease`."""

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from goodbot.cluster.spark.changes import CHANGE_SCHEMA, SORTED_BY, Change, HostChange, change_batch, read_changes
from goodbot.cluster.spark.choosing import ChoiceRules, choose
from goodbot.cluster.spark.part_merge import MergeRules, merge_part
from goodbot.cluster.spark.table_columns import HOST_SCHEMA, URL_SCHEMA, host_rows, url_rows
from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.store.merge.coding import AGAIN, CODED
from goodbot.store.merge.crawl_rows import HostRow, UrlRow
from goodbot.store.merge.outcome_rows import storable_seen
from goodbot.store.merge.outcome_rules import pages_added
from goodbot.store.merge.rank import depth_of
from goodbot.store.merge.row_rules import settlement_of
from goodbot.store.merge.storable_text import storable
from goodbot.url import Url
from goodbot.values import Discovery, Lease, LeasedUrl, Outcome, Release, UrlRecord
from random_crawls import discoveries, outcome_parts, some_url


class Table:
    """A crawl table of one part, in memory. `rows_at_once` is the size of its batches and row groups."""

    def __init__(self, rows_at_once: int = 4) -> None:
        self._rows_at_once = rows_at_once
        self._urls = URL_SCHEMA.empty_table()
        self._hosts = HOST_SCHEMA.empty_table()

    def merge(self, changes: Iterable[Change], rules: MergeRules = MergeRules()) -> None:  # noqa: B008  (frozen)
        batch = pa.Table.from_batches([change_batch(changes, 1)], CHANGE_SCHEMA)
        in_order = batch.sort_by([(name, "ascending") for name in SORTED_BY])
        found = (change for some in in_order.to_batches(max_chunksize=3) for change in read_changes(some))
        output = Output()
        merge_part(self._batches(self._urls), self._batches(self._hosts), found, rules, output)
        self._urls = pa.Table.from_batches(output.urls, URL_SCHEMA)
        self._hosts = pa.Table.from_batches(output.hosts, HOST_SCHEMA)

    def _batches(self, table: pa.Table) -> Iterator[pa.RecordBatch]:
        return iter(table.combine_chunks().to_batches(max_chunksize=self._rows_at_once))

    def lease(self, rules: ChoiceRules) -> dict[str, tuple[LeasedUrl, ...]]:
        files = [BytesIO(), BytesIO()]
        for table, file in zip((self._urls, self._hosts), files, strict=True):
            pq.write_table(table, file, row_group_size=self._rows_at_once)
        grants = choose(pq.ParquetFile(files[0]), pq.ParquetFile(files[1]), rules)
        return {grant.host: grant.urls for grant in grants}

    @property
    def urls(self) -> list[UrlRow]:
        return [row for batch in self._urls.to_batches() for row in url_rows(batch)]

    @property
    def hosts(self) -> list[HostRow]:
        return [row for batch in self._hosts.to_batches() for row in host_rows(batch)]


class Output:
    def __init__(self) -> None:
        self.urls: list[pa.RecordBatch] = []
        self.hosts: list[pa.RecordBatch] = []

    def add_urls(self, batch: pa.RecordBatch) -> None:
        self.urls.append(batch)

    def add_hosts(self, batch: pa.RecordBatch) -> None:
        self.hosts.append(batch)


def link_changes(links: Iterable[Discovery], at: float) -> list[Change]:
    return [Change(item.url.host_key, item.url.text, at, place, item) for place, item in enumerate(links)]


class SameAsFrontier(RuleBasedStateMachine):
    """Does everything to a frontier in memory and to a table, cycle by cycle, and compares what they say."""

    host_pages: int | None = None
    revisits = False

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.memory = MemoryFrontier(
            now=lambda: self.now, host_pages=self.host_pages, revisit_until=1e12 if self.revisits else None
        )
        self.table = Table()
        self.merge_rules = MergeRules(self.host_pages)

    @rule(found=discoveries)
    def add(self, found: list[Discovery]) -> None:
        known = self._usable(found)
        self.memory.add(known)
        self.now += 1.0
        self.table.merge(link_changes(known, self.now - 1.0), self.merge_rules)

    @rule(data=st.data(), wait=st.sampled_from([0.0, 1.0, 5.0]))
    def cycle(self, data: st.DataObject, wait: float) -> None:
        leases: list[Lease] = self.memory.lease(100, 100, self.now)
        rules = ChoiceRules(self.now, 100, first_urls=100, host_pages=self.host_pages, revisits=self.revisits)
        chosen = self.table.lease(rules)
        assert {host: [item.url for item in urls] for host, urls in chosen.items()} == {
            lease.host: [item.url for item in lease.urls] for lease in leases
        }
        assert chosen == {lease.host: tuple(map(stored, lease.urls)) for lease in leases}
        outcomes, changes, places = [], [], 0
        for lease in leases:
            before = {row.url: row for row in self.table.urls}
            added = 0
            least = len(lease.urls) if self.revisits else 0  # a frontier counts those that are not visited as ready
            for leased in lease.urls[: data.draw(st.integers(least, len(lease.urls)))]:
                parts = data.draw(outcome_parts)
                parts["links"] = tuple(self._usable(parts["links"]))
                outcome = Outcome(leased.url, at=self.now, ready_at=self.now + wait, token=lease.token, **parts)
                outcomes.append(outcome)
                row = before[leased.url.text]
                was = row.state if row.state >= AGAIN else row.was
                added += pages_added(outcome, None if was is None else CODED[was])
                for link in outcome.links:
                    places += 1
                    changes.append(Change(link.url.host_key, link.url.text, self.now, places, link))
            release = Release(lease.host, self.now + wait, wait, token=lease.token)
            changes.append(Change(lease.host, "", self.now, 0, HostChange(release, added)))
        releases = [Release(lease.host, self.now + wait, wait, token=lease.token) for lease in leases]
        self.memory.settle(outcomes, releases)
        changes += [self._visit(outcome) for outcome in outcomes]
        self.table.merge(changes, self.merge_rules)
        self.now += 1.0

    def _visit(self, outcome: Outcome) -> Change:
        compared = self.memory._known[outcome.url].compared_text
        return Change(outcome.url.host_key, outcome.url.text, self.now, 0, settlement_of(outcome, compared))

    def _usable(self, found: Iterable[Discovery]) -> list[Discovery]:
        """A frontier makes all pages of a host ready that are due again when it leases the host, and counts them as
        waiting from then on. A table does so only with those that it chooses: so here they are all chosen."""
        return [item._replace(can_wait=False) for item in found]

    @rule(seconds=st.sampled_from([0.5, 1.0, 5.0, 90_000.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(wanted=st.sets(some_url), why=st.sampled_from(["too far", "no"]))
    def reconsider(self, wanted: set[Url], why: str) -> None:
        texts = {url.text for url in wanted}
        self.memory.reconsider(lambda url, _: None if url in wanted else why)
        rules = MergeRules(self.host_pages, lambda row: None if row.url in texts else why)
        self.table.merge([], rules)

    @invariant()
    def they_say_the_same(self) -> None:
        rows = {row.url: row for row in self.table.urls}
        assert list(rows) == sorted(rows, key=lambda url: (Url(url).host_key, url))
        known = {record.url.text: record for record in self.memory.records()}
        assert rows.keys() == known.keys()
        pairs = [(facts(row), facts_of(known[url], self.memory)) for url, row in rows.items()]
        assert [ours for one, other in pairs for ours in zip(one, other, strict=True) if ours[0] != ours[1]] == []
        pending = {url.text for url, _ in self.memory.pending()}
        assert {row.url for row in rows.values() if row.pending} == pending
        assert {row.url for row in rows.values() if row.leaving} == {url.text for url in self.memory.leaving()}
        hosts = {row.host: row.pages for row in self.table.hosts}
        assert hosts == {key: host.pages for key, host in self.memory._hosts.items()}


def stored(leased: LeasedUrl) -> LeasedUrl:
    """The same with its texts as a table stores them."""
    return leased._replace(seen=leased.seen and storable_seen(leased.seen))


def facts(row: UrlRow) -> tuple[Any, ...]:
    visit = row.visit
    why = row.refused if row.refused is not None else "" if visit is None else visit.why
    return (
        *(CODED[row.state], depth_of(row.rank), row.rank, row.public_only, row.hops, row.lists, row.interval_s),
        *(row.tries, row.seen, row.same_as, row.compared_text, why, row.found_at, row.source),
        None if visit is None else (visit.status, visit.title, visit.digest, visit.file, visit.offset),
    )


def facts_of(record: UrlRecord, memory: MemoryFrontier) -> tuple[Any, ...]:
    known = memory._known[record.url]
    last = known.last
    visit = None
    if last is not None:
        place = (None, None) if last.record is None else (last.record.file, last.record.offset)
        visit = (last.status, last.title and storable(last.title), last.digest, *place)
    return (
        *(record.state, record.depth, known.rank, known.public_only, known.hops, known.lists, known.interval_s),
        *(
            known.tries,
            known.seen and storable_seen(known.seen),
            known.same_as and known.same_as.text,
            known.compared_text,
            storable(record.why),
        ),
        *(known.found_at, known.source and known.source.text, visit),
    )


class SameAsFrontierWithFewPages(SameAsFrontier):
    host_pages = 2


class SameAsFrontierWithRevisits(SameAsFrontier):
    revisits = True


TestSameAsFrontier = SameAsFrontier.TestCase
TestSameAsFrontierWithFewPages = SameAsFrontierWithFewPages.TestCase
TestSameAsFrontierWithRevisits = SameAsFrontierWithRevisits.TestCase
for case in (TestSameAsFrontier, TestSameAsFrontierWithFewPages, TestSameAsFrontierWithRevisits):
    case.settings = settings(
        max_examples=max(settings().max_examples // 3, 5),
        stateful_step_count=15,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )

del case
