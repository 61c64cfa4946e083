"""Stores requests until they are done: the leased queue of a crawl that another library carries out.

The order of writing makes a kill harmless: what a request led to is added before the request is done, and both are
committed together, or the new requests first."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Final, NamedTuple, Self

from goodbot.errors import BusyError
from goodbot.files import lock_folder, make_folder
from goodbot.store.reports.rows import UnreadableError
from goodbot.store.requests.requests_file import open_file
from goodbot.store.sqlite.schema import damaged, translated

UNTIL_ANSWER: Final = 1e300
"""Pass this to `hold` to hold a host until one of its leased requests is done."""

MAX_PRIORITY: Final = 2**62
"""Priorities beyond this count as this, because SQLite's integers have 64 bits."""

_NEXT_HOST: Final = """SELECT id, name, leased FROM hosts INDEXED BY hosts_next WHERE waiting > 0 AND due = 0
  ORDER BY leased, turn LIMIT 1"""
_NEXT_REQUEST: Final = """SELECT id, data FROM requests INDEXED BY requests_next WHERE host = ? AND leased = 0
  ORDER BY rank, late, place LIMIT 1"""
_ADD_HOST: Final = """INSERT INTO hosts (name, waiting, turn) VALUES (?, 1, ?)
  ON CONFLICT (name) DO UPDATE SET waiting = waiting + 1 RETURNING id"""
_RETURN_HOST: Final = """UPDATE hosts SET waiting = waiting + ?, leased = leased - 1,
  due = CASE due WHEN ? THEN 0 ELSE due END WHERE id = (SELECT host FROM requests WHERE id = ? AND leased = 1)"""
_WAIT_AGAIN: Final = """UPDATE hosts SET waiting = waiting + given.n FROM (SELECT host, count(*) AS n
  FROM requests INDEXED BY requests_leased WHERE leased > 0 GROUP BY host) AS given WHERE hosts.id = given.host"""
_ASKED: Final = """INSERT INTO starts VALUES (:fingerprint, 0, :run, 1) ON CONFLICT (fingerprint)
  DO UPDATE SET asked = CASE run WHEN :run THEN asked + 1 ELSE 1 END, run = :run RETURNING asked > stored"""
_FORGET_UNSTORED: Final = """UPDATE hosts SET waiting = waiting - (SELECT count(*) FROM requests
  WHERE requests.host = hosts.id AND data IS NULL) WHERE id IN (SELECT host FROM requests WHERE data IS NULL)"""


@dataclass(frozen=True, slots=True)
class NewRequest:
    """A request to store. Those of a host are leased by falling `priority`; of equal priority, first those that are not
    `late`; then the last one added first, or with `in_order` the first one.

    `data` None: the request exists only in this process; the next run cannot restore it. `fingerprint`: a
    request with a known fingerprint is not stored; None: always stored. `start`: the fingerprint of a start request.
    Each run adds its start requests again; if earlier runs stored it n times, the first n are skipped."""

    host: str
    data: bytes | None
    priority: int = 0
    late: bool = False
    in_order: bool = False
    fingerprint: bytes | None = None
    start: bytes | None = None


class LeasedRequest(NamedTuple):
    """`key` names it until it is done; `data` is as added."""

    key: int
    host: str
    data: bytes | None


class Recovered(NamedTuple):
    """What `open` has found: how many requests wait, how many of them were leased when the last run ended, how many had
    no data and are lost, and how many are done."""

    waiting: int
    in_flight: int
    lost: int
    done: int


class RequestStore:
    """The queue in one file. For one thread of one process.

    Changes are visible at once, and kept from `commit` on; a kill takes back those after the last commit, in whole.
    Calls raise DamagedError for a file with wrong content, and RunError if the disk fails; then the store is closed."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: int, owner: str) -> None:
        self._path = path
        self._db = connection
        self._lock: int | None = lock
        self._owner = owner
        self._turn = 0
        self._done = 0
        self._run = 0
        self._waiting = 0
        self._is_synced = False
        self._without_data: dict[int, NewRequest] = {}
        self._seen_without_data: set[bytes] = set()
        self.recovered = Recovered(0, 0, 0, 0)

    @classmethod
    def open(cls, path: Path, owner: str) -> Self:
        """Opens the store of `owner` in the file `path`, or creates it and its folder. What a killed run had leased
        waits again.

        Raises BusyError if another process has opened it, InputError if it has the requests of another owner."""
        with translated(path):
            if not path.parent.exists():
                make_folder(path.parent)
                path.parent.chmod(0o700)
            lock = lock_folder(path)
        try:
            store = cls(path, open_file(path, owner), lock, owner)
        except BaseException:
            os.close(lock)
            raise
        try:
            store._recover()
        except BaseException:
            store._close()
            raise
        return store

    def __len__(self) -> int:
        return self._waiting

    def close(self) -> None:
        """Commits and closes the file, and unlocks the folder. May be called twice."""
        if self._lock is not None:
            try:
                self.commit()
            finally:
                self._close()

    def add(self, new: NewRequest) -> int | None:
        """Stores a request and returns its key; None if its fingerprint says that it is stored already."""
        with self._writing():
            if new.start is not None and not self._is_new_start(new.start):
                return None
            if new.fingerprint is not None and not self._see(new.fingerprint, keep=new.data is not None):
                return None
            self._turn += 1
            (host,) = self._db.execute(_ADD_HOST, (new.host, self._turn)).fetchone()
            rank = -max(-MAX_PRIORITY, min(new.priority, MAX_PRIORITY))
            place = self._turn if new.in_order else -self._turn
            row = self._db.execute(
                "INSERT INTO requests (host, rank, late, place, data) VALUES (?, ?, ?, ?, ?) RETURNING id",
                (host, rank, new.late, place, new.data),
            ).fetchone()
            key = int(row[0])
            if new.data is None:
                self._without_data[key] = new
            elif new.start is not None:
                self._count_start(new.start)
            self._waiting += 1
            return key

    def has_seen(self, fingerprint: bytes) -> bool:
        """Returns whether a request with this fingerprint was stored."""
        with translated(self._path):
            found = self._db.execute("SELECT 1 FROM seen WHERE fingerprint = ?", (fingerprint,)).fetchone()
        return found is not None

    def next_host(self) -> tuple[str, int] | None:
        """Returns the host whose request `lease` would return, and how many of its requests are leased; None if no host
        is due. Of the hosts that are due, it is the one with the fewest leased requests; if several have as few, the
        one whose last lease is the oldest."""
        with translated(self._path):
            row = self._db.execute(_NEXT_HOST).fetchone()
        return None if row is None else (str(row[1]), int(row[2]))

    def lease(self) -> LeasedRequest | None:
        """Leases the next request of the next host; None if no host is due."""
        with self._writing():
            host = self._db.execute(_NEXT_HOST).fetchone()
            if host is None:
                return None
            row = self._db.execute(_NEXT_REQUEST, (host[0],)).fetchone()
            if row is None or not isinstance(row[1], bytes | None):
                raise damaged(self._path, f"the requests of {host[1]!r} are missing or unreadable")
            self._turn += 1
            self._db.execute("UPDATE requests SET leased = 1 WHERE id = ?", (row[0],))
            self._db.execute(
                "UPDATE hosts SET waiting = waiting - 1, leased = leased + 1, turn = ? WHERE id = ?",
                (self._turn, host[0]),
            )
            self._waiting -= 1
            return LeasedRequest(row[0], host[1], row[1])

    def put_back(self, key: int) -> None:
        """Ends a lease: the request waits again, at its old place."""
        with self._writing():
            self._db.execute(_RETURN_HOST, (1, UNTIL_ANSWER, key))
            self._waiting += self._db.execute(
                "UPDATE requests SET leased = 0 WHERE id = ? AND leased = 1", (key,)
            ).rowcount

    def set_aside(self, key: int) -> None:
        """Ends a lease without a retry in this run; the next run tries the request again."""
        with self._writing():
            self._db.execute(_RETURN_HOST, (0, UNTIL_ANSWER, key))
            self._db.execute("UPDATE requests SET leased = 2 WHERE id = ? AND leased = 1", (key,))

    def hold(self, host: str, until: float) -> None:
        """Leases no request of the host before `until` (Unix seconds, or `UNTIL_ANSWER`). Later runs keep
        a time too."""
        with self._writing():
            self._db.execute("UPDATE hosts SET due = ? WHERE name = ?", (min(until, UNTIL_ANSWER), host))

    def release(self, now: float) -> bool:
        """Makes hosts due whose time has come; returns whether there are any."""
        with translated(self._path):
            (first,) = self._db.execute(
                "SELECT min(due) FROM hosts INDEXED BY hosts_due WHERE waiting > 0 AND due > 0"
            ).fetchone()
        if first is None or first > now:
            return False
        with self._writing():
            self._db.execute(
                "UPDATE hosts INDEXED BY hosts_due SET due = 0 WHERE waiting > 0 AND due > 0 AND due <= ?", (now,)
            )
        return True

    def next_due(self) -> float:
        """Returns when the next request may be leased, in Unix seconds: 0 if now, or if all hosts wait for an answer;
        infinity if no request waits."""
        with translated(self._path):
            if self._db.execute(_NEXT_HOST).fetchone() is not None:
                return 0.0
            (first,) = self._db.execute(
                "SELECT min(due) FROM hosts INDEXED BY hosts_due WHERE waiting > 0 AND due > 0"
            ).fetchone()
        if first is None:
            return inf
        return 0.0 if first >= UNTIL_ANSWER else float(first)

    def done(self, key: int) -> None:
        """Removes a leased request. Unknown keys are ignored."""
        with self._writing():
            new = self._without_data.pop(key, None)
            if new is not None and new.fingerprint is not None:
                self._seen_without_data.discard(new.fingerprint)
                self._see(new.fingerprint, keep=True)
            if new is not None and new.start is not None:
                self._count_start(new.start)
            self._db.execute(_RETURN_HOST, (0, UNTIL_ANSWER, key))
            self._done += self._db.execute("DELETE FROM requests WHERE id = ? AND leased = 1", (key,)).rowcount

    def commit(self, *, durable: bool = True) -> None:
        """Keeps what was changed so far, all or nothing. If it is `durable`, it is on disk when this returns; if not, a
        power failure may take it back, with everything after it, but a kill of the process does not."""
        with translated(self._path):
            if self._db.in_transaction:
                self._end_transaction()
                self._is_synced = False
            if durable and not self._is_synced:
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.execute("BEGIN IMMEDIATE")
                # SQLite syncs only if something changes; this sync is also one of all commits before.
                self._db.execute("UPDATE about SET value = value + 1 WHERE name = 'syncs'")
                self._end_transaction()
                self._db.execute("PRAGMA synchronous = NORMAL")
                self._is_synced = True

    def _end_transaction(self) -> None:
        counts = [(self._done, "done"), (self._turn, "turn")]
        self._db.executemany("UPDATE about SET value = ? WHERE name = ?", counts)
        self._db.execute("COMMIT")

    def _see(self, fingerprint: bytes, *, keep: bool) -> bool:
        """Returns whether it is new. Without `keep` only this run remembers it: a request without data has to be found
        again after a kill."""
        if fingerprint in self._seen_without_data:
            return False
        if keep:
            return self._db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (fingerprint,)).rowcount == 1
        if self.has_seen(fingerprint):
            return False
        self._seen_without_data.add(fingerprint)
        return True

    def _count_start(self, fingerprint: bytes) -> None:
        self._db.execute("UPDATE starts SET stored = stored + 1 WHERE fingerprint = ?", (fingerprint,))

    def _is_new_start(self, fingerprint: bytes) -> bool:
        row = self._db.execute(_ASKED, {"fingerprint": fingerprint, "run": self._run}).fetchone()
        return bool(row[0])

    def _recover(self) -> None:
        with self._writing():
            db = self._db
            counted = db.execute(
                "SELECT count(*) FROM requests INDEXED BY requests_leased WHERE leased > 0 AND leased = 1"
            )
            (in_flight,) = counted.fetchone()
            db.execute(_WAIT_AGAIN)
            db.execute("UPDATE requests INDEXED BY requests_leased SET leased = 0 WHERE leased > 0")
            db.execute("UPDATE hosts INDEXED BY hosts_leased SET leased = 0 WHERE leased > 0")
            db.execute("UPDATE hosts SET due = 0 WHERE due = ?", (UNTIL_ANSWER,))
            db.execute(_FORGET_UNSTORED)
            lost = db.execute("DELETE FROM requests WHERE data IS NULL").rowcount
            db.execute("UPDATE about SET value = value + 1 WHERE name = 'run'")
            about = dict(db.execute("SELECT name, value FROM about").fetchall())
            (self._waiting,) = db.execute("SELECT coalesce(sum(waiting), 0) FROM hosts").fetchone()
            self._run, self._turn, self._done = (_whole(about.get(name)) for name in ("run", "turn", "done"))
        self.recovered = Recovered(self._waiting, in_flight, lost, self._done)
        self.commit()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Runs statements in the open transaction, which it begins if there is none. An error closes the store, because
        a part of a change must not be committed."""
        if self._lock is None:
            raise BusyError(f"{self._path} is closed")
        with translated(self._path):
            try:
                if not self._db.in_transaction:
                    self._db.execute("BEGIN IMMEDIATE")
                yield
            except BaseException:
                self._close()  # which takes back everything since the last commit
                raise

    def _close(self) -> None:
        self._db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def _whole(value: object) -> int:
    """Returns a number of the table `about`."""
    if not isinstance(value, int):
        raise UnreadableError("a number is missing in the table about")
    return value
