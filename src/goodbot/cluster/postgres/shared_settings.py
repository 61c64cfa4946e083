"""Keeps the settings and seeds of a crawl in its database, for the machines that join."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final, NamedTuple

from goodbot.cluster.postgres.connection import PostgresConnection, connect, translated
from goodbot.cluster.postgres.machines import NOW, shut_out
from goodbot.cluster.postgres.schema import migrate
from goodbot.errors import InputError
from goodbot.url import Url

_LOAD: Final = f"""SELECT settings, EXISTS (SELECT FROM seeds),
    EXISTS (SELECT FROM machines WHERE writer = %(writer)s),
    ARRAY(SELECT name FROM machines JOIN heartbeats ON machine = id WHERE ended_at IS NULL AND crawls = 1
      AND writer <> %(writer)s AND expires_at > {NOW} ORDER BY id)
  FROM crawl"""
_SAVE_SEEDS: Final = "INSERT INTO seeds SELECT unnest(%s::text[]) ON CONFLICT (md5(url)) DO NOTHING"
_UNKNOWN_SEED: Final = """SELECT new.url FROM unnest(%s::text[]) WITH ORDINALITY AS new (url, number)
  WHERE NOT EXISTS (SELECT FROM seeds WHERE md5(seeds.url) = md5(new.url)) ORDER BY number LIMIT 1"""
_SEEDS_AT_ONCE: Final = 10_000
_START_LOCK: Final = 0x600DB08
"""The advisory lock that a machine holds while it begins, until it has added its seeds."""


class SharedCrawl(NamedTuple):
    """A crawl in a database: its settings as TOML, whether it has lists of seeds, whether the folder that asks took
    part in it before, and the names of the other machines that take part and whose heartbeat is valid."""

    settings: str
    has_lists: bool
    knows_folder: bool
    others: tuple[str, ...]


def load_shared(dsn: str, writer: str) -> SharedCrawl | None:
    """Returns the crawl in a database, as the folder with this `writer` sees it; None: there is none yet. Migrates
    older tables. Raises InputError for an address that cannot be used, StoreAwayError if the server does not answer,
    RunError for tables of a newer goodbot, or while machines of an older one take part."""
    with connect(dsn, "goodbot") as connection, translated(dsn):
        if not migrate(connection):
            return None
        return _load(connection, writer)


def _load(connection: PostgresConnection, writer: str) -> SharedCrawl | None:
    row = connection.execute(_LOAD, {"writer": writer}).fetchone()
    if row is None or not row[0]:
        return None
    text, has_lists, knows_folder, others = row
    return SharedCrawl(text, has_lists, knows_folder, tuple(others))


def unknown_seed(dsn: str, seeds: Iterable[Url]) -> Url | None:
    """Returns the first seed that is in no list of the crawl in a database; None: all are."""
    with connect(dsn, "goodbot") as connection, translated(dsn):
        return _unknown(connection, seeds)


def _unknown(connection: PostgresConnection, seeds: Iterable[Url]) -> Url | None:
    for some in _batches(seeds):
        row = connection.execute(_UNKNOWN_SEED, (some,)).fetchone()
        if row is not None:
            return Url(row[0])
    return None


def _batches(seeds: Iterable[Url]) -> Iterator[list[str]]:
    items = iter(seeds)
    while some := [seed.text for seed in islice(items, _SEEDS_AT_ONCE)]:
        yield some


@contextmanager
def starting(dsn: str, writer: str, settings: str, seeds: Iterable[Url]) -> Iterator[tuple[str, ...]]:
    """Makes machines that start at the same time begin one after another. Yields the names of the other machines that
    take part; if there are none, stores the settings (TOML) and the seeds of lists first. Raises InputError if other
    machines take part, and have begun the crawl with other settings or without one of the seeds."""
    with connect(dsn, "goodbot start") as connection, translated(dsn):
        connection.execute("SELECT pg_advisory_lock(%s)", (_START_LOCK,))
        shared = _load(connection, writer)
        if shared is not None and not shared.others and shared.settings != settings:
            shut_out(connection, writer)
            shared = _load(connection, writer)
        others = shared.others if shared is not None else ()
        if shared is None or not others:
            save_shared(connection, settings, seeds)
        elif shared.settings != settings:
            raise InputError(f"{others[0]} has just begun this crawl with other settings: try again")
        elif (seed := _unknown(connection, seeds)) is not None:
            raise InputError(f"{others[0]} has just begun this crawl without the seed {seed}: stop it, then try again")
        yield others


def save_shared(connection: PostgresConnection, settings: str, seeds: Iterable[Url]) -> None:
    """Stores settings, and adds the seeds of lists."""
    connection.execute("UPDATE crawl SET settings = %s", (settings,))
    for some in _batches(seeds):
        connection.execute(_SAVE_SEEDS, (some,))


def listed_seeds(dsn: str) -> Iterator[Url]:
    """Yields the seeds of the lists."""
    with (
        translated(dsn),
        connect(dsn, "goodbot seeds") as connection,
        connection.transaction(),
        connection.cursor(name="seeds") as cursor,
    ):
        cursor.itersize = _SEEDS_AT_ONCE
        for (text,) in cursor.execute("SELECT url FROM seeds"):
            yield Url(text)
