"""Connects to PostgreSQL, and says in one line what went wrong."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from goodbot.database_address import check_database_address
from goodbot.errors import DamagedError, InputError, RunError, StoreAwayError
from goodbot.store.reports.rows import UnreadableError

PostgresConnection = psycopg.Connection[tuple[Any, ...]]

CONNECT_S: Final = 10
"""Seconds to wait for a connection."""
IDLE_S: Final = 20
"""Seconds after which the server ends a transaction in which nothing happens: its process was stopped, or cut off. Its
locks would keep other machines from taking its hosts over."""

_INVALID: Final = re.compile(r"invalid [\w ]+ value")
"""libpq refuses the value of a parameter, such as sslmode."""

_WHERE: Final = re.compile(
    r"(?:connection failed: |connection is bad: |consuming input failed: )?"
    r"(?:connection to server at .{1,300}?, port \d+ failed: )?"
    r"(?:FATAL:  )?"
)
"""What psycopg and libpq say before the reason; where the server is, our messages say themselves."""
_STRANGERS: Final = ("received invalid response to SSL negotiation", "expected authentication request from server")
"""What libpq says if another service answers, such as a Web server."""

_LOG: Final = logging.getLogger(__name__)

_AWAY: Final = ("08", "57P", "53300", "40001", "40P01", "25P03")
"""SQLSTATEs after which the same call may succeed: connection lost, server shutting down or starting, too many
connections, serialization failure, deadlock, transaction idle for too long. The first two are classes."""
_FULL: Final = ("53100", "53200")
"""Disk full, out of memory at the server: it may get room, so the call is repeated as well."""
_REFUSED: Final = ("28", "3D", "3F", "42501")
"""Wrong password, no such database or schema, no permission: the user has to change something."""


def check_address(dsn: str) -> None:
    """Raises InputError for an address of a database that libpq could not use. The message quotes nothing of it except
    the name of a parameter, because libpq quotes passwords, too."""
    check_database_address(dsn)
    try:
        conninfo_to_dict(dsn)
    except psycopg.ProgrammingError as error:
        raise InputError(f"not an address of a PostgreSQL database: {_without_quotes(_first_line(error))}") from error


def _without_quotes(text: str) -> str:
    if text.startswith("invalid URI query parameter"):
        return text
    return "it has spaces: write them as %20" if "spaces" in text else text.partition('"')[0].rstrip(" :")


def shown(dsn: str) -> str:
    """Returns what messages say about an address: user, host, port and name of the database, never a password."""
    try:
        parts = conninfo_to_dict(dsn)
    except psycopg.ProgrammingError:
        return "the database"
    named = {name: str(parts[name]) for name in ("user", "host", "port", "dbname") if parts.get(name)}
    return make_conninfo("", **named) or "the default database"


def connect(dsn: str, name: str, wait_s: int = CONNECT_S) -> PostgresConnection:
    """Opens a connection in autocommit mode, which the server lists under `name` (`application_name`). Waits `wait_s`,
    unless the address says otherwise (`connect_timeout`). Raises InputError for an address that cannot be used,
    StoreAwayError if the server does not answer."""
    check_address(dsn)
    with translated(dsn):
        given = conninfo_to_dict(dsn)
        more = {"application_name": name} | ({} if "connect_timeout" in given else {"connect_timeout": wait_s})
        more |= {key: value for key, value in _KEEPALIVE.items() if key not in given}
        connection = psycopg.connect(dsn, autocommit=True, **more)  # type: ignore[arg-type]  # the options of libpq
        try:
            connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_S}s'")
            connection.execute("SET client_encoding = 'UTF8'")
        except BaseException:
            connection.close()
            raise
        return connection


# A server that vanished without a word is noticed after 10 to 15 seconds.
_KEEPALIVE: Final = {"keepalives_idle": 5, "keepalives_interval": 5, "keepalives_count": 2, "tcp_user_timeout": 15_000}


@contextmanager
def translated(dsn: str) -> Iterator[None]:
    """Translates errors of PostgreSQL: StoreAwayError if the call may be repeated, InputError if the user has to change
    something, else RunError. Passwords are never shown."""
    try:
        yield
    except UnreadableError as error:
        raise DamagedError(f"the crawl in {shown(dsn)} is damaged ({error})") from error
    except psycopg.Error as error:
        state = error.sqlstate or ""
        what = f"{shown(dsn)}: {_first_line(error)}"
        if state.startswith(_REFUSED) or _is_refusal(error):
            raise InputError(f"cannot use {what}") from error
        if state.startswith(_FULL):
            raise StoreAwayError(f"the database server has no room ({what})") from error
        if state.startswith(_AWAY) or isinstance(error, psycopg.OperationalError | psycopg.InterfaceError):
            raise StoreAwayError(f"the database server does not answer ({what})") from error
        raise RunError(f"cannot use {what}") from error


def _is_refusal(error: psycopg.Error) -> bool:
    """Returns whether a connection was refused for good. libpq gives no SQLSTATE for errors while connecting."""
    text = str(error)
    return _INVALID.search(text) is not None or any(
        words in text
        for words in (
            "Servname not supported",
            "password authentication failed",
            "no password supplied",
            "no pg_hba.conf entry",
            "pg_hba.conf rejects",
            "does not exist",
            *_STRANGERS,
            "definition of service",
            "server does not support SSL",
            "certificate verify failed",
            "root certificate file",
            "invalid port number",
            "permission denied for",
        )
    )


def _first_line(error: Exception) -> str:
    line = (str(error).strip().splitlines() or [type(error).__name__])[0]
    reason = line[_WHERE.match(line).end() :]  # type: ignore[union-attr]  # it matches an empty text
    return "what answers is not PostgreSQL" if reason.startswith(_STRANGERS) else reason
