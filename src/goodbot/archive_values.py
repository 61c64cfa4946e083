"""The values of the archive: records to write, responses read back, and damage. All are frozen."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.url import Url
from goodbot.values import RecordRef, Response

FILE_MISSING: Final = "there is no such file"
CUT_OFF: Final = "the file ends at byte"
"""`DamagedRange.what` begins with it, before a byte offset, if the file ends too early."""


class DamagedRange(NamedTuple):
    """Bytes `start` to `end` of an archive file, which cannot be read; `what` says why. If the file is shorter than
    `end`, these bytes are missing."""

    file: str
    start: int
    end: int
    what: str

    def __str__(self) -> str:
        """Describes the damage in one line for people."""
        if self.what == FILE_MISSING:
            return f"{self.file} is missing"
        if self.what.startswith(CUT_OFF):
            return f"{self.file}: {self.what}; bytes {self.start} to {self.end} are lost"
        return f"{self.file}: bytes {self.start} to {self.end}: {self.what}"


@dataclass(frozen=True, slots=True)
class EncodedRecords:
    """The records of one capture as the archive writes them.

    `data` holds gzip members; the first is the response record and has `length` bytes. The other fields repeat what the
    archive's index and later revisit records need: `url`, `date` (WARC-Date), `digest` of the payload (None if
    `headers_only`: the body is withheld), and `entry` (the line of the index, without file name and offset).
    """

    data: bytes
    length: int
    url: str
    date: str
    digest: str | None
    entry: str
    headers_only: bool = False


@dataclass(frozen=True, slots=True)
class ArchivedResponse:
    """A response read back from the archive. `headers_only`: the page asked not to be archived (noarchive)."""

    url: Url
    fetched_at: float
    response: Response
    record: RecordRef
    headers_only: bool = False
