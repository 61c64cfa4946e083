"""Merges what happened to a host in a cycle into its row. Pure."""

from collections.abc import Iterable, Sequence
from hashlib import sha256

from goodbot.cluster.spark.changes import HostChange
from goodbot.exclusion import Access
from goodbot.lesson_values import Lesson
from goodbot.live import Courtesy, HostRequest
from goodbot.report_values import RobotsVersion
from goodbot.robot.manners.request_recorder import add_up
from goodbot.store.merge.crawl_rows import HostRow
from goodbot.store.merge.limits import LISTS_S, MAX_LESSONS, MAX_VERSIONS
from goodbot.values import Release


def merged_host(row: HostRow, changes: Sequence[HostChange]) -> HostRow:
    """Returns the row of a host after these changes. At most one of them has a release, since one task of a cycle
    leases the host."""
    for change in changes:
        if change.release is not None:
            row = _released(row, change.release)
    lists, lists_from = _counted_lists(row, (at for change in changes for at in change.lists_read))
    requests = [request for change in changes for request in change.requests]
    accesses = [access for change in changes for access in change.accesses]
    return row._replace(
        pages=row.pages + sum(change.pages for change in changes),
        lists=lists,
        lists_from=lists_from,
        robots=tuple(dict((*row.robots, *accesses)).items()),
        versions=_with_versions(row.versions, accesses),
        lessons=_with_lessons(row.lessons, [lesson for change in changes for lesson in change.lessons]),
        courtesy=_with_requests(row, requests),
    )


def _released(row: HostRow, release: Release) -> HostRow:
    return row._replace(
        ready_at=release.ready_at,
        backoff_s=release.backoff_s,
        cut_at=release.cut_at,
        next_urls=release.next_urls or row.next_urls,
        partition=row.partition if release.partition is None else release.partition,
        turn=1 - row.turn,
    )


def lists_before(row: HostRow, now: float) -> int:
    """Returns how many lists of the host were read in the period that `now` is in (`LISTS_S`)."""
    return row.lists if row.lists_from > now - LISTS_S else 0


def _counted_lists(row: HostRow, read_at: Iterable[float]) -> tuple[int, float]:
    for at in sorted(read_at):
        counted = lists_before(row, at)
        lists_from = row.lists_from if row.lists_from > at - LISTS_S else at
        row = row._replace(lists=counted + 1, lists_from=lists_from)
    return row.lists, row.lists_from


def _with_versions(
    known: tuple[RobotsVersion, ...], accesses: Sequence[tuple[str, Access]]
) -> tuple[RobotsVersion, ...]:
    """Counts one more fetch of the last known version of each file, or adds a new version. The last `MAX_VERSIONS` of
    an origin are kept."""
    if not accesses:
        return known
    by_origin: dict[str, list[RobotsVersion]] = {}
    for version in known:
        by_origin.setdefault(version.origin, []).append(version)
    for origin, access in accesses:
        versions = by_origin.setdefault(origin, [])
        found = _version_of(origin, access)
        last = versions[-1] if versions else None
        if last is not None and last[4:8] == found[4:8]:
            versions[-1] = last._replace(last_at=access.fetched_at, fetches=last.fetches + 1)
        else:
            versions.append(found)
            del versions[:-MAX_VERSIONS]
    return tuple(version for origin in sorted(by_origin) for version in by_origin[origin])


def _version_of(origin: str, access: Access) -> RobotsVersion:
    is_read = access.result == "successful"
    digest = sha256(access.body).hexdigest() if is_read else None
    size = len(access.body) + access.cut_bytes if is_read else None
    at = access.fetched_at
    return RobotsVersion(origin, at, at, 1, access.result, access.status, access.failure, digest, size)


def _with_lessons(known: tuple[Lesson, ...], learned: Sequence[Lesson]) -> tuple[Lesson, ...]:
    if not learned:
        return known
    by_subject = {(item.kind, item.about): item for item in (*known, *learned)}
    in_order = sorted(by_subject.values(), key=lambda item: (item.at, item.kind, item.about))
    return tuple(in_order[-MAX_LESSONS:])


def _with_requests(row: HostRow, requests: Sequence[HostRequest]) -> Courtesy | None:
    if not requests:
        return row.courtesy
    return add_up(row.courtesy or Courtesy(row.host), sorted(requests, key=lambda item: item.at))
