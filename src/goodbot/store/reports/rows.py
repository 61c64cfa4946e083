"""Runs the queries of reports in the SQL of a store."""

from typing import Any, Final, Protocol

from goodbot.url import Url

EVERYTHING: Final = (1 << 63) - 1
"""A limit that no table reaches."""


class Rows(Protocol):
    """Runs queries on one state of a store. They are in the SQL of SQLite, but with standard functions, types and names
    only; other stores translate parameters (`:name`), `instr`, `INDEXED BY` and SQLite's `CROSS JOIN … ON`."""

    def all(self, query: str, **values: object) -> list[tuple[Any, ...]]: ...

    def first(self, query: str, **values: object) -> tuple[Any, ...] | None: ...


class UnreadableError(ValueError):
    """A row of a store has content that goodbot does not write. Stores turn it into a DamagedError."""


def url_of(origin: str | None, path: str | None) -> Url:
    """Builds a URL of a store. Rows of a B-tree page that was only half written read as NULL: that is damage."""
    if not origin or not path:
        raise UnreadableError("a URL is missing")
    return Url(origin + path if path[0] == "/" else path)
