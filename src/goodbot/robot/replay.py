"""Brings the index up to what the frontier knows, after a run that ended before its last commit of the index, or that
had none."""

from goodbot.config import Settings
from goodbot.page import read_page
from goodbot.ports import Archive, Index, IndexQueue
from goodbot.robot.batch import ask_copies
from goodbot.robot.reading import document_of
from goodbot.url import Url


def replay(settings: Settings, token: str, queue: IndexQueue, archive: Archive | None, index: Index) -> int:
    """Takes out what is to leave, and indexes from the archive what the queue holds; what is not kept there is fetched
    again. Gives how many it indexed.
    """
    done: list[Url] = []
    lost: list[Url] = []
    leaving = queue.leaving()
    ask_copies(queue, leaving)
    for url in leaving:
        index.remove(url.text)
    for url, record in queue.pending():
        archived = archive.read(record) if archive is not None and record is not None else None
        if archived is None or archived.headers_only:
            lost.append(url)
            continue
        response, limit = archived.response, settings.decoded_limit
        page = read_page(url, response, token, limit, document_bytes=settings.document_limit)
        index.add(document_of(page, archived.fetched_at))
        done.append(url)
    if done or leaving:
        index.commit()
        queue.indexed([*leaving, *done])
    if lost:
        queue.requeue(lost)
    return len(done)
