"""Takes hosts that are forgotten out of the archive, the search index and the frontier of a crawl."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from goodbot.index import TantivyIndex
from goodbot.index_opening import Sources, close_all, open_to_remove
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.warc.deadly_answers import DeadlyPages
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_forget import Removed


class RemovedHosts(NamedTuple):
    """What was removed of a host."""

    host: str
    urls: int
    captures: int
    damaged_bytes: int


def remove_hosts(
    sources: Sources, index: TantivyIndex | None, begin: Callable[[str], object] = lambda host: None
) -> list[RemovedHosts]:
    """Takes out what is kept of the hosts that are to be forgotten; a crawl that runs without its index opens it for
    that. `begin` is given each host before."""
    hosts = sources.frontier.hosts_to_remove()
    opened = open_to_remove(sources.folder, sources.frontier) if hosts and index is None else []
    gone = []
    try:
        for host in hosts:
            begin(host)
            indexes = opened if index is None else [index]
            urls, removed = remove_host(host, sources.frontier, sources.archive, indexes, sources.folder.deadly)
            gone.append(RemovedHosts(host, urls, removed.captures, removed.damaged_bytes))
    finally:
        close_all(opened)
    return gone


def remove_host(
    host: str,
    frontier: SqliteFrontier,
    archive: WarcArchive | None,
    indexes: Sequence[TantivyIndex],
    deadly: DeadlyPages,
) -> tuple[int, Removed]:
    """Takes out what is kept of a host that the frontier bars; gives how many URLs, and how many captures.

    The frontier comes last: it knows what an index may hold, and that all this is to be done again after a kill. Then
    indexes and frontier are written anew, without what free room in their files still holds.
    """
    for index in indexes:
        index.remove_host(host)
        leaving = (url for url in frontier.leaving() if url.host_key == host)
        for url in chain(chain.from_iterable(frontier.visited_on(host)), leaving):
            index.remove(url.text)
        index.commit()
    removed = archive.forget(host) if archive is not None else Removed(0, 0)
    removed = removed._replace(captures=removed.captures + deadly.forget(host))
    urls = frontier.remove_host(host)
    for index in indexes:
        index.purge()
    frontier.purge()
    return urls, removed
