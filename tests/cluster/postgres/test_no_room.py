"""A server that has no room when a transaction writes, or only when it is committed: the call may be repeated, and is
carried out once."""

from collections.abc import Iterator

import psycopg
import pytest

from goodbot.cluster.postgres.frontier import PostgresFrontier
from goodbot.cluster.postgres.machines import Identity
from goodbot.errors import StoreAwayError
from goodbot.url import Url
from goodbot.values import Discovery, Outcome, Release

_FULL = """CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE 'could not extend file "base/5/16645": No space left on device' USING ERRCODE = 'disk_full'; END $$;
  CREATE CONSTRAINT TRIGGER full_disk AFTER INSERT OR UPDATE OR DELETE ON {} DEFERRABLE INITIALLY {}
  FOR EACH ROW EXECUTE FUNCTION full_disk()"""


@pytest.fixture
def frontier(postgres_dsn: str) -> Iterator[PostgresFrontier]:
    with PostgresFrontier.open(postgres_dsn, Identity("writer", "first", 1), parts=2) as frontier:
        frontier.take_part()
        yield frontier


@pytest.mark.parametrize("when", ["IMMEDIATE", "DEFERRED"])
def test_nothing_is_lost_and_nothing_is_done_twice(frontier: PostgresFrontier, postgres_dsn: str, when: str) -> None:
    """DEFERRED: the error arrives with the answer to COMMIT."""
    page = Url("http://h.example/")
    found = Discovery(Url("http://h.example/found"), 1, page)
    frontier.add([Discovery(page, 0)])
    (lease,) = frontier.lease(1, 1, frontier.clock.now())
    at = frontier.clock.now()
    outcome = Outcome(page, "visited", at, "said so", size_bytes=10, links=(found,), token=lease.token)

    def settle() -> list[int]:
        return list(frontier.settle([outcome], [Release(lease.host, at, token=lease.token)]))

    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(_FULL.format("leased", when))
        try:
            for _ in range(2):
                with pytest.raises(StoreAwayError, match=r"has no room \(.*No space left on device\)"):
                    settle()
            assert frontier.status().states["visited"] == 0
        finally:
            connection.execute("DROP FUNCTION full_disk CASCADE")
    assert settle() == []
    status = frontier.status()
    assert (status.states["visited"], status.states["ready"], status.states["leased"]) == (1, 1, 0)
    assert (status.pages, status.bytes) == (1, 10)
    assert len(list(frontier.records())) == 2
