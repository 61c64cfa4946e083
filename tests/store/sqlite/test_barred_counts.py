"""Tests that URLs of a forgotten host do not count as URLs to fetch, even before they are removed."""

from pathlib import Path

from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release

HOST = "gone.example"
NOW = 1_700_000_000.0


def test_to_fetch(tmp_path: Path) -> None:
    with SqliteFrontier.open(tmp_path / "frontier.sqlite", create=True, now=lambda: NOW) as frontier:
        frontier.add(Discovery(Url(f"http://{host}/{n}"), 0) for host in (HOST, "b.example") for n in range(10))
        assert frontier.to_fetch() == 20
        leases = frontier.lease(2, 4, NOW)
        (ours,) = [lease for lease in leases if lease.host == HOST]
        later = Outcome(ours.urls[1].url, "ready", NOW, "again", ready_at=NOW + 9)
        frontier.bar_host(HOST)
        assert frontier.to_fetch() == 10
        frontier.settle([Outcome(ours.urls[0].url, "visited", NOW, ""), later], [Release(HOST, NOW)])
        assert frontier.to_fetch() == 10, "three that were leased are ready again, one of them later"
        assert frontier.status().states["ready"] == 9 + 6
        (other,) = [lease for lease in leases if lease.host != HOST]
        frontier.settle([Outcome(item.url, "visited", NOW, "") for item in other.urls], [Release(other.host, NOW)])
        assert frontier.to_fetch() == 6
        frontier.remove_host(HOST)
        assert frontier.to_fetch() == 6
        assert frontier.unbar_host(HOST)
        frontier.add([Discovery(Url(f"http://{HOST}/new"), 0)])
        assert frontier.to_fetch() == 7
        frontier.bar_host(HOST)
        assert frontier.to_fetch() == 6
