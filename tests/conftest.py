"""Configures the test run. Property tests use the same examples each time, and no time limit, so that only a change
of the code changes a result: half of the examples in `make test`, all in `make test-all`. `make fuzz` draws many new
ones. Garbage collection is reduced; temporary files are in memory; signals work."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import psycopg
import pytest
from hypothesis import HealthCheck, settings

from goodbot.cluster.postgres.schema import prepare
from postgres_server import PostgresServer, empty_tables, postgres_server, programs

_NO_CLOCK = [HealthCheck.too_slow]

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=_NO_CLOCK)
settings.register_profile("quarter", settings.get_profile("same"), max_examples=25)
settings.register_profile(
    "fuzz", derandomize=False, deadline=None, max_examples=2000, print_blob=True, suppress_health_check=_NO_CLOCK
)
settings.load_profile("same")

MEMORY: Final = Path("/dev/shm")
NEEDED_BYTES: Final = 2 * 1024**3
"""A run writes 0.5 GB."""


def pytest_configure() -> None:
    _keep_files_in_memory()
    _listen_to_signals()
    gc.disable()  # modules and tests stay in memory; examining them again and again took half of the collection time


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def _keep_files_in_memory() -> None:
    """Puts the temporary files of the tests and of their processes where writing to disk takes no time: a crawl of one
    page waits for the disk 170 times. What these waits are for, a power failure, is no subject of a test."""
    is_there = MEMORY.is_dir() and os.access(MEMORY, os.W_OK | os.X_OK)
    if "TMPDIR" not in os.environ and is_there and shutil.disk_usage(MEMORY).free >= NEEDED_BYTES:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None


def _listen_to_signals() -> None:
    """Restores SIGINT and SIGHUP: background jobs of a shell ignore SIGINT, under nohup SIGHUP too, and so would the
    processes that tests start."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL server of this test process."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed (Debian's package postgresql)")
    with postgres_server() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_tables(postgres: PostgresServer) -> str:
    """The address of a database with the tables of a crawl. Tests that use it take `postgres_dsn`."""
    with psycopg.connect(postgres.dsn(), autocommit=True) as connection:
        prepare(connection, parts=2)
    return postgres.dsn()


@pytest.fixture(scope="module")
def emptied_tables(postgres_tables: str) -> str:
    """The same, emptied once for all tests of a module."""
    empty_tables(postgres_tables)
    return postgres_tables


@pytest.fixture
def postgres_dsn(postgres_tables: str) -> str:
    """The address of a database with the empty tables of a crawl."""
    empty_tables(postgres_tables)
    return postgres_tables
