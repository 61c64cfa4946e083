"""What every Frontier, Ledger and IndexQueue does with pages that were visited and are due again."""

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from goodbot.store.merge.limits import MAX_INDEXED_PAGES
from goodbot.url import Url
from goodbot.values import STATES, Discovery, LastVisit, Lease, LeasedUrl, Outcome, RecordRef, Release, State
from stores import KINDS, Store, Stores

HOME, A, B = (Url(f"https://example.org/{path}") for path in ("", "a", "b"))
OTHER = Url("https://example.net/")
RECORD = RecordRef("1.warc.gz", 7)
SEEN = LastVisit(
    *(100.0, 200.0, 60.5, 50.0, '"v1"', "Sat, 21 Nov 2026 00:00:00 GMT", "sha1:X", RECORD, "Home"),
    gone=2,
    available_until=1e9,
    indexed=True,
    text="00ff",
    wishes="x-robots-tag: noarchive; robots.txt: nosearch",
    whole_at=70.0,
)


class Kept:
    """A store under test, at `now`; one that is not in memory is closed before it is opened."""

    def __init__(self, kind: str, path: Path, request: pytest.FixtureRequest) -> None:
        self.now = 0.0
        self.stores = Stores(kind, path, request, lambda: self.now)

    def open(self, until: float | None = inf, host_pages: int | None = None) -> Store:
        """The store of a crawl that asks again what is due up to `until`."""
        return self.stores.open(revisit_until=until, host_pages=host_pages)


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    made = Kept(request.param, tmp_path / "frontier.sqlite", request)
    made.open()
    yield made
    made.stores.close()


def due(at: float, **more: Any) -> LastVisit:
    return replace(SEEN, due_at=at, **more)


def outcome(of: Url, state: State = "visited", at: float = 100.0, **more: Any) -> Outcome:
    return Outcome(of, state, at, "said so", **more)


def lease(store: Store, now: float, most: int = 100) -> list[LeasedUrl]:
    return [item for one in store.lease(100, most, now) for item in one.urls]


def settle(store: Store, *outcomes: Outcome, ready_at: float = 0.0) -> None:
    """The hosts of the outcomes are free at `ready_at`."""
    hosts = sorted({item.url.host_key for item in outcomes})
    store.settle(outcomes, [Release(host, ready_at) for host in hosts])


def visit(store: Store, seen: LastVisit | None, *urls: Url, state: State = "visited", **more: Any) -> None:
    """They are found, leased and settled for the first time."""
    store.add([Discovery(item, 0) for item in urls])
    assert [item.url for item in lease(store, 0.0)] == list(urls)
    settle(store, *(outcome(item, state, seen=seen, **more) for item in urls))


def counts(store: Store) -> dict[State, int]:
    return {state: number for state, number in store.status().states.items() if number}


def record_of(store: Store, of: Url) -> tuple[State, LastVisit | None]:
    record = store.record(of)
    assert record is not None
    assert record in [replace(item, events=record.events) for item in store.records()]
    return record.state, record.seen


# ---- when ------------------------------------------------------------------------------------------------------------

DUE_STATES: tuple[State, ...] = ("visited", "gone", "disallowed")

WHEN: list[tuple[str, State, float | None, LastVisit | None, float, bool]] = [
    ("not due yet", "visited", inf, due(200.0), 199.9, False),
    ("due", "visited", inf, due(200.0), 200.0, True),
    ("due long ago", "visited", inf, due(200.0), 1e9, True),
    ("due up to the end of revisits", "visited", 200.0, due(200.0), 1e9, True),
    ("due beyond it", "visited", 199.9, due(200.0), 1e9, False),
    ("no revisits at all", "visited", None, due(200.0), 1e9, False),
    ("never due", "visited", inf, due(inf), 1e300, False),
    ("gone", "gone", inf, due(200.0), 200.0, True),
    ("gone, not due yet", "gone", inf, due(200.0), 199.9, False),
    ("nothing left for a next visit", "visited", inf, None, 1e9, False),
    ("gone for ever", "gone", inf, None, 1e9, False),
    ("failed", "failed", inf, due(200.0), 1e9, False),
    ("disallowed", "disallowed", inf, due(200.0), 200.0, True),
    ("disallowed for ever", "disallowed", inf, None, 1e9, False),
    ("out of scope", "out-of-scope", inf, due(200.0), 1e9, False),
]


@pytest.mark.parametrize(
    ("state", "until", "seen", "now", "taken"), [row[1:] for row in WHEN], ids=[r[0] for r in WHEN]
)
def test_when_a_page_is_asked_again(
    kept: Kept, state: State, until: float | None, seen: LastVisit | None, now: float, taken: bool
) -> None:
    visit(kept.open(until), seen, HOME, state=state)
    store = kept.open(until)
    assert record_of(store, HOME) == (state, seen)
    assert (counts(store), store.status().finished) == ({state: 1}, True)
    awaited = until is not None and seen is not None and seen.due_at <= min(until, 1e300)
    ready_at = seen.due_at if seen is not None and awaited and state in DUE_STATES else None
    assert (store.next_ready_at(), store.status().next_ready_at) == (ready_at, ready_at)
    again_at = seen.due_at if seen is not None and state in DUE_STATES and seen.due_at < inf else None
    assert store.due_again_at() == again_at
    assert [(item.url, item.seen) for item in lease(store, now)] == ([(HOME, seen)] if taken else [])
    assert store.due_again_at() == (None if taken else again_at)
    assert counts(store) == ({"leased": 1} if taken else {state: 1})


def test_the_hosts_own_time_holds_for_a_revisit_too(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME)
    store.add([Discovery(A, 0)])
    lease(store, 0.0)
    settle(store, outcome(A), ready_at=500.0)
    assert (store.next_ready_at(), lease(store, 499.0)) == (500.0, [])
    assert [item.url for item in lease(store, 500.0)] == [HOME]


def test_what_waits_for_a_try_and_what_is_due_again_whichever_is_sooner(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(300.0), HOME)
    store.add([Discovery(A, 0)])
    lease(store, 0.0)
    settle(store, outcome(A, "ready", ready_at=400.0))
    assert kept.open().next_ready_at() == 300.0
    assert kept.open(200.0).next_ready_at() == 400.0
    assert kept.open(300.0).next_ready_at() == 300.0
    assert [item.url for item in lease(kept.open(), 350.0)] == [HOME]


def test_shallow_pages_come_first_whether_new_or_not(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME)
    store.add([Discovery(A, 0, HOME), Discovery(B, 3, HOME)])
    assert [item.url for item in lease(store, 200.0)] == [HOME, A, B]


def test_two_ends_of_revisits_one_after_the_other(kept: Kept) -> None:
    store = kept.open(None)
    store.add([Discovery(item, 0) for item in (HOME, A, OTHER)])
    lease(store, 0.0)
    settle(store, *(outcome(item, seen=due(at)) for item, at in ((HOME, 300.0), (A, 200.0), (OTHER, 400.0))))
    assert (store.next_ready_at(), lease(store, 1e9)) == (None, [])
    assert store.due_again_at() == 200.0
    store = kept.open(200.0)
    assert (store.next_ready_at(), [item.url for item in lease(store, 1e9)]) == (200.0, [A])
    assert store.due_again_at() == 300.0
    settle(store, outcome(A, seen=due(900.0)))
    assert (store.next_ready_at(), lease(store, 1e9)) == (None, [])
    store = kept.open(inf)
    assert {item.url for item in lease(store, 400.0)} == {HOME, OTHER}
    settle(store, outcome(HOME, "ready", ready_at=500.0), outcome(OTHER, seen=due(900.0)))
    store = kept.open(None)
    assert counts(store) == {"ready": 1, "visited": 2}
    assert [(item.url, item.seen) for item in lease(store, 1e9)] == [(HOME, due(300.0))]
    assert store.status().states == dict.fromkeys(STATES, 0) | {"leased": 1, "visited": 2}


# ---- what becomes of it ----------------------------------------------------------------------------------------------

OUTCOMES: list[tuple[str, State, LastVisit | None, State, LastVisit | None]] = [
    ("visited again", "visited", due(900.0, etag=None), "visited", due(900.0, etag=None)),
    ("visited, and never again", "visited", None, "visited", None),
    ("gone, to be asked once more", "gone", due(700.0, gone=1), "gone", due(700.0, gone=1)),
    ("gone for ever", "gone", None, "gone", None),
    ("failed", "failed", None, "failed", None),
    ("failed, and something is left", "failed", due(900.0), "failed", due(900.0)),
    ("disallowed by now", "disallowed", None, "disallowed", None),
    ("disallowed by now, to be asked once more", "disallowed", due(700.0), "disallowed", due(700.0)),
    ("another try", "ready", None, "ready", due(200.0)),
    ("another try, whatever it carries", "ready", due(900.0), "ready", due(200.0)),
]


@pytest.mark.parametrize("first", ["visited", "gone", "disallowed"])
@pytest.mark.parametrize(
    ("state", "seen", "after", "left"), [row[1:] for row in OUTCOMES], ids=[r[0] for r in OUTCOMES]
)
def test_what_a_revisit_leaves(
    kept: Kept, first: State, state: State, seen: LastVisit | None, after: State, left: LastVisit | None
) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME, state=first)
    lease(store, 200.0)
    settle(store, outcome(HOME, state, 210.0, seen=seen, ready_at=300.0, tries=1))
    store = kept.open()
    assert record_of(store, HOME) == (after, left)
    assert counts(store) == {after: 1}
    again = [(item.url, item.seen, item.tries) for item in lease(store, 1e6)]
    dues = after == "ready" or (left is not None and after in DUE_STATES)
    assert again == ([(HOME, left, 1 if after == "ready" else 0)] if dues else [])


def test_a_revisit_starts_with_no_tries(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME, tries=4)
    assert [item.tries for item in lease(store, 200.0)] == [0]


def test_a_lease_that_ends_without_an_outcome_keeps_what_was_seen(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME)
    lease(store, 200.0)
    store.settle([], [Release("example.org", 250.0)])
    assert (counts(store), store.next_ready_at()) == ({"ready": 1}, 250.0)
    assert [item.seen for item in lease(kept.open(), 250.0)] == [due(200.0)]


def test_a_url_that_was_disallowed_keeps_what_was_seen_when_it_is_tried_again(kept: Kept) -> None:
    store = kept.open(None)
    visit(store, due(200.0), HOME, state="failed")
    store.add([Discovery(HOME, 0)])
    assert [item.seen for item in lease(store, 0.0)] == [due(200.0)]


STANDS = due(900.0, text="00", indexed=True)
COPY = due(200.0, text="01", etag="e", modified="m", indexed=False)


@pytest.mark.parametrize(
    ("first", "alike", "later", "same_as", "etag"),
    [
        pytest.param(STANDS, True, STANDS, HOME, "e", id="still said there"),
        pytest.param(STANDS, True, due(900.0, text="02", indexed=True), None, None, id="something else is said there"),
        pytest.param(STANDS, True, due(900.0, text="00", indexed=False), None, None, id="no more in the index"),
        pytest.param(STANDS, True, None, None, None, id="never to be visited again"),
        pytest.param(STANDS, False, STANDS, None, "e", id="a copy by its own word"),
        pytest.param(due(900.0, indexed=True, text=None), True, STANDS, None, "e", id="compared with nothing known"),
    ],
)
def test_a_copy_is_leased_with_the_page_it_was_compared_with(
    kept: Kept, first: LastVisit, alike: bool, later: LastVisit | None, same_as: Url | None, etag: str | None
) -> None:
    store = kept.open()
    visit(store, replace(first, due_at=150.0), HOME)
    visit(store, COPY, A, same_as=HOME, alike=alike)
    assert [item.url for item in lease(store, 150.0)] == [HOME]
    settle(store, outcome(HOME, seen=later))
    store = kept.open()
    (leased,) = lease(store, 200.0)
    assert (leased.url, leased.same_as) == (A, same_as)
    assert leased.seen == replace(COPY, etag=etag, modified=etag and "m")
    settle(store, outcome(A, seen=COPY, unchanged=True))
    (again,) = lease(kept.open(), 200.0)
    assert (again.same_as, again.seen) == (leased.same_as, leased.seen)


def test_what_pages_in_the_index_said(kept: Kept) -> None:
    store = kept.open()
    store.add([Discovery(item, 0) for item in (HOME, A, B, OTHER)])
    lease(store, 0.0)
    left_out, last = due(400.0, text="03", indexed=False), due(inf, text="02", indexed=True)
    first = due(300.0, digest="sha1:X", indexed=True, text=None)
    settle(
        store, outcome(HOME, seen=STANDS), outcome(A, seen=left_out), outcome(B, seen=first), outcome(OTHER, seen=last)
    )
    said = {(item.url, item.digest, item.text) for item in store.load_indexed_pages(["example.org", "nobody.example"])}
    assert said == {(HOME, STANDS.digest, "00"), (B, "sha1:X", None)}
    assert [item.url for item in store.load_indexed_pages([OTHER.host_key])] == [OTHER]


def test_no_more_than_so_many_are_told(kept: Kept) -> None:
    store = kept.open()
    pages = site(MAX_INDEXED_PAGES + 3)
    store.add(pages)
    while urls := [item.url for item in lease(store, 0.0, 10_000)]:
        settle(store, *(outcome(url, seen=due(200.0 + number, indexed=True)) for number, url in enumerate(urls)))
    told = {item.url for item in store.load_indexed_pages(["example.org"])}
    assert len(told) == MAX_INDEXED_PAGES
    assert told.isdisjoint({page.url for page in pages[:3]})


@pytest.mark.parametrize("state", ["ready", "visited", "failed", "gone"])
def test_whose_copy_it_is(kept: Kept, state: State) -> None:
    store = kept.open()
    visit(store, due(200.0), A, B, same_as=HOME)
    assert store.copies_of(HOME) == [A, B]
    assert (store.copies_of(HOME, 1), store.copies_of(A), store.copies_of(OTHER)) == ([A], [], [])
    lease(store, 200.0)
    settle(store, outcome(A, state), outcome(B, state, same_as=A))
    store = kept.open()
    after = {item.url: item.same_as for item in store.records()}
    assert after == ({A: HOME, B: HOME} if state == "ready" else {A: None, B: A})
    record = store.record(B)
    assert record is not None
    assert record.same_as == after[B]
    if state == "visited":
        store.add([Discovery(HOME, 0)])
        lease(store, 0.0)
        settle(store, outcome(HOME, seen=due(300.0), same_as=OTHER))
        for same_as, whose in ((None, OTHER), (A, A)):
            lease(store, 300.0)
            settle(store, outcome(HOME, seen=due(300.0), unchanged=True, same_as=same_as))
            assert {item.url: item.same_as for item in store.records()}[HOME] == whose
    assert store.copies_of(HOME) == ([A, B] if state == "ready" else [])


# ---- a bound on the pages of a host ----------------------------------------------------------------------------------


def site(pages: int) -> list[Discovery]:
    return [Discovery(Url(f"https://example.org/{page}"), 1, HOME) for page in range(pages)]


def round_of(store: Store, now: float, seen: LastVisit | None, state: State = "visited", **more: Any) -> list[str]:
    """All that is due, one URL a lease."""
    asked = []
    while found := lease(store, now, 1):
        asked += [item.url.path for item in found]
        settle(store, *(outcome(item.url, state, seen=seen, **more) for item in found))
    return asked


def test_revisits_keep_the_pages_a_host_was_granted(kept: Kept) -> None:
    store = kept.open(inf, 2)
    store.add(site(4))
    assert round_of(store, 0.0, due(200.0), links=tuple(site(9))) == ["/0", "/1"]
    store = kept.open(inf, 2)
    better = [Discovery(Url("https://example.org/3"), 0, HOME, inlinks=99), Discovery(OTHER, 0)]
    store.add(better)
    assert round_of(store, 200.0, due(300.0), links=tuple(better)) == ["/", "/0", "/1"]
    assert counts(store) == {"visited": 3, "out-of-scope": 7}


def test_a_revisit_that_is_tried_again_is_not_closed(kept: Kept) -> None:
    store = kept.open(inf, 1)
    store.add(site(3))
    round_of(store, 0.0, due(200.0))
    lease(store, 200.0)
    settle(store, outcome(Url("https://example.org/0"), "ready", ready_at=250.0))
    store = kept.open(inf, 1)
    assert counts(store) == {"ready": 1, "out-of-scope": 2}
    assert round_of(store, 250.0, due(300.0)) == ["/0"]
    assert counts(store) == {"visited": 1, "out-of-scope": 2}


@pytest.mark.parametrize("state", ["failed", "gone", "disallowed"])
def test_a_page_lost_makes_room_for_another(kept: Kept, state: State) -> None:
    store = kept.open(inf, 1)
    store.add(site(2))
    assert round_of(store, 0.0, due(200.0)) == ["/0"]
    assert round_of(store, 200.0, None, state) == ["/0"]
    assert store.reconsider(lambda url, depth: None) == 1
    assert round_of(store, 200.0, due(300.0)) == ["/1"]
    assert counts(store) == {"visited": 1, state: 1}


def test_a_page_that_was_gone_and_is_back_counts_again(kept: Kept) -> None:
    store = kept.open(inf, 2)
    store.add(site(1))
    round_of(store, 0.0, due(200.0), "gone")
    assert round_of(store, 200.0, due(300.0)) == ["/0"]
    store.add(site(5))
    assert round_of(store, 200.0, due(300.0)) == ["/1"]
    assert counts(store) == {"visited": 2, "out-of-scope": 3}


def test_beside_revisits_a_host_gets_only_what_is_left_of_its_pages(kept: Kept) -> None:
    store = kept.open(inf, 3)
    store.add(site(2))
    round_of(store, 0.0, due(200.0))
    store.add(site(6))
    assert [item.url.path for item in lease(store, 200.0)] == ["/0", "/1", "/2"]
    assert counts(store) == {"leased": 3, "ready": 3}


# ---- what a sitemap says ---------------------------------------------------------------------------------------------

SAID: list[tuple[str, State, float | None, dict[str, Any], float | None]] = [
    ("modified since", "visited", inf, {"modified_at": 100.5}, 150.0),
    ("modified since, a seed", "visited", inf, {"modified_at": 100.5, "source": None}, 150.0),
    ("modified when it was seen", "visited", inf, {"modified_at": 100.0}, 200.0),
    ("modified long before", "visited", inf, {"modified_at": 1.0}, 200.0),
    ("nothing said", "visited", inf, {}, 200.0),
    ("gone, and modified since", "gone", inf, {"modified_at": 100.5}, 150.0),
    ("modified since, up to a time", "visited", 160.0, {"modified_at": 100.5}, 150.0),
    ("modified since, without revisits", "visited", None, {"modified_at": 100.5}, None),
    ("modified since, but out of scope", "visited", inf, {"modified_at": 100.5, "refused": "far"}, 200.0),
]


@pytest.mark.parametrize("by_link", [False, True])
@pytest.mark.parametrize(
    ("state", "until", "said", "ready_at"), [row[1:] for row in SAID], ids=[row[0] for row in SAID]
)
def test_a_page_modified_since_is_due_at_once(
    kept: Kept, state: State, until: float | None, said: dict[str, Any], ready_at: float | None, by_link: bool
) -> None:
    store = kept.open(until)
    visit(store, due(200.0), HOME, state=state)
    found = Discovery(HOME, 3, said.pop("source", A), **said)
    said |= {"source": found.source}
    store.add([Discovery(HOME, 3, A)] * 2)
    kept.now = 150.0
    if by_link:
        store.add([Discovery(OTHER, 0)])
        lease(store, 0.0)
        settle(store, outcome(OTHER, at=150.0, links=(found, found)))
    else:
        assert store.add([found]) == 0
    store = kept.open(until)
    assert store.next_ready_at() == ready_at
    if ready_at is not None:
        seen = due(ready_at, etag=None, modified=None) if found.is_report else due(ready_at)
        assert [(item.url, item.seen) for item in lease(store, ready_at)] == [(HOME, seen)]


REPORTED: list[tuple[str, State, LastVisit | None, Discovery, list[tuple[Url, LastVisit | None]]]] = [
    ("gone for ever", "gone", None, Discovery(HOME, 0, modified_at=150.0), [(HOME, None)]),
    ("disallowed for ever", "disallowed", None, Discovery(HOME, 0, modified_at=150.0), [(HOME, None)]),
    ("gone for ever, by a sitemap", "gone", None, Discovery(HOME, 1, A, modified_at=150.0), []),
    ("gone for ever, a seed", "gone", None, Discovery(HOME, 0), []),
    ("gone for ever, out of scope", "gone", None, Discovery(HOME, 0, None, "far", modified_at=150.0), []),
    (
        "due already: the whole page",
        "visited",
        due(120.0),
        Discovery(HOME, 0, modified_at=150.0),
        [(HOME, due(120.0, etag=None, modified=None))],
    ),
    ("seen since", "visited", due(120.0), Discovery(HOME, 0, modified_at=99.0), [(HOME, due(120.0))]),
]


@pytest.mark.parametrize(
    ("state", "seen", "found", "leased"), [row[1:] for row in REPORTED], ids=[row[0] for row in REPORTED]
)
def test_a_reported_change(
    kept: Kept,
    state: State,
    seen: LastVisit | None,
    found: Discovery,
    leased: list[tuple[Url, LastVisit | None]],
) -> None:
    store = kept.open()
    visit(store, seen, HOME, state=state)
    kept.now = 150.0
    assert store.add([found]) == 0
    store = kept.open()
    assert [(item.url, item.seen) for item in lease(store, 150.0)] == leased


def test_a_change_reported_while_the_page_waits_for_another_try(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(120.0), HOME)
    lease(store, 120.0)
    settle(store, outcome(HOME, "ready", at=130.0, ready_at=140.0, seen=due(120.0)))
    store.add([Discovery(HOME, 0, modified_at=150.0)])
    assert [item.seen for item in lease(store, 150.0)] == [due(120.0, etag=None, modified=None)]


def test_what_is_due_already_is_not_put_off(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME)
    kept.now = 300.0
    store.add([Discovery(HOME, 1, A, modified_at=250.0)])
    assert store.next_ready_at() == 200.0


def test_how_often_it_changes_stays_with_the_url(kept: Kept) -> None:
    store = kept.open()
    store.add([Discovery(HOME, 1, B), Discovery(A, 1, B, interval_s=60.0), Discovery(A, 1, B)])
    assert [item.interval_s for item in lease(store, 0.0)] == [None, 60.0]
    settle(store, outcome(HOME, seen=due(200.0)), outcome(A, "ready", ready_at=200.0))
    store.add([Discovery(HOME, 1, B, interval_s=3600.0)])
    store.add([Discovery(HOME, 1, B), Discovery(HOME, 1, B, "far", interval_s=7.0)])
    for ready_at in (200.0, 300.0):
        store = kept.open()
        assert [(item.url, item.interval_s) for item in lease(store, ready_at)] == [(HOME, 3600.0), (A, 60.0)]
        settle(store, outcome(HOME, seen=due(300.0)), outcome(A, seen=due(300.0)))
    store.add([Discovery(A, 1, B, interval_s=61.0)])
    assert [item.interval_s for item in lease(store, 300.0)] == [3600.0, 61.0]


def test_a_url_named_twice_at_once_has_the_last_interval(kept: Kept) -> None:
    store = kept.open()
    store.add([Discovery(A, 1, B, interval_s=60.0), Discovery(A, 1, B, interval_s=70.0), Discovery(A, 1, B)])
    store.add([Discovery(B, 1, B), Discovery(B, 1, B, interval_s=80.0)])
    assert [item.interval_s for item in lease(store, 0.0)] == [70.0, 80.0]


# ---- the index queue -------------------------------------------------------------------------------------------------

QUEUES: list[tuple[str, dict[str, Any], list[Url], list[Url]]] = [
    ("changed", {"to_index": True}, [HOME], []),
    ("unchanged", {"unchanged": True}, [HOME], []),
    ("no longer to be indexed", {}, [], []),
    ("to be taken out", {"from_index": True}, [], [HOME]),
    ("gone", {"from_index": True, "state": "gone"}, [], [HOME]),
    ("another try", {"state": "ready"}, [HOME], []),
    ("another try, taken out meanwhile", {"state": "ready", "from_index": True}, [], [HOME]),
]


@pytest.mark.parametrize(("said", "pending", "leaving"), [row[1:] for row in QUEUES], ids=[row[0] for row in QUEUES])
def test_a_revisit_decides_what_the_index_gets(
    kept: Kept, said: dict[str, Any], pending: list[Url], leaving: list[Url]
) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME, to_index=True)
    lease(store, 200.0)
    settle(store, outcome(HOME, said.get("state", "visited"), **{k: v for k, v in said.items() if k != "state"}))
    store = kept.open()
    assert ([url for url, _ in store.pending()], store.leaving()) == (pending, leaving)
    store.indexed([HOME, OTHER])
    store = kept.open()
    assert (store.pending(), store.leaving()) == ([], [])


def test_what_is_indexed_again_does_not_leave(kept: Kept) -> None:
    store = kept.open()
    visit(store, due(200.0), HOME, A, B, from_index=True)
    assert store.leaving() == [HOME, A, B]
    lease(store, 200.0)
    settle(store, outcome(A, to_index=True, record=RECORD), outcome(HOME, unchanged=True), outcome(B))
    store = kept.open()
    assert (store.pending(), store.leaving()) == ([(A, RECORD)], [HOME, B])


def test_what_cannot_be_replayed_is_asked_for_as_if_never_seen(kept: Kept) -> None:
    store = kept.open(inf, 4)
    visit(store, due(200.0), HOME, A, to_index=True)
    lease(store, 200.0, 1)
    store.requeue([HOME, A])
    assert counts(store) == {"leased": 1, "ready": 1}
    store.settle([], [Release("example.org", 0.0)])
    store = kept.open(inf, 4)
    assert [(item.url, item.seen) for item in lease(store, 0.0)] == [(HOME, None), (A, None)]
    settle(store, outcome(HOME, seen=due(300.0)), outcome(A, seen=due(300.0)))
    store.add(site(5))
    assert [item.url.path for item in lease(store, 0.0)] == ["/0", "/1"]


def test_one_lease_at_most_and_all_of_it_due(kept: Kept) -> None:
    store = kept.open()
    urls = [Url(f"https://example.org/{page}") for page in range(30)]
    visit(store, due(200.0), *urls)
    leases: list[Lease] = store.lease(5, 10, 200.0)
    assert [len(item.urls) for item in leases] == [10]
    assert store.lease(5, 10, 200.0) == []
    assert counts(store) == {"leased": 10, "ready": 20}
