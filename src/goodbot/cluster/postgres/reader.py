"""Reads a crawl in PostgreSQL for reports and pages, without taking part in it."""

from typing import Final, Self

from goodbot.cluster.postgres.connection import PostgresConnection, connect, shown, translated
from goodbot.cluster.postgres.ledger import PostgresLedger
from goodbot.cluster.postgres.schema import check_format
from goodbot.errors import InputError

TIMEOUT_S: Final = 30
"""Seconds after which the server gives up a query, or waiting for the lock of a migration."""

# A report reads few rows by their keys from tables of any size; plans that read a whole table would only seem cheaper.
_SESSION: Final = f"""SET default_transaction_read_only = on; SET statement_timeout = '{TIMEOUT_S}s'; SET jit = off;
  SET enable_hashjoin = off; SET enable_mergejoin = off"""


class PostgresReader(PostgresLedger):
    """Implements CrawlReader. For one thread. It needs no right but SELECT, takes no lock that a crawl waits for, and
    gives up after `TIMEOUT_S`. Calls raise StoreAwayError if the server does not answer. `writer` identifies the folder
    whose index is asked for; it may be empty."""

    def __init__(self, dsn: str, connection: PostgresConnection, writer: str) -> None:
        super().__init__(dsn, lambda: connection, writer)
        self._opened = connection

    @classmethod
    def open(cls, dsn: str, writer: str) -> Self:
        """Opens the crawl in a database. Raises InputError if there is none or it cannot be used, StoreAwayError if the
        server does not answer, RunError for tables of another format."""
        connection = connect(dsn, "goodbot reader")
        try:
            with translated(dsn):
                connection.execute(_SESSION)
                is_crawl = check_format(connection)
        except BaseException:
            connection.close()
            raise
        if not is_crawl:
            connection.close()
            raise InputError(f"no crawl in the database {shown(dsn)}: start one with goodbot crawl")
        return cls(dsn, connection, writer)

    def close(self) -> None:
        """Closes the connection. May be called twice."""
        self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
