"""The nouns of the archive: what it keeps of a capture, what is read back, and where it is damaged. All are frozen."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from goodbot.url import Url
from goodbot.values import RecordRef, Response

FILE_MISSING: Final = "there is no such file"
CUT_OFF: Final = "the file ends at byte"
"""How `DamagedRange.what` begins, before a number, where bytes behind the end of the file are missing."""


class DamagedRange(NamedTuple):
    """Bytes `start` to `end` of a file of the archive hold nothing that can be read; `what` says why. The file may be
    shorter: then what lay there is missing."""

    file: str
    start: int
    end: int
    what: str

    def __str__(self) -> str:
        """For people, in one line."""
        if self.what == FILE_MISSING:
            return f"{self.file} is missing"
        if self.what.startswith(CUT_OFF):
            return f"{self.file}: {self.what}; bytes {self.start} to {self.end} are lost"
        return f"{self.file}: bytes {self.start} to {self.end}: {self.what}"


@dataclass(frozen=True, slots=True)
class EncodedRecords:
    """The records of one capture as the archive writes them: gzip members in `data`, of which the response record is
    the first and has `length` bytes. The rest is said again for the archive's index, and for revisits of this capture:
    `url`, `date` (WARC-Date), `digest` of the payload (None if `headers_only`: the body is withheld), `entry` (the line
    of the index, but for the place)."""

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
