"""Strategies for random links and outcomes of a small crawl, in which every state and hint occurs."""

from math import inf
from typing import Any

from hypothesis import strategies as st

from goodbot.url import Url
from goodbot.values import Discovery, Event, LastVisit, RecordRef, State

URLS = [
    Url(f"{origin}/{page}")
    for origin in ("https://a.example", "http://a.example", "https://b.example", "http://127.0.0.1:8001")
    for page in ("", "1", "2?q=3")
]
some_url = st.sampled_from(URLS)
some_state: st.SearchStrategy[State] = st.sampled_from(
    ["ready", "visited", "disallowed", "out-of-scope", "failed", "gone"]
)
reason = st.none() | st.sampled_from(["too far", "too deep"])
discoveries = st.lists(
    st.builds(
        Discovery,
        some_url,
        st.integers(0, 3),
        st.none() | some_url,
        reason,
        st.booleans(),
        hops=st.integers(0, 3),
        priority=st.integers(-1, 1),
        inlinks=st.sampled_from([1, 1, 2, 4]),
        modified_at=st.none() | st.sampled_from([0.5, 4.0, 30.0]),
        interval_s=st.none() | st.sampled_from([60.0, 3600.0]),
        lists=st.integers(0, 2),
        expects_list=st.booleans(),
        can_wait=st.booleans(),
    ),
    max_size=6,
)
some_record = st.none() | st.builds(RecordRef, st.just("1.warc.gz"), st.integers(0, 2**62))
seen = st.builds(
    LastVisit,
    at=st.sampled_from([0.0, 2.0, 10.0]),
    due_at=st.sampled_from([0.0, 1.0, 5.0, 20.0, inf]),
    interval_s=st.just(60.0),
    changed_at=st.just(0.0),
    etag=st.none() | st.text(max_size=3),
    modified=st.none() | st.just("Sat, 21 Nov 2026 00:00:00 GMT"),
    digest=st.none() | st.just("sha1:X"),
    record=some_record,
    title=st.none() | st.text(max_size=5),
    gone=st.integers(0, 3),
    available_until=st.none() | st.just(99.5),
    indexed=st.booleans(),
    text=st.none() | st.just("00ff"),
)
outcome_parts: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "state": some_state,
        "why": st.text(max_size=5),
        "status": st.none() | st.sampled_from([200, 404]),
        "size_bytes": st.integers(0, 10**10),
        "digest": st.none() | st.just("sha1:X"),
        "title": st.none() | st.text(max_size=5),
        "record": some_record,
        "to_index": st.booleans(),
        "from_index": st.booleans(),
        "unchanged": st.booleans(),
        "same_as": st.none() | some_url,
        "alike": st.booleans(),
        "seen": st.none() | seen,
        "tries": st.integers(0, 3),
        "events": st.lists(
            st.builds(
                Event, st.floats(0, 1e9), st.just("fetch"), st.text(max_size=3), st.text(), st.none() | st.just(3)
            ),
            max_size=2,
        ).map(tuple),
        "links": discoveries.map(tuple),
    }
)
