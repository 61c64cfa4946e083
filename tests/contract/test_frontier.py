"""What every Frontier, Ledger and IndexQueue does, whatever keeps it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from goodbot.partitions import PARTITIONS, partition_of
from goodbot.search_values import IndexMark
from goodbot.store.merge.limits import FIRST_URLS
from goodbot.url import Url, parse_url
from goodbot.values import STATES, Discovery, Event, LastVisit, Lease, Outcome, RecordRef, Release, State
from stores import KINDS, Store, Stores


@dataclass
class Kept:
    """A store under test. `reopen` closes and opens it again, if it is not in memory."""

    stores: Stores
    store: Store

    def reopen(self, host_pages: int | None = None) -> Store:
        self.store = self.store if self.stores.kind == "memory" else self.stores.open(host_pages=host_pages)
        return self.store

    def take_away(self) -> Store:
        """The store after the process that held its leases has died."""
        self.store = self.stores.take_away()
        return self.store

    def grant(self, host_pages: int | None) -> Store:
        """The store of a crawl resumed with so many pages to a host."""
        self.store = self.stores.open(host_pages=host_pages)
        return self.store


@pytest.fixture(params=KINDS)
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kept]:
    stores = Stores(request.param, tmp_path / "frontier.sqlite", request, time.time)
    yield Kept(stores, stores.open())
    stores.close()


@pytest.fixture
def store(kept: Kept) -> Store:
    return kept.store


def url(text: str) -> Url:
    parsed = parse_url(text)
    assert parsed is not None
    return parsed


HOME = url("https://example.org/")
A = url("https://example.org/a")
B = url("https://example.org/b?x=1")
OTHER = url("https://example.net/")


def seed(*urls: Url) -> list[Discovery]:
    return [Discovery(item, 0) for item in urls]


def link(target: Url, depth: int = 1, **more: Any) -> Discovery:
    return Discovery(target, depth, source=HOME, **more)


def outcome(of: Url, state: State = "visited", at: float = 100.0, **more: Any) -> Outcome:
    return Outcome(of, state, at, more.pop("why", "said so"), **more)


def lease_all(store: Store, now: float = 0.0) -> list[Lease]:
    return store.lease(1000, 1000, now)


def leased(leases: list[Lease]) -> list[str]:
    return [item.url.text for lease in leases for item in lease.urls]


def settle_seed(store: Store, state: State = "visited", **more: Any) -> None:
    """HOME is found, leased and settled; its host is free at once."""
    store.add(seed(HOME))
    lease_all(store)
    store.settle([outcome(HOME, state, **more)], [Release("example.org", 0.0)])


def state_of(store: Store, of: Url) -> State:
    record = store.record(of)
    assert record is not None
    return record.state


# ---- adding ---------------------------------------------------------------------------------------------------


def test_nothing_is_known_at_first(store: Store) -> None:
    status = store.status()
    assert status.states == dict.fromkeys(STATES, 0)
    assert (status.pages, status.bytes, status.hosts, status.next_ready_at) == (0, 0, 0, None)
    assert status.finished
    assert store.next_ready_at() is None
    assert store.record(HOME) is None
    assert list(store.records()) == []
    assert store.pending() == []
    assert lease_all(store) == []


def test_add_gives_how_many_are_new(store: Store) -> None:
    assert store.add(seed(HOME, A)) == 2
    assert store.add(seed(HOME, A, B)) == 1
    assert store.add([]) == 0
    assert store.status().states["ready"] == 3


def test_one_call_may_name_a_url_twice_and_the_smallest_depth_counts(store: Store) -> None:
    assert store.add([link(A, 3), link(A, 1), link(A, 2, refused="too deep"), link(A, 2)]) == 1
    record = store.record(A)
    assert record is not None
    assert (record.state, record.depth) == ("ready", 1)


def test_a_shorter_way_found_later_counts(store: Store) -> None:
    store.add([link(A, 3), link(B, 2)])
    store.add([link(A, 1)])
    (lease,) = lease_all(store)
    assert [(item.url, item.depth) for item in lease.urls] == [(A, 1), (B, 2)]


def test_a_url_left_out_that_is_found_in_scope_is_ready(store: Store) -> None:
    assert [store.add([link(A, 9, refused="too deep")]) for _ in range(2)] == [1, 0]
    assert store.add([link(A, 4)]) == 0
    (lease,) = lease_all(store)
    assert [(item.url, item.depth) for item in lease.urls] == [(A, 4)]
    assert store.add([link(A, 9, refused="too deep")]) == 0
    assert state_of(store, A) == "leased"


def test_a_lease_remembers_redirects_and_where_they_came_from(store: Store) -> None:
    store.add([Discovery(A, 0, HOME, public_only=True, hops=3)])
    (lease,) = lease_all(store)
    assert [(item.public_only, item.hops) for item in lease.urls] == [(True, 3)]


def test_add_reads_an_iterator_once(store: Store) -> None:
    assert store.add(Discovery(item, 0) for item in (HOME, A)) == 2


def test_a_refused_url_is_known_with_the_reason_and_is_not_leased(store: Store) -> None:
    assert store.add([link(OTHER, refused="another host")]) == 1
    assert lease_all(store) == []
    record = store.record(OTHER)
    assert record is not None
    assert (record.state, record.why) == ("out-of-scope", "another host")
    assert [(event.step, event.reason) for event in record.events][-1] == ("scope", "another host")
    assert store.status().hosts == 0
    assert store.status().finished


@pytest.mark.parametrize("state", ["visited", "disallowed", "out-of-scope", "failed", "gone"])
def test_a_link_never_changes_a_url_that_was_settled(store: Store, state: State) -> None:
    settle_seed(store, state)
    assert store.add([link(HOME, 7), link(HOME, 7, refused="too deep")]) == 0
    assert state_of(store, HOME) == state


@pytest.mark.parametrize(
    ("state", "after"),
    [
        ("visited", "visited"),
        ("disallowed", "disallowed"),
        ("out-of-scope", "ready"),
        ("failed", "ready"),
        ("gone", "gone"),
    ],
)
def test_a_seed_that_failed_is_ready_again(store: Store, state: State, after: State) -> None:
    settle_seed(store, state, tries=3)
    assert store.add(seed(HOME)) == 0
    assert state_of(store, HOME) == after
    assert [item.tries for lease in lease_all(store) for item in lease.urls] == ([0] if after == "ready" else [])


def test_a_seed_that_was_refused_before_is_ready_at_the_seeds_depth(store: Store) -> None:
    store.add([link(A, 4, refused="too deep")])
    store.add([Discovery(A, 0, refused="still not")])
    assert state_of(store, A) == "out-of-scope"
    store.add(seed(A))
    (lease,) = lease_all(store)
    assert [(item.url, item.depth) for item in lease.urls] == [(A, 0)]
    assert store.status().hosts == 1


# ---- leasing --------------------------------------------------------------------------------------------------


def test_shallow_before_deep_then_in_the_order_found(store: Store) -> None:
    paths = [("/d2", 2), ("/d1", 1), ("/d0", 0), ("/e1", 1), ("/e0", 0)]
    store.add([link(url(f"https://example.org{path}"), depth) for path, depth in paths])
    (lease,) = lease_all(store)
    assert [item.url.path for item in lease.urls] == ["/d0", "/e0", "/d1", "/e1", "/d2"]
    assert [item.depth for item in lease.urls] == [0, 0, 1, 1, 2]


def test_of_one_depth_many_in_links_come_first_then_a_high_hint(store: Store) -> None:
    told: list[tuple[str, int, dict[str, int]]] = [
        ("/deep", 2, {"inlinks": 1000, "priority": 100}),
        ("/plain", 1, {}),
        ("/low", 1, {"priority": -1}),
        ("/linked", 1, {"inlinks": 4}),
        ("/hinted", 1, {"priority": 9}),
        ("/linked-and-hinted", 1, {"inlinks": 7, "priority": 1}),
        ("/highest", 1, {"priority": 10**9}),
        ("/most", 1, {"inlinks": 10**30, "priority": -(10**9)}),
        ("/as-plain", 1, {"inlinks": -5}),
    ]
    store.add([link(url(f"https://example.org{path}"), depth, **more) for path, depth, more in told])
    (lease,) = lease_all(store)
    assert [item.url.path for item in lease.urls] == [
        *("/most", "/linked-and-hinted", "/linked", "/highest", "/hinted", "/plain", "/as-plain", "/low", "/deep")
    ]
    assert {item.depth for item in lease.urls} == {1, 2}


def test_what_can_wait_comes_last_until_it_is_found_elsewhere(kept: Kept) -> None:
    kept.store.add([link(A, 1, inlinks=64, can_wait=True), link(B, 1, can_wait=True), link(HOME, 9)])
    store = kept.reopen()
    assert leased(lease_all(store)) == [HOME.text]
    store.settle([outcome(HOME)], [Release("example.org", 0.0)])
    store.add([link(HOME, 9, can_wait=True), link(B, 3)])
    (lease,) = lease_all(store)
    assert [(item.url, item.depth) for item in lease.urls] == [(B, 1)]
    store.settle([outcome(B)], [Release("example.org", 0.0)])
    assert leased(lease_all(store)) == [A.text]


def test_what_is_told_again_changes_the_order_only_for_the_better(kept: Kept) -> None:
    kept.store.add([link(HOME, 2), link(A, 2), link(B, 2)])
    kept.store.add([link(B, 2, inlinks=2), link(A, 3, priority=5), link(B, 2), link(HOME, 9)])
    assert leased(lease_all(kept.reopen())) == [B.text, A.text, HOME.text]
    kept.store.add([link(HOME, 2, inlinks=8), link(A, 2, refused="no", inlinks=64)])
    kept.store.settle([], [Release("example.org", 0.0)])
    assert leased(lease_all(kept.store)) == [HOME.text, B.text, A.text]


def test_the_order_of_a_retry_counts_from_when_it_is_due(store: Store) -> None:
    store.add([link(HOME, 1), link(A, 1), link(B, 1)])
    lease_all(store)
    store.settle([outcome(B, "ready", ready_at=50.0)], [Release("example.org", 0.0)])
    store.add([link(B, 1, inlinks=16)])
    assert leased(store.lease(1, 1, 49.0)) == [HOME.text]
    store.settle([outcome(HOME)], [Release("example.org", 0.0)])
    assert leased(lease_all(store, now=50.0)) == [B.text, A.text]


def test_small_hosts_are_finished_before_a_large_one_has_had_a_thousand(store: Store) -> None:
    """64 leases at once of 64 URLs each, one URL a second of each, a host free again as soon as its lease ends."""
    large = [Discovery(url(f"https://large.example/{page}"), 0) for page in range(10_000)]
    small = [Discovery(url(f"https://s{host}.example/{page}"), 0) for host in range(99) for page in range(10)]
    store.add([*large, *small])
    left, fetched, now = len(small), 0, 0.0
    under_way: list[tuple[float, Lease]] = []
    while left:
        under_way += [(now + len(lease.urls), lease) for lease in store.lease(64 - len(under_way), 64, now)]
        now = min(ends for ends, _ in under_way)
        for lease in [lease for ends, lease in under_way if ends == now]:
            store.settle([outcome(item.url, at=now) for item in lease.urls], [Release(lease.host, now)])
            if lease.host == "large.example":
                fetched += len(lease.urls)
            else:
                left -= len(lease.urls)
        under_way = [(ends, lease) for ends, lease in under_way if ends != now]
    assert fetched < 1000


# ---- a bound on the pages of a host ---------------------------------------------------------------------------


def site(pages: int, host: str = "example.org") -> list[Discovery]:
    return [link(url(f"https://{host}/{page}")) for page in range(pages)]


def visit(store: Store, urls: int, state: State = "visited") -> list[str]:
    """One round: every host is leased, its URLs are settled, it is free at once."""
    leases = store.lease(100, urls, 1e6)
    done = [outcome(item.url, state, ready_at=0.0) for lease in leases for item in lease.urls]
    store.settle(done, [Release(lease.host, 0.0) for lease in leases])
    return leased(leases)


def test_a_host_has_its_pages_and_the_rest_is_out_of_scope(kept: Kept) -> None:
    store = kept.grant(3)
    store.add([*site(5), *site(2, "small.example")])
    assert [len(visit(store, 2)) for _ in range(4)] == [4, 1, 0, 0]
    record = store.record(url("https://example.org/4"))
    assert record is not None
    assert (record.state, record.why) == ("out-of-scope", "its host has reached its limit of 3 pages (--host-pages 3)")
    assert record.events[-1].reason == record.why
    assert store.status().states == dict.fromkeys(STATES, 0) | {"visited": 5, "out-of-scope": 2}
    assert store.status().finished
    store.add([*site(7), Discovery(url("https://example.org/seed"), 0)])
    assert store.status().states["out-of-scope"] == 5
    assert (visit(store, 9), store.next_ready_at()) == ([], None)


@pytest.mark.parametrize("state", ["failed", "gone", "disallowed", "out-of-scope"])
def test_only_pages_visited_count(kept: Kept, state: State) -> None:
    store = kept.grant(2)
    store.add(site(5))
    assert len(visit(store, 9, state)) == 2
    assert len(visit(store, 9)) == 2
    assert store.status().states["out-of-scope"] == 1 + 2 * (state == "out-of-scope")


def test_what_waits_for_another_try_is_closed_too(kept: Kept) -> None:
    store = kept.grant(1)
    store.add(site(3))
    leases = lease_all(store)
    store.settle([outcome(leases[0].urls[0].url, "ready", ready_at=1e9, tries=1)], [Release("example.org", 0.0)])
    assert len(visit(store, 9)) == 1
    assert store.status().states["out-of-scope"] == 2
    assert store.next_ready_at() is None


def test_a_higher_bound_makes_them_ready_again(kept: Kept) -> None:
    store = kept.grant(1)
    store.add([*site(4), link(url("https://example.org/far"), refused="far")])
    assert len(visit(store, 9)) == 1
    store = kept.grant(3)
    assert store.reconsider(lambda of, _: "far" if of.path == "/far" else None) == 3
    assert [len(visit(store, 9)) for _ in range(2)] == [2, 0]
    record = store.record(url("https://example.org/3"))
    assert record is not None
    assert record.why == "its host has reached its limit of 3 pages (--host-pages 3)"
    assert kept.grant(3).reconsider(lambda of, depth: None) == 0
    store = kept.grant(None)
    assert store.reconsider(lambda of, depth: None) == 2
    assert len(visit(store, 9)) == 2


def test_a_page_that_is_to_be_fetched_again_counts_once(kept: Kept) -> None:
    store = kept.grant(2)
    store.add(site(2))
    visited = visit(store, 9)
    store.requeue([url(text) for text in visited])
    assert visit(store, 9) == visited
    assert store.status().states["visited"] == 2


def test_at_most_so_many_hosts_and_urls(store: Store) -> None:
    hosts = [f"h{number}.example" for number in range(5)]
    store.add([Discovery(url(f"https://{host}/{page}"), 0) for host in hosts for page in range(4)])
    leases = store.lease(3, 2, 0.0)
    assert [(lease.host, len(lease.urls)) for lease in leases] == [(host, 2) for host in hosts[:3]]
    assert [lease.host for lease in store.lease(3, 2, 0.0)] == hosts[3:]
    assert store.lease(3, 2, 0.0) == []
    assert store.status().states["leased"] == 10
    assert store.status().states["ready"] == 10


def test_calls_made_together_all_count_and_each_sees_those_before(kept: Kept) -> None:
    store = kept.store
    with store.together():
        store.add(seed(HOME, A))
        (lease,) = store.lease(1, 1, 0.0)
        store.settle([outcome(HOME, links=(link(B),))], [Release(lease.host, 0.0)])
        assert leased(store.lease(1, 9, 0.0)) == [A.text, B.text]
        store.settle([], [Release(lease.host, 0.0)])
    store = kept.reopen()
    assert state_of(store, HOME) == "visited"
    assert store.status().states["ready"] == 2
    assert leased(lease_all(store)) == [A.text, B.text]


def lease_sized(store: Store) -> int:
    """How many URLs the one host of the store gets in a lease that is sized by what it can use."""
    (lease,) = store.lease(9, 9, 0.0, sized=True)
    return len(lease.urls)


def test_a_sized_lease_has_as_many_urls_as_its_host_could_use_last_time(kept: Kept) -> None:
    store = kept.store
    store.add(seed(*(url(f"https://example.org/{page}") for page in range(20))))
    assert lease_sized(store) == FIRST_URLS
    for said, given in ((1, 1), (4, 4), (None, 4), (1000, 9)):
        store.settle([], [Release("example.org", 0.0, next_urls=said)])
        assert lease_sized(store) == given
    store.settle([], [Release("example.org", 0.0, next_urls=3)])
    store = kept.reopen()
    assert [len(lease.urls) for lease in store.lease(9, 9, 0.0)] == [9]
    store.settle([], [Release("example.org", 0.0)])
    assert lease_sized(store) == 3


def test_a_lease_that_is_full_says_that_there_may_be_more(store: Store) -> None:
    store.add(seed(HOME, A, B))
    for most, sized, is_full in ((2, False, True), (3, False, True), (4, False, False), (4, True, True)):
        (lease,) = store.lease(1, most, 0.0, sized=sized)
        assert lease.is_full == is_full
        store.settle([], [Release("example.org", 0.0)])


@pytest.mark.parametrize(("hosts", "urls"), [(0, 1), (1, 0), (-1, 1), (1, -1)])
def test_no_hosts_or_urls_asked_for_gives_no_lease(store: Store, hosts: int, urls: int) -> None:
    store.add(seed(HOME))
    assert store.lease(hosts, urls, 0.0) == []
    assert store.status().states["ready"] == 1


def test_a_host_has_one_lease_until_it_is_released(store: Store) -> None:
    store.add(seed(HOME, A))
    (lease,) = store.lease(5, 1, 0.0)
    assert store.lease(5, 1, 0.0) == []
    assert store.next_ready_at() is None
    assert not store.is_finished()
    assert store.status().next_ready_at == 0.0
    store.settle([outcome(HOME)], [])
    assert store.lease(5, 1, 0.0) == []
    store.settle([], [Release(lease.host, 0.0)])
    assert leased(store.lease(5, 1, 0.0)) == [A.text]


def test_a_crawl_is_finished_when_nothing_is_ready_and_nothing_leased(store: Store) -> None:
    assert store.is_finished()
    store.add(seed(HOME))
    assert not store.is_finished()
    lease_all(store)
    assert not store.is_finished()
    store.settle([outcome(HOME, "ready", ready_at=500.0, tries=1)], [Release("example.org", 0.0)])
    assert not store.is_finished()
    lease_all(store, 500.0)
    store.settle([outcome(HOME)], [])
    assert not store.is_finished()
    store.settle([], [Release("example.org", 900.0)])
    assert store.is_finished()


def test_http_and_https_are_one_host_ports_of_a_private_one_are_two(store: Store) -> None:
    store.add(seed(HOME, url("http://example.org/"), url("https://example.org:8443/")))
    store.add(seed(url("http://127.0.0.1:8001/"), url("http://127.0.0.1:8002/"), url("http://[::1]:8001/")))
    leases = {lease.host: [item.url.text for item in lease.urls] for lease in lease_all(store)}
    assert leases == {
        "example.org": ["https://example.org/", "http://example.org/", "https://example.org:8443/"],
        "127.0.0.1:8001": ["http://127.0.0.1:8001/"],
        "127.0.0.1:8002": ["http://127.0.0.1:8002/"],
        "[::1]:8001": ["http://[::1]:8001/"],
    }


def test_hosts_that_waited_longest_come_first(kept: Kept) -> None:
    store = kept.store
    hosts = ["a.example", "b.example", "c.example"]
    store.add([Discovery(url(f"https://{host}/{page}"), 0) for host in hosts for page in range(3)])
    store.lease(3, 1, 0.0)
    store.settle([], [Release("a.example", 30.0), Release("b.example", 10.0), Release("c.example", 20.0)])
    store = kept.reopen()
    assert store.next_ready_at() == 10.0
    assert store.lease(3, 1, 9.9) == []
    assert [lease.host for lease in store.lease(3, 1, 20.0)] == ["b.example", "c.example"]
    assert store.next_ready_at() == 30.0


def test_a_host_found_later_does_not_overtake_one_that_waits(store: Store) -> None:
    store.add(seed(HOME, A))
    store.lease(1, 1, 0.0)
    store.settle([outcome(HOME, at=5.0, links=(link(OTHER),))], [Release("example.org", 4.0)])
    assert [lease.host for lease in store.lease(2, 1, 10.0)] == ["example.org", "example.net"]


def test_a_release_makes_the_rest_of_the_lease_ready_in_its_old_order(store: Store) -> None:
    store.add([link(A, 2), link(HOME, 1), link(B, 1)])
    lease_all(store)
    store.settle([outcome(HOME)], [Release("example.org", 50.0, backoff_s=8.0)])
    assert store.status().states["ready"] == 2
    assert lease_all(store, now=49.0) == []
    (lease,) = lease_all(store, now=50.0)
    assert ([item.url for item in lease.urls], lease.backoff_s) == ([B, A], 8.0)


def test_what_a_release_says_of_a_lease_that_was_cut_reaches_the_next(kept: Kept) -> None:
    kept.store.add(seed(HOME))
    for cut_at in (7.0, None):
        lease_all(kept.store)
        kept.store.settle([], [Release("example.org", 0.0, cut_at=cut_at)])
        (lease,) = lease_all(kept.reopen())
        assert lease.cut_at == cut_at
        kept.store.settle([], [Release("example.org", 0.0)])


def test_public_only_reaches_the_lease(kept: Kept) -> None:
    kept.store.add([link(A, public_only=True), link(B)])
    assert [(item.url, item.public_only) for item in lease_all(kept.reopen())[0].urls] == [(A, True), (B, False)]


@pytest.mark.parametrize("at_once", [True, False])
def test_one_link_that_may_lead_inside_clears_a_url_for_good(kept: Kept, at_once: bool) -> None:
    found = [link(A, public_only=True), link(B), link(A), link(B, public_only=True), link(A, public_only=True)]
    for some in [found] if at_once else [[item] for item in found]:
        kept.store.add(some)
    assert [(item.url, item.public_only) for item in lease_all(kept.reopen())[0].urls] == [(A, False), (B, False)]


def test_a_link_that_is_refused_clears_nothing(store: Store) -> None:
    store.add([link(A, public_only=True), link(A, refused="too deep")])
    assert [item.public_only for item in lease_all(store)[0].urls] == [True]


@pytest.mark.parametrize("state", ["failed", "out-of-scope", "disallowed", "visited"])
def test_what_failed_as_public_pages_named_it_is_ready_when_another_does(kept: Kept, state: State) -> None:
    kept.store.add([link(A, public_only=True)])
    lease_all(kept.store)
    kept.store.settle([outcome(A, state)], [Release("example.org", 0.0)])
    for public_only, after in ((True, state), (False, "ready" if state in ("failed", "out-of-scope") else state)):
        kept.store.add([link(A, public_only=public_only)])
        assert state_of(kept.reopen(), A) == after
    if after == "ready":
        assert [item.public_only for item in lease_all(kept.store)[0].urls] == [False]


# ---- settling -------------------------------------------------------------------------------------------------


def test_links_and_outcome_come_together(kept: Kept) -> None:
    settle_seed(kept.store, links=(link(A), link(B), link(OTHER, refused="another host"), link(HOME)))
    store = kept.reopen()
    states = {record.url: record.state for record in store.records()}
    assert states == {HOME: "visited", A: "ready", B: "ready", OTHER: "out-of-scope"}
    assert leased(lease_all(store, now=100.0)) == [A.text, B.text]


@pytest.mark.parametrize("state", ["visited", "disallowed", "out-of-scope", "failed", "gone"])
def test_a_settled_url_is_not_leased_again(store: Store, state: State) -> None:
    settle_seed(store, state)
    assert lease_all(store, now=1e9) == []
    assert store.next_ready_at() is None
    status = store.status()
    assert status.states == dict.fromkeys(STATES, 0) | {state: 1}
    assert (status.finished, status.next_ready_at) == (True, None)


def test_one_more_try_not_before_its_time(kept: Kept) -> None:
    store = kept.store
    store.add(seed(HOME, A))
    lease_all(store)
    store.settle([outcome(HOME, "ready", ready_at=300.0, tries=2)], [Release("example.org", 10.0)])
    store = kept.reopen()
    assert store.next_ready_at() == 10.0
    assert leased(lease_all(store, now=299.0)) == [A.text]
    store.settle([outcome(A, "failed")], [Release("example.org", 20.0)])
    store = kept.reopen()
    assert (store.next_ready_at(), store.status().next_ready_at) == (300.0, 300.0)
    assert not store.status().finished
    assert lease_all(store, now=299.9) == []
    (lease,) = lease_all(store, now=300.0)
    assert [(item.url, item.tries) for item in lease.urls] == [(HOME, 2)]


def test_the_hosts_own_time_holds_for_a_retry_too(store: Store) -> None:
    settle_seed(store, "ready", ready_at=30.0, tries=1)
    lease_all(store, now=30.0)
    store.settle([outcome(HOME, "ready", ready_at=40.0, tries=2)], [Release("example.org", 500.0)])
    assert store.next_ready_at() == 500.0
    assert lease_all(store, now=499.0) == []


LATE = [
    ("a URL not known", [outcome(url("https://example.org/unknown"))], []),
    ("a host not known", [outcome(url("https://nowhere.example/"))], []),
    ("a URL ready, not leased", [outcome(OTHER)], []),
    ("a URL settled before", [outcome(HOME)], []),
    ("another token", [outcome(A, token=7)], []),
    ("a release of a host not known", [], [Release("nowhere.example", 9.0)]),
    ("a release of a host not leased", [], [Release("example.net", 9.0)]),
    ("a release under another token", [], [Release("example.org", 9.0, token=7)]),
]


@pytest.mark.parametrize(("outcomes", "releases"), [row[1:] for row in LATE], ids=[row[0] for row in LATE])
def test_what_comes_too_late_is_rejected_and_the_rest_is_written(
    store: Store, outcomes: list[Outcome], releases: list[Release]
) -> None:
    store.add(seed(HOME, A))
    lease_all(store)
    store.add(seed(OTHER))
    good = outcome(HOME, size_bytes=7, to_index=True)
    assert list(store.settle([good, *outcomes], releases)) == ([1] if outcomes else [])
    assert store.status().states == dict.fromkeys(STATES, 0) | {"visited": 1, "leased": 1, "ready": 1}
    assert ([page for page, _ in store.pending()], store.status().bytes) == ([HOME], 7)
    assert not store.settle([outcome(A)], [Release("example.org", 0.0)])
    assert leased(lease_all(store, now=100.0)) == [OTHER.text]


def test_a_lease_that_was_taken_away_can_settle_nothing(kept: Kept) -> None:
    kept.store.add(seed(HOME, A))
    (first,) = lease_all(kept.store)
    store = kept.take_away()
    (second,) = store.lease(1, 1, 0.0)
    assert (leased([first]), leased([second])) == ([HOME.text, A.text], [HOME.text])
    late = [outcome(HOME, "gone", token=first.token), outcome(A, "gone", token=first.token)]
    assert list(store.settle(late, [Release("example.org", 0.0, token=first.token)])) == [0, 1]
    assert not store.settle([outcome(HOME, token=second.token)], [])
    assert lease_all(store) == []
    store.settle([], [Release("example.org", 0.0, token=second.token)])
    assert leased(lease_all(store)) == [A.text]


def test_links_of_a_rejected_outcome_are_written(store: Store) -> None:
    store.add(seed(HOME))
    lease_all(store)
    store.settle([], [Release("example.org", 0.0)])
    late = outcome(HOME, links=(link(A), link(OTHER)))
    assert list(store.settle([late], [])) == [0]
    assert leased(lease_all(store, now=100.0)) == [HOME.text, A.text, OTHER.text]


# ---- asking ---------------------------------------------------------------------------------------------------


def test_status_counts(kept: Kept) -> None:
    store = kept.store
    store.add(seed(HOME, A, B, OTHER))
    store.lease(1, 3, 0.0)
    store.settle(
        [
            outcome(HOME, size_bytes=1000, links=(link(url("https://far.example/"), refused="far"),)),
            outcome(A, "disallowed"),
            outcome(B, "ready", size_bytes=24, ready_at=99.0, tries=1),
        ],
        [Release("example.org", 1.0)],
    )
    status = kept.reopen().status()
    assert status.states == dict.fromkeys(STATES, 0) | {"visited": 1, "disallowed": 1, "ready": 2, "out-of-scope": 1}
    assert (status.pages, status.bytes, status.hosts, status.next_ready_at) == (1, 1024, 2, 0.0)


def test_a_record_tells_how_it_was_found_and_what_became_of_it(kept: Kept) -> None:
    said = (Event(99.0, "permission", "allowed", "Allow: /", line=3), Event(99.5, "fetch", "answered", "200"))
    settle_seed(kept.store, links=(link(A),))
    lease_all(kept.store, now=100.0)
    reference = RecordRef("0001.warc.gz", 1234)
    kept.store.settle(
        [outcome(A, at=200.0, status=200, digest="sha1:X", title="Ä title", record=reference, events=said, why="good")],
        [Release("example.org", 0.0)],
    )
    record = kept.reopen().record(A)
    assert record is not None
    assert (record.url, record.state, record.depth, record.why) == (A, "visited", 1, "good")
    assert (record.status, record.fetched_at, record.digest) == (200, 200.0, "sha1:X")
    assert (record.title, record.record) == ("Ä title", reference)
    assert record.events[0] == Event(100.0, "found", "known", f"linked from {HOME}, depth 1")
    assert record.events[1:] == said
    home = kept.store.record(HOME)
    assert home is not None
    assert home.events[0].reason == "seed or submitted, depth 0"


def test_the_first_source_of_each_link_of_a_batch_is_told(store: Store) -> None:
    store.add([Discovery(B, 1, source=A), link(OTHER), Discovery(A, 2, source=B), *seed(HOME)])
    submitted = url("https://example.org/submitted")
    store.add([Discovery(submitted, 0, public_only=True)])
    reasons = {item.url: store.record(item.url) for item in store.records()}
    assert {key: value.events[0].reason for key, value in reasons.items() if value} == {
        B: f"linked from {A}, depth 1",
        OTHER: f"linked from {HOME}, depth 1",
        A: f"linked from {B}, depth 2",
        HOME: "seed or submitted, depth 0",
        submitted: "submitted by a visitor, depth 0",
    }


def test_without_an_answer_there_is_no_time_of_fetching(store: Store) -> None:
    settle_seed(store, "failed", why="no connection")
    record = store.record(HOME)
    assert record is not None
    assert (record.fetched_at, record.why) == (None, "no connection")


def test_records_come_in_the_order_found_and_as_of_the_first_step(store: Store) -> None:
    settle_seed(store, links=(link(B), link(OTHER), link(A)))
    records = store.records()
    first = next(records)
    store.add(seed(url("https://late.example/")))
    lease_all(store, now=100.0)
    rest = list(records)
    assert [item.url for item in (first, *rest)] == [HOME, B, OTHER, A]
    assert [item.state for item in rest] == ["ready"] * 3
    assert len(list(store.records())) == 5


# ---- a wider scope --------------------------------------------------------------------------------------------


def test_reconsider_asks_for_every_url_out_of_scope(kept: Kept) -> None:
    kept.store.add([link(A, 2, refused="deep"), link(B, 3, refused="deep"), link(OTHER, 1, refused="far"), link(HOME)])
    store = kept.reopen()
    asked: dict[Url, int] = {}

    def judge(of: Url, depth: int) -> str | None:
        asked[of] = depth
        return None if of == A else "still too far"

    assert store.reconsider(judge) == 1
    assert asked == {A: 2, B: 3, OTHER: 1}
    assert (state_of(store, A), state_of(store, B)) == ("ready", "out-of-scope")
    record = store.record(OTHER)
    assert record is not None
    assert record.why == "still too far"
    assert leased(lease_all(store)) == [HOME.text, A.text]
    assert store.status().states["out-of-scope"] == 2


def test_a_judge_that_fails_changes_nothing(store: Store) -> None:
    store.add([link(A, refused="deep"), link(B, refused="deep")])

    def judge(of: Url, depth: int) -> str | None:
        if of == B:
            raise LookupError(depth)
        return None

    with pytest.raises(LookupError):
        store.reconsider(judge)
    assert store.status().states["out-of-scope"] == 2


# ---- the index queue ------------------------------------------------------------------------------------------


def test_pages_to_index_are_pending_until_indexed(kept: Kept) -> None:
    store = kept.store
    reference = RecordRef("0001.warc.gz", 0)
    store.add(seed(HOME, A, B))
    lease_all(store)
    settled = [outcome(HOME, to_index=True, record=reference), outcome(A, to_index=True), outcome(B, record=reference)]
    store.settle(settled, [Release("example.org", 0.0)])
    store = kept.reopen()
    assert store.pending() == [(HOME, reference), (A, None)]
    store.indexed([HOME, OTHER])
    assert kept.reopen().pending() == [(A, None)]
    assert state_of(kept.store, HOME) == "visited"


def test_some_of_what_is_pending(kept: Kept) -> None:
    store = kept.store
    store.add(seed(HOME, A, B))
    lease_all(store)
    store.settle([outcome(url, to_index=True) for url in (HOME, A, B)], [Release("example.org", 0.0)])
    some = store.pending(2)
    assert len(some) == 2
    store.indexed([url for url, _ in some], IndexMark("one", 7))
    (left,) = store.pending(2)
    assert {left, *some} == {(url, None) for url in (HOME, A, B)}


def test_what_is_passed_over_is_not_pending_and_in_no_index(kept: Kept) -> None:
    seen = LastVisit(1.0, 9.0, 8.0, 1.0, '"1"', "Sat, 21 Nov 2026 00:00:00 GMT", indexed=True)
    settle_seed(kept.store, to_index=True, seen=seen)
    kept.store.passed_over([HOME, OTHER])
    store = kept.reopen()
    assert store.pending() == []
    record = store.record(HOME)
    assert record is not None
    later = replace(seen, indexed=False, etag=None, modified=None)
    assert (record.state, record.seen) == ("visited", later), "all of it is requested at the next visit"


def test_requeue_makes_ready_and_no_more_pending(kept: Kept) -> None:
    settle_seed(kept.store, to_index=True, tries=2, links=(link(OTHER, refused="far"),))
    kept.store.requeue([HOME, OTHER, A])
    store = kept.reopen()
    assert store.pending() == []
    assert state_of(store, OTHER) == "out-of-scope"
    (lease,) = lease_all(store, now=100.0)
    assert [(item.url, item.tries) for item in lease.urls] == [(HOME, 0)]
    store.requeue([HOME])
    assert store.status().states["leased"] == 1


@pytest.mark.parametrize(
    ("state", "to_index", "pending"),
    [("visited", True, 1), ("visited", False, 0), ("gone", False, 0), ("ready", False, 1)],
)
def test_a_later_outcome_decides_whether_a_page_is_pending(
    store: Store, state: State, to_index: bool, pending: int
) -> None:
    settle_seed(store, "ready", to_index=True)
    assert len(store.pending()) == 1
    lease_all(store)
    store.settle([outcome(HOME, state, to_index=to_index)], [Release("example.org", 0.0)])
    assert len(store.pending()) == pending


# ---- partitions -----------------------------------------------------------------------------------------------


def test_a_host_is_in_the_partition_of_its_name_until_a_release_moves_it(kept: Kept) -> None:
    kept.store.add(seed(HOME, OTHER))
    of_names = {partition_of("example.org"), partition_of("example.net")}
    assert {lease.partition for lease in lease_all(kept.store)} == of_names
    kept.store.settle([], [Release("example.org", 0.0, partition=PARTITIONS - 1), Release("example.net", 0.0)])
    moved = {lease.host: lease.partition for lease in lease_all(kept.reopen())}
    assert moved == {"example.org": PARTITIONS - 1, "example.net": partition_of("example.net")}
