"""Keeps the answers that killed worker processes, so that the operator can find out why.

Each page has one WARC file in the folder `deadly/` of the crawl: warcinfo, response, request. The file is named after
the host and the URL, so that the files of one host can be found and removed. The folder is part of neither archive nor
index: no command reads, serves or exports it.
"""

import os
from hashlib import blake2b
from pathlib import Path
from typing import Final

from goodbot.ports import Clock
from goodbot.store.warc.warc_record import info_record
from goodbot.url import Url

MAX_PAGES: Final = 32
MAX_BYTES: Final = 64 * 1024 * 1024
"""Limits of the folder. When one is reached, further pages are not kept until the operator deletes some."""

_DRAFT: Final = ".new"


class DeadlyPages:
    """The folder of such answers, made when the first one is kept. One process writes to it."""

    def __init__(self, folder: Path, clock: Clock, software: str) -> None:
        self._folder = folder
        self._clock = clock
        self._software = software

    def keep(self, url: Url, records: bytes) -> str:
        """Keeps the records of one capture, in place of older ones of the same URL. Returns a clause that says where
        they are, or why they are not kept; a disk error is reported there and not raised."""
        name = f"{_digest(url.host_key)}-{_digest(url.text)}.warc.gz"
        data = info_record(name, self._clock.now(), self._software) + records
        try:
            if self._is_full(name, len(data)):
                room = f"{MAX_PAGES} pages, {MAX_BYTES >> 20} MiB"
                return f"its answer is not kept: {self._folder.name}/ is full ({room}); delete files there to make room"
            self._write(name, data)
        except OSError as error:
            return f"its answer could not be kept: {error.strerror}"
        return f"its answer is kept in {self._folder.name}/{name}"

    def forget(self, host: str) -> int:
        """Removes the pages of a host (`Url.host_key`); returns how many. Raises OSError."""
        gone = list(self._folder.glob(f"{_digest(host)}-*"))
        for path in gone:
            path.unlink(missing_ok=True)
        return sum(path.suffix != _DRAFT for path in gone)

    def _is_full(self, name: str, size: int) -> bool:
        others = [path for path in self._folder.glob("*") if path.name not in (name, name + _DRAFT)]
        held = sum(path.stat().st_size for path in others)
        return len(others) >= MAX_PAGES or held + size > MAX_BYTES

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(exist_ok=True)
        draft = self._folder / (name + _DRAFT)
        with draft.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(self._folder / name)


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
