"""Brings an index up to date with the frontier: after a run that ended before its last commit of the index, after a run
without an index, or to rebuild one."""

from collections import Counter
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from goodbot.archive_values import ArchivedResponse
from goodbot.config import Settings
from goodbot.errors import DamagedError
from goodbot.page import read_page
from goodbot.ports import Archive, Index, IndexQueue
from goodbot.robot.crawl.batch import requeue_copies
from goodbot.robot.crawl.indexable import document_of, index_refusal
from goodbot.robot.manners.search_preferences import StoredPreferences, field_refusal
from goodbot.url import Url
from goodbot.values import RecordRef

PAGES_PER_COMMIT: Final = 2000
"""Pages between two commits of the index. After a kill, up to this many are read again, which takes a few seconds."""

Loss = Literal["not kept", "withheld", "damaged"]
"""Why a page cannot be read from the archive.

`not kept`: there is no record of what was indexed (--no-archive, or a browser rendered the page). `withheld`: its
record has no body (noarchive). `damaged`: its record is damaged or missing, or there is no archive.
"""


class Replayed(NamedTuple):
    """Counts what one step did: pages indexed, pages read that ask not to be indexed, and pages to be fetched again."""

    documents: int
    passed_over: int
    lost: Counter[Loss]


def replay(
    settings: Settings,
    token: str,
    queue: IndexQueue,
    archive: Archive | None,
    index: Index,
    preferences: StoredPreferences | None = None,
) -> Iterator[Replayed]:
    """Removes the pages that are to leave the index, then indexes those in the queue from the archive,
    `PAGES_PER_COMMIT` in a step. Pages that the archive does not have are scheduled for fetching. After a kill it
    continues where the last step ended. `preferences`: those of robots.txt for search; None: they are not known."""
    if leaving := queue.leaving():
        requeue_copies(queue, leaving)
        for url in leaving:
            index.remove(url.text)
        queue.indexed(leaving, index.commit())
    while pages := queue.pending(PAGES_PER_COMMIT):
        yield _replay(settings, token, queue, archive, index, pages, preferences)


def _replay(
    settings: Settings,
    token: str,
    queue: IndexQueue,
    archive: Archive | None,
    index: Index,
    pages: list[tuple[Url, RecordRef | None]],
    preferences: StoredPreferences | None,
) -> Replayed:
    done: list[Url] = []
    refused: list[Url] = []
    lost: dict[Url, Loss] = {}
    for url, record in sorted(pages, key=_archive_order):
        archived = _read(archive, record)
        if not isinstance(archived, ArchivedResponse):
            lost[url] = archived
            continue
        response, limit = archived.response, settings.decoded_limit
        page = read_page(url, response, token, limit, document_bytes=settings.document_limit)
        no_search = (preferences and preferences.refusal(url)) or field_refusal(response.headers)
        refusal = index_refusal(page, response, archived.fetched_at, no_search)
        if 200 <= response.status < 300 and refusal is None:
            index.add(document_of(page, response, archived.fetched_at))
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


def _archive_order(item: tuple[Url, RecordRef | None]) -> tuple[str, int]:
    """The sort key of a page: its place in the archive, since reading in that order is fastest."""
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
