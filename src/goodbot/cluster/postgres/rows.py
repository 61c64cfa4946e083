"""Writes many rows with one statement: their columns travel as arrays."""

from collections.abc import Iterable, Sequence
from typing import Any

from goodbot.cluster.postgres.connection import PostgresConnection


def columns_of(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """Turns rows, at least one, into columns."""
    return [list(column) for column in zip(*rows, strict=True)]


def write_rows(connection: PostgresConnection, statement: str, rows: Iterable[Sequence[Any]]) -> None:
    """Runs a statement that takes one array for each column of `rows`; nothing if there are no rows."""
    if listed := list(rows):
        connection.execute(statement, columns_of(listed))
