"""Does everything to a frontier in memory and to one in a file, and compares what they say."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from goodbot.store.memory.memory_frontier import MemoryFrontier
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, FoundLinks, Lease, Outcome, Release
from random_crawls import URLS, discoveries, outcome_parts, some_url


class SameAsInMemory(RuleBasedStateMachine):
    """Does everything to both frontiers and compares what they say."""

    host_pages: int | None = None
    revisit_until: float | None = None
    host_lists: int | None = None

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0
        self.leases: dict[str, list[Url]] = {}
        self.tokens: dict[str, int] = {}
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "frontier.sqlite"
        self.memory = MemoryFrontier(
            now=lambda: self.now,
            host_pages=self.host_pages,
            revisit_until=self.revisit_until,
            host_lists=self.host_lists,
        )
        self.sqlite = self.open(create=True)

    def open(self, *, create: bool = False) -> SqliteFrontier:
        return SqliteFrontier.open(
            self.path,
            create=create,
            now=lambda: self.now,
            host_pages=self.host_pages,
            revisit_until=self.revisit_until,
            host_lists=self.host_lists,
        )

    def teardown(self) -> None:
        self.sqlite.close()
        self.folder.cleanup()

    def both(self, ask: Callable[[Any], Any]) -> Any:
        expected = ask(self.memory)
        assert ask(self.sqlite) == expected
        return expected

    def possible(self, outcome: Outcome) -> Outcome:
        """The outcome, changed if the comparison needs more than the ports promise."""
        return outcome

    @rule(found=discoveries)
    def add(self, found: list[Discovery]) -> None:
        self.both(lambda store: store.add(found))

    @rule(hosts=st.integers(0, 3), urls=st.integers(0, 3))
    def lease(self, hosts: int, urls: int) -> None:
        leases: list[Lease] = self.both(lambda store: store.lease(hosts, urls, self.now))
        for lease in leases:
            assert lease.host not in self.leases
            assert lease.urls
            self.leases[lease.host] = [item.url for item in lease.urls]
            self.tokens[lease.host] = lease.token

    @rule(data=st.data(), release=st.booleans(), wait=st.sampled_from([0.0, 1.0, 5.0]))
    def settle(self, data: st.DataObject, release: bool, wait: float) -> None:
        if not self.leases:
            return
        host = data.draw(st.sampled_from(sorted(self.leases)))
        done = [self.leases[host].pop() for _ in range(data.draw(st.integers(0, len(self.leases[host]))))]
        token = self.tokens[host]
        outcomes = [
            self.possible(Outcome(url, at=self.now, ready_at=self.now + wait, token=token, **data.draw(outcome_parts)))
            for url in reversed(done)
        ]
        releases = [Release(host, self.now + wait, wait, token=token)] if release else []
        found = [FoundLinks(tuple(data.draw(discoveries)), self.now)] if data.draw(st.booleans()) else []
        assert self.both(lambda store: list(store.settle(outcomes, releases, found))) == []
        if release:
            del self.leases[host]

    @rule(url=some_url, host=st.sampled_from(["a.example", "nowhere.example"]))
    def settle_too_late(self, url: Url, host: str) -> None:
        if url not in (item for urls in self.leases.values() for item in urls):
            late = Outcome(url, "visited", self.now, "", links=(Discovery(URLS[0], 1, source=url),))
            assert self.both(lambda store: list(store.settle([late], []))) == [0]
        if host not in self.leases:
            self.both(lambda store: store.settle([], [Release(host, 0.0)]))

    @rule(seconds=st.sampled_from([0.5, 1.0, 5.0, 90_000.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds

    @rule(wanted=st.sets(some_url), why=st.sampled_from(["too far", "no"]))
    def reconsider(self, wanted: set[Url], why: str) -> None:
        self.both(lambda store: store.reconsider(lambda url, _: None if url in wanted else why))

    @rule(urls=st.lists(some_url, max_size=3), again=st.booleans())
    def take_off_the_queue(self, urls: list[Url], again: bool) -> None:
        self.both(lambda store: (store.requeue if again else store.indexed)(urls))

    @rule()
    def reopen(self) -> None:
        """With leases out it is a crash."""
        self.sqlite.close()
        self.sqlite = self.open()
        self.forget_leases()

    def forget_leases(self) -> None:
        self.memory.take_away_leases(self.now)
        self.leases.clear()
        for host in self.memory._hosts.values():
            host.lists_counted = 0

    @invariant()
    def they_say_the_same(self) -> None:
        status = self.both(lambda store: store.status())
        assert sum(status.states.values()) == len(self.both(lambda store: list(store.records())))
        self.both(lambda store: store.next_ready_at())
        self.both(lambda store: store.pending())
        self.both(lambda store: store.leaving())
        self.both(lambda store: [store.copies_of(url) for url in URLS])
        self.both(lambda store: [store.record(url) for url in URLS])
