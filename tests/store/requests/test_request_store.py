"""The request store: order, leases, duplicates, holds; what a kill leaves, and files that are not as they should be."""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from math import inf
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from goodbot.errors import BusyError, DamagedError, GoodbotError, InputError, RunError
from goodbot.store.requests.request_store import UNTIL_ANSWER, NewRequest, Recovered, RequestStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "crawl" / "requests.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[RequestStore]:
    with closing(RequestStore.open(path, "spider")) as store:
        yield store


def new(name: str, host: str = "a.example", **values: object) -> NewRequest:
    return NewRequest(host, name.encode(), **values)  # type: ignore[arg-type]


def leased(store: RequestStore, most: int = 1000) -> list[str]:
    names: list[str] = []
    while len(names) < most and (lease := store.lease()) is not None:
        names.append((lease.data or b"-").decode())
    return names


def killed(path: Path) -> Path:
    """A copy of the folder as a kill would leave it now: SQLite's files without the rest of the transaction."""
    copy = path.parent.with_name(f"killed-{len(list(path.parent.parent.iterdir()))}")
    shutil.copytree(path.parent, copy)
    return copy / path.name


@pytest.mark.parametrize(
    ("added", "order"),
    [
        ([new("1"), new("2"), new("3")], "321"),
        ([new("1", in_order=True), new("2", in_order=True)], "12"),
        ([new("1", priority=-1), new("2", priority=5), new("3")], "231"),
        ([new("1", late=True, in_order=True), new("2", late=True, in_order=True), new("3")], "312"),
        ([new("1", late=True, priority=1), new("2")], "12"),
        ([new("1", priority=-(10**30)), new("2", priority=10**30), new("3")], "231"),
        ([new("1"), new("2"), new("3", "b.example"), new("4", "c.example")], "2341"),
    ],
)
def test_the_order_of_leases(store: RequestStore, added: list[NewRequest], order: str) -> None:
    for request in added:
        assert store.add(request) is not None
    assert len(store) == len(added)
    assert "".join(leased(store)) == order
    assert (len(store), store.lease(), store.next_due()) == (0, None, inf)


def test_a_host_with_fewer_requests_in_progress_comes_first(store: RequestStore) -> None:
    for name in "123456":
        store.add(new(name, "a.example" if name < "5" else "b.example", in_order=True))
    first, second, third = store.lease(), store.lease(), store.lease()
    assert [lease.host for lease in (first, second, third) if lease] == ["a.example", "b.example", "a.example"]
    assert first is not None
    assert third is not None
    store.done(first.key)
    store.done(third.key)
    assert store.next_host() == ("a.example", 0)


def test_a_fingerprint_is_stored_once(store: RequestStore, path: Path) -> None:
    assert store.add(new("1", fingerprint=b"x")) is not None
    assert store.add(new("2", fingerprint=b"x")) is None
    assert store.add(new("3")) is not None
    assert (store.has_seen(b"x"), store.has_seen(b"y")) == (True, False)
    store.close()
    with closing(RequestStore.open(path, "spider")) as again:
        assert again.add(new("4", fingerprint=b"x")) is None


def test_start_requests_are_stored_as_often_as_one_run_asks(store: RequestStore, path: Path) -> None:
    assert [store.add(new(name, start=b"s")) is not None for name in "12"] == [True, True]
    store.close()
    with closing(RequestStore.open(path, "spider")) as again:
        assert [again.add(new(name, start=b"s")) is not None for name in "345"] == [False, False, True]
        assert sorted(leased(again)) == ["1", "2", "5"]


def test_what_was_leased_waits_again_after_a_kill(store: RequestStore, path: Path) -> None:
    for name in "1234":
        store.add(new(name, in_order=True))
    first = store.lease()
    leased(store, 2)
    assert first is not None
    store.done(first.key)
    store.commit(durable=False)
    store.add(new("never committed"))
    leased(store)
    with closing(RequestStore.open(killed(path), "spider")) as again:
        assert again.recovered == Recovered(waiting=3, in_flight=2, lost=0, done=1)
        assert leased(again) == ["2", "3", "4"]


def test_a_durable_commit_writes_even_if_nothing_is_new(store: RequestStore, path: Path) -> None:
    """Without a change SQLite would not sync, and what the commits before it wrote might not be on disk."""
    journal = path.with_name(path.name + "-wal")
    store.add(new("1"))
    store.commit(durable=False)
    size = journal.stat().st_size
    store.commit()
    synced = journal.stat().st_size
    assert synced > size
    store.commit()
    assert journal.stat().st_size == synced


def test_requests_without_data_end_with_the_run(store: RequestStore, path: Path) -> None:
    for name in "12":
        assert store.add(NewRequest("a.example", None, fingerprint=name.encode(), start=name.encode())) is not None
    assert store.add(new("3", fingerprint=b"1")) is None
    lease = store.lease()
    assert lease is not None
    assert lease.data is None
    store.done(lease.key)
    store.commit()
    with closing(RequestStore.open(killed(path), "spider")) as again:
        assert again.recovered == Recovered(waiting=0, in_flight=0, lost=1, done=1)
        asked = [new(name, fingerprint=name.encode(), start=name.encode()) for name in "12"]
        assert [again.add(request) is not None for request in asked] == [True, False]  # 2 was leased first, and is done


def test_put_back_and_set_aside(store: RequestStore, path: Path) -> None:
    for name in "123":
        store.add(new(name, in_order=True))
    first, second = store.lease(), store.lease()
    assert first is not None
    assert second is not None
    store.put_back(first.key)
    store.set_aside(second.key)
    assert (len(store), store.next_host()) == (2, ("a.example", 0))
    assert leased(store) == ["1", "3"]
    store.close()
    with closing(RequestStore.open(path, "spider")) as again:
        assert again.recovered == Recovered(waiting=3, in_flight=2, lost=0, done=0)
        assert leased(again) == ["1", "2", "3"]


def test_a_host_that_is_held_gives_no_request(store: RequestStore, path: Path) -> None:
    store.add(new("1"))
    store.add(new("2", "b.example"))
    store.hold("a.example", 50.0)
    assert leased(store) == ["2"]
    assert store.next_due() == 50.0
    assert not store.release(49.0)
    store.close()
    with closing(RequestStore.open(path, "spider")) as again:
        again.hold("b.example", inf)
        assert (again.lease(), again.next_due()) == (None, 50.0)
        assert again.release(50.0)
        assert leased(again) == ["1"]


def test_an_answer_ends_the_wait_for_it(store: RequestStore) -> None:
    for name in "12":
        store.add(new(name))
    lease = store.lease()
    assert lease is not None
    store.hold("a.example", UNTIL_ANSWER)
    assert store.lease() is None
    store.done(lease.key)
    store.done(lease.key)
    store.done(12345)
    assert leased(store) == ["1"]


# ---- bad folders ----------------------------------------------------------------------------------------------------


def test_one_process_at_a_time(store: RequestStore, path: Path) -> None:
    with pytest.raises(BusyError, match="another crawl or command is using"):
        RequestStore.open(path, "spider")


def test_one_spider_per_folder(store: RequestStore, path: Path) -> None:
    store.close()
    with pytest.raises(InputError, match=r"holds the requests of the spider 'spider': give 'other' a folder"):
        RequestStore.open(path, "other")
    RequestStore.open(path, "spider").close()


def test_only_the_user_reads_a_new_folder(store: RequestStore, path: Path) -> None:
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


@pytest.mark.parametrize("content", [b"", b"text", b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_file_that_is_no_store(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(DamagedError, match="is damaged"):
        RequestStore.open(path, "spider")


def test_a_store_of_a_newer_goodbot(store: RequestStore, path: Path) -> None:
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(RunError, match="newer goodbot"):
        RequestStore.open(path, "spider")


@pytest.mark.parametrize(
    "damage",
    [
        "DROP TABLE hosts",
        "DELETE FROM about",
        "DELETE FROM about WHERE name = 'run'",
        "UPDATE about SET value = 'x' WHERE name = 'turn'",
        "DELETE FROM requests",
        "UPDATE requests SET data = 5",
    ],
)
def test_wrong_content(store: RequestStore, path: Path, damage: str) -> None:
    store.add(new("1"))
    store.close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    with pytest.raises(DamagedError, match="is damaged"), closing(RequestStore.open(path, "spider")) as again:
        again.lease()


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(GoodbotError, match="file"):
        RequestStore.open(tmp_path / "file" / "requests.sqlite", "spider")


@given(st.integers(0, 30_000), st.binary(min_size=1, max_size=64))
def test_damaged_octets_are_an_error_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, place: int, octets: bytes
) -> None:
    path = tmp_path_factory.mktemp("damage") / "requests.sqlite"
    with closing(RequestStore.open(path, "spider")) as store:
        for number in range(20):
            store.add(new(str(number), f"{number % 3}.example", fingerprint=bytes([number])))
    with path.open("r+b") as file:
        file.seek(place % os.path.getsize(path))
        file.write(octets)
    with suppress(GoodbotError), closing(RequestStore.open(path, "spider")) as again:
        for lease in iter(again.lease, None):
            again.done(lease.key)


# ---- against a model ------------------------------------------------------------------------------------------------


class Model(RuleBasedStateMachine):
    """Adds, leases, ends and kills in any order; a dict and a set know what has to come out."""

    def __init__(self) -> None:
        super().__init__()
        self.path = Path(mkdtemp()) / "requests.sqlite"
        self.store = RequestStore.open(self.path, "spider")
        self.now: tuple[dict[int, int], set[int]] = ({}, set())
        self.kept: tuple[dict[int, int], set[int]] = ({}, set())
        self.leases: list[int] = []
        self.number = 0

    def teardown(self) -> None:
        self.store.close()
        shutil.rmtree(self.path.parent)

    @rule(host=st.integers(0, 2), priority=st.integers(-2, 2), fingerprint=st.integers(0, 30))
    def add(self, host: int, priority: int, fingerprint: int) -> None:
        waiting, seen = self.now
        request = NewRequest(str(host), str(fingerprint).encode(), priority, fingerprint=bytes([fingerprint]))
        key = self.store.add(request)
        assert (key is None) == (fingerprint in seen)
        seen.add(fingerprint)
        if key is not None:
            waiting[key] = fingerprint

    @rule()
    def lease(self) -> None:
        waiting, _ = self.now
        lease = self.store.lease()
        assert (lease is None) == (len(waiting) == len(self.leases))
        if lease is not None:
            assert lease.key not in self.leases
            assert (lease.data or b"").decode() == str(waiting[lease.key])
            self.leases.append(lease.key)

    @precondition(lambda self: self.leases)
    @rule(which=st.integers(0, 100), back=st.booleans())
    def end(self, which: int, back: bool) -> None:
        key = self.leases.pop(which % len(self.leases))
        if back:
            self.store.put_back(key)
        else:
            self.store.done(key)
            del self.now[0][key]

    @rule(durable=st.booleans())
    def commit(self, durable: bool) -> None:
        self.store.commit(durable=durable)
        self.kept = dict(self.now[0]), set(self.now[1])

    @rule()
    def kill(self) -> None:
        copy = killed(self.path)
        self.store.close()
        shutil.rmtree(self.path.parent)
        copy.parent.rename(self.path.parent)
        self.store = RequestStore.open(self.path, "spider")
        self.now, self.leases = (dict(self.kept[0]), set(self.kept[1])), []

    @invariant()
    def counts(self) -> None:
        assert len(self.store) == len(self.now[0]) - len(self.leases)


TestModel = Model.TestCase
