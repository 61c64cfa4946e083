"""Removes forgotten hosts from the archive, the search index, the removals and the frontier of a crawl."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

from goodbot.crawl_folder import CrawlFolder
from goodbot.index import TantivyIndex
from goodbot.index_opening import Sources, close_all, open_to_remove
from goodbot.ports import CrawlStore
from goodbot.store.control.removals import RemovalFile
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_forget import Removed


class RemovedHosts(NamedTuple):
    """Counts of what was removed for one host."""

    host: str
    urls: int
    captures: int
    damaged_bytes: int


def remove_hosts(
    sources: Sources, index: TantivyIndex | None, begin: Callable[[str], object] = lambda host: None
) -> list[RemovedHosts]:
    """Removes everything stored about the hosts that wait to be forgotten. `index` is the crawl's open index; if it is
    None, the index is opened for this. Calls `begin` with each host before its removal."""
    hosts = sources.frontier.hosts_to_remove()
    opened = open_to_remove(sources.folder, sources.frontier) if hosts and index is None else []
    gone = []
    try:
        for host in hosts:
            begin(host)
            indexes = opened if index is None else [index]
            urls, removed = remove_host(host, sources.frontier, sources.archive, indexes, sources.folder)
            gone.append(RemovedHosts(host, urls, removed.captures, removed.damaged_bytes))
    finally:
        close_all(opened)
    return gone


def remove_host(
    host: str,
    frontier: CrawlStore,
    archive: WarcArchive | None,
    indexes: Sequence[TantivyIndex],
    folder: CrawlFolder,
) -> tuple[int, Removed]:
    """Removes everything stored about a host that the frontier bars; returns how many URLs and captures it removed.

    The frontier is changed last: it knows which documents an index may hold, and it makes a killed removal start again.
    Finally the files of indexes and frontier are rewritten, so that their free space holds no deleted text.
    """
    for index in indexes:
        index.remove_host(host)
        leaving = (url for url in frontier.leaving() if url.host_key == host)
        for url in chain(chain.from_iterable(frontier.visited_on(host)), leaving):
            index.remove(url.text)
        index.commit()
    removed = archive.forget(host) if archive is not None else Removed(0, 0)
    removed = removed._replace(captures=removed.captures + folder.deadly.forget(host))
    RemovalFile(folder.path).forget(host)
    urls = frontier.remove_host(host)
    for index in indexes:
        index.purge()
    frontier.purge()
    return urls, removed
