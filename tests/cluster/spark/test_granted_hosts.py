"""Tests how the hosts of a fetch task are leased."""

from collections.abc import Iterator

from goodbot.cluster.spark.granted_hosts import MAX_WAITING, GrantedHosts
from goodbot.cluster.spark.grants import HostGrant, decode_grant, encode_grant
from goodbot.cluster.spark.table_columns import encode_robots
from goodbot.exclusion import Access
from goodbot.lesson_values import IndexedPage, Lesson
from goodbot.testing import FakeClock
from goodbot.url import Url
from goodbot.values import LastVisit, LeasedUrl, Release


def grant(host: str, urls: int = 1, *, ready_at: float = 0.0, cut_at: float | None = None) -> HostGrant:
    leased = tuple(LeasedUrl(Url(f"http://{host}/{number}"), 0) for number in range(urls))
    return HostGrant(host, 7, ready_at, 0.0, cut_at, leased, (None,) * urls)


class Hosts:
    """Granted hosts with a clock; `begun` and `ended` are the hosts of the calls."""

    def __init__(
        self, *grants: HostGrant, host_s: float = 1e9, ends_in_s: float = 1e9, cut_at: float | None = None
    ) -> None:
        self.clock = FakeClock()
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.read = 0
        self.hosts = GrantedHosts(
            self._counted(grants),
            self.clock,
            host_s=host_s,
            ends_at=self.clock.now() + ends_in_s,
            cut_at=cut_at,
            begin=lambda item: self.begun.append(item.host),
            end=self.ended.append,
        )

    def _counted(self, grants: tuple[HostGrant, ...]) -> Iterator[HostGrant]:
        for item in grants:
            self.read += 1
            yield item

    def lease(self, hosts: int = 10, urls: int = 10) -> dict[str, list[str]]:
        leases = self.hosts.lease(hosts, urls, self.clock.now())
        return {lease.host: [leased.url.target for leased in lease.urls] for lease in leases}

    def release(self, host: str, wait_s: float = 0.0) -> None:
        self.hosts.released(Release(host, self.clock.now() + wait_s))


def test_each_host_is_leased_until_its_urls_have_outcomes() -> None:
    made = Hosts(grant("a", 3), grant("b", 1))
    assert made.lease(urls=2) == {"a": ["/0", "/1"], "b": ["/0"]}
    assert made.lease() == {}
    settled = made.hosts.settled(Url("http://a/0"))
    assert settled is not None
    assert settled.leased.url == Url("http://a/0")
    made.release("a")
    assert made.lease() == {"a": ["/1", "/2"]}
    for page in ("1", "2"):
        made.hosts.settled(Url(f"http://a/{page}"))
    made.release("a")
    assert made.ended == ["a"]
    assert not made.hosts.is_finished()
    made.hosts.settled(Url("http://b/0"))
    made.release("b")
    assert made.hosts.is_finished()
    assert (made.begun, made.ended, made.hosts.urls_left) == (["a", "b"], ["a", "b"], 0)


def test_a_host_is_leased_no_sooner_than_it_is_ready() -> None:
    made = Hosts(grant("a", 2), grant("b", ready_at=FakeClock().now() + 5))
    assert made.lease(urls=1) == {"a": ["/0"]}
    made.hosts.settled(Url("http://a/0"))
    made.release("a", wait_s=2)
    assert made.lease() == {}
    assert made.hosts.next_ready_at() == made.clock.now() + 2
    made.clock.advance(2)
    assert made.lease() == {"a": ["/1"]}
    made.clock.advance(3)
    assert made.lease() == {"b": ["/0"]}


def test_a_slow_host_is_left_for_the_next_cycle() -> None:
    made = Hosts(grant("a", 5), host_s=10)
    assert made.lease(urls=1) == {"a": ["/0"]}
    made.hosts.settled(Url("http://a/0"))
    made.release("a", wait_s=9)
    made.clock.advance(9)
    assert made.lease(urls=1) == {"a": ["/1"]}
    made.hosts.settled(Url("http://a/1"))
    made.release("a", wait_s=9)
    assert (made.ended, made.hosts.urls_left, made.hosts.is_finished()) == (["a"], 3, True)


def test_nothing_is_leased_when_time_is_up() -> None:
    made = Hosts(grant("a", 2), grant("b"), ends_in_s=10)
    assert made.lease(hosts=1, urls=1) == {"a": ["/0"]}
    made.clock.advance(10)
    assert made.lease() == {}
    assert not made.hosts.is_finished()
    made.release("a")
    assert made.hosts.is_finished()
    assert made.hosts.next_ready_at() is None


def test_grants_are_read_as_they_are_needed() -> None:
    late = FakeClock().now() + 100
    made = Hosts(*(grant(f"h{number}", ready_at=late) for number in range(3 * MAX_WAITING)))
    assert made.read == 0
    assert made.lease() == {}
    assert made.read == MAX_WAITING
    assert made.hosts.next_ready_at() == late


def test_after_another_attempt_hosts_count_as_cut_off() -> None:
    first = Hosts(grant("a"), grant("b", cut_at=3.0)).hosts.lease(2, 1, FakeClock().now())
    assert [lease.cut_at for lease in first] == [None, 3.0]
    again = Hosts(grant("a"), grant("b", cut_at=3.0), cut_at=50.0).hosts.lease(2, 1, FakeClock().now())
    assert [lease.cut_at for lease in again] == [50.0, 50.0]


def test_a_result_of_a_lease_that_has_ended_counts_no_more() -> None:
    made = Hosts(grant("a"))
    assert made.hosts.settled(Url("http://a/0")) is None
    made.release("a")
    made.lease()
    made.hosts.settled(Url("http://a/0"))
    assert made.hosts.settled(Url("http://a/0")) is None
    assert made.hosts.settled(Url("http://elsewhere/0")) is None


def test_grants_are_the_same_after_encoding() -> None:
    access = Access("successful", "rfc9309", 1.0, 2.0, 200, None, b"User-agent: *\n\xff")
    seen = LastVisit(1.0, 2.0, 3.0, 4.0, etag='"x"')
    leased = LeasedUrl(Url("http://a/1?q=%C3%A9"), 2, 1, True, 1, seen, 60.0, Url("http://a/2"), 1, True)
    made = HostGrant(
        *("a", 5, 1.5, 2.5, 3.5, (leased,), (8,)),
        robots=encode_robots([("http://a", access)]),
        lessons=(Lesson("a", "trap", "x", "because", 1.0),),
        indexed_pages=(IndexedPage(Url("http://a/3"), None, "ff"),),
    )
    assert decode_grant(encode_grant(made)) == made
    assert made.accesses == (("http://a", access),)
