"""Results and found links are the same after their way from a worker to the coordinator."""

import pickle
from typing import TypeVar

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.archive_values import EncodedRecords
from goodbot.live import HostRequest
from goodbot.robot.processes.messages import (
    pack,
    unpack_found,
    unpack_leases,
    unpack_releases,
    unpack_requests,
    unpack_result,
)
from goodbot.search_values import PreparedDocument
from goodbot.url import Url
from goodbot.values import Discovery, Event, FoundLinks, LastVisit, Lease, LeasedUrl, Outcome, RecordRef, Release
from goodbot.visit_values import VisitResult

T = TypeVar("T")

HOME = Url("http://h.example/")
ENCODED = EncodedRecords(b"\x1f\x8b", 2, HOME.text, "2026-01-01T00:00:00Z", "sha1:A", "entry")


RESULTS = [
    VisitResult(Outcome(HOME, "visited", 1.5, "status 200")),
    VisitResult(
        Outcome(
            HOME,
            "visited",
            1.5,
            "status 200",
            status=200,
            size_bytes=3,
            digest="sha1:A",
            title="T\0é",
            to_index=True,
            events=(Event(1.0, "permission", "allowed", "why", 3), Event(1.5, "fetch", "200", "3 bytes")),
            links=(
                Discovery(Url("http://h.example/a"), 1, HOME, None, priority=1, inlinks=4),
                Discovery(Url("http://else.example/"), 1, HOME, "not here", priority=1),
            ),
        ),
        PreparedDocument(HOME.text, (("title", "t"),), (("shown", b"{}"),)),
        False,
        ENCODED,
    ),
    VisitResult(
        Outcome(
            HOME,
            "visited",
            2.0,
            "status 302",
            links=(Discovery(Url("http://h.example/b"), 0, HOME, public_only=True, hops=3),),
        )
    ),
    VisitResult(Outcome(HOME, "ready", 2.0, "reset", ready_at=9.0, tries=2, links=(Discovery(HOME, 0),))),
    VisitResult(
        Outcome(
            HOME,
            "visited",
            2.0,
            "status 200",
            links=(
                Discovery(Url("http://h.example/a"), 1, HOME, hops=1),
                Discovery(Url("http://h.example/b"), 1, HOME, hops=1, priority=5, modified_at=0.0),
                Discovery(Url("http://h.example/c"), 1, HOME, "no", hops=1, interval_s=3600.0),
            ),
        ),
        sitemaps=(Discovery(Url("http://h.example/s.xml"), 1, Url("http://h.example/robots.txt")),),
    ),
]
LINKS = RESULTS[-1].outcome.links


def sent(packed: T) -> T:
    """Returns what arrives at the other end."""
    arrived: T = pickle.loads(pickle.dumps(packed))
    return arrived


@pytest.mark.parametrize("result", RESULTS)
def test_a_result_comes_out_the_same(result: VisitResult) -> None:
    packed = pack(result)
    assert isinstance(packed, bytes)
    assert unpack_result(sent(packed)) == result


def test_found_links_come_out_the_same() -> None:
    found = FoundLinks(LINKS, 1.5)
    assert unpack_found(sent(pack(found))) == found


@given(title=st.text(st.characters(exclude_categories=()), max_size=20), number=st.integers() | st.none())
@example(title="T\ud800", number=None)
@example(title="", number=1 << 64)
def test_whatever_strangers_write_comes_out_the_same(title: str, number: int | None) -> None:
    events = (Event(1.0, "fetch", title, title, number),)
    result = VisitResult(Outcome(HOME, "visited", 1.5, title, title=title, events=events), encoded=ENCODED)
    assert unpack_result(sent(pack(result))) == result
    found = FoundLinks((Discovery(HOME, 0, refused=title),), 1.0)
    assert unpack_found(sent(pack(found))) == found


@given(title=st.text(st.characters(exclude_categories=()), max_size=20), number=st.integers() | st.none())
@example(title="T\ud800", number=None)
def test_leases_releases_and_requests_come_out_the_same(title: str, number: int | None) -> None:
    seen = LastVisit(1.0, 2.0, 1.0, 1.0, etag=title, title=title, record=RecordRef("1.warc.gz", 7))
    urls = (LeasedUrl(HOME, 3, seen=seen, same_as=HOME), LeasedUrl(HOME, 1, 2, True, 4, lists=2, expects_list=True))
    leases = (Lease("h.example", urls, 1.5, 9.0, True), Lease("else.example", ()))
    assert unpack_leases(sent(pack(leases))) == leases
    releases = (Release("h.example", 9.5, 1.0, None, 4), Release("else.example", 1.0))
    assert unpack_releases(sent(pack(releases))) == releases
    requests = (HostRequest("h.example", 1.0, 2.0, number, agent=title), HostRequest("h.example", 3.0, 3.5))
    assert unpack_requests(sent(pack(requests))) == requests
