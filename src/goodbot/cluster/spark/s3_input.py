"""Reads a file in S3 at any position."""

import io
from typing import Any, Final

from goodbot.cluster.spark.s3_client import FAILURES, NO_FILE, code_of, read_again, s3_client, s3_error, status_of
from goodbot.errors import DamagedError, RunError

TAIL_BYTES: Final = 64 * 1024
"""So much of the end comes with the first request: the footer of a Parquet file, which is read first."""


class S3Input(io.RawIOBase):
    """Reads ranges of a file. It must stay the same meanwhile: one that was replaced raises RunError. Raises
    DamagedError if there is no such file."""

    def __init__(self, bucket: str, key: str, shown: str) -> None:
        super().__init__()
        self._file = {"Bucket": bucket, "Key": key}
        self._shown = shown
        self._position = 0
        self._size, self._tag, self._tail = self._end()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Moves to a position."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def tell(self) -> int:
        """Returns the position."""
        return self._position

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads up to `size` bytes, fewer only at the end of the file; all that follow if it is negative."""
        start = min(self._position, self._size)
        end = self._size if size is None or size < 0 else min(self._size, start + size)
        self._position = max(self._position, end)
        tail_start = self._size - len(self._tail)
        if start >= tail_start:
            return self._tail[start - tail_start : end - tail_start]
        data = self._range(start, min(end, tail_start)) if end > start else b""
        return data + self._tail[: end - tail_start] if end > tail_start else data

    def readinto(self, buffer: Any, /) -> int:
        """Reads into a buffer."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def _end(self) -> tuple[int, str, bytes]:
        try:
            answer, data = self._got(Range=f"bytes=-{TAIL_BYTES}")
        except FAILURES as error:
            if code_of(error) in NO_FILE:
                raise DamagedError(f"{self._shown} is missing") from error
            if status_of(error) == 416:  # an empty file has no ranges
                return 0, "", b""
            raise self._failed(error) from error
        total = str(answer.get("ContentRange", "")).rpartition("/")[2]
        return int(total) if total.isdecimal() else len(data), answer["ETag"], data

    def _range(self, start: int, end: int) -> bytes:
        try:
            _, data = self._got(Range=f"bytes={start}-{end - 1}", IfMatch=self._tag)
        except FAILURES as error:
            if status_of(error) == 412 or code_of(error) in NO_FILE:
                raise RunError(f"{self._shown} was replaced or removed while it was read") from error
            raise self._failed(error) from error
        if len(data) != end - start:
            raise RunError(f"cannot read {self._shown}: {len(data)} bytes came instead of {end - start}")
        return data

    def _got(self, **limits: str) -> tuple[dict[str, Any], bytes]:
        def read() -> tuple[dict[str, Any], bytes]:
            answer = s3_client().get_object(**self._file, **limits)
            return answer, answer["Body"].read()

        return read_again(read)

    def _failed(self, error: Exception) -> Exception:
        return s3_error(error, "read a file", self._shown)
