"""Runs the queries of reports in PostgreSQL."""

import re
from functools import cache
from typing import Any, Final

from goodbot.cluster.postgres.connection import PostgresConnection

_OF_SQLITE: Final = re.compile(r"INDEXED BY \w+|CROSS (?=JOIN)|\binstr(?=\()|%|:(\w+)")
"""What is different in PostgreSQL. The queries have no colon except before parameters."""


class PostgresRows:
    """Implements Rows on a connection, within a transaction."""

    def __init__(self, connection: PostgresConnection) -> None:
        self._db = connection

    def all(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Returns all rows."""
        return self._db.execute(translated_query(query), values).fetchall()

    def first(self, query: str, **values: object) -> tuple[Any, ...] | None:
        """Returns the first row; None if there is none."""
        return self._db.execute(translated_query(query), values).fetchone()


@cache
def translated_query(query: str) -> str:
    """Returns a query of SQLite for psycopg. There are only some dozen, so all are kept."""
    return _OF_SQLITE.sub(_translated, query)


def _translated(match: re.Match[str]) -> str:
    if match[1] is not None:
        return f"%({match[1]})s"
    return {"%": "%%", "instr": "strpos"}.get(match[0], "")
