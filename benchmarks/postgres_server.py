"""A PostgreSQL server of our own for tests and benchmarks, with the programs of Debian's package `postgresql`."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

import psycopg

FOR_TESTS: Final = {
    "fsync": "off",  # the tests end the server, never the machine
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_connections": "100",
}


def programs() -> Path | None:
    """Returns the folder of `initdb` and `pg_ctl`; None if PostgreSQL is not installed."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).resolve().parent if on_path else None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class PostgresServer:
    """A server on loopback, with the settings of `options`. PostgreSQL refuses to run as root, so root runs it as the
    user `postgres`."""

    def __init__(self, folder: Path, bin_: Path, options: Mapping[str, str] = FOR_TESTS) -> None:
        self._bin = bin_
        self._options = {"listen_addresses": "127.0.0.1", **options}
        self._data = folder / "data"
        self._log = folder / "log"
        self._folder = folder
        self.port = _free_port()

    def run(self, program: str, *arguments: str) -> None:
        """Runs a program of PostgreSQL; raises CalledProcessError, with its output, if it fails."""
        command = [str(self._bin / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        output = self._folder / "output"
        with output.open("w") as file:  # a pipe would stay open in the server
            subprocess.run(command, check=True, stdout=file, stderr=subprocess.STDOUT, cwd="/")

    def create(self) -> None:
        self.run(
            "initdb", "-D", str(self._data), "-A", "trust", "-U", "goodbot", "--no-sync", "-E", "UTF8", "--locale=C"
        )

    def start(self) -> None:
        settings = " ".join(f"-c {name}={value}" for name, value in self._options.items())
        options = f"-p {self.port} -k {self._folder} {settings}"
        self.run("pg_ctl", "-D", str(self._data), "-l", str(self._log), "-w", "-o", options, "start")

    @property
    def pid(self) -> int:
        """The process that all others of the server are children of."""
        return int((self._data / "postmaster.pid").read_text().split("\n")[0])

    def stop(self, mode: Literal["fast", "immediate"] = "immediate") -> None:
        self.run("pg_ctl", "-D", str(self._data), "-w", "-m", mode, "stop")

    def dsn(self, database: str = "postgres", **more: str) -> str:
        """Returns the URL of a database on this server."""
        query = "".join(f"&{name}={value}" for name, value in more.items())
        return f"postgresql://goodbot@127.0.0.1:{self.port}/{database}?connect_timeout=5{query}"


def empty_tables(dsn: str) -> None:
    """Empties the tables of a crawl, and begins its numbers anew: faster than making the tables anew."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        names = [name for (name,) in connection.execute(_TABLES)]
        connection.execute("UPDATE partitions SET machine = NULL; UPDATE crawl SET revisit_until = NULL, settings = ''")
        connection.execute("; ".join(f'DELETE FROM "{name}"' for name in names if name not in _KEPT))
        sequences = [name for (name,) in connection.execute(_SEQUENCES)]
        connection.execute("; ".join(f'ALTER SEQUENCE "{name}" RESTART' for name in sequences))


_KEPT: Final = ("crawl", "partitions")
_TABLES: Final = """SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
  AND relnamespace = current_schema()::regnamespace ORDER BY relname = 'machines'"""
_SEQUENCES: Final = "SELECT sequencename FROM pg_sequences WHERE schemaname = current_schema()"


@contextmanager
def postgres_server(options: Mapping[str, str] = FOR_TESTS) -> Iterator[PostgresServer]:
    """Starts a server; ends it, and removes its data, at the end. `programs` must not be None."""
    bin_ = programs()
    if bin_ is None:
        raise FileNotFoundError("initdb")
    with tempfile.TemporaryDirectory(prefix="goodbot-postgres-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(folder, owner.pw_uid, owner.pw_gid)
        server = PostgresServer(folder, bin_, options)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()
