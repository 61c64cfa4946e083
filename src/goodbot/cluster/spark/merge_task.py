"""Runs one merge task: writes the next files of one part of the crawl table."""

import secrets
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

import pyarrow as pa

from goodbot.cluster.spark.changes import Change
from goodbot.cluster.spark.parquet_files import damage_named, open_parquet
from goodbot.cluster.spark.part_files import PartNote, PartWriter
from goodbot.cluster.spark.part_merge import MergeRules, merge_part
from goodbot.cluster.spark.scratch_folder import scratch_folder
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.robot.scope.scope import Scope
from goodbot.store.merge.crawl_rows import UrlRow
from goodbot.store.merge.rank import depth_of
from goodbot.url import Url

TABLE_FOLDER: Final = "table"
_BATCH_ROWS: Final = 16_384


class ScopeChange(NamedTuple):
    """A change of the scope: URLs that are out of scope are judged again by `scope`. `keeps_refused`: URLs whose
    answers were refused for their type or size stay refused."""

    scope: Scope
    keeps_refused: bool


class MergeJob(NamedTuple):
    """What all merge tasks are given: the parts as they are, and the number of the version to write."""

    files: StoreFiles
    parts: tuple[PartNote | None, ...]
    version: int
    now: float
    host_pages: int | None
    scope: ScopeChange | None = None


def merge(job: MergeJob, part: int, changes: Iterable[Change]) -> PartNote:
    """Writes the next files of a part, and returns their note. Raises DamagedError for files that goodbot has not
    written."""
    before = job.parts[part]
    rules = MergeRules(job.host_pages, None if job.scope is None else _Judge(job.scope))
    path = f"{TABLE_FOLDER}/{job.version:08}/{part:05}-{secrets.token_hex(4)}"
    with scratch_folder() as local:
        writer = PartWriter(local)
        urls, hosts = (None, None) if before is None else (before.urls, before.hosts)
        merge_part(_batches(job.files, urls), _batches(job.files, hosts), changes, rules, writer)
        return writer.finish(job.files, path, part, job.now)


def _batches(files: StoreFiles, path: str | None) -> Iterator[pa.RecordBatch]:
    if path is None:
        return
    with damage_named(f"{files.url}/{path}"):
        yield from open_parquet(files, path).iter_batches(batch_size=_BATCH_ROWS)


class _Judge:
    """Judges URLs that are out of scope by the current settings."""

    def __init__(self, change: ScopeChange) -> None:
        self._scope = change.scope
        self._keeps_refused = change.keeps_refused

    def __call__(self, row: UrlRow) -> str | None:
        refused = self._scope.refuse(Url(row.url), depth_of(row.rank))
        if refused is None and self._keeps_refused and row.visit is not None and row.visit.status is not None:
            return row.visit.why
        return refused
