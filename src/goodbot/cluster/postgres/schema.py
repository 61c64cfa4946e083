"""Defines the tables of a crawl in PostgreSQL, and the steps that lead from one format to the next.

One schema of a database holds one crawl: the first schema of the connection's `search_path`.
"""

from collections.abc import Mapping
from typing import Final

from psycopg import Connection, errors, sql

from goodbot.errors import InputError, RunError
from goodbot.partitions import PARTITIONS

FORMAT: Final = 1
"""Raised with every change of the tables; `STEPS` has the step that leads to it."""

PARTS: Final = 16
"""How many parts each of the large tables has. PostgreSQL cleans up (VACUUM) each part by itself."""

_SETUP_LOCK: Final = 0x600DB07
"""The advisory lock that is held while tables are made or migrated, so that one machine does it."""

# Times are Unix seconds by the clock of the database. Flags are 0 or 1. The tables mean the same as those of the SQLite
# frontier (see `store.sqlite.schema`), except for these:
# `crawl` has one row: the format, the settings of the crawl as TOML, and when it was begun.
# `machines`: every machine that ever took part. `ended_at` is NULL as long as it takes part. `writer` identifies its
# folder. `crawls`: it gets a share of the hosts; a command that changes something gets none. `calls` counts its
# transactions, so that one whose end was not reported is not repeated (`Transactions`); `answer` is what the last one
# returned.
# `heartbeats`: until when a machine may send requests. The table is apart from `machines`, so that heartbeats do not
# wait for transactions.
# `partitions`: the machine that each belongs to.
# `seeds`: those that the crawl was started with, for the machines that join.
# `leased` has the token of the host's lease. Whoever deletes a row of it ends the lease of the URL: the machine that
# settles it, or one that takes the host over.
# `totals` has the sums of what each machine changed, so that no two machines wait for each other's rows: URLs by state
# and in all (`urls`), `hosts` in scope, `bytes` received; `fetched` counts visits of pages, repeated ones too.
# `to_index` and `leaving`: `writer` has the index that the page enters or leaves. `seen.writer`: the index it is in.
# `removals`: the forgotten hosts of which the folder of a writer may still have something.
# Names are ordered by their bytes (COLLATE "C"), whatever the language of the database.
# Numbers of URLs (`seq`) come in blocks from the sequence `url_numbers`: every batch of links takes one.
_TABLES: Final = """
CREATE TABLE crawl (
  format integer NOT NULL, settings text NOT NULL DEFAULT '', begun_at double precision NOT NULL,
  revisit_until double precision
);
CREATE TABLE machines (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, writer text NOT NULL, name text NOT NULL, pid integer NOT NULL,
  joined_at double precision NOT NULL, ended_at double precision, crawls smallint NOT NULL DEFAULT 0,
  calls bigint NOT NULL DEFAULT 0, answer text
);
CREATE INDEX machines_present ON machines (id) WHERE ended_at IS NULL;
CREATE TABLE heartbeats (
  machine bigint PRIMARY KEY REFERENCES machines, at double precision NOT NULL, expires_at double precision NOT NULL,
  live text NOT NULL DEFAULT ''
);
CREATE TABLE partitions (number smallint PRIMARY KEY, machine bigint REFERENCES machines);
CREATE TABLE seeds (url text NOT NULL);
CREATE UNIQUE INDEX seeds_url ON seeds (md5(url));
CREATE SEQUENCE host_numbers AS bigint;
CREATE TABLE hosts (
  id bigint PRIMARY KEY, key text COLLATE "C" NOT NULL UNIQUE, origin text NOT NULL,
  partition smallint NOT NULL, ready_at double precision NOT NULL, backoff double precision NOT NULL DEFAULT 0,
  due double precision, cut_at double precision, lists_from double precision NOT NULL DEFAULT 0,
  token bigint NOT NULL DEFAULT 0, pages bigint NOT NULL DEFAULT 0, lists integer NOT NULL DEFAULT 0,
  next_urls integer, leased smallint NOT NULL DEFAULT 0, in_scope smallint NOT NULL DEFAULT 0,
  turn smallint NOT NULL DEFAULT 0
) WITH (fillfactor = 80);
CREATE INDEX hosts_due ON hosts (partition, due, id) WHERE due IS NOT NULL;
CREATE INDEX hosts_leased ON hosts (partition) WHERE leased = 1;
CREATE INDEX hosts_lists ON hosts (id) WHERE lists > 0;
CREATE SEQUENCE url_numbers AS bigint INCREMENT BY 65536 MINVALUE 0 START 0;
CREATE TABLE urls (
  host bigint NOT NULL, hash bigint NOT NULL, seq bigint NOT NULL, rank bigint NOT NULL, ready_at double precision,
  interval_s double precision, state smallint NOT NULL, tries smallint NOT NULL DEFAULT 0,
  public_only smallint NOT NULL, hops smallint NOT NULL, lists smallint NOT NULL DEFAULT 0, path text NOT NULL,
  refused text, PRIMARY KEY (host, hash)
) PARTITION BY HASH (host);
CREATE INDEX urls_ready ON urls (host, rank, seq) WHERE state = 0;
CREATE INDEX urls_later ON urls (host, ready_at) WHERE state = 2;
CREATE INDEX urls_again ON urls (host, ready_at) WHERE state >= 8;
CREATE TABLE leased (
  host bigint NOT NULL, hash bigint NOT NULL, token bigint NOT NULL, seq bigint NOT NULL, was smallint,
  expects_list smallint NOT NULL, PRIMARY KEY (host, hash)
);
CREATE TABLE found (seq bigint PRIMARY KEY, at double precision NOT NULL, source text);
CREATE TABLE visits (
  seq bigint PRIMARY KEY, at double precision NOT NULL, status integer, digest text, title text, why text NOT NULL,
  file text, "offset" bigint, events text NOT NULL
) PARTITION BY HASH (seq);
CREATE TABLE seen (
  seq bigint PRIMARY KEY, was smallint NOT NULL, at double precision NOT NULL, due_at double precision NOT NULL,
  interval_s double precision NOT NULL, changed_at double precision NOT NULL, etag text, modified text, digest text,
  file text, "offset" bigint, title text, gone integer NOT NULL, available_until double precision,
  indexed smallint NOT NULL, text text, rendered smallint NOT NULL, wishes text NOT NULL, whole_at double precision,
  writer text
) PARTITION BY HASH (seq);
CREATE TABLE copies (
  host bigint NOT NULL, hash bigint NOT NULL, same_as text NOT NULL, said text, PRIMARY KEY (host, hash)
);
CREATE INDEX copies_same_as ON copies (md5(same_as));
CREATE TABLE to_index (
  host bigint NOT NULL, hash bigint NOT NULL, writer text NOT NULL, file text, "offset" bigint, PRIMARY KEY (host, hash)
);
CREATE INDEX to_index_writer ON to_index (writer);
CREATE TABLE leaving (
  host bigint NOT NULL, hash bigint NOT NULL, writer text NOT NULL, PRIMARY KEY (host, hash, writer)
);
CREATE INDEX leaving_writer ON leaving (writer);
CREATE TABLE search_index (writer text PRIMARY KEY, identity text NOT NULL, written bigint NOT NULL);
CREATE TABLE totals (machine bigint NOT NULL, name text NOT NULL, value bigint NOT NULL, PRIMARY KEY (machine, name));
CREATE TABLE forgotten (host bigint PRIMARY KEY, at double precision NOT NULL);
CREATE TABLE removals (host bigint NOT NULL, writer text NOT NULL, PRIMARY KEY (host, writer));
CREATE TABLE robots (
  origin text PRIMARY KEY, result text NOT NULL, dialect text NOT NULL, fetched_at double precision NOT NULL,
  valid_until double precision NOT NULL, status smallint, failure text, body bytea NOT NULL, good_at double precision,
  cut_bytes bigint NOT NULL, tries integer NOT NULL, failing_since double precision, site_answers smallint NOT NULL
);
CREATE TABLE robots_versions (
  origin text COLLATE "C" NOT NULL, first_at double precision NOT NULL, last_at double precision NOT NULL,
  fetches bigint NOT NULL, result text NOT NULL, status smallint, failure text, digest text, bytes bigint,
  PRIMARY KEY (origin, first_at)
);
CREATE TABLE courtesies (
  host text COLLATE "C" PRIMARY KEY, requests bigint NOT NULL, robots_txt bigint NOT NULL, status_429 bigint NOT NULL,
  status_503 bigint NOT NULL, unanswered bigint NOT NULL, retry_afters bigint NOT NULL,
  longest_retry_after_s double precision NOT NULL, sooner bigint NOT NULL, inside bigint NOT NULL,
  waited_s double precision NOT NULL, least_gap_s double precision, least_gap_at double precision,
  asked_gap_s double precision, first_at double precision, last_at double precision,
  busy_from double precision NOT NULL, busy_until double precision NOT NULL,
  held_from double precision NOT NULL, held_until double precision NOT NULL,
  last_status smallint, agent text NOT NULL
);
CREATE TABLE lessons (
  host text COLLATE "C" NOT NULL, kind text COLLATE "C" NOT NULL, about text COLLATE "C" NOT NULL,
  evidence text NOT NULL, at double precision NOT NULL, until double precision NOT NULL, times bigint NOT NULL,
  lapsed smallint NOT NULL
);
CREATE UNIQUE INDEX lessons_key ON lessons (host, kind, md5(about));
"""

_NEWER: Final = "the database was written by a newer goodbot (format {}; this one reads {}): upgrade goodbot"
_IN_USE: Final = (
    "the database is of an older goodbot (format {}; this one writes {}), and machines with that one still crawl ({}):"
    " stop them, then start again"
)
_ALIVE: Final = """SELECT name FROM machines JOIN heartbeats ON machine = id
  WHERE ended_at IS NULL AND expires_at > extract(epoch FROM clock_timestamp()) ORDER BY id"""
_PARTED: Final = ("urls", "visits", "seen")


STEPS: Final[Mapping[int, str]] = {}
"""Statements by the format that they start from."""


def prepare(connection: Connection[tuple[object, ...]], parts: int = PARTS, steps: Mapping[int, str] = STEPS) -> None:
    """Makes the tables if the schema has none, or migrates older ones (see `migrate`). Raises RunError for tables of a
    newer goodbot, InputError if the schema has other tables of these names or the user may not create any."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
        if _version(connection) is None:
            _create(connection, parts)
    migrate(connection, steps)


def migrate(connection: Connection[tuple[object, ...]], steps: Mapping[int, str] = STEPS) -> bool:
    """Migrates older tables, if there are any, by `steps`; returns whether the schema has a crawl.
    Raises RunError for tables of a newer goodbot or of an unknown format, or while machines of the older one take
    part."""
    version = _version(connection)
    if version is None or version == FORMAT:
        return version is not None
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_SETUP_LOCK,))
        if (version := _version(connection)) is None:
            return False
        if version > FORMAT:
            raise RunError(_NEWER.format(version, FORMAT))
        missing = range(version, FORMAT)  # none, if another machine has just migrated them
        names = [str(name) for (name,) in connection.execute(_ALIVE)] if missing else []
        if names:
            raise RunError(_IN_USE.format(version, FORMAT, ", ".join(names[:3])))
        for step in missing:
            if step not in steps:
                raise RunError(f"the database has format {version}, which this goodbot cannot bring up to date")
            connection.execute(steps[step])
            connection.execute("UPDATE crawl SET format = %s", (step + 1,))
    return True


def check_format(connection: Connection[tuple[object, ...]]) -> bool:
    """Returns whether the schema has a crawl. Raises RunError for tables of another format, which a machine migrates
    when it takes part."""
    version = _version(connection)
    if version is not None and version > FORMAT:
        raise RunError(_NEWER.format(version, FORMAT))
    if version is not None and version < FORMAT:
        raise RunError(
            f"the database is of an older goodbot (format {version}; this one reads {FORMAT}): run goodbot crawl on it,"
            " which brings it up to date"
        )
    return version is not None


def _version(connection: Connection[tuple[object, ...]]) -> int | None:
    (schema,) = connection.execute("SELECT current_schema()").fetchone() or (None,)
    if schema is None:
        raise InputError("the database has no schema for the crawl: make one, and name it in search_path")
    found = connection.execute("SELECT to_regclass(%s)", (f'"{schema}".crawl',)).fetchone()
    if found is None or found[0] is None:
        return None
    try:
        row = connection.execute("SELECT format FROM crawl").fetchone()
        version = None if row is None else int(str(row[0]))
    except (errors.UndefinedColumn, ValueError):
        version = None
    if version is None:
        raise InputError(f"the table crawl in the schema {schema} is not one of goodbot: choose another schema")
    return version


def _create(connection: Connection[tuple[object, ...]], parts: int) -> None:
    (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
    if encoding != "UTF8":  # titles and URLs of the Web would be refused, or not be compared as texts
        raise InputError(f"the database has the encoding {encoding}: make one with ENCODING 'UTF8'")
    connection.execute(_TABLES.replace("%", "%%"))
    for table in _PARTED:
        for number in range(parts):
            part = sql.Identifier(f"{table}_{number}")
            statement = (
                "CREATE TABLE {} PARTITION OF {} FOR VALUES WITH (MODULUS {}, REMAINDER {}) WITH (fillfactor = 85)"
            )
            connection.execute(
                sql.SQL(statement).format(part, sql.Identifier(table), sql.Literal(parts), sql.Literal(number))
            )
    connection.execute("INSERT INTO partitions (number) SELECT generate_series(0, %s)", (PARTITIONS - 1,))
    connection.execute(
        "INSERT INTO crawl (format, begun_at) VALUES (%s, extract(epoch FROM clock_timestamp()))", (FORMAT,)
    )
