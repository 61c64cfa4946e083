"""Results travel between processes as plain values, and arrive unchanged."""

import pickle

import pytest

from goodbot.archive_values import EncodedRecords
from goodbot.robot.processes.messages import pack, unpack
from goodbot.search_values import PreparedDocument
from goodbot.url import Url
from goodbot.values import Discovery, Event, Outcome
from goodbot.visit_values import VisitResult

HOME = Url("http://h.example/")
ENCODED = EncodedRecords(b"\x1f\x8b", 2, HOME.text, "2026-01-01T00:00:00Z", "sha1:A", "entry")


@pytest.mark.parametrize(
    "reading",
    [
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
                title="T\ud800",
                to_index=True,
                events=(Event(1.0, "permission", "allowed", "why", 3), Event(1.5, "fetch", "200", "3 bytes")),
                links=(
                    Discovery(Url("http://h.example/a"), 1, HOME, None, priority=1, inlinks=4),
                    Discovery(Url("http://else.example/"), 1, HOME, "not here", priority=1),
                ),
            ),
            PreparedDocument(HOME.text, (("title", "t"), ("shown", b"{}"))),
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
    ],
)
def test_what_is_packed_comes_out_the_same(reading: VisitResult) -> None:
    assert unpack(pickle.loads(pickle.dumps(pack(reading)))) == reading
