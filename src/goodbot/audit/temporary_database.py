"""Opens a temporary SQLite file for facts that may not fit into memory."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from goodbot.errors import RunError


@contextmanager
def temporary_database(what: str) -> Iterator[sqlite3.Connection]:
    """Opens an empty file in a temporary folder (TMPDIR), which is removed when the block ends. Raises RunError, which
    says that `what` cannot be kept, if the folder cannot be written."""
    try:
        with (
            TemporaryDirectory(prefix="goodbot-") as folder,
            closing(sqlite3.connect(Path(folder) / "facts.sqlite", isolation_level=None)) as connection,
        ):
            yield connection
    except sqlite3.OperationalError as error:
        raise RunError(f"cannot keep {what}: {error}; is there room in TMPDIR?") from error
    except OSError as error:
        raise RunError(f"cannot keep {what}: {error.strerror or error}") from error
