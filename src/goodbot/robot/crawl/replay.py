"""Brings an index up to what the frontier knows: after a run that ended before its last commit of the index, after one
that had no index, or for an index that is made anew."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from goodbot.archive_values import ArchivedResponse
from goodbot.config import Settings
from goodbot.errors import DamagedError
from goodbot.page import read_page
from goodbot.ports import Archive, Index, IndexQueue
from goodbot.robot.crawl.batch import ask_copies
from goodbot.robot.crawl.indexable import document_of, index_refusal
from goodbot.url import Url
from goodbot.values import RecordRef

AT_ONCE: Final = 2000
"""Pages between two commits of the index: what a kill costs, read once more. A few seconds."""

Loss = Literal["not kept", "withheld", "damaged"]
"""Why a page cannot be read from the archive: no record of what was indexed (--no-archive, or a browser made the page);
a record without the body (noarchive); a record that is damaged or missing, as all are if there is no archive."""


class Replayed(NamedTuple):
    """What one step did: how many pages it indexed, how many of those it read do not let themselves be indexed, and how
    many are to be fetched again."""

    documents: int
    passed_over: int
    lost: Counter[Loss]


def replay(
    settings: Settings, token: str, queue: IndexQueue, archive: Archive | None, index: Index
) -> Iterator[Replayed]:
    """Takes out what is to leave, and indexes from the archive what the queue holds, `AT_ONCE` pages in a step; what is
    not kept there is fetched again. After a kill it goes on where the last step ended.
    """
    if leaving := queue.leaving():
        ask_copies(queue, leaving)
        for url in leaving:
            index.remove(url.text)
        queue.indexed(leaving, index.commit())
    while part := queue.pending(AT_ONCE):
        yield _replay(settings, token, queue, archive, index, part)


def _replay(
    settings: Settings,
    token: str,
    queue: IndexQueue,
    archive: Archive | None,
    index: Index,
    part: list[tuple[Url, RecordRef | None]],
) -> Replayed:
    done: list[Url] = []
    refused: list[Url] = []
    lost: dict[Url, Loss] = {}
    for url, record in sorted(part, key=_place):
        archived = _read(archive, record)
        if not isinstance(archived, ArchivedResponse):
            lost[url] = archived
            continue
        response, limit = archived.response, settings.decoded_limit
        page = read_page(url, response, token, limit, document_bytes=settings.document_limit)
        if 200 <= response.status < 300 and index_refusal(page, response, archived.fetched_at) is None:
            index.add(document_of(page, archived.fetched_at))
            done.append(url)
        else:
            index.remove(url.text)
            refused.append(url)
    queue.indexed(done, index.commit())
    if refused:
        queue.passed_over(refused)
    if lost:
        queue.requeue(lost)
    return Replayed(len(done), len(refused), Counter(lost.values()))


def _place(item: tuple[Url, RecordRef | None]) -> tuple[str, int]:
    """In the order of the archive's files, which is read fastest."""
    record = item[1]
    return ("", 0) if record is None else (record.file, record.offset)


def _read(archive: Archive | None, record: RecordRef | None) -> ArchivedResponse | Loss:
    if record is None:
        return "not kept"
    if archive is None:
        return "damaged"
    try:
        archived = archive.read(record)
    except DamagedError:
        return "damaged"
    return "withheld" if archived.headers_only else archived
