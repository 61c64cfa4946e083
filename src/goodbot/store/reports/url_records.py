"""Builds the records of URLs from rows of the ledger. Pure."""

from typing import Any

from goodbot.store.merge.coding import CODED, OUT_OF_SCOPE
from goodbot.store.merge.rank import depth_of
from goodbot.store.reports.rows import url_of
from goodbot.url import Url
from goodbot.values import Event, LastVisit, RecordRef, UrlRecord


def record_of(row: tuple[Any, ...], events: tuple[Event, ...], seen: LastVisit | None) -> UrlRecord:
    """Builds a record from these columns: host, hash, seq, origin, path, state, rank, refused, at, status, digest,
    title, why, file, offset, same_as; more columns may follow."""
    _, _, _, origin, path, state, rank, refused, at, status, digest, title, why, file, offset, same_as = row[:16]
    return UrlRecord(
        url=url_of(origin, path),
        state=CODED[state],
        depth=depth_of(rank),
        status=status,
        fetched_at=None if status is None else at,
        digest=digest,
        title=title,
        why=refused if refused is not None and state == OUT_OF_SCOPE else why or "",
        record=reference_of(file, offset),
        events=events,
        seen=seen,
        same_as=None if same_as is None else Url(same_as),
    )


def reference_of(file: str | None, offset: int | None) -> RecordRef | None:
    """Returns where a capture is in the archive; None if it is in none."""
    return None if file is None or offset is None else RecordRef(file, offset)
