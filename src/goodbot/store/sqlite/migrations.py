"""Migrates files of older formats: one step for each format, one transaction for each step.

Each step spells out the tables as they were then, so that later changes of the tables do not change it.
"""

import logging
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Final

from goodbot.partitions import partition_of
from goodbot.store.merge.coding import hash_of
from goodbot.store.sqlite.schema import APPLICATION_ID, FORMAT

_LOG: Final = logging.getLogger(__name__)

_TO_3 = """
DROP VIEW due_hosts;
DROP VIEW records;
DROP INDEX urls_ready;
DROP INDEX urls_leased;
DROP INDEX urls_later;
ALTER TABLE urls RENAME TO old_urls;
ALTER TABLE to_index RENAME TO old_to_index;
CREATE TEMP TABLE moved (host INTEGER, old INTEGER, hash INTEGER, PRIMARY KEY (host, old)) WITHOUT ROWID;
INSERT INTO moved SELECT old_urls.host, hash, hash_3(iif(substr(path, 1, 1) = '/', origin || path, path))
  FROM old_urls JOIN hosts ON hosts.id = old_urls.host;
ALTER TABLE hosts ADD COLUMN pages INTEGER NOT NULL DEFAULT 0;
UPDATE hosts SET pages = (SELECT count(*) FROM old_urls WHERE host = hosts.id AND state = 3);
CREATE TABLE urls (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, state INTEGER NOT NULL,
  rank INTEGER NOT NULL, tries INTEGER NOT NULL DEFAULT 0, public_only INTEGER NOT NULL, hops INTEGER NOT NULL,
  ready_at REAL, refused TEXT, path TEXT NOT NULL,
  PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO urls SELECT moved.host, moved.hash, seq, iif(state = 1, 0, state), (depth << 13) + 8063, tries,
  public_only, hops, ready_at, refused, path FROM old_urls JOIN moved
  ON moved.host = old_urls.host AND moved.old = old_urls.hash
  ORDER BY 1, 2;
CREATE TABLE leased (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO leased SELECT moved.host, moved.hash, seq FROM old_urls JOIN moved
  ON moved.host = old_urls.host AND moved.old = old_urls.hash WHERE state = 1;
CREATE TABLE to_index (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, file TEXT, offset INTEGER, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
INSERT INTO to_index SELECT moved.host, moved.hash, file, offset FROM old_to_index JOIN moved
  ON moved.host = old_to_index.host AND moved.old = old_to_index.hash;
DROP TABLE old_urls;
DROP TABLE old_to_index;
DROP TABLE moved;
CREATE INDEX urls_ready ON urls (host, rank, seq) WHERE state = 0;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0
    AND NOT EXISTS (SELECT 1 FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)) THEN ready_at
  ELSE (SELECT min(urls.ready_at) FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, at, status, digest, title, why, file, offset
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash;
"""


def _to_3(connection: sqlite3.Connection) -> None:
    """Makes depth the first part of a rank, lets hashes begin with the folder, gives leases a table of their own."""
    connection.create_function("hash_3", 1, hash_of, deterministic=True)
    _run(connection, _TO_3)


_TO_4 = """
CREATE TABLE courtesies (
  host TEXT PRIMARY KEY, requests INTEGER NOT NULL, robots_txt INTEGER NOT NULL, status_429 INTEGER NOT NULL,
  status_503 INTEGER NOT NULL, unanswered INTEGER NOT NULL, retry_afters INTEGER NOT NULL,
  longest_retry_after_s REAL NOT NULL, sooner INTEGER NOT NULL, inside INTEGER NOT NULL, waited_s REAL NOT NULL,
  least_gap_s REAL, least_gap_at REAL, asked_gap_s REAL, first_at REAL, last_at REAL, busy_from REAL NOT NULL,
  busy_until REAL NOT NULL, held_from REAL NOT NULL, held_until REAL NOT NULL, last_status INTEGER, agent TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE robots_versions (
  origin TEXT NOT NULL, first_at REAL NOT NULL, last_at REAL NOT NULL, fetches INTEGER NOT NULL, result TEXT NOT NULL,
  status INTEGER, failure TEXT, digest TEXT, bytes INTEGER, PRIMARY KEY (origin, first_at)
) WITHOUT ROWID;
CREATE TABLE forgotten (host INTEGER PRIMARY KEY, at REAL NOT NULL);
"""


def _to_4(connection: sqlite3.Connection) -> None:
    """Adds courtesy records, versions of robots.txt files, and forgotten hosts."""
    _run(connection, _TO_4)


_TO_5 = """
DROP VIEW due_hosts;
DROP VIEW records;
ALTER TABLE urls ADD COLUMN interval_s REAL;
ALTER TABLE leased ADD COLUMN was INTEGER;
CREATE INDEX urls_again ON urls (host, ready_at) WHERE state >= 8;
CREATE TABLE seen (
  seq INTEGER PRIMARY KEY, was INTEGER NOT NULL, at REAL NOT NULL, due_at REAL NOT NULL, interval_s REAL NOT NULL,
  changed_at REAL NOT NULL, etag TEXT, modified TEXT, digest TEXT, file TEXT, offset INTEGER, title TEXT,
  gone INTEGER NOT NULL, available_until REAL, indexed INTEGER NOT NULL, text TEXT
);
CREATE TABLE copies (
  host INTEGER NOT NULL, hash INTEGER NOT NULL, same_as TEXT NOT NULL, PRIMARY KEY (host, hash)
) WITHOUT ROWID;
CREATE INDEX copies_same_as ON copies (same_as);
CREATE TABLE leaving (host INTEGER NOT NULL, hash INTEGER NOT NULL, PRIMARY KEY (host, hash)) WITHOUT ROWID;
CREATE TABLE revisits (until REAL);
INSERT INTO revisits VALUES (NULL);
CREATE TABLE lessons (
  host TEXT NOT NULL, kind TEXT NOT NULL, about TEXT NOT NULL, evidence TEXT NOT NULL, at REAL NOT NULL,
  PRIMARY KEY (host, kind, about)
) WITHOUT ROWID;
INSERT INTO seen SELECT visits.seq, 0, at, at + 604800.0, 604800.0, at, NULL, NULL, digest, file, offset, title,
  0, NULL, 1, NULL FROM urls JOIN visits ON visits.seq = urls.seq WHERE state = 3;
UPDATE urls SET state = 8, ready_at = (SELECT due_at FROM seen WHERE seen.seq = urls.seq)
  WHERE state = 3 AND EXISTS (SELECT 1 FROM seen WHERE seen.seq = urls.seq);
CREATE VIEW due_hosts AS SELECT id, leased, max(ready_at, CASE
  WHEN EXISTS (SELECT 1 FROM urls INDEXED BY urls_ready WHERE host = hosts.id AND state = 0
    AND NOT EXISTS (SELECT 1 FROM leased WHERE leased.host = urls.host AND leased.hash = urls.hash)) THEN ready_at
  ELSE (SELECT min(at) FROM (
    SELECT min(urls.ready_at) AS at FROM urls INDEXED BY urls_later WHERE host = hosts.id AND state = 2
    UNION ALL SELECT min(urls.ready_at) FROM urls INDEXED BY urls_again
      WHERE host = hosts.id AND state >= 8 AND urls.ready_at <= (SELECT until FROM revisits))) END) AS due
FROM hosts;
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, visits.at AS at, status, visits.digest AS digest,
  visits.title AS title, why, visits.file AS file, visits.offset AS offset, same_as, seen.seq AS seen,
  seen.at AS seen_at, due_at, seen.interval_s AS interval_s, changed_at, etag, modified, seen.digest AS seen_digest,
  seen.file AS seen_file, seen.offset AS seen_offset, seen.title AS seen_title, gone, available_until, indexed,
  text
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash
  LEFT JOIN seen ON seen.seq = urls.seq
  LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash;
"""


def _to_5(connection: sqlite3.Connection) -> None:
    """Adds revisits, copies, lessons. Visited pages become due after a week, if they are to be revisited at all."""
    _run(connection, _TO_5)


def _to_6(connection: sqlite3.Connection) -> None:
    """Adds the digest that copies were compared with. It is unknown for older ones, which are compared when read
    again."""
    connection.execute("ALTER TABLE copies ADD COLUMN said TEXT")


_TO_7 = """
DROP VIEW records;
CREATE TABLE search_index (identity TEXT NOT NULL, written INTEGER NOT NULL);
ALTER TABLE seen ADD COLUMN rendered INTEGER NOT NULL DEFAULT 0;
UPDATE seen SET rendered = 1
  WHERE seq IN (SELECT seq FROM visits WHERE instr(events, ',"read","rendered",'));
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, visits.at AS at, status, visits.digest AS digest,
  visits.title AS title, why, visits.file AS file, visits.offset AS offset, same_as, seen.seq AS seen,
  seen.at AS seen_at, due_at, seen.interval_s AS interval_s, changed_at, etag, modified, seen.digest AS seen_digest,
  seen.file AS seen_file, seen.offset AS seen_offset, seen.title AS seen_title, gone, available_until, indexed,
  text, rendered
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash
  LEFT JOIN seen ON seen.seq = urls.seq
  LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash;
ALTER TABLE lessons ADD COLUMN until REAL NOT NULL DEFAULT 0;
ALTER TABLE lessons ADD COLUMN times INTEGER NOT NULL DEFAULT 1;
ALTER TABLE lessons ADD COLUMN lapsed INTEGER NOT NULL DEFAULT 0;
UPDATE lessons SET until = iif(kind = 'canonical', 9e999, at + 604800.0);
ALTER TABLE urls ADD COLUMN lists INTEGER NOT NULL DEFAULT 0;
ALTER TABLE leased ADD COLUMN expects_list INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN lists INTEGER NOT NULL DEFAULT 0;
ALTER TABLE hosts ADD COLUMN lists_from REAL NOT NULL DEFAULT 0;
CREATE INDEX hosts_lists ON hosts (id) WHERE lists > 0;
"""


def _to_7(connection: sqlite3.Connection) -> None:
    """Adds which index the crawl has and which pages a browser rendered; lessons hold for a week; lists take turns with
    pages, and a host has a limit of them. Which of the URLs found before are lists is unknown."""
    _run(connection, _TO_7)


def _to_8(connection: sqlite3.Connection) -> None:
    """Adds the column for the number of URLs that the next lease of a host can use; unknown (NULL) in older files."""
    connection.execute("ALTER TABLE hosts ADD COLUMN next_urls INTEGER")


_TO_9 = """
DROP VIEW records;
ALTER TABLE seen ADD COLUMN wishes TEXT NOT NULL DEFAULT '';
ALTER TABLE seen ADD COLUMN whole_at REAL;
CREATE VIEW records AS SELECT urls.host AS host, urls.hash AS hash, urls.seq AS seq, origin, path,
  iif(leased.seq IS NULL, state, 1) AS state, rank, refused, visits.at AS at, status, visits.digest AS digest,
  visits.title AS title, why, visits.file AS file, visits.offset AS offset, same_as, seen.seq AS seen,
  seen.at AS seen_at, due_at, seen.interval_s AS interval_s, changed_at, etag, modified, seen.digest AS seen_digest,
  seen.file AS seen_file, seen.offset AS seen_offset, seen.title AS seen_title, gone, available_until, indexed,
  text, rendered, wishes, whole_at
FROM urls CROSS JOIN hosts ON hosts.id = urls.host LEFT JOIN visits ON visits.seq = urls.seq
  LEFT JOIN leased ON leased.host = urls.host AND leased.hash = urls.hash
  LEFT JOIN seen ON seen.seq = urls.seq
  LEFT JOIN copies ON copies.host = urls.host AND copies.hash = urls.hash;
"""


def _to_9(connection: sqlite3.Connection) -> None:
    """Adds what the header fields of a page state about how search may show it, and when the whole page was sent.
    Older files lack both, so a page whose fields state something is indexed again at its next visit."""
    _run(connection, _TO_9)


def _to_10(connection: sqlite3.Connection) -> None:
    """Adds the tokens of leases."""
    connection.execute("ALTER TABLE hosts ADD COLUMN token INTEGER NOT NULL DEFAULT 0")


def _to_11(connection: sqlite3.Connection) -> None:
    """Adds the partitions of hosts: those of their names, since their addresses are not stored."""
    connection.execute("ALTER TABLE hosts ADD COLUMN partition INTEGER NOT NULL DEFAULT 0")
    connection.create_function("partition_11", 1, partition_of, deterministic=True)
    connection.execute("UPDATE hosts SET partition = partition_11(key)")


STEPS: Final[Mapping[int, Callable[[sqlite3.Connection], None]]] = {
    2: _to_3,
    3: _to_4,
    4: _to_5,
    5: _to_6,
    6: _to_7,
    7: _to_8,
    8: _to_9,
    9: _to_10,
    10: _to_11,
}
"""Steps by the format they start from. Files older than the first cannot be migrated."""


def migrate(path: Path) -> None:
    """Migrates the file to `FORMAT` if it is one of ours and older; else leaves it as it is.

    If it is killed, the file is at the end of a step. Needs about as much free space as the file takes.
    """
    with closing(sqlite3.connect(path, timeout=10, isolation_level=None)) as connection:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        if application != APPLICATION_ID:
            return
        while (step := STEPS.get(version := _version(connection))) and version < FORMAT:
            connection.execute("BEGIN EXCLUSIVE")
            try:
                step(connection)
                connection.execute(f"PRAGMA user_version = {version + 1}")
                connection.execute("COMMIT")
                _LOG.warning("%s is migrated from format %d to %d", path, version, version + 1)
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


def _version(connection: sqlite3.Connection) -> int:
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return int(version)


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Runs one statement after another, because `executescript` would end the transaction."""
    for statement in script.split(";\n"):
        connection.execute(statement)
