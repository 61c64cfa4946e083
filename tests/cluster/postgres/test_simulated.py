"""Machines crawl a simulated web over a real frontier in PostgreSQL, in simulated time, while machines fail: no host is
requested within its delay, and no URL is lost. A frontier that does wrong is found out."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final

import psycopg
import pytest

from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.values import FoundLinks, Lease, Outcome, Release
from simulated_machines import DELAYS_S, Simulated, Simulation, simulated

SEED: Final = 2


def simulate(dsn: str, pages: int, opens: type[PostgresFrontier] = PostgresFrontier, **more: Any) -> Simulated:
    """Runs it with slow sites, so that a few pages last for some minutes."""
    slow = {"delays_s": (1.0, 4.0), "busy_s": 60.0, "faults_s": 40.0, "turn_s": 2.0, **more}
    return Simulation(simulated(dsn), pages=pages, machines_=3, seed=SEED, opens=opens, parts=2, **slow).run()


@pytest.mark.long
def test_no_host_is_requested_too_soon_and_no_url_is_lost(postgres_dsn: str) -> None:
    result = simulate(postgres_dsn, 1500)
    assert (result.wrong, result.examples, result.is_finished) == ({}, (), True)
    assert result.requests > 1000
    assert {"killed", "stopped", "cut off", "left"} <= result.faults_made.keys()
    with psycopg.connect(postgres_dsn) as connection:
        assert connection.execute("SELECT count(*) FROM leased").fetchone() == (0,)


@pytest.mark.long
def test_a_longer_crawl(postgres_dsn: str) -> None:
    result = simulate(postgres_dsn, 20_000, delays_s=DELAYS_S, busy_s=40.0, faults_s=30.0, turn_s=1.0)
    assert (result.wrong, result.examples, result.is_finished) == ({}, (), True)
    assert result.rejected, "some machine settled late"
    assert result.repeated
    assert result.faults_made.keys() >= {"joined again", "Retry-After", "longer delays", "shared addresses"}


class IgnoresReadyTime(PostgresFrontier):
    """Leases hosts ten seconds too early."""

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        return super().lease(hosts, urls_per_host, now + 10.0, sized=sized)


class ForgetsCuts(PostgresFrontier):
    """Does not say that a host was taken over from a machine that may have requested it just before."""

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        return [replace(lease, cut_at=None) for lease in super().lease(hosts, urls_per_host, now, sized=sized)]


class LeasesTwice(PostgresFrontier):
    """Gives some leases to the next machine that asks, too."""

    given: ClassVar[list[Lease]] = []

    def lease(self, hosts: int, urls_per_host: int, now: float, *, sized: bool = False) -> list[Lease]:
        leases = super().lease(hosts, urls_per_host, now, sized=sized)
        again = [lease for lease in self.given if lease.host not in {other.host for other in leases}]
        self.given[:] = leases[:1]
        return [*leases, *again]


class AcceptsLateResults(PostgresFrontier):
    """Says of no outcome that its lease had ended."""

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        super().settle(outcomes, releases, found)
        return []


class LosesLinks(PostgresFrontier):
    """Drops the last links of one page in each batch."""

    def settle(
        self, outcomes: Sequence[Outcome], releases: Sequence[Release], found: Sequence[FoundLinks] = ()
    ) -> list[int]:
        first = [replace(outcome, links=outcome.links[:1]) for outcome in outcomes[:1]]
        return super().settle([*first, *outcomes[1:]], releases, found)


class LeasesBarred(PostgresFrontier):
    """Bars no host."""

    def bar_host(self, host: str) -> bool:
        return True

    def remove_host(self, host: str) -> int:
        return 0


@pytest.mark.long
@pytest.mark.parametrize(
    ("opens", "kind"),
    [
        (IgnoresReadyTime, "too soon"),
        (ForgetsCuts, "too soon"),
        (LeasesTwice, "leased twice"),
        (AcceptsLateResults, "settled late"),
        (LosesLinks, "lost"),
        (LeasesBarred, "barred"),
    ],
)
def test_a_frontier_that_does_wrong_is_found_out(postgres_dsn: str, opens: type[PostgresFrontier], kind: str) -> None:
    assert kind in simulate(postgres_dsn, 1500, opens, until_fault=True).wrong
