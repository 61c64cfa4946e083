"""A file that is being written to a store."""

import io
from typing import IO, TYPE_CHECKING

from goodbot.errors import RunError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutputFile(io.RawIOBase):
    """Writes to a local file, and raises RunError for what the system refuses. `shown` is the name for messages.

    PyArrow passes this error on as it is, so it can be told from the OSError by which PyArrow reports damaged files.
    Closing it does not close the local file.
    """

    def __init__(self, file: IO[bytes], shown: str) -> None:
        super().__init__()
        self._file = file
        self._shown = shown

    def writable(self) -> bool:
        return True

    def write(self, data: "ReadableBuffer", /) -> int:
        """Writes all of the data."""
        try:
            return self._file.write(data)
        except OSError as error:
            raise RunError(f"cannot write {self._shown}: {error.strerror or error}") from error

    def tell(self) -> int:
        """Returns the number of bytes written."""
        return self._file.tell()

    def flush(self) -> None:
        """Does nothing: the store completes the file."""
