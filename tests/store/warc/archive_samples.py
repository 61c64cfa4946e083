"""Captures to archive; run as a script, a writer that goes on until it is killed or the disk refuses.

`python archive_samples.py FOLDER [BYTES A FILE MAY HAVE]` prints `FILE OFFSET NUMBER` of each record once it
is flushed, and the error that ends it.
"""

import random
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

from isal import isal_zlib

from goodbot.archive_values import ArchivedResponse, DamagedRange
from goodbot.errors import RunError
from goodbot.exclusion import Verdict
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.url import parse_url
from goodbot.values import Capture, Failure, RecordRef, Request, Response

NOON = 1_780_000_000.25
REQUEST_HEAD = b"GET /a?b=c HTTP/1.1\r\nHost: example.org\r\n\r\n"


class StillClock:
    """It is always the same moment."""

    def now(self) -> float:
        return NOON

    async def sleep(self, seconds: float) -> None:
        del seconds


def capture(result: Response | Failure, text: str = "http://example.org/a?b=c") -> Capture:
    url = parse_url(text)
    assert url is not None
    verdict = Verdict(allowed=True, line=None, rule=None, reason="test", section="", url=url.text)
    return Capture(Request(url, verdict), result, NOON, 0.1, peer="192.0.2.7", request_head=REQUEST_HEAD)


def numbered(number: int) -> Capture:
    """A capture that can be recognised, of up to 40 kB that hardly compress, so that kills hit writes."""
    noise = random.Random(number)
    body = b"%d " % number + noise.randbytes(noise.randrange(40_000))
    return capture(Response(200, (("X-Number", str(number)),), body), f"http://example.org/{number}")


def writer(folder: Path, **options: Any) -> WarcArchive:
    return WarcArchive(folder, StillClock(), "goodbot/test", **options)


def reader(folder: Path) -> WarcArchive:
    return WarcArchive(folder, StillClock(), "goodbot/test", read_only=True)


class MovedArchive(WarcArchive):
    """An archive whose records are all moved before they are read."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder / "warc", StillClock(), "goodbot/test", move_to=f"memory://{uuid4().hex}/archive")
        self._warc = folder / "warc"

    def read(self, record: RecordRef) -> ArchivedResponse:
        self._move()
        return super().read(record)

    def captures(self, lost: Callable[[DamagedRange], object] | None = None) -> Iterator[ArchivedResponse]:
        self._move()
        return super().captures(lost)

    def export(self, lost: Callable[[DamagedRange], object] | None = None) -> tuple[int, Iterator[bytes]]:
        self._move()
        return super().export(lost)

    def _move(self) -> None:
        assert self.move_rest(lambda done, size: None, lambda: False) is None
        assert warc_files(self._warc) == []


def warc_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.warc.gz"))


def only_file(folder: Path) -> Path:
    (path,) = warc_files(folder)
    return path


def index_of(warc: Path) -> Path:
    return warc.with_name(warc.name.replace(".warc.gz", ".cdxj"))


def leave_as_killed(warc: Path, content: bytes) -> None:
    """What a kill leaves: some bytes of a file, and no index of it."""
    warc.write_bytes(content)
    index_of(warc).unlink(missing_ok=True)


def member_ends(content: bytes) -> list[int]:
    """Where each member ends; fails if one does not."""
    ends = [0]
    while ends[-1] < len(content):
        inflater = isal_zlib.decompressobj(31)
        inflater.decompress(content[ends[-1] :])
        assert inflater.eof
        ends.append(len(content) - len(inflater.unused_data))
    return ends[1:]


def write_until_stopped(folder: Path, size_limit_bytes: int) -> None:
    archive = WarcArchive(folder, StillClock(), "goodbot/test", size_limit_bytes=size_limit_bytes)
    number = 0
    try:
        while True:
            batch = range(number, number + 5)
            records = [archive.put(numbered(item)) for item in batch]
            archive.flush()
            for item, record in zip(batch, records, strict=True):
                print(record.file, record.offset, item, flush=True)  # noqa: T201 - its parent reads it
            number = batch.stop
    except RunError as error:
        print("error", error, flush=True)  # noqa: T201
        archive.close()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
    write_until_stopped(Path(sys.argv[1]), 3_000_000)
